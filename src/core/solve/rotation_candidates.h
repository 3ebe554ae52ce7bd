/* The candidates of the rotation consensus: every hypothesis of each edge, and the essential matrix
 * where points off the planes support it. */
#ifndef PSFM_SOLVE_ROTATION_CANDIDATES_H
#define PSFM_SOLVE_ROTATION_CANDIDATES_H

#include "core/posegraph/pose_graph.h"
#include "core/rotations/rotation_consensus.h"

/* Owns its arrays; psfm_rotation_candidates is the view of them. */
typedef struct {
    uint32_t *begin;
    double (*R_21)[9];
    double *confidence;
    double *sigma_rad;
    double *weight;
} psfm_candidate_list;

/* Lists them by edges. confidence has one entry per hypothesis; rotations are off by what noise of
 * noise_px pixels makes of them. Free `c` in any case. */
psfm_status psfm_candidate_list_make(psfm_context *ctx, const psfm_pose_graph *graph,
                                     double noise_px, const double *confidence,
                                     psfm_candidate_list *c);
void psfm_candidate_list_free(psfm_candidate_list *list);
psfm_rotation_candidates psfm_candidate_list_view(const psfm_candidate_list *list);

/* Matches that support an edge: inliers of its planes, or of its essential matrix if it has none.
 */
double psfm_edge_num_inliers(const psfm_pose_graph *graph, const psfm_edge *edge);

/* Confidence of the essential matrix as a candidate of its own: the share of its inliers that lie
 * off the planes, or all of it where there is no plane. */
double psfm_edge_essential_confidence(const psfm_edge *edge);

#endif
