/* Weighted graphs for the tests of the Laplacian solvers. */
#ifndef PSFM_TEST_WEIGHTED_GRAPH_H
#define PSFM_TEST_WEIGHTED_GRAPH_H

#include "test_util.h"

#include "core/linalg/sparse.h"

typedef struct {
    uint32_t a, b;
    double weight;
} link;

static inline int by_row(const void *x, const void *y) {
    const link *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return p->b < q->b ? -1 : p->b > q->b;
}

/* The symmetric matrix with the given links, each between two different nodes and given once. */
static inline void make_weights(uint32_t n, const link *links, size_t num, psfm_csr *W) {
    link *both = malloc((2 * num + 1) * sizeof *both);
    assert_non_null(both);
    for (size_t k = 0; k < num; ++k) {
        both[2 * k] = links[k];
        both[2 * k + 1] = (link){links[k].b, links[k].a, links[k].weight};
    }
    qsort(both, 2 * num, sizeof *both, by_row);
    *W = (psfm_csr){.n = n};
    W->row_begin = calloc((size_t)n + 1, sizeof *W->row_begin);
    W->col = calloc(2 * num + 1, sizeof *W->col);
    W->value = calloc(2 * num + 1, sizeof *W->value);
    assert_true(W->row_begin != NULL && W->col != NULL && W->value != NULL);
    for (size_t k = 0; k < 2 * num; ++k) {
        ++W->row_begin[both[k].a + 1];
        W->col[k] = both[k].b;
        W->value[k] = both[k].weight;
    }
    for (uint32_t i = 0; i < n; ++i)
        W->row_begin[i + 1] += W->row_begin[i];
    free(both);
}

/* A path 0 - 1 - ... with unit weights, closed to a ring if wanted. */
static inline void make_path(uint32_t n, bool closed, psfm_csr *W) {
    link *links = calloc(n, sizeof *links);
    assert_non_null(links);
    for (uint32_t i = 0; i < n; ++i)
        links[i] = (link){i, (i + 1) % n, 1.0};
    make_weights(n, links, closed ? n : n - 1, W);
    free(links);
}

/* A grid with unit weights, node (x, y) being y * width + x. */
static inline void make_grid(uint32_t width, uint32_t height, psfm_csr *W) {
    link *links = calloc((size_t)2 * width * height, sizeof *links);
    size_t num = 0;
    assert_non_null(links);
    for (uint32_t y = 0; y < height; ++y) {
        for (uint32_t x = 0; x < width; ++x) {
            uint32_t i = y * width + x;
            if (x + 1 < width)
                links[num++] = (link){i, i + 1, 1.0};
            if (y + 1 < height)
                links[num++] = (link){i, i + width, 1.0};
        }
    }
    make_weights(width * height, links, num, W);
    free(links);
}

static inline double *make_masses(uint32_t n, double value) {
    double *mass = malloc(n * sizeof *mass);
    assert_non_null(mass);
    for (uint32_t i = 0; i < n; ++i)
        mass[i] = value;
    return mass;
}

#endif
