/* The front of planarsfm/posegraph.h: a pose graph that grows edge by edge.
 *
 * Hypotheses of one edge and one homography are neighbours in the arrays of psfm_pose_graph, so
 * homographies go to the edge that was added last. The lists of edges at each image are made anew
 * when they are asked for. */
#include "planarsfm/posegraph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/public_input.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/posegraph/confidence.h"
#include "core/posegraph/consolidate.h"
#include "core/posegraph/pose_graph.h"
#include "core/posegraph/similarity.h"

struct psfm_multigraph {
    psfm_pose_graph graph;
    size_t edge_capacity, plane_capacity, hypothesis_capacity;
};

psfm_multigraph *psfm_multigraph_create(uint32_t num_images) {
    psfm_multigraph *made = calloc(1, sizeof *made);
    if (made != NULL)
        made->graph.num_nodes = num_images;
    return made;
}

void psfm_multigraph_destroy(psfm_multigraph **graph) {
    if (graph == NULL || *graph == NULL)
        return;
    psfm_pose_graph_free(&(*graph)->graph);
    free(*graph);
    *graph = NULL;
}

/* ---- growing ---- */

static psfm_status check_edge(psfm_context *ctx, const psfm_pose_graph *graph, uint32_t image1,
                              uint32_t image2, const double *R_21) {
    if (image1 >= image2 || image2 >= graph->num_nodes)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "images %u and %u of %u: the first must be the lower one", image1, image2,
                         graph->num_nodes);
    if (graph->num_edges == UINT32_MAX)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "too many edges");
    return R_21 == NULL ? PSFM_OK : psfm_require_finite(ctx, R_21, 9, "R_21");
}

psfm_status psfm_multigraph_add_edge(psfm_context *ctx, psfm_multigraph *graph, uint32_t image1,
                                     uint32_t image2, const double *R_21) {
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, graph)))
        return status;
    psfm_pose_graph *g = &graph->graph;
    if ((status = check_edge(ctx, g, image1, image2, R_21)) ||
        (status = PSFM_RESERVE(ctx, &g->edges, &graph->edge_capacity, (size_t)g->num_edges + 1)))
        return status;
    psfm_edge *edge = &g->edges[g->num_edges++];
    *edge = (psfm_edge){.node1 = image1,
                        .node2 = image2,
                        .pair = g->num_edges - 1,
                        .plane_begin = g->num_planes,
                        .plane_end = g->num_planes,
                        .hypothesis_begin = g->num_hypotheses,
                        .hypothesis_end = g->num_hypotheses,
                        .has_essential = R_21 != NULL};
    if (R_21 != NULL)
        memcpy(edge->essential_R_21, R_21, sizeof edge->essential_R_21);
    return PSFM_OK;
}

static psfm_status check_homography(psfm_context *ctx, const psfm_pose_graph *graph,
                                    size_t num_motions, const psfm_plane_motion *motions,
                                    size_t num_inliers, const uint32_t *keypoints) {
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, motions)) || (status = PSFM_REQUIRE(ctx, keypoints)))
        return status;
    if (graph->num_edges == 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "there is no edge yet to add a homography to");
    if (num_motions < 1 || num_motions > 2 || num_inliers < 1 || num_inliers > UINT32_MAX ||
        graph->num_hypotheses > UINT32_MAX - 2)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "a homography with %zu motions and %zu inliers: 1 or 2, and 1 at least",
                         num_motions, num_inliers);
    for (size_t k = 0; status == PSFM_OK && k < num_motions; ++k)
        if ((status = psfm_require_finite(ctx, motions[k].R_21, 9, "R_21")) ||
            (status = psfm_require_finite(ctx, motions[k].t_21, 3, "t_21")) ||
            (status = psfm_require_finite(ctx, motions[k].n1, 3, "n1")) ||
            (status = psfm_require_finite(ctx, motions[k].n2, 3, "n2")))
            return status;
    return status;
}

/* Keypoints of one side, ascending. */
static psfm_status copy_keypoints(psfm_context *ctx, size_t num, const uint32_t *keypoints,
                                  size_t side, uint32_t **out) {
    psfm_status status = PSFM_ALLOC(ctx, num, out);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        (*out)[k] = keypoints[2 * k + side];
    if (status == PSFM_OK)
        qsort(*out, num, sizeof **out, psfm_compare_u32);
    return status;
}

static void spread_weight(psfm_pose_graph *graph, const psfm_edge *edge) {
    for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
        graph->hypotheses[h].weight = 1.0 / (edge->hypothesis_end - edge->hypothesis_begin);
}

psfm_status psfm_multigraph_add_homography(psfm_context *ctx, psfm_multigraph *graph,
                                           size_t num_motions, const psfm_plane_motion *motions,
                                           size_t num_inliers, const uint32_t *keypoints) {
    psfm_edge_plane plane = {0};
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, graph)))
        return status;
    psfm_pose_graph *g = &graph->graph;
    if ((status = check_homography(ctx, g, num_motions, motions, num_inliers, keypoints)) ||
        (status = PSFM_RESERVE(ctx, &g->planes, &graph->plane_capacity, g->num_planes + 1U)) ||
        (status = PSFM_RESERVE(ctx, &g->hypotheses, &graph->hypothesis_capacity,
                               g->num_hypotheses + num_motions)) ||
        (status = copy_keypoints(ctx, num_inliers, keypoints, 0, &plane.keypoints1)) ||
        (status = copy_keypoints(ctx, num_inliers, keypoints, 1, &plane.keypoints2))) {
        free(plane.keypoints1);
        return status;
    }
    psfm_edge *edge = &g->edges[g->num_edges - 1];
    plane.edge = g->num_edges - 1;
    plane.num_inliers = (uint32_t)num_inliers;
    plane.hypothesis_begin = g->num_hypotheses;
    for (size_t k = 0; k < num_motions; ++k)
        g->hypotheses[g->num_hypotheses++] =
            (psfm_hypothesis){.edge = plane.edge, .plane = g->num_planes, .motion = motions[k]};
    plane.hypothesis_end = edge->hypothesis_end = g->num_hypotheses;
    g->planes[g->num_planes++] = plane;
    edge->plane_end = g->num_planes;
    spread_weight(g, edge);
    return PSFM_OK;
}

