/* Principal directions come from the products of the rows with each other: there are fewer rows
 * than entries. The nearest are found by blocks of products, so that n^2 numbers are never
 * kept.
 */
#include "images/match/retrieval.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/eigen.h"

enum { BLOCK = 128 }; /* images whose products with all others are at hand */

/* Directions with a smaller share of the largest variance are rounding. */
static const double smallest_share = 1e-6;

void psfm_image_vectors_free(psfm_image_vectors *vectors) {
    free(vectors->vector);
    *vectors = (psfm_image_vectors){0};
}

void psfm_principal_free(psfm_principal *principal) {
    free(principal->direction);
    *principal = (psfm_principal){0};
}

/* The products of all rows with each other, as doubles. */
static psfm_status products_of(psfm_context *ctx, const float *rows, size_t num, size_t size,
                               double **out) {
    float *product = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num * num, &product);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num * num, out);
    if (status == PSFM_OK)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)num, (int)num, (int)size, 1.0F,
                    rows, (int)size, rows, (int)size, 0.0F, product, (int)num);
    for (size_t k = 0; status == PSFM_OK && k < num * num; ++k)
        (*out)[k] = (double)product[k];
    free(product);
    return status;
}

psfm_status psfm_principal_find(psfm_context *ctx, const float *rows, size_t num, size_t size,
                                size_t most, psfm_principal *principal) {
    double *G = NULL, *variance = NULL;
    float *weight = NULL;
    psfm_status status;
    *principal = (psfm_principal){.size = size};
    if ((status = products_of(ctx, rows, num, size, &G)) ||
        (status = PSFM_ALLOC(ctx, num, &variance)) || (status = PSFM_ALLOC(ctx, num, &weight)) ||
        (status = PSFM_ALLOC(ctx, (most < num ? most : num) * size, &principal->direction)) ||
        (status = psfm_eigen_symmetric(ctx, (uint32_t)num, G, variance)))
        goto cleanup;
    for (size_t k = num; k-- > 0 && principal->num < most;) { /* the largest come last */
        if (!(variance[k] > smallest_share * variance[num - 1]))
            break;
        for (size_t i = 0; i < num; ++i)
            weight[i] = (float)(G[k * num + i] / sqrt(variance[k]));
        cblas_sgemv(CblasRowMajor, CblasTrans, (int)num, (int)size, 1.0F, rows, (int)size, weight,
                    1, 0.0F, principal->direction + principal->num * size, 1);
        ++principal->num;
    }

cleanup:
    free(G);
    free(variance);
    free(weight);
    return status;
}

void psfm_principal_shorten(const psfm_principal *principal, const float *row, float *out) {
    if (principal->num == 0)
        return;
    cblas_sgemv(CblasRowMajor, CblasNoTrans, (int)principal->num, (int)principal->size, 1.0F,
                principal->direction, (int)principal->size, row, 1, 0.0F, out, 1);
    float length = cblas_snrm2((int)principal->num, out, 1);
    if (length > 0.0F)
        cblas_sscal((int)principal->num, 1.0F / length, out, 1);
}

/* ---- the nearest ---- */

typedef struct {
    const psfm_image_vectors *in;
    size_t count;
    uint32_t *nearest;
    bool *empty;     /* per image: it has no features */
    float **product; /* per worker: BLOCK x num */
} search;

/* The `count` largest of a row but its own, in order; of equal ones the earlier. */
static void keep_largest(const search *s, const float *product, size_t image) {
    uint32_t *best = s->nearest + image * s->count;
    size_t num = 0;
    for (size_t k = 0; k < s->in->num; ++k) {
        if (k == image || s->empty[k] || s->empty[image] ||
            (num == s->count && product[k] <= product[best[num - 1]]))
            continue;
        size_t at = num < s->count ? num++ : num - 1;
        for (; at > 0 && product[best[at - 1]] < product[k]; --at)
            best[at] = best[at - 1];
        best[at] = (uint32_t)k;
    }
    for (; num < s->count; ++num)
        best[num] = UINT32_MAX;
}

static psfm_status search_block(psfm_context *ctx, size_t index, int worker, void *user) {
    search *s = user;
    size_t first = index * BLOCK, n = s->in->num, d = s->in->size;
    size_t rows = n - first < BLOCK ? n - first : BLOCK;
    float *product = s->product[worker];
    (void)ctx;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)n, (int)d, 1.0F,
                s->in->vector + first * d, (int)d, s->in->vector, (int)d, 0.0F, product, (int)n);
    for (size_t k = 0; k < rows; ++k)
        keep_largest(s, product + k * n, first + k);
    return PSFM_OK;
}

psfm_status psfm_retrieve_nearest(psfm_context *ctx, const psfm_image_vectors *vectors,
                                  size_t count, uint32_t *nearest) {
    size_t num_blocks = (vectors->num + BLOCK - 1) / BLOCK;
    int workers = psfm_parallel_workers(ctx, num_blocks);
    search s = {.in = vectors, .count = count, .nearest = nearest};
    psfm_status status = PSFM_ALLOC(ctx, (size_t)workers, &s.product);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, vectors->num, &s.empty);
    for (size_t k = 0; status == PSFM_OK && k < vectors->num; ++k)
        s.empty[k] = cblas_snrm2((int)vectors->size, vectors->vector + k * vectors->size, 1) < 0.5F;
    for (int w = 0; status == PSFM_OK && w < workers; ++w)
        status = PSFM_ALLOC(ctx, BLOCK * vectors->num, &s.product[w]);
    if (status == PSFM_OK && vectors->size > 0)
        status = psfm_parallel_for(ctx, NULL, num_blocks, search_block, &s);
    for (size_t k = 0; vectors->size == 0 && k < vectors->num * count; ++k)
        nearest[k] = UINT32_MAX;
    for (int w = 0; s.product != NULL && w < workers; ++w)
        free(s.product[w]);
    free(s.product);
    free(s.empty);
    return status;
}
