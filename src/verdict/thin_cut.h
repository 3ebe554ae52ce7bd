/* Pairs on which a model hangs: one alone, or two, that nothing confirms and nothing contradicts.
 */
#ifndef PSFM_VERDICT_THIN_CUT_H
#define PSFM_VERDICT_THIN_CUT_H

#include "graph/pose_graph.h"
#include "scene/poses.h"

/* Counts the accepted edges between parts of a component (verdict/weak_joint.h) that, alone or with
 * one other of them, are all the edges between two sides of it. A ring of images, each matched with
 * the next one only, consists of them: two false edges that agree would turn half of it, and no
 * third one would tell. Where rejected edges cross as well, the runner-up weighs them.
 * O(edges log edges) beside the cost of the parts. */
psfm_status psfm_thin_cuts_count(psfm_context *ctx, const psfm_pose_graph *graph,
                                 const bool *accepted, const psfm_poses *poses, uint32_t component,
                                 uint32_t *count);

#endif
