#include "match/cosine.h"

#define BLOCK_ROWS 64

typedef struct {
    const psfm_neural_features *a, *b;
    float *z;
    size_t ld;
} cosine_job;

static void cosine_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)memory;
    const cosine_job *job = user;
    size_t begin = index * BLOCK_ROWS, dim = job->a->dim;
    size_t num = job->a->num - begin < BLOCK_ROWS ? job->a->num - begin : BLOCK_ROWS;
    psfm_engine_gemm_bt(nn, num, job->b->num, dim, job->a->descriptors + begin * dim, dim,
                        job->b->descriptors, dim, 0, job->z + begin * job->ld, job->ld);
}

psfm_status psfm_cosine_match(psfm_context *ctx, psfm_engine *nn, const psfm_neural_features *a,
                              const psfm_neural_features *b, double min_cosine,
                              psfm_neural_matches *matches) {
    *matches = (psfm_neural_matches){0};
    psfm_status status = psfm_neural_features_check(ctx, a, b->dim, "nearest neighbours");
    if (status == PSFM_OK)
        status = psfm_neural_features_check(ctx, b, a->dim, "nearest neighbours");
    if (status != PSFM_OK || a->num == 0 || b->num == 0)
        return status;
    psfm_buffer z = {0};
    size_t ld = psfm_align_floats(b->num);
    status =
        a->num > SIZE_MAX / 8 / ld
            ? psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory: %zu x %zu scores", a->num, b->num)
            : psfm_buffer_reserve(ctx, &z, a->num * ld);
    cosine_job job = {a, b, z.data, ld};
    if (status == PSFM_OK)
        status =
            psfm_engine_run(ctx, nn, (a->num + BLOCK_ROWS - 1) / BLOCK_ROWS, 0, cosine_task, &job);
    psfm_score_matrix scores = {a->num, b->num, ld, z.data, 1, NULL, NULL};
    if (status == PSFM_OK)
        status = psfm_mutual_matches(ctx, nn, &scores, true, (float)min_cosine, matches);
    psfm_buffer_free(&z);
    return status;
}
