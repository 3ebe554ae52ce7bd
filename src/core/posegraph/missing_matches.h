/* Matches that should be seen and are not. */
#ifndef PSFM_POSEGRAPH_MISSING_MATCHES_H
#define PSFM_POSEGRAPH_MISSING_MATCHES_H

#include "core/posegraph/pose_graph.h"

/* Fills `missing_share` of all edges: the share of what the two images should have in common, if a
 * motion of the edge is right, that they were not found to have in common; 0 where there is nothing
 * to go by. Parallel; O(edges * keypoints). */
psfm_status psfm_edges_find_missing(psfm_context *ctx, const psfm_match_set *set,
                                    const psfm_two_view *two_views, psfm_pose_graph *graph);

/* The weight of an edge by its missing matches, 0 to 1: the fourth power of 1 - missing_share. */
double psfm_edge_missing_weight(const psfm_edge *edge);

#endif
