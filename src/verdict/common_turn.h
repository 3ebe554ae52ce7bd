/* Rejected edges that agree among themselves: on one turn of the world, as edges to a twin do. */
#ifndef PSFM_VERDICT_COMMON_TURN_H
#define PSFM_VERDICT_COMMON_TURN_H

#include "graph/pose_graph.h"
#include "scene/poses.h"

/* The largest share of the edges between images of a component that are not accepted and ask for
 * one and the same turn, to agreement_deg; each counts by its credit (graph/absence.h). Single
 * edges agree with nobody: 0. Where more than a few hundred were rejected, a sample of them is
 * compared. */
psfm_status psfm_common_turn_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                  const bool *accepted, const psfm_poses *poses, uint32_t component,
                                  double agreement_deg, double *share);

#endif
