/* Products with a graph's Laplacian, row by row as sums of differences (the header says why). Rows
 * go to threads in blocks, each row is summed in one order. O(entries). */
#include "core/linalg/laplacian.h"

#include "core/base/parallel.h"

/* Rows are done in blocks, so that a task is worth its hand-out. */
#define ROWS_PER_TASK 4096

typedef struct {
    const psfm_csr *W;
    const double *x, *b; /* b may be NULL */
    double *y;
} product;

static psfm_status multiply_rows(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const product *p = user;
    const psfm_csr *W = p->W;
    size_t first = index * ROWS_PER_TASK;
    size_t last = first + ROWS_PER_TASK < W->n ? first + ROWS_PER_TASK : W->n;
    for (size_t i = first; i < last; ++i) {
        double sum = 0.0, x = p->x[i];
        for (size_t k = W->row_begin[i]; k < W->row_begin[i + 1]; ++k)
            sum += W->value[k] * (x - p->x[W->col[k]]);
        p->y[i] = p->b == NULL ? sum : p->b[i] - sum;
    }
    return PSFM_OK;
}

static psfm_status multiply_all(psfm_context *ctx, product *p) {
    size_t num_tasks = ((size_t)p->W->n + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    if (num_tasks == 1)
        return multiply_rows(ctx, 0, 0, p);
    return psfm_parallel_for(ctx, NULL, num_tasks, multiply_rows, p);
}

psfm_status psfm_laplacian_mul(psfm_context *ctx, const psfm_csr *W, const double *x, double *y) {
    return multiply_all(ctx, &(product){W, x, NULL, y});
}

psfm_status psfm_laplacian_residual(psfm_context *ctx, const psfm_csr *W, const double *x,
                                    const double *b, double *y) {
    return multiply_all(ctx, &(product){W, x, b, y});
}
