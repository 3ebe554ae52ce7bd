/* Pose graphs of cameras that see known planes, made without images: every edge has the true motion
 * of each plane it sees as its first hypothesis. */
#ifndef PSFM_TEST_PLANE_GRAPH_H
#define PSFM_TEST_PLANE_GRAPH_H

#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/posegraph/pose_graph.h"

/* A plane normal . X = distance in the world. */
typedef struct {
    double normal[3], distance;
} test_plane;

typedef struct {
    uint32_t num_nodes;
    double (*R)[9];
    double (*center)[3];
    psfm_pose_graph graph;
} plane_graph;

/* Keypoints per plane and image; keypoint ids of plane p are p * TEST_POINTS + 0, 1, ... */
enum { TEST_POINTS = 30 };

/* Cameras at random places above z = 1, looking roughly down. */
static inline plane_graph plane_graph_cameras(psfm_rng *rng, uint32_t num_nodes) {
    plane_graph g = {.num_nodes = num_nodes};
    g.R = calloc(num_nodes, sizeof *g.R);
    g.center = calloc(num_nodes, sizeof *g.center);
    for (uint32_t v = 0; v < num_nodes; ++v) {
        double w[3], turn[9], down[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1};
        for (int k = 0; k < 3; ++k) {
            g.center[v][k] = psfm_rng_range(rng, -3, 3) + (k == 2 ? 5 : 0);
            w[k] = psfm_rng_range(rng, -0.3, 0.3);
        }
        psfm_rotation_exp(w, turn);
        psfm_mat3_mul(turn, down, g.R[v]);
    }
    g.graph.num_nodes = num_nodes;
    g.graph.edges = calloc(num_nodes * num_nodes, sizeof *g.graph.edges);
    g.graph.planes = calloc(num_nodes * num_nodes * 3, sizeof *g.graph.planes);
    g.graph.hypotheses = calloc(num_nodes * num_nodes * 3, sizeof *g.graph.hypotheses);
    return g;
}

/* The true motion of an edge on a plane. */
static inline psfm_plane_motion true_motion(const plane_graph *g, uint32_t a, uint32_t b,
                                            const test_plane *plane) {
    psfm_plane_motion m;
    double d[3], d1 = psfm_dot3(plane->normal, g->center[a]) - plane->distance;
    double side = d1 > 0 ? -1 : 1; /* the normal points away from the camera */
    psfm_mat3_mul_vec(g->R[a], plane->normal, m.n1);
    psfm_scale3(side, m.n1, m.n1);
    d1 = fabs(d1);
    psfm_mat3_mul_t(g->R[b], g->R[a], m.R_21);
    psfm_sub3(g->center[a], g->center[b], d);
    psfm_mat3_mul_vec(g->R[b], d, m.t_21);
    psfm_scale3(1 / d1, m.t_21, m.t_21);
    psfm_mat3_mul_vec(m.R_21, m.n1, m.n2);
    m.d2_over_d1 = 1 + psfm_dot3(m.n2, m.t_21);
    return m;
}

/* Adds the edge (a, b), a < b, that sees the planes with the given numbers. */
static inline void plane_graph_add(plane_graph *g, uint32_t a, uint32_t b, const test_plane *planes,
                                   const int *seen, int num_seen) {
    psfm_pose_graph *p = &g->graph;
    psfm_edge *edge = &p->edges[p->num_edges];
    *edge = (psfm_edge){.node1 = a,
                        .node2 = b,
                        .plane_begin = p->num_planes,
                        .hypothesis_begin = p->num_hypotheses};
    for (int k = 0; k < num_seen; ++k) {
        psfm_edge_plane *plane = &p->planes[p->num_planes];
        plane->edge = p->num_edges;
        plane->num_inliers = TEST_POINTS;
        plane->keypoints1 = calloc(TEST_POINTS, sizeof(uint32_t));
        plane->keypoints2 = calloc(TEST_POINTS, sizeof(uint32_t));
        for (uint32_t i = 0; i < TEST_POINTS; ++i)
            plane->keypoints1[i] = plane->keypoints2[i] = (uint32_t)seen[k] * TEST_POINTS + i;
        plane->hypothesis_begin = p->num_hypotheses;
        p->hypotheses[p->num_hypotheses++] =
            (psfm_hypothesis){.edge = p->num_edges,
                              .plane = p->num_planes,
                              .motion = true_motion(g, a, b, &planes[seen[k]]),
                              .weight = 1.0};
        plane->hypothesis_end = p->num_hypotheses;
        ++p->num_planes;
    }
    edge->plane_end = p->num_planes;
    edge->hypothesis_end = p->num_hypotheses;
    ++p->num_edges;
}

static inline void plane_graph_free(plane_graph *g) {
    psfm_pose_graph_free(&g->graph);
    free(g->R);
    free(g->center);
}

#endif
