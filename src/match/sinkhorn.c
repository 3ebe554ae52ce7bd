/* Sinkhorn's algorithm alternately scales rows and columns to their sums:
 *
 *     u_i = log a_i - log sum_j exp(z_ij + v_j),   v_j = log b_j - log sum_i exp(z_ij + u_i)
 *
 * with a = (1, .., 1, n) and b = (1, .., 1, m). In SuperGlue's code all sums are divided by m + n
 * and the result multiplied by it; that cancels. */
#include "match/sinkhorn.h"

#include <math.h>
#include <string.h>

#define BLOCK_ROWS 32
#define BLOCK_COLUMNS 64

static void rows_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)memory;
    const psfm_transport *t = user;
    for (size_t i = index * BLOCK_ROWS; i <= t->m && i < (index + 1) * BLOCK_ROWS; ++i) {
        float sum = psfm_engine_kernels(nn)->log_sum_exp(t->z + i * t->ld, t->v, t->n + 1);
        t->u[i] = (i < t->m ? 0 : logf((float)t->n)) - sum;
    }
}

static void columns_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)memory;
    const psfm_transport *t = user;
    size_t begin = index * BLOCK_COLUMNS, num = t->n + 1 - begin;
    num = num < BLOCK_COLUMNS ? num : BLOCK_COLUMNS;
    float *v = t->v + begin;
    psfm_engine_kernels(nn)->log_sum_exp_columns(t->z + begin, t->ld, t->u, t->m + 1, num, v);
    for (size_t j = 0; j < num; ++j)
        v[j] = (begin + j < t->n ? 0 : logf((float)t->m)) - v[j];
}

psfm_status psfm_sinkhorn(psfm_context *ctx, psfm_engine *nn, const psfm_transport *transport,
                          int iterations) {
    size_t row_blocks = transport->m / BLOCK_ROWS + 1;
    size_t column_blocks = transport->n / BLOCK_COLUMNS + 1;
    psfm_status status = PSFM_OK;
    memset(transport->u, 0, (transport->m + 1) * sizeof *transport->u);
    memset(transport->v, 0, transport->ld * sizeof *transport->v);
    for (int k = 0; status == PSFM_OK && k < iterations; ++k) {
        status = psfm_engine_run(ctx, nn, row_blocks, 0, rows_task, transport);
        if (status == PSFM_OK)
            status = psfm_engine_run(ctx, nn, column_blocks, 0, columns_task, transport);
    }
    return status;
}
