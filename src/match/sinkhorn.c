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

typedef struct {
    const float *z;
    size_t m, n, ld;
    float *u, *v;
} sinkhorn_job;

static void rows_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)memory;
    const sinkhorn_job *job = user;
    for (size_t i = index * BLOCK_ROWS; i <= job->m && i < (index + 1) * BLOCK_ROWS; ++i) {
        float sum = psfm_engine_kernels(nn)->log_sum_exp(job->z + i * job->ld, job->v, job->n + 1);
        job->u[i] = (i < job->m ? 0 : logf((float)job->n)) - sum;
    }
}

static void columns_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)memory;
    const sinkhorn_job *job = user;
    size_t begin = index * BLOCK_COLUMNS, num = job->n + 1 - begin;
    num = num < BLOCK_COLUMNS ? num : BLOCK_COLUMNS;
    float *v = job->v + begin;
    psfm_engine_kernels(nn)->log_sum_exp_columns(job->z + begin, job->ld, job->u, job->m + 1, num,
                                                 v);
    for (size_t j = 0; j < num; ++j)
        v[j] = (begin + j < job->n ? 0 : logf((float)job->m)) - v[j];
}

psfm_status psfm_sinkhorn(psfm_context *ctx, psfm_engine *nn, const float *z, size_t m, size_t n,
                          size_t ld, int iterations, float *u, float *v) {
    sinkhorn_job job = {z, m, n, ld, u, v};
    psfm_status status = PSFM_OK;
    memset(u, 0, (m + 1) * sizeof *u);
    memset(v, 0, ld * sizeof *v);
    for (int k = 0; status == PSFM_OK && k < iterations; ++k) {
        status = psfm_engine_run(ctx, nn, m / BLOCK_ROWS + 1, 0, rows_task, &job);
        if (status == PSFM_OK)
            status = psfm_engine_run(ctx, nn, n / BLOCK_COLUMNS + 1, 0, columns_task, &job);
    }
    return status;
}
