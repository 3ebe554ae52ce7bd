/* Absolute rotations. */
#ifndef PSFM_ROTATIONS_ROTATION_H
#define PSFM_ROTATIONS_ROTATION_H

#include "core/posegraph/consolidate.h"
#include "core/posegraph/min_range_tree.h"
#include "core/posegraph/topology.h"

/* Propagates along the edges of the tree from `root` (identity). cam_from_world is num_nodes x 9;
 * nodes not reached are left untouched and reached[v] is false. */
psfm_status psfm_rotations_propagate(psfm_context *ctx, const psfm_topology *topology,
                                     const psfm_relative_pose *poses,
                                     const psfm_spanning_tree *tree, uint32_t root,
                                     double (*cam_from_world)[9], bool *reached);

#endif
