/* Minimum-range spanning tree: the spanning tree with the smallest difference between its largest
 * and its smallest edge weight. */
#ifndef PSFM_POSEGRAPH_MIN_RANGE_TREE_H
#define PSFM_POSEGRAPH_MIN_RANGE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"

/* A weighted edge list; self-loops are not allowed, parallel edges are. */
typedef struct {
    uint32_t num_nodes;
    uint32_t num_edges;
    const uint32_t *node1, *node2;
    const double *weight; /* finite */
} psfm_edge_list;

typedef struct {
    uint32_t *edges; /* num_nodes - num_components indices, ascending; owned */
    uint32_t num_edges;
    double low, high; /* range of their weights; 0, 0 without edges */
} psfm_spanning_tree;

/* Exact, O(E log E): a sort, and a sweep of O(E log V) in expectation. The graph must be connected
 * (PSFM_ERR_ARGUMENT if not); of several optima the one with the lowest range start. One node
 * gives an empty tree. */
psfm_status psfm_spanning_tree_min_range(psfm_context *ctx, const psfm_edge_list *graph,
                                         psfm_spanning_tree *tree);

/* A uniformly shuffled Kruskal tree, for the ablation "pruning off"; a forest if the graph is not
 * connected. */
psfm_status psfm_spanning_tree_random(psfm_context *ctx, const psfm_edge_list *graph, uint64_t seed,
                                      psfm_spanning_tree *tree);

void psfm_spanning_tree_free(psfm_spanning_tree *tree);

/* Lists the edges that are not in use in the order in which they widen the range [low, high] of the
 * weights: edges inside it first, then by distance from it, ties by index. *order is malloc'ed. */
psfm_status psfm_widening_order(psfm_context *ctx, const psfm_edge_list *graph, double low,
                                double high, const bool *is_used, uint32_t **order, size_t *num);

#endif
