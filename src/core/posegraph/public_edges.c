/* Edges of public graphs. */
#include "core/posegraph/public_edges.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/public_input.h"

static psfm_status check_weights(psfm_context *ctx, const psfm_graph *graph) {
    psfm_status status = PSFM_REQUIRE_ARRAY(ctx, graph->weight, graph->num_edges);
    return status == PSFM_OK ? psfm_require_finite(ctx, graph->weight, graph->num_edges, "weight")
                             : status;
}

psfm_status psfm_public_edges_init(psfm_context *ctx, const psfm_graph *graph, bool weighted,
                                   psfm_public_edges *out) {
    psfm_graph known;
    psfm_status status;
    *out = (psfm_public_edges){0};
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, graph)) ||
        (status = psfm_take_input(ctx, graph, &known, sizeof known)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, known.edges, known.num_edges)) ||
        (weighted && (status = check_weights(ctx, &known))) ||
        (status = PSFM_ALLOC(ctx, known.num_edges, &out->node1)) ||
        (status = PSFM_ALLOC(ctx, known.num_edges, &out->node2)))
        return status;
    for (size_t e = 0; e < known.num_edges; ++e) {
        out->node1[e] = known.edges[2 * e];
        out->node2[e] = known.edges[2 * e + 1];
    }
    out->topology = (psfm_topology){known.num_nodes, known.num_edges, out->node1, out->node2};
    out->list =
        (psfm_edge_list){known.num_nodes, known.num_edges, out->node1, out->node2, known.weight};
    return psfm_topology_check(ctx, &out->topology);
}

void psfm_public_edges_free(psfm_public_edges *edges) {
    free(edges->node1);
    free(edges->node2);
    *edges = (psfm_public_edges){0};
}
