/* A public graph as the solvers take it: node1 and node2 apart, checked. */
#ifndef PSFM_POSEGRAPH_PUBLIC_EDGES_H
#define PSFM_POSEGRAPH_PUBLIC_EDGES_H

#include "core/posegraph/min_range_tree.h"
#include "core/posegraph/topology.h"
#include "planarsfm/graph.h"

/* Owns node1 and node2; `topology` and `list` point to them, and to the caller's weights. */
typedef struct {
    psfm_topology topology;
    psfm_edge_list list;
    uint32_t *node1, *node2;
} psfm_public_edges;

/* Takes over a graph and checks it; with `weighted` also that it has finite weights. Free in any
 * case. */
psfm_status psfm_public_edges_init(psfm_context *ctx, const psfm_graph *graph, bool weighted,
                                   psfm_public_edges *out);
void psfm_public_edges_free(psfm_public_edges *edges);

#endif
