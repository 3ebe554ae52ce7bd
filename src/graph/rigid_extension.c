/* Extension of a graph of directions until it is parallel rigid.
 *
 * Bi-connected is less than rigid: a ring is bi-connected, and every one of its edges can be
 * stretched. n nodes are rigid when 3 n - 4 of the equations (two per direction) are independent,
 * so n nodes in a plain ring need at least half as many chords. The pebble game counts independent
 * equations while edges are added (graph/pebble_game.h; graph/rigidity.c says why counting is
 * enough), so that the test after each edge costs one search. */
#include "graph/rigid_extension.h"

#include <stdlib.h>

#include "graph/pebble_game.h"
#include "graph/widening.h"

/* Adds the two equations of a direction; whether they say anything new. */
static bool add_direction(psfm_pebbles *game, const psfm_edge_list *graph, uint32_t e) {
    bool is_new = psfm_pebbles_add(game, graph->node1[e], graph->node2[e]);
    if (is_new)
        psfm_pebbles_add(game, graph->node1[e], graph->node2[e]);
    return is_new;
}

psfm_status psfm_rigid_extension(psfm_context *ctx, const psfm_edge_list *graph, double low,
                                 double high, bool *is_used) {
    psfm_pebbles game = {0};
    uint32_t *order = NULL;
    size_t num = 0;
    if (graph->num_nodes < 2)
        return PSFM_OK;
    uint64_t needed = (uint64_t)PSFM_PEBBLES * graph->num_nodes - PSFM_COMMON;
    psfm_status status = psfm_pebbles_init(ctx, graph->num_nodes, &game);
    if (status == PSFM_OK)
        status = psfm_widening_order(ctx, graph, low, high, is_used, &order, &num);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e)
        if (is_used[e])
            add_direction(&game, graph, e);
    for (size_t k = 0; status == PSFM_OK && k < num && game.num_edges < needed; ++k) {
        is_used[order[k]] = add_direction(&game, graph, order[k]);
    }
    psfm_pebbles_free(&game);
    free(order);
    return status;
}
