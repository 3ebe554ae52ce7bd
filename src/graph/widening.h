/* The order in which a graph is extended beyond a spanning tree. */
#ifndef PSFM_GRAPH_WIDENING_H
#define PSFM_GRAPH_WIDENING_H

#include "graph/spanning_tree.h"

/* Lists the edges that are not in use in the order in which they widen the range [low, high] of the
 * weights: edges inside it first, then by distance from it, ties by index. *order is malloc'ed. */
psfm_status psfm_widening_order(psfm_context *ctx, const psfm_edge_list *graph, double low,
                                double high, const bool *is_used, uint32_t **order, size_t *num);

#endif
