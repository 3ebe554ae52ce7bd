/* The published method from a weighted pose graph to poses: the skeleton, then bi-connected
 * extension and LUD. */
#ifndef PSFM_ENGINE_PAPER_H
#define PSFM_ENGINE_PAPER_H

#include "engine/skeleton.h"

/* Positions on top of psfm_skeleton_rotations: bi-connected extension and LUD. */
psfm_status psfm_paper_positions(psfm_context *ctx, const psfm_skeleton_options *options,
                                 const psfm_pose_graph *graph, psfm_timings *timings,
                                 psfm_pose_solution *solution);

#endif
