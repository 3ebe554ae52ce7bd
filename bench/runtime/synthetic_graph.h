/* Pose graphs of any size without images: cameras over a flat field, on a grid or in a ring, with
 * hypotheses and short inlier lists made directly. */
#ifndef PSFM_BENCH_SYNTHETIC_GRAPH_H
#define PSFM_BENCH_SYNTHETIC_GRAPH_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/posegraph/pose_graph.h"

typedef enum { LAYOUT_FIELD, LAYOUT_RING } graph_layout;

typedef struct {
    psfm_pose_graph graph;
    double (*center)[3];
    bool *is_false; /* per edge */
} synthetic_graph;

enum { LINKS = 10, KEYPOINTS = 48, FALSE_INLIERS = 10 };

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count == 0 ? 1 : count, size);
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

/* The ten neighbours that camera v links to; returns their number (fewer at the field's border). */
static size_t list_links(graph_layout layout, uint32_t n, uint32_t v, uint32_t links[LINKS],
                         double offset[LINKS][2]) {
    static const int step[LINKS][2] = {{1, 0}, {2, 0},  {0, 1}, {0, 2},  {1, 1},
                                       {2, 1}, {-1, 1}, {1, 2}, {-2, 1}, {-1, 2}};
    uint32_t side = (uint32_t)ceil(sqrt(n));
    size_t num = 0;
    for (int k = 0; k < LINKS; ++k) {
        long x = v % side + (long)step[k][0], y = v / side + (long)step[k][1];
        uint32_t to = layout == LAYOUT_RING ? (v + 1 + (uint32_t)k) % n : (uint32_t)(y * side + x);
        if (layout == LAYOUT_FIELD && (x < 0 || x >= (long)side || to >= n))
            continue;
        offset[num][0] = layout == LAYOUT_RING ? k + 1 : step[k][0];
        offset[num][1] = layout == LAYOUT_RING ? 0.0 : step[k][1];
        links[num++] = to;
    }
    return num;
}

/* The keypoints of camera v that a camera at `offset` sees too: keypoints are spread over a square
 * around each camera that is as large as the links reach and half as much again. */
static uint32_t common_keypoints(uint32_t v, const double offset[2], double reach,
                                 uint32_t out[KEYPOINTS]) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_BENCH, v, 0);
    uint32_t num = 0;
    for (uint32_t k = 0; k < KEYPOINTS; ++k) {
        double x = psfm_rng_range(&rng, -reach, reach), y = psfm_rng_range(&rng, -reach, reach);
        if (fabs(x - offset[0]) <= reach && fabs(y - offset[1]) <= reach)
            out[num++] = k;
    }
    return num;
}

/* The vertical in the frame of camera v, tilted by about `noise` rad. */
static void noisy_normal(psfm_rng *rng, uint32_t v, double noise, double out[3]) {
    psfm_rng own = psfm_rng_make(2, PSFM_RNG_BENCH, v, 0);
    double tilt[2] = {psfm_rng_range(&own, -0.5, 0.5), psfm_rng_range(&own, -0.5, 0.5)};
    out[0] = tilt[0] + noise * psfm_rng_normal(rng);
    out[1] = tilt[1] + noise * psfm_rng_normal(rng);
    out[2] = 1.0;
    psfm_normalize3(out);
}

static void set_inliers(psfm_edge_plane *plane, const uint32_t *list1, const uint32_t *list2,
                        uint32_t num) {
    plane->num_inliers = num;
    plane->keypoints1 = allocate(num, sizeof *plane->keypoints1);
    plane->keypoints2 = allocate(num, sizeof *plane->keypoints2);
    memcpy(plane->keypoints1, list1, num * sizeof *list1);
    memcpy(plane->keypoints2, list2, num * sizeof *list2);
}

/* One edge with one plane and two decompositions, the first of them chosen. A false edge has wrong
 * normals (up to about 60 degrees off). */
