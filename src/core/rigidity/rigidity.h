/* Parallel rigidity: what the directions between points determine, up to translation and scale. */
#ifndef PSFM_RIGIDITY_RIGIDITY_H
#define PSFM_RIGIDITY_RIGIDITY_H

#include "core/posegraph/min_range_tree.h"
#include "core/posegraph/topology.h"

/* The maximal rigid components, by decreasing number of nodes, ties by lowest edge. A component
 * fixes the shape of its nodes; components that share a node (no two share more) can be scaled
 * against each other. Every edge is in one component, a node may be in several or, without edges,
 * in none. Owns its arrays. */
typedef struct {
    uint32_t num_components;
    uint32_t *edge_component; /* per edge */
    size_t *node_begin;       /* num_components + 1 */
    uint32_t *nodes;   /* of component k: nodes[node_begin[k] .. node_begin[k + 1]), ascending */
    uint64_t num_free; /* degrees of freedom beyond translation and scale; 0: rigid */
} psfm_rigidity;

/* Analyses the directions of all edges of `graph` in space, for points in general position: exact
 * as to the graph, blind to accidents such as points on a line. scale_group (num_edges, or NULL)
 * gives edges with the same value, other than UINT32_MAX, known relative lengths: where they hang
 * together, a tree of them is rigid. (Components of one group that are not connected are taken as
 * scaled apart.) A graph of fewer than two nodes is rigid. Near-linear for graphs with triangles or
 * quadrangles all over, quadratic at worst. */
psfm_status psfm_rigidity_analyse(psfm_context *ctx, const psfm_topology *graph,
                                  const uint32_t *scale_group, psfm_rigidity *out);
void psfm_rigidity_free(psfm_rigidity *rigidity);

/* Goes on adding to the edges in use (is_used, num_edges), in the order in which edges widen the
 * range [low, high] least (an edge inside it widens it by nothing; ties by index), each only if it
 * determines something new, until directions along the edges in use determine all positions up to
 * translation and scale, or no edge is left. Sorting, and a pebble game. */
psfm_status psfm_rigid_extension(psfm_context *ctx, const psfm_edge_list *graph, double low,
                                 double high, bool *is_used);

#endif
