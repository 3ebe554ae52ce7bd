/* The weakest joint of a model: where few edges hold parts together that many others contradict. */
#ifndef PSFM_VERDICT_WEAK_JOINT_H
#define PSFM_VERDICT_WEAK_JOINT_H

#include "graph/pose_graph.h"
#include "scene/poses.h"

/* Accepted edges that stand in a triangle of accepted edges confirm each other; the images that
 * they connect are a part. part[v] is its number, of all views; those outside the component are
 * alone. */
psfm_status psfm_joined_parts_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                   const bool *accepted, const psfm_poses *poses,
                                   uint32_t component, uint32_t *part);

/* Between two parts accepted and rejected edges are counted: the ratio is the largest (rejected +
 * 1/2) / (accepted + 1/2) of two parts that an accepted edge joins, 0 if the model is one part.
 * joint[v] is it for the images of the component outside its largest part, and 0 within it; those
 * of other components stay as they are. O(edges log edges) where triangles are frequent, edges
 * times degree where they are rare. */
psfm_status psfm_weak_joint_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                 const bool *accepted, const psfm_poses *poses, uint32_t component,
                                 double *joint);

#endif