static void add_edge(synthetic_graph *s, psfm_rng *rng, uint32_t a, uint32_t b,
                     const double offset[2], double reach, bool is_false) {
    psfm_pose_graph *g = &s->graph;
    uint32_t e = g->num_edges++, list1[KEYPOINTS], list2[KEYPOINTS];
    double back[2] = {-offset[0], -offset[1]};
    uint32_t num1 = common_keypoints(a, offset, reach, list1);
    uint32_t num2 = common_keypoints(b, back, reach, list2);
    if (is_false) {
        num1 = num2 = FALSE_INLIERS;
        for (uint32_t k = 0; k < FALSE_INLIERS; ++k)
            list1[k] = list2[k] =
                (uint32_t)(k * KEYPOINTS / FALSE_INLIERS + psfm_rng_below(rng, 4));
    }
    s->is_false[e] = is_false;
    g->edges[e] = (psfm_edge){.node1 = a < b ? a : b,
                              .node2 = a < b ? b : a,
                              .pair = e,
                              .plane_begin = e,
                              .plane_end = e + 1,
                              .hypothesis_begin = 2 * e,
                              .hypothesis_end = 2 * e + 2};
    g->planes[e] =
        (psfm_edge_plane){.edge = e, .hypothesis_begin = 2 * e, .hypothesis_end = 2 * e + 2};
    set_inliers(&g->planes[e], a < b ? list1 : list2, a < b ? list2 : list1,
                num1 < num2 ? num1 : num2);
    for (uint32_t k = 0; k < 2; ++k) {
        psfm_hypothesis *h = &g->hypotheses[2 * e + k];
        *h = (psfm_hypothesis){.edge = e, .plane = e, .weight = k == 0 ? 1.0 : 0.0};
        psfm_mat3_identity(h->motion.R_21);
        noisy_normal(rng, g->edges[e].node1, is_false || k == 1 ? 1.0 : 0.02, h->motion.n1);
        noisy_normal(rng, g->edges[e].node2, is_false || k == 1 ? 1.0 : 0.02, h->motion.n2);
    }
    ++g->num_planes;
    g->num_hypotheses += 2;
}

/* n cameras, about 10 n edges; `false_share` of them lead to a random camera instead. Edges are
 * ordered by their lower camera. Seeds are fixed. */
static void make_synthetic_graph(psfm_context *ctx, graph_layout layout, uint32_t n,
                                 double false_share, synthetic_graph *s) {
    *s = (synthetic_graph){.graph = {.num_nodes = n}};
    size_t max_edges = (size_t)LINKS * n;
    s->graph.edges = allocate(max_edges, sizeof *s->graph.edges);
    s->graph.planes = allocate(max_edges, sizeof *s->graph.planes);
    s->graph.hypotheses = allocate(2 * max_edges, sizeof *s->graph.hypotheses);
    s->center = allocate(n, sizeof *s->center);
    s->is_false = allocate(max_edges, sizeof *s->is_false);
    uint32_t side = (uint32_t)ceil(sqrt(n));
    double reach = layout == LAYOUT_RING ? 1.5 * LINKS : 3.0;
    for (uint32_t v = 0; v < n; ++v) {
        psfm_rng rng = psfm_rng_make(3, PSFM_RNG_BENCH, v, 0);
        double angle = 6.283185307179586 * v / n, radius = n / 6.283185307179586;
        s->center[v][0] = layout == LAYOUT_RING ? radius * cos(angle) : v % side;
        s->center[v][1] = layout == LAYOUT_RING ? radius * sin(angle) : (double)(v / side);
        s->center[v][2] = psfm_rng_range(&rng, -0.3, 0.3);
        uint32_t links[LINKS];
        double offset[LINKS][2];
        size_t num = list_links(layout, n, v, links, offset);
        for (size_t k = 0; k < num; ++k) {
            bool is_false = psfm_rng_uniform(&rng) < false_share;
            uint32_t other = (v + 1 + (uint32_t)psfm_rng_below(&rng, n - 1)) % n;
            add_edge(s, &rng, v, is_false ? other : links[k], offset[k], reach, is_false);
        }
    }
    if (psfm_pose_graph_index(ctx, &s->graph) != PSFM_OK) {
        fprintf(stderr, "%s\n", psfm_context_message(ctx));
        exit(1);
    }
}

static void free_synthetic_graph(synthetic_graph *s) {
    psfm_pose_graph_free(&s->graph);
    free(s->center);
    free(s->is_false);
    *s = (synthetic_graph){0};
}

#endif
