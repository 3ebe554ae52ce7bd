/* The pose multigraph, built from two-view results.
 *
 * Each pair with at least one homography that shows parallax becomes an edge; each such homography
 * becomes a plane of the edge, with the keypoints of either image that are its inliers; each of
 * its decompositions becomes a hypothesis. A homography of a pure rotation has no plane, so it
 * gives nothing, and neither does a pair that has no other. On request two more kinds of pairs
 * become edges: one with an essential matrix of points off any plane, and one without any parallax,
 * whose homographies stay as planes without a normal (core/posegraph/rotation_edges.h gives them
 * one). Order is kept throughout: edges by pair, planes by homography, hypotheses by decomposition,
 * so that everything of an edge is one range.
 *
 * The same normal has different coordinates in the two cameras (n2 = R_21 n1); whoever compares
 * normals of two edges does so in the camera they share, through psfm_hypothesis_normal. */
#include "core/posegraph/pose_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/base/union_find.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/vec3.h"
#include "core/twoview/motion_sigma.h"

/* Whether a pair has an essential matrix worth an edge without a homography. */
static bool has_own_essential(const psfm_two_view *view) {
    return view->essential.found && !view->essential.is_degenerate;
}

/* Whether a pair shows a rotation and nothing else. */
static bool is_rotation(const psfm_two_view *view) {
    return view->kind == PSFM_PAIR_ROTATION && !has_own_essential(view);
}

/* Whether a homography becomes a plane of its edge. */
static bool is_usable(const psfm_homography *h, bool edge_is_rotation) {
    return h->is_rotation == edge_is_rotation && h->num_motions > 0;
}

static psfm_status check_homography(psfm_context *ctx, const psfm_match_pair *pair,
                                    const psfm_homography *h) {
    for (size_t k = 0; k < h->num_inliers; ++k)
        if (h->inliers[k] >= pair->num_matches)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "pair of views %u and %u: inlier %u of a homography is not one of its "
                             "%zu matches",
                             pair->view1, pair->view2, h->inliers[k], pair->num_matches);
    for (int m = 0; m < h->num_motions; ++m) {
        const psfm_plane_motion *motion = &h->motions[m];
        if (!psfm_all_finite(motion->R_21, 9) || !psfm_all_finite(motion->t_21, 3) ||
            !psfm_all_finite(motion->n1, 3) || !psfm_all_finite(motion->n2, 3))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "pair of views %u and %u: a homography's motion is not finite",
                             pair->view1, pair->view2);
    }
    return PSFM_OK;
}

/* Checks everything that will be used, and counts it. */
static psfm_status count_all(psfm_context *ctx, const psfm_match_set *set,
                             const psfm_two_view *two_views, bool all_edges, size_t count[3]) {
    memset(count, 0, 3 * sizeof *count);
    for (size_t p = 0; p < set->num_pairs; ++p) {
        bool rotates = all_edges && is_rotation(&two_views[p]);
        size_t planes = 0;
        for (size_t k = 0; k < two_views[p].num_homographies; ++k) {
            const psfm_homography *h = &two_views[p].homographies[k];
            if (!is_usable(h, rotates))
                continue;
            psfm_status status = check_homography(ctx, &set->pairs[p], h);
            if (status != PSFM_OK)
                return status;
            ++planes;
            count[2] += (size_t)h->num_motions;
        }
        count[1] += planes;
        count[0] += planes > 0 || (all_edges && has_own_essential(&two_views[p]));
    }
    if (set->num_views >= UINT32_MAX || set->num_pairs >= UINT32_MAX || count[1] >= UINT32_MAX ||
        count[2] >= UINT32_MAX)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "too many views or pairs for a pose graph");
    return PSFM_OK;
}

static void add_plane(psfm_pose_graph *graph, const psfm_homography *h) {
    uint32_t e = graph->num_edges;
    uint32_t plane_idx = graph->num_planes++;
    psfm_edge_plane *plane = &graph->planes[plane_idx];
    plane->edge = e;
    plane->num_inliers = (uint32_t)h->num_inliers;
    plane->rms_px = h->rms_px;
    plane->hypothesis_begin = graph->num_hypotheses;
    for (int m = 0; m < h->num_motions; ++m)
        graph->hypotheses[graph->num_hypotheses++] =
            (psfm_hypothesis){.edge = e, .plane = plane_idx, .motion = h->motions[m]};
    plane->hypothesis_end = graph->num_hypotheses;
}

