/* Bare graphs: an edge list over dense nodes, for the solvers that need no evidence. */
#ifndef PSFM_POSEGRAPH_TOPOLOGY_H
#define PSFM_POSEGRAPH_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"

/* A view of arrays that belong to the caller. Parallel edges are allowed, self-loops are not. */
typedef struct {
    uint32_t num_nodes;
    uint32_t num_edges;
    const uint32_t *node1, *node2;
} psfm_topology;

/* PSFM_ERR_ARGUMENT if an edge leaves the nodes or joins a node to itself. */
psfm_status psfm_topology_check(psfm_context *ctx, const psfm_topology *graph);

/* Connected components: label[v] in [0, *num), numbered by their lowest node. `keep` (num_edges,
 * or NULL for all) selects the edges that count. Near-linear. */
psfm_status psfm_topology_components(psfm_context *ctx, const psfm_topology *graph,
                                     const bool *keep, uint32_t *label, uint32_t *num);

/* Edges at each node: edge[begin[v] .. begin[v + 1]), in the order they were listed. Owns its
 * arrays. */
typedef struct {
    size_t *begin; /* num_nodes + 1 */
    uint32_t *edge;
} psfm_adjacency;

/* Indexes the `num` edges listed in `edges`; NULL: the first `num` edges. */
psfm_status psfm_adjacency_init(psfm_context *ctx, const psfm_topology *graph,
                                const uint32_t *edges, uint32_t num, psfm_adjacency *out);
void psfm_adjacency_free(psfm_adjacency *adjacency);

/* The edges at a node, and their number. */
static inline const uint32_t *psfm_adjacency_at(const psfm_adjacency *adjacency, uint32_t node) {
    return adjacency->edge + adjacency->begin[node];
}
static inline uint32_t psfm_adjacency_degree(const psfm_adjacency *adjacency, uint32_t node) {
    return (uint32_t)(adjacency->begin[node + 1] - adjacency->begin[node]);
}

/* The other end of an edge. */
static inline uint32_t psfm_topology_other(const psfm_topology *graph, uint32_t edge,
                                           uint32_t node) {
    return graph->node1[edge] == node ? graph->node2[edge] : graph->node1[edge];
}

#endif
