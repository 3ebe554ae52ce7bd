/* Nearest neighbours of float descriptors: the matrix of dot products by BLAS, tile by tile, each
 * tile folded into the best of its rows and columns. One thread of OpenBLAS, so that the products,
 * and with them ties, do not depend on the number of threads. */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "images/match/nearest_neighbour.h"

#define TILE_ROWS 256
#define TILE_COLS 512

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(
        psfm_nearest_float_options, min_similarity, "min-similarity", -1.0, -1.0, 1.0,
        "smallest dot product of matched descriptors; -1: 0.82 for xfeat, any for others"),
    PSFM_OPTION_DOUBLE(psfm_nearest_float_options, max_ratio, "max-ratio", 1.0, 0.01, 1.0,
                       "largest ratio of the best to the second-best distance; 1: 0.95 for "
                       "edgepoint2, any for others"),
};
const psfm_option_table psfm_nearest_float_option_table =
    PSFM_OPTION_TABLE("neural-matching", rows);

typedef struct {
    float best, second;
    uint32_t idx;
} nearest;

/* A NaN is never greater, so it is passed over. */
static void fold_product(nearest *n, float product, size_t idx) {
    if (product > n->best) {
        n->second = n->best;
        n->best = product;
        n->idx = (uint32_t)idx;
    } else if (product > n->second) {
        n->second = product;
    }
}

static void reset_nearest(nearest *n, size_t count) {
    for (size_t k = 0; k < count; ++k)
        n[k] = (nearest){-INFINITY, -INFINITY, UINT32_MAX};
}

typedef struct {
    const float *descriptors1, *descriptors2;
    size_t n1, n2, size;
    nearest *of1, *of2;
    float *tile;
} problem;

static void fold_tile(problem *p, size_t i0, size_t j0) {
    size_t rows_here = p->n1 - i0 < TILE_ROWS ? p->n1 - i0 : TILE_ROWS;
    size_t cols_here = p->n2 - j0 < TILE_COLS ? p->n2 - j0 : TILE_COLS;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows_here, (int)cols_here,
                (int)p->size, 1.0F, p->descriptors1 + i0 * p->size, (int)p->size,
                p->descriptors2 + j0 * p->size, (int)p->size, 0.0F, p->tile, TILE_COLS);
    for (size_t i = 0; i < rows_here; ++i) {
        const float *row = p->tile + i * TILE_COLS;
        for (size_t j = 0; j < cols_here; ++j) {
            fold_product(&p->of1[i0 + i], row[j], j0 + j);
            fold_product(&p->of2[j0 + j], row[j], i0 + i);
        }
    }
}

static double product_distance(float product) {
    return sqrt(fmax(2.0 - 2.0 * (double)product, 0.0));
}

static bool passes_rule(const nearest *n, const psfm_nearest_float_options *o) {
    if (n->idx == UINT32_MAX || !(n->best >= (float)o->min_similarity))
        return false;
    if (o->max_ratio >= 1.0 || isinf(n->second))
        return true;
    return product_distance(n->best) < o->max_ratio * product_distance(n->second);
}

static void collect_matches(const problem *p, const psfm_nearest_float_options *o,
                            psfm_match_list *list) {
    for (size_t i = 0; i < p->n1; ++i) {
        const nearest *n = &p->of1[i];
        if (!passes_rule(n, o))
            continue;
        const nearest *back = &p->of2[n->idx];
        if (back->idx != i || !passes_rule(back, o))
            continue;
        list->matches[list->num][0] = (uint32_t)i;
        list->matches[list->num][1] = n->idx;
        ++list->num;
    }
}

static psfm_status match_all(psfm_context *ctx, problem *p, const psfm_nearest_float_options *o,
                             psfm_match_list *list) {
    psfm_status status = PSFM_ALLOC(ctx, p->n1, &p->of1);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, p->n2, &p->of2);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)TILE_ROWS * TILE_COLS, &p->tile);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, p->n1, &list->matches);
    if (status != PSFM_OK)
        return status;
    reset_nearest(p->of1, p->n1);
    reset_nearest(p->of2, p->n2);
    for (size_t i = 0; i < p->n1; i += TILE_ROWS)
        for (size_t j = 0; j < p->n2; j += TILE_COLS)
            fold_tile(p, i, j);
    collect_matches(p, o, list);
    return PSFM_OK;
}

static psfm_status check_sets(psfm_context *ctx, const problem *p, size_t size2) {
    if (p->size != size2)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "descriptors of %zu and of %zu numbers cannot be compared", p->size,
                         size2);
    if (p->n1 >= UINT32_MAX || p->n2 >= UINT32_MAX || p->size < 1 || p->size > 65536)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "%zu and %zu descriptors of %zu numbers cannot be matched", p->n1, p->n2,
                         p->size);
    return PSFM_OK;
}

psfm_status psfm_nearest_match_f32(psfm_context *ctx, const psfm_keypoint_set *set1,
                                   const psfm_keypoint_set *set2,
                                   const psfm_nearest_float_options *options,
                                   psfm_match_list *out) {
    psfm_nearest_float_options o;
    psfm_options_init(&psfm_nearest_float_option_table, &o);
    if (options != NULL)
        o = *options;
    problem p = {.descriptors1 = set1->descriptors_f32,
                 .descriptors2 = set2->descriptors_f32,
                 .n1 = set1->num,
                 .n2 = set2->num,
                 .size = set1->descriptor_size};
    psfm_match_list list = {0};
    *out = list;
    psfm_status status = psfm_options_check(ctx, &psfm_nearest_float_option_table, &o);
    if (status == PSFM_OK)
        status = check_sets(ctx, &p, set2->descriptor_size);
    if (status == PSFM_OK)
        status = match_all(ctx, &p, &o, &list);
    free(p.of1);
    free(p.of2);
    free(p.tile);
    if (status != PSFM_OK)
        psfm_match_list_free(&list);
    *out = list;
    return status;
}