/* Adds the pair's edge if it has evidence for one. */
static void add_edge(psfm_pose_graph *graph, const psfm_match_pair *pair, uint32_t pair_idx,
                     const psfm_two_view *view, bool all_edges) {
    bool rotates = all_edges && is_rotation(view);
    psfm_edge edge = {.node1 = pair->view1,
                      .node2 = pair->view2,
                      .pair = pair_idx,
                      .plane_begin = graph->num_planes,
                      .hypothesis_begin = graph->num_hypotheses,
                      .is_rotation = rotates,
                      .has_essential = view->essential.found && !rotates};
    for (size_t k = 0; k < view->num_homographies; ++k)
        if (is_usable(&view->homographies[k], rotates))
            add_plane(graph, &view->homographies[k]);
    if (graph->num_planes == edge.plane_begin && !(all_edges && has_own_essential(view)))
        return;
    edge.plane_end = graph->num_planes;
    edge.hypothesis_end = graph->num_hypotheses;
    if (edge.has_essential) {
        memcpy(edge.essential_R_21, view->essential.R_21, sizeof edge.essential_R_21);
        memcpy(edge.essential_t_21, view->essential.t_21, sizeof edge.essential_t_21);
        edge.essential_plane_share = view->essential.plane_share;
        edge.essential_inliers = (uint32_t)view->essential.num_inliers;
    }
    for (uint32_t h = edge.hypothesis_begin; h < edge.hypothesis_end; ++h)
        graph->hypotheses[h].weight = 1.0 / (edge.hypothesis_end - edge.hypothesis_begin);
    graph->edges[graph->num_edges++] = edge;
}

/* The keypoints of one side, ascending; matches are mostly sorted by the first already. */
static psfm_status copy_keypoints(psfm_context *ctx, const psfm_match_pair *pair,
                                  const psfm_homography *h, int side, uint32_t **out) {
    uint32_t *keypoints;
    psfm_status status = PSFM_ALLOC(ctx, h->num_inliers, &keypoints);
    if (status != PSFM_OK)
        return status;
    bool sorted = true;
    for (size_t k = 0; k < h->num_inliers; ++k) {
        keypoints[k] = pair->matches[h->inliers[k]][side];
        sorted = sorted && (k == 0 || keypoints[k - 1] <= keypoints[k]);
    }
    if (!sorted)
        qsort(keypoints, h->num_inliers, sizeof *keypoints, psfm_compare_u32);
    *out = keypoints;
    return PSFM_OK;
}

/* The partners of the first image's keypoints, which no two matches share. */
static psfm_status copy_partners(psfm_context *ctx, const psfm_match_pair *pair,
                                 const psfm_homography *h, psfm_edge_plane *plane) {
    psfm_status status = PSFM_ALLOC(ctx, h->num_inliers, &plane->partner);
    for (size_t k = 0; status == PSFM_OK && k < h->num_inliers; ++k) {
        const uint32_t *match = pair->matches[h->inliers[k]];
        const uint32_t *at = bsearch(&match[0], plane->keypoints1, h->num_inliers,
                                     sizeof *plane->keypoints1, psfm_compare_u32);
        plane->partner[at - plane->keypoints1] = match[1];
    }
    return status;
}

typedef struct {
    const psfm_match_set *set;
    const psfm_two_view *two_views;
    psfm_pose_graph *graph;
} builder;

/* The slack of an edge is that of its last homography, which has fewest inliers. */
static double weigh_rotation(const psfm_motion_support *support, const psfm_plane_motion *motion,
                             psfm_edge *edge) {
    if (!edge->is_rotation)
        return psfm_plane_motion_sigma(support, motion);
    return psfm_rotation_sigma(support, motion->R_21, &edge->slack, edge->ahead);
}

/* The standard deviations of the rotations of an edge. */
static void weigh_rotations(const builder *b, psfm_edge *edge) {
    const psfm_match_pair *pair = &b->set->pairs[edge->pair];
    const psfm_two_view *view = &b->two_views[edge->pair];
    psfm_motion_support support = {.view1 = &b->set->views[pair->view1],
                                   .view2 = &b->set->views[pair->view2],
                                   .matches = (const uint32_t(*)[2])pair->matches};
    uint32_t next = edge->hypothesis_begin;
    if (support.view1->rays == NULL || support.view2->rays == NULL)
        return;
    for (size_t k = 0; k < view->num_homographies; ++k) {
        const psfm_homography *h = &view->homographies[k];
        support.inliers = h->inliers;
        support.num_inliers = h->num_inliers;
        for (int m = 0; is_usable(h, edge->is_rotation) && m < h->num_motions; ++m)
            b->graph->hypotheses[next++].sigma_rad = weigh_rotation(&support, &h->motions[m], edge);
    }
    support.inliers = view->essential.inliers;
    support.num_inliers = view->essential.num_inliers;
    if (edge->has_essential)
        edge->essential_sigma_rad =
            psfm_essential_sigma(&support, edge->essential_R_21, edge->essential_t_21);
}

