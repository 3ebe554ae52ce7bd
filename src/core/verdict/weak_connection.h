/* The weakest connection of a model: few edges between two sets of images that many others
 * contradict. */
#ifndef PSFM_VERDICT_WEAK_CONNECTION_H
#define PSFM_VERDICT_WEAK_CONNECTION_H

#include "core/posegraph/pose_graph.h"
#include "core/structure/poses.h"

/* Accepted edges that stand in a triangle of accepted edges confirm each other; the images that
 * they connect are a triangle component. triangle[v] is its number, of all views; those outside the
 * component are alone. */
psfm_status psfm_triangle_components_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                          const bool *accepted, const psfm_poses *poses,
                                          uint32_t component, uint32_t *triangle);

/* Between two triangle components accepted and rejected edges are counted: the ratio is the largest
 * (rejected + 1/2) / (accepted + 1/2) of two of them that an accepted edge joins, 0 if the model is
 * one. weak_connection[v] is it for the images of the component outside its largest triangle
 * component, and 0 within it; those of other components stay as they are. O(edges log edges) where
 * triangles are frequent, edges times degree where they are rare. */
psfm_status psfm_weak_connection_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                      const bool *accepted, const psfm_poses *poses,
                                      uint32_t component, double *weak_connection);

/* Counts the accepted edges between triangle components of a component
 * (core/verdict/weak_connection.h) that, alone or with one other of them, are all the edges between
 * two sides of it. A ring of images, each matched with the next one only, consists of them: two
 * false edges that agree would turn half of it, and no third one would tell. Where rejected edges
 * cross as well, the runner-up weighs them. O(edges log edges) beside the cost of the triangle
 * components. */
psfm_status psfm_two_edge_cuts_count(psfm_context *ctx, const psfm_pose_graph *graph,
                                     const bool *accepted, const psfm_poses *poses,
                                     uint32_t component, uint32_t *count);

#endif
