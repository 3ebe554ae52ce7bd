/* Matches that should be seen and are not. */
#ifndef PSFM_GRAPH_ABSENCE_H
#define PSFM_GRAPH_ABSENCE_H

#include "graph/pose_graph.h"

/* Fills `absence` of all edges: the share of what the two images should have in common, if a motion
 * of the edge is right, that they were not found to have in common; 0 where there is nothing to go
 * by. Parallel; O(edges * keypoints). */
psfm_status psfm_edges_find_absence(psfm_context *ctx, const psfm_match_set *set,
                                    const psfm_two_view *two_views, psfm_pose_graph *graph);

#define PSFM_ABSENCE_POWER 4.0

/* What an edge is worth as a witness, 0 to 1: (1 - absence) to a power. */
double psfm_edge_credit(const psfm_edge *edge, double power);

#endif
