/* Edges whose images show a rotation and no baseline. */
#ifndef PSFM_POSEGRAPH_ROTATION_EDGES_H
#define PSFM_POSEGRAPH_ROTATION_EDGES_H

#include "core/posegraph/plane_group.h"

/* A rotation is fitted as if there were no baseline, and a camera that slides sideways seems to
 * turn: off by little, but along a slow walk always to the same side. So rotations count this much
 * beside edges that show parallax, where rotations, distances and centres are solved for: they
 * decide what nothing else does. */
#define PSFM_ROTATION_WEIGHT 1e-3

/* Makes planes of what kept edges that are rotations (keep: num_edges) show: each takes the normal
 * of a plane of another edge that it shares min_overlap or more keypoints of a camera with, the one
 * with most, and of its inliers only those that are on it are left. What shares none keeps the
 * normal 0. Afterwards such a plane says that its distance is the same from both cameras, and
 * physical planes go on across it (psfm_plane_groups_find). */
psfm_status psfm_rotation_edges_find_planes(psfm_context *ctx, const bool *keep,
                                            uint32_t min_overlap, psfm_pose_graph *graph);

/* Puts nodes in one place that nothing but rotations connects: label[v] is the lowest node of its
 * place. keep (num_edges, or NULL for all) selects the edges that count. Nodes that others connect
 * are never in one place, however many rotations lead from one to the other. O(edges). */
psfm_status psfm_rotation_edges_join(psfm_context *ctx, const psfm_pose_graph *graph,
                                     const bool *keep, uint32_t *label);

#endif
