/* A ring of cameras over one plane as a pose graph with known truth. */
#ifndef PSFM_TEST_RING_UTIL_H
#define PSFM_TEST_RING_UTIL_H

#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/posegraph/pose_graph.h"

#define RING_MAX 64

/* Every camera is joined with the two after it. Each edge has one homography, whose first
 * decomposition is false and whose second is true; all share all keypoints. */
typedef struct {
    uint32_t n;
    double R[RING_MAX][9], center[RING_MAX][3]; /* cam from world, centres */
    psfm_pose_graph graph;
} ring;

static inline uint32_t ring_edge_end(const ring *r, uint32_t e) {
    return (e / 2 + 1 + e % 2) % r->n;
}

/* The true motion between two cameras over the plane z = 0, in units of its distance. */
static inline void ring_motion(const ring *r, uint32_t a, uint32_t b, psfm_plane_motion *m) {
    const double up[3] = {0, 0, -1};
    double diff[3];
    psfm_mat3_mul_t(r->R[b], r->R[a], m->R_21);
    psfm_sub3(r->center[a], r->center[b], diff);
    psfm_mat3_mul_vec(r->R[b], diff, m->t_21);
    psfm_scale3(1.0 / r->center[a][2], m->t_21, m->t_21);
    psfm_mat3_mul_vec(r->R[a], up, m->n1);
    psfm_mat3_mul_vec(r->R[b], up, m->n2);
    m->d2_over_d1 = r->center[b][2] / r->center[a][2];
}

/* Turns rotation and normal away from the truth by `angle`, about another axis in each edge. */
static inline void ring_falsify(psfm_rng *rng, double angle, psfm_plane_motion *m) {
    double axis[3], T[9], R[9], n[3];
    do
        psfm_rng_direction(rng, axis);
    while (fabs(psfm_dot3(axis, m->n1)) > 0.3); /* so that the normal turns, too */
    psfm_scale3(angle, axis, axis);
    psfm_rotation_exp(axis, T);
    psfm_mat3_mul(m->R_21, T, R);
    memcpy(m->R_21, R, sizeof R);
    psfm_mat3_mul_vec(T, m->n1, n);
    memcpy(m->n1, n, sizeof n);
    psfm_mat3_mul_vec(m->R_21, m->n1, m->n2);
    psfm_rng_direction(rng, m->t_21);
}

static inline void ring_add_edge(psfm_rng *rng, ring *r, uint32_t a, uint32_t b) {
    enum { NUM_KEYPOINTS = 10 };
    psfm_pose_graph *g = &r->graph;
    uint32_t e = g->num_edges++;
    psfm_edge_plane *plane = &g->planes[g->num_planes++];
    *plane = (psfm_edge_plane){.edge = e,
                               .num_inliers = NUM_KEYPOINTS,
                               .keypoints1 = calloc(NUM_KEYPOINTS, sizeof(uint32_t)),
                               .keypoints2 = calloc(NUM_KEYPOINTS, sizeof(uint32_t)),
                               .hypothesis_begin = 2 * e,
                               .hypothesis_end = 2 * e + 2};
    for (uint32_t k = 0; k < NUM_KEYPOINTS; ++k)
        plane->keypoints1[k] = plane->keypoints2[k] = k;
    for (uint32_t k = 0; k < 2; ++k) {
        psfm_hypothesis *h = &g->hypotheses[g->num_hypotheses++];
        *h = (psfm_hypothesis){.edge = e, .plane = e, .weight = k};
        ring_motion(r, a, b, &h->motion);
    }
    ring_falsify(rng, 0.5, &g->hypotheses[2 * e].motion);
    g->edges[e] = (psfm_edge){.node1 = a,
                              .node2 = b,
                              .pair = e,
                              .plane_begin = e,
                              .plane_end = e + 1,
                              .hypothesis_begin = 2 * e,
                              .hypothesis_end = 2 * e + 2,
                              .has_essential = true};
    memcpy(g->edges[e].essential_R_21, g->hypotheses[2 * e + 1].motion.R_21,
           sizeof g->edges[e].essential_R_21);
}

static inline void ring_make(psfm_context *ctx, uint64_t seed, uint32_t n, ring *r) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, n, 0);
    *r = (ring){.n = n, .graph = {.num_nodes = n}};
    r->graph.edges = calloc(2 * n, sizeof *r->graph.edges);
    r->graph.planes = calloc(2 * n, sizeof *r->graph.planes);
    r->graph.hypotheses = calloc(4 * n, sizeof *r->graph.hypotheses);
    for (uint32_t v = 0; v < n; ++v) {
        double w[3], angle = 2.0 * M_PI * v / n;
        psfm_rng_direction(&rng, w);
        psfm_rotation_exp(w, r->R[v]);
        r->center[v][0] = 10.0 * cos(angle) + psfm_rng_range(&rng, -0.5, 0.5);
        r->center[v][1] = 10.0 * sin(angle) + psfm_rng_range(&rng, -0.5, 0.5);
        r->center[v][2] = 5.0 + psfm_rng_range(&rng, -1.0, 1.0);
    }
    for (uint32_t e = 0; e < 2 * n; ++e) {
        uint32_t a = e / 2, b = ring_edge_end(r, e);
        ring_add_edge(&rng, r, a < b ? a : b, a < b ? b : a);
    }
    assert_ok(ctx, psfm_pose_graph_index(ctx, &r->graph));
}

/* The essential matrix of edge e names the false decomposition from now on. */
static inline void ring_mislead(ring *r, uint32_t e) {
    psfm_hypothesis *h = &r->graph.hypotheses[2 * e];
    memcpy(r->graph.edges[e].essential_R_21, h->motion.R_21, sizeof h->motion.R_21);
}

#endif
