/* The candidates of the rotation consensus: every hypothesis of each edge, and the essential matrix
 * where points off the planes support it. */
#ifndef PSFM_ENGINE_ROTATION_CANDIDATES_H
#define PSFM_ENGINE_ROTATION_CANDIDATES_H

#include "graph/pose_graph.h"
#include "pose/rotation_consensus.h"

/* Owns its arrays; psfm_rotation_candidates is the view of them. */
typedef struct {
    uint32_t *begin;
    double (*R_21)[9];
    double *confidence;
    double *sigma_rad;
    double *weight;
} psfm_candidate_list;

/* Lists them by edges. confidence has one entry per hypothesis. An edge weighs (its inliers / the
 * median) to inlier_power; rotations are off by what noise_px makes of them; an essential matrix
 * with full_off_plane inliers off the planes counts fully. Free `out` in any case. */
psfm_status psfm_candidate_list_make(psfm_context *ctx, const psfm_pose_graph *graph,
                                     double inlier_power, int full_off_plane, double noise_px,
                                     const double *confidence, psfm_candidate_list *c);
void psfm_candidate_list_free(psfm_candidate_list *list);
psfm_rotation_candidates psfm_candidate_list_view(const psfm_candidate_list *list);

/* Matches that support an edge: inliers of its planes, or of its essential matrix if it has none.
 */
double psfm_edge_num_inliers(const psfm_pose_graph *graph, const psfm_edge *edge);

/* Confidence of the essential matrix as a candidate of its own: the share of its inliers that lie
 * off the planes, or all of it where there is no plane. */
double psfm_edge_essential_confidence(const psfm_edge *edge, int full_off_plane);

#endif