/* ---- looking ---- */

uint32_t psfm_multigraph_num_edges(const psfm_multigraph *graph) {
    return graph == NULL ? 0 : graph->graph.num_edges;
}

uint32_t psfm_multigraph_num_hypotheses(const psfm_multigraph *graph) {
    return graph == NULL ? 0 : graph->graph.num_hypotheses;
}

psfm_status psfm_multigraph_edges(psfm_context *ctx, const psfm_multigraph *graph,
                                  uint32_t *edges) {
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, graph)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, edges, graph->graph.num_edges)))
        return status;
    for (size_t e = 0; e < graph->graph.num_edges; ++e) {
        edges[2 * e] = graph->graph.edges[e].node1;
        edges[2 * e + 1] = graph->graph.edges[e].node2;
    }
    return PSFM_OK;
}

psfm_status psfm_multigraph_hypotheses(psfm_context *ctx, const psfm_multigraph *graph,
                                       uint32_t *edge, uint32_t *homography,
                                       psfm_plane_motion *motion, double *weight) {
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, graph)))
        return status;
    for (size_t k = 0; k < graph->graph.num_hypotheses; ++k) {
        const psfm_hypothesis *h = &graph->graph.hypotheses[k];
        if (edge != NULL)
            edge[k] = h->edge;
        if (homography != NULL)
            homography[k] = h->plane - graph->graph.edges[h->edge].plane_begin;
        if (motion != NULL)
            motion[k] = h->motion;
        if (weight != NULL)
            weight[k] = h->weight;
    }
    return PSFM_OK;
}

psfm_status psfm_multigraph_set_weights(psfm_context *ctx, psfm_multigraph *graph,
                                        const double *weight) {
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, graph)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, weight, graph->graph.num_hypotheses)) ||
        (status = psfm_require_finite(ctx, weight, graph->graph.num_hypotheses, "weight")))
        return status;
    for (uint32_t k = 0; k < graph->graph.num_hypotheses; ++k)
        if (weight[k] < 0.0)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "hypothesis %u has weight %g", k, weight[k]);
    for (uint32_t k = 0; k < graph->graph.num_hypotheses; ++k)
        graph->graph.hypotheses[k].weight = weight[k];
    return PSFM_OK;
}

/* ---- what is computed on it ---- */

/* A default, or a value; a negative one stands for none. */
static double take_or_none(double value, double fallback) {
    return value < 0.0 ? 0.0 : psfm_value_or(value, fallback);
}

psfm_status psfm_confidence(psfm_context *ctx, psfm_multigraph *graph,
                            const psfm_confidence_options *options) {
    psfm_confidence_options known;
    psfm_essential_weight_options o;
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, graph)) ||
        (status = psfm_take_input(ctx, options, &known, sizeof known)))
        return status;
    psfm_options_init(&psfm_essential_weight_option_table, &o);
    o.rotation_bandwidth_deg =
        psfm_value_or(known.rotation_bandwidth_deg, o.rotation_bandwidth_deg);
    o.floor = psfm_value_or(known.floor, o.floor);
    o.inlier_power = take_or_none(known.inlier_power, o.inlier_power);
    status = psfm_options_check(ctx, &psfm_essential_weight_option_table, &o);
    return status == PSFM_OK ? psfm_weigh_by_essential(ctx, &o, &graph->graph) : status;
}

psfm_status psfm_similarity(psfm_context *ctx, const psfm_multigraph *graph,
                            const psfm_similarity_settings *options, psfm_csr *S) {
    psfm_similarity_settings known;
    psfm_similarity_options o;
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, graph)) ||
        (status = PSFM_REQUIRE(ctx, S)) ||
        (status = psfm_take_input(ctx, options, &known, sizeof known)))
        return status;
    psfm_options_init_paper(&psfm_similarity_option_table, &o);
    o.normal_bandwidth_rad = psfm_value_or(known.normal_bandwidth_rad, o.normal_bandwidth_rad);
    o.self = take_or_none(known.self, o.self);
    o.floor = take_or_none(known.floor, o.floor);
    psfm_pose_graph indexed = graph->graph; /* the caller's graph stays as it is */
    indexed.incident = (psfm_adjacency){0};
    status = psfm_pose_graph_index(ctx, &indexed);
    if (status == PSFM_OK)
        status = psfm_similarity_build(ctx, &indexed, &o, S);
    psfm_adjacency_free(&indexed.incident);
    return status;
}

psfm_status psfm_relative_poses(psfm_context *ctx, const psfm_multigraph *graph, double *R_21,
                                double *t_21) {
    psfm_relative_pose *poses = NULL;
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, graph)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, R_21, graph->graph.num_edges)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, t_21, graph->graph.num_edges)) ||
        (status = PSFM_ALLOC(ctx, graph->graph.num_edges, &poses)))
        return status;
    status = psfm_consolidate(ctx, &graph->graph, poses);
    for (size_t e = 0; status == PSFM_OK && e < graph->graph.num_edges; ++e) {
        memcpy(R_21 + 9 * e, poses[e].R_21, sizeof poses[e].R_21);
        memcpy(t_21 + 3 * e, poses[e].t_21, sizeof poses[e].t_21);
    }
    free(poses);
    return status;
}
