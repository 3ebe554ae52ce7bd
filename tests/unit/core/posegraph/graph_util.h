/* Random pose graphs for tests, made without images. */
#ifndef PSFM_TEST_GRAPH_UTIL_H
#define PSFM_TEST_GRAPH_UTIL_H

#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/posegraph/pose_graph.h"

/* An ascending random subset of [0, num_keypoints) of `num` elements. */
static inline uint32_t *random_keypoints(psfm_rng *rng, uint32_t num, uint32_t num_keypoints) {
    uint32_t *list = malloc((num + 1) * sizeof *list);
    uint32_t taken = 0;
    assert_non_null(list);
    for (uint32_t k = 0; k < num_keypoints && taken < num; ++k)
        if (psfm_rng_below(rng, num_keypoints - k) < num - taken)
            list[taken++] = k;
    return list;
}

static inline void random_motion(psfm_rng *rng, psfm_plane_motion *motion) {
    double axis[3];
    psfm_rng_direction(rng, axis);
    psfm_scale3(psfm_rng_range(rng, 0.0, 3.0), axis, axis);
    psfm_rotation_exp(axis, motion->R_21);
    psfm_rng_direction(rng, motion->t_21);
    psfm_rng_direction(rng, motion->n1);
    psfm_mat3_mul_vec(motion->R_21, motion->n1, motion->n2);
    motion->d2_over_d1 = 1.0;
}

/* Appends one plane with `num_motions` hypotheses to the last edge of a graph whose arrays have
 * room. */
static inline void append_plane(psfm_pose_graph *g, psfm_rng *rng, uint32_t num_motions,
                                uint32_t num_keypoints) {
    psfm_edge *edge = &g->edges[g->num_edges - 1];
    psfm_edge_plane *plane = &g->planes[g->num_planes];
    plane->edge = g->num_edges - 1;
    plane->num_inliers = (uint32_t)psfm_rng_below(rng, num_keypoints / 2);
    plane->keypoints1 = random_keypoints(rng, plane->num_inliers, num_keypoints);
    plane->keypoints2 = random_keypoints(rng, plane->num_inliers, num_keypoints);
    plane->hypothesis_begin = g->num_hypotheses;
    for (uint32_t m = 0; m < num_motions; ++m) {
        psfm_hypothesis *h = &g->hypotheses[g->num_hypotheses++];
        *h = (psfm_hypothesis){
            .edge = g->num_edges - 1, .plane = g->num_planes, .weight = psfm_rng_uniform(rng)};
        random_motion(rng, &h->motion);
    }
    plane->hypothesis_end = edge->hypothesis_end = g->num_hypotheses;
    edge->plane_end = ++g->num_planes;
}

/* A random graph of n nodes and m edges (parallel ones may occur), one to three planes each,
 * keypoints in [0, num_keypoints). */
static inline void random_pose_graph(psfm_context *ctx, psfm_rng *rng, uint32_t n, uint32_t m,
                                     uint32_t num_keypoints, psfm_pose_graph *g) {
    *g = (psfm_pose_graph){.num_nodes = n};
    g->edges = calloc(m + 1, sizeof *g->edges);
    g->planes = calloc((size_t)3 * m + 1, sizeof *g->planes);
    g->hypotheses = calloc((size_t)6 * m + 1, sizeof *g->hypotheses);
    assert_true(g->edges != NULL && g->planes != NULL && g->hypotheses != NULL);
    for (uint32_t e = 0; e < m; ++e) {
        uint32_t a = (uint32_t)psfm_rng_below(rng, n);
        uint32_t b = (a + 1 + (uint32_t)psfm_rng_below(rng, n - 1)) % n;
        g->edges[g->num_edges++] = (psfm_edge){.node1 = a < b ? a : b,
                                               .node2 = a < b ? b : a,
                                               .pair = e,
                                               .plane_begin = g->num_planes,
                                               .hypothesis_begin = g->num_hypotheses};
        size_t num_planes = 1 + psfm_rng_below(rng, 3);
        for (size_t p = 0; p < num_planes; ++p)
            append_plane(g, rng, 1 + (uint32_t)psfm_rng_below(rng, 2), num_keypoints);
    }
    assert_ok(ctx, psfm_pose_graph_index(ctx, g));
}

#endif
