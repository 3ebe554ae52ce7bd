/* Elimination orders of bounded width, the road to exact dynamic programming on graphs that are
 * nearly chains, rings or trees. */
#ifndef PSFM_LABELLING_ELIMINATION_ORDER_H
#define PSFM_LABELLING_ELIMINATION_ORDER_H

#include "core/base/rng.h"
#include "core/posegraph/topology.h"

/* The nodes in the order in which they are eliminated. When one goes, its neighbours that are still
 * there are its scope, and become neighbours of each other. Owns its arrays. */
typedef struct {
    uint32_t num;       /* nodes eliminated; the others are fixed */
    uint32_t *node;     /* in their order */
    uint32_t *rank;     /* of each node of the graph in that order; UINT32_MAX if it is fixed */
    size_t *begin;      /* num + 1: the scope of the k-th is scope[begin[k] .. begin[k + 1]) */
    uint32_t *scope;    /* nodes of larger rank */
    size_t num_entries; /* sum of 2^(size of the scope) */
} psfm_elimination;

/* Eliminates nodes with fewest neighbours first, as long as one has at most max_width. Where none
 * has, a node with many of them is taken out and fixed, one of a few that `rng` draws. fixed_in
 * (num_nodes, may be NULL) says which are fixed from the start. With nothing fixed but those, the
 * order is a tree decomposition of the graph without them, of width at most max_width.
 * Cost O(num_edges + sum over the eliminated of the neighbours of their scope). */
psfm_status psfm_eliminate(psfm_context *ctx, const psfm_topology *graph,
                           const psfm_adjacency *adjacency, const bool *fixed_in, int max_width,
                           psfm_rng *rng, psfm_elimination *out);
void psfm_elimination_free(psfm_elimination *elimination);

#endif
