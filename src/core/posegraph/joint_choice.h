/* Joint choice among the hypotheses of all edges, without an essential matrix.
 *
 * A false decomposition's normal depends on the baseline, so it differs from edge to edge, while
 * the true normal of a plane is the same in a shared camera whatever the other camera is. */
#ifndef PSFM_POSEGRAPH_JOINT_CHOICE_H
#define PSFM_POSEGRAPH_JOINT_CHOICE_H

#include "core/posegraph/pose_graph.h"

/* Inliers off the planes from which an essential matrix counts in full; it counts in proportion. */
enum { PSFM_FULL_OFF_PLANE = 30 };

/* Sets the weight of every hypothesis to its posterior confidence times the share that its plane
 * has of the edge's inliers; the weights of an edge sum to 1. confidence (num_hypotheses, may be
 * NULL) receives the posterior alone: those of one plane sum to 1. Deterministic, parallel over
 * planes. Cost: like psfm_similarity_build, plus O(iterations * links). */
psfm_status psfm_joint_choice(psfm_context *ctx, psfm_pose_graph *graph, double *confidence);

#endif
