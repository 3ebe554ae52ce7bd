/* Rigid bodies that can be seen locally: the fast first step of the rigidity analysis. */
#ifndef PSFM_RIGIDITY_RIGID_GROWTH_H
#define PSFM_RIGIDITY_RIGID_GROWTH_H

#include "core/posegraph/topology.h"

/* A rigid set of at least two nodes. */
typedef struct {
    uint32_t *nodes; /* in the order of growth; NULL if another body has swallowed this one */
    uint32_t num_nodes;
    size_t capacity;
} psfm_rigid_body;

/* Zero-initialise. Owns its arrays. No two living bodies share more than one node, and every edge
 * is inside exactly one of them. */
typedef struct {
    psfm_rigid_body *bodies;
    uint32_t num_bodies; /* with the swallowed ones */
    size_t capacity;
    uint32_t *edge_body; /* per edge */
} psfm_rigid_bodies;

/* Finds bodies that are rigid by the directions of `graph`. Edges of one scale_group (num_edges, or
 * NULL; UINT32_MAX: none) have known relative lengths, so that where they hang together they form
 * a body from the start. The bodies found are rigid, but need not be maximal. Near-linear. */
psfm_status psfm_rigid_bodies_grow(psfm_context *ctx, const psfm_topology *graph,
                                   const uint32_t *scale_group, psfm_rigid_bodies *out);
void psfm_rigid_bodies_free(psfm_rigid_bodies *bodies);

#endif
