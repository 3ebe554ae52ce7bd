/* Checks, components and incidence lists of a graph given by the ends of its edges. All O(V + E).
 */
#include "core/posegraph/topology.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"

psfm_status psfm_topology_check(psfm_context *ctx, const psfm_topology *graph) {
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        uint32_t a = graph->node1[e], b = graph->node2[e];
        if (a >= graph->num_nodes || b >= graph->num_nodes)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "edge %u joins nodes %u and %u of only %u", e,
                             a, b, graph->num_nodes);
        if (a == b)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "edge %u joins node %u to itself", e, a);
    }
    return PSFM_OK;
}

psfm_status psfm_topology_components(psfm_context *ctx, const psfm_topology *graph,
                                     const bool *keep, uint32_t *label, uint32_t *num) {
    uint32_t *parent = NULL;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &parent);
    if (status != PSFM_OK)
        return status;
    psfm_sets_init(parent, graph->num_nodes);
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        if (keep == NULL || keep[e])
            psfm_sets_unite(parent, graph->node1[e], graph->node2[e]);
    uint32_t count = 0;
    for (uint32_t v = 0; v < graph->num_nodes; ++v) {
        uint32_t root = psfm_sets_find(parent, v);
        label[v] = root == v ? count++ : label[root];
    }
    *num = count;
    free(parent);
    return PSFM_OK;
}

psfm_status psfm_adjacency_init(psfm_context *ctx, const psfm_topology *graph,
                                const uint32_t *edges, uint32_t num, psfm_adjacency *out) {
    size_t n = graph->num_nodes;
    *out = (psfm_adjacency){0};
    psfm_status status = PSFM_ALLOC(ctx, n + 1, &out->begin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 2 * (size_t)num, &out->edge);
    if (status != PSFM_OK) {
        psfm_adjacency_free(out);
        return status;
    }
    for (uint32_t k = 0; k < num; ++k) {
        uint32_t e = edges == NULL ? k : edges[k];
        ++out->begin[graph->node1[e]];
        ++out->begin[graph->node2[e]];
    }
    size_t end = 0;
    for (size_t v = 0; v <= n; ++v) {
        end += out->begin[v];
        out->begin[v] = end;
    }
    /* Filled from the back, so that each begin[v] ends at its start and edges keep their order. */
    for (uint32_t k = num; k-- > 0;) {
        uint32_t e = edges == NULL ? k : edges[k];
        out->edge[--out->begin[graph->node1[e]]] = e;
        out->edge[--out->begin[graph->node2[e]]] = e;
    }
    return PSFM_OK;
}

void psfm_adjacency_free(psfm_adjacency *adjacency) {
    free(adjacency->begin);
    free(adjacency->edge);
    *adjacency = (psfm_adjacency){0};
}
