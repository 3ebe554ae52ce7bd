/* Distances of cameras from physical planes, and from them the lengths of baselines. */
#ifndef PSFM_POSITIONS_PLANE_SCALE_H
#define PSFM_POSITIONS_PLANE_SCALE_H

#include "core/posegraph/plane_group.h"

/* Baseline of one edge. */
typedef struct {
    double length;            /* in the unit of its scale component; NAN if unknown */
    uint32_t scale_component; /* UINT32_MAX if unknown; 0 has the most edges */
    double distance;          /* of its first plane that shows a baseline (of its first, if none
                                 does) from camera 1, in the same unit */
} psfm_baseline;

typedef struct {
    uint32_t num_components;
    double residual; /* median |misfit| of the log-distances */
} psfm_plane_scale_stats;

/* Solves for the log-distances of all (camera, physical plane) that kept edges know, in the L1
 * sense by IRLS, one free scale per connected set of them (components by decreasing number of
 * edges). baseline has graph->num_edges entries. */
psfm_status psfm_plane_scale(psfm_context *ctx, const psfm_pose_graph *graph, const bool *keep,
                             const psfm_plane_groups *groups, int iterations,
                             psfm_baseline *baseline, psfm_plane_scale_stats *stats);

#endif