static psfm_status fill_edge(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const builder *b = user;
    psfm_edge *edge = &b->graph->edges[index];
    const psfm_match_pair *pair = &b->set->pairs[edge->pair];
    const psfm_two_view *view = &b->two_views[edge->pair];
    uint32_t p = edge->plane_begin;
    weigh_rotations(b, edge);
    for (size_t k = 0; k < view->num_homographies; ++k) {
        const psfm_homography *h = &view->homographies[k];
        if (!is_usable(h, edge->is_rotation))
            continue;
        psfm_edge_plane *plane = &b->graph->planes[p++];
        psfm_status status = copy_keypoints(ctx, pair, h, 0, &plane->keypoints1);
        if (status == PSFM_OK)
            status = copy_keypoints(ctx, pair, h, 1, &plane->keypoints2);
        if (status == PSFM_OK && edge->is_rotation)
            status = copy_partners(ctx, pair, h, plane);
        if (status != PSFM_OK)
            return status;
    }
    return PSFM_OK;
}

psfm_status psfm_pose_graph_build(psfm_context *ctx, const psfm_match_set *set,
                                  const psfm_two_view *two_views, bool all_edges,
                                  psfm_pose_graph *graph) {
    size_t count[3]; /* edges, planes, hypotheses */
    *graph = (psfm_pose_graph){0};
    psfm_status status = count_all(ctx, set, two_views, all_edges, count);
    if (status != PSFM_OK)
        return status;
    if ((status = PSFM_ALLOC(ctx, count[0], &graph->edges)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, count[1], &graph->planes)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, count[2], &graph->hypotheses)) != PSFM_OK)
        goto cleanup;
    graph->num_nodes = (uint32_t)set->num_views;
    for (size_t p = 0; p < set->num_pairs; ++p)
        add_edge(graph, &set->pairs[p], (uint32_t)p, &two_views[p], all_edges);
    builder b = {set, two_views, graph};
    status = psfm_parallel_for(ctx, NULL, graph->num_edges, fill_edge, &b);
    if (status == PSFM_OK)
        status = psfm_pose_graph_index(ctx, graph);

cleanup:
    if (status != PSFM_OK)
        psfm_pose_graph_free(graph);
    return status;
}

psfm_status psfm_pose_graph_index(psfm_context *ctx, psfm_pose_graph *graph) {
    uint32_t n = graph->num_nodes;
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        if (graph->edges[e].node1 >= graph->edges[e].node2 || graph->edges[e].node2 >= n)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "edge %u of the pose graph joins nodes %u and %u, not two in "
                             "ascending order of %u",
                             e, graph->edges[e].node1, graph->edges[e].node2, n);
    if (graph->num_edges > UINT32_MAX / 2)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "too many edges in a pose graph");
    uint32_t m = graph->num_edges, *ends = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 2 * (size_t)m, &ends);
    if (status != PSFM_OK)
        return status;
    for (uint32_t e = 0; e < m; ++e) {
        ends[e] = graph->edges[e].node1;
        ends[m + e] = graph->edges[e].node2;
    }
    psfm_topology topology = {n, m, ends, ends + m};
    psfm_adjacency incident;
    status = psfm_adjacency_init(ctx, &topology, NULL, m, &incident);
    free(ends);
    if (status != PSFM_OK)
        return status;
    psfm_adjacency_free(&graph->incident);
    graph->incident = incident;
    return PSFM_OK;
}

void psfm_pose_graph_free(psfm_pose_graph *graph) {
    for (uint32_t p = 0; p < graph->num_planes; ++p) {
        free(graph->planes[p].keypoints1);
        free(graph->planes[p].keypoints2);
        free(graph->planes[p].partner);
    }
    free(graph->edges);
    free(graph->planes);
    free(graph->hypotheses);
    psfm_adjacency_free(&graph->incident);
    *graph = (psfm_pose_graph){0};
}

const double *psfm_hypothesis_normal(const psfm_pose_graph *graph, const psfm_hypothesis *h,
                                     uint32_t node) {
    return graph->edges[h->edge].node1 == node ? h->motion.n1 : h->motion.n2;
}

psfm_status psfm_pose_graph_components(psfm_context *ctx, const psfm_pose_graph *graph,
                                       const bool *keep, uint32_t *label, uint32_t *num) {
    uint32_t *parent;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &parent);
    if (status != PSFM_OK)
        return status;
    psfm_sets_init(parent, graph->num_nodes);
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        if (keep == NULL || keep[e])
            psfm_sets_unite(parent, graph->edges[e].node1, graph->edges[e].node2);
    status = psfm_sets_label(ctx, parent, graph->num_nodes, label, num);
    free(parent);
    return status;
}
