/* Extension of a spanning tree to a bi-connected graph by least widening of the range. */
#ifndef PSFM_POSEGRAPH_BICONNECT_H
#define PSFM_POSEGRAPH_BICONNECT_H

#include "core/posegraph/min_range_tree.h"

typedef struct {
    uint32_t *edges; /* tree edges and added ones, ascending; owned */
    uint32_t num_edges;
    uint32_t *cut_nodes; /* nodes whose removal disconnects even the extended graph; ascending */
    uint32_t num_cut_nodes;
    uint32_t *bridges; /* edges whose removal disconnects it; ascending */
    uint32_t num_bridges;
    double low, high; /* the widened range */
} psfm_biconnected;

/* Adds non-tree edges in the order in which they widen the range [low, high] of the tree least
 * (an edge inside it widens it by nothing; ties by index), each only if it joins two different
 * biconnected components, until the graph is bi-connected or no edge is left. Near-linear:
 * components are merged with union-find on the tree paths. */
psfm_status psfm_biconnect(psfm_context *ctx, const psfm_edge_list *graph,
                           const psfm_spanning_tree *tree, psfm_biconnected *out);
void psfm_biconnected_free(psfm_biconnected *b);

#endif
