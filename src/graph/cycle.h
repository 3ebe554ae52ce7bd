/* Evidence of triangles: two edges that close a triangle with a third must agree in rotation. */
#ifndef PSFM_GRAPH_CYCLE_H
#define PSFM_GRAPH_CYCLE_H

#include "graph/pose_graph.h"
#include "linalg/sparse.h"

typedef struct {
    double closure_bandwidth_deg; /* of exp(-(closure / bandwidth)^2) */
    double neutral;               /* factor of two edges that no third one closes */
} psfm_cycle_options;

extern const psfm_option_table psfm_cycle_option_table;

/* Multiplies each entry S_ef of the similarity by how well the rotations of e, f and the edge that
 * joins their other ends close: the best over their hypotheses with weight > 0 (several edges
 * between those ends: the best of them), `neutral` if there is no such edge, never below
 * `neutral` / 100, so that S keeps its components. support (num_edges, may be NULL) receives the
 * mean closure factor of the triangles at each edge, `neutral` without any. Parallel.
 * Cost O(entries of S * (degree + hypotheses^3)). */
psfm_status psfm_cycle_evidence(psfm_context *ctx, const psfm_pose_graph *graph,
                                const psfm_cycle_options *options, psfm_csr *S, double *support);

#endif
