/* Evidence of triangles: two edges that close a triangle with a third must agree in rotation. */
#ifndef PSFM_POSEGRAPH_CYCLE_CONSISTENCY_H
#define PSFM_POSEGRAPH_CYCLE_CONSISTENCY_H

#include "core/linalg/sparse.h"
#include "core/posegraph/pose_graph.h"

/* The factor of two edges that no third one closes to a triangle: less than one that closes, more
 * than one that does not. */
#define PSFM_CYCLE_NEUTRAL 0.3

/* Multiplies each entry S_ef of the similarity by how well the rotations of e, f and the edge that
 * joins their other ends close: the best over their hypotheses with weight > 0 (several edges
 * between those ends: the best of them), PSFM_CYCLE_NEUTRAL if there is no such edge, never below a
 * hundredth of that, so that S keeps its components. support (num_edges, may be NULL) receives the
 * mean closure factor of the triangles at each edge, PSFM_CYCLE_NEUTRAL without any. Parallel.
 * Cost O(entries of S * (degree + hypotheses^3)). */
psfm_status psfm_cycle_evidence(psfm_context *ctx, const psfm_pose_graph *graph, psfm_csr *S,
                                double *support);

#endif
