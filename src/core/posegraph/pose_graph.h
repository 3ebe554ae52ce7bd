/* The pose multigraph. Nodes are images; an edge joins two images that share at least one
 * homography and carries every hypothesis about their relative pose, each with its evidence.
 * Choosing among hypotheses is a step of its own (core/posegraph/confidence.h): it only sets
 * weights, so that nothing is lost and other choices can be tried on the same graph. */
#ifndef PSFM_POSEGRAPH_POSE_GRAPH_H
#define PSFM_POSEGRAPH_POSE_GRAPH_H

#include "core/matches/match_set.h"
#include "core/posegraph/topology.h"
#include "core/twoview/two_view.h"

/* One (homography, decomposition) of an edge. */
typedef struct {
    uint32_t edge;  /* index of its edge */
    uint32_t plane; /* index into planes: the homography it comes from */
    psfm_plane_motion motion;
    double sigma_rad; /* of its rotation, for noise of one pixel (core/twoview/motion_sigma.h); 0 if
                         the views have no rays */
    double weight;    /* confidence w >= 0 given by the choice; 0 = not chosen */
} psfm_hypothesis;

/* One homography of an edge: the keypoints of either image that are its inliers. Those of an edge
 * that is a rotation are of all it shows, until core/posegraph/rotation_edges.h finds a plane in
 * it. */
typedef struct {
    uint32_t edge;
    uint32_t num_inliers;
    uint32_t *keypoints1, *keypoints2; /* ascending each on its own (not paired); owned */
    uint32_t *partner; /* of a rotation: what each of keypoints1 was matched to; owned */
    uint32_t hypothesis_begin, hypothesis_end;
    double rms_px;
} psfm_edge_plane;

typedef struct {
    uint32_t node1, node2; /* node1 < node2: dense view indices */
    uint32_t pair;         /* index of the pair in the match set */
    uint32_t plane_begin, plane_end;
    uint32_t hypothesis_begin, hypothesis_end; /* of all its planes */
    bool is_rotation; /* its images show no parallax: t = 0, and it has no essential matrix */
    double slack;     /* of a rotation: how far the centres may be apart for noise of one pixel, in
                         distances of what the images show, */
    double ahead[3];  /* which is in this direction from camera 1 */
    bool has_essential;
    double essential_R_21[9];
    double essential_t_21[3];
    double essential_sigma_rad; /* of its rotation, for noise of one pixel */
    double essential_plane_share;
    uint32_t essential_inliers;
    double missing_share; /* share of what its images should share that they do not
                       (core/posegraph/missing_matches.h) */
} psfm_edge;

static inline uint32_t psfm_edge_other(const psfm_edge *edge, uint32_t node) {
    return edge->node1 == node ? edge->node2 : edge->node1;
}

typedef struct {
    uint32_t num_nodes;
    psfm_edge *edges;
    uint32_t num_edges;
    psfm_edge_plane *planes;
    uint32_t num_planes;
    psfm_hypothesis *hypotheses;
    uint32_t num_hypotheses;
    psfm_adjacency incident; /* edges at each node, ascending */
} psfm_pose_graph;

/* Builds the graph from verified pairs (two_views has set->num_pairs entries). Purely rotational
 * homographies give nothing, and a pair without another one no edge, unless all_edges is set: then
 * a pair with an essential matrix that no plane decided gives an edge without hypotheses, and a
 * pair that shows a rotation alone gives an edge that is one. The hypotheses of an edge start with
 * equal weights that sum to 1. */
psfm_status psfm_pose_graph_build(psfm_context *ctx, const psfm_match_set *set,
                                  const psfm_two_view *two_views, bool all_edges,
                                  psfm_pose_graph *graph);

/* Fills incident lists from edges; for graphs made by other means (tests, benchmarks). */
psfm_status psfm_pose_graph_index(psfm_context *ctx, psfm_pose_graph *graph);

void psfm_pose_graph_free(psfm_pose_graph *graph);

/* Normal of a hypothesis in the frame of `node`, an end of its edge. */
const double *psfm_hypothesis_normal(const psfm_pose_graph *graph, const psfm_hypothesis *h,
                                     uint32_t node);

/* Connected components: label[v] in [0, *num), by decreasing size, ties by lowest node. Nodes
 * without edges are components of one. label has num_nodes entries. `keep` (num_edges, or NULL
 * for all) selects the edges that count. */
psfm_status psfm_pose_graph_components(psfm_context *ctx, const psfm_pose_graph *graph,
                                       const bool *keep, uint32_t *label, uint32_t *num);

#endif
