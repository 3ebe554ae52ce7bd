/* Weighted graphs: minimum-range spanning tree, bi-connected and rigid extension, embedding of a
 * similarity (part of libplanarsfm-core; conventions in homography.h).
 *
 * A graph is num_nodes nodes and num_edges rows of edges (num_edges x 2): two different nodes each;
 * parallel edges are allowed. */
#ifndef PLANARSFM_GRAPH_H
#define PLANARSFM_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "planarsfm/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    size_t struct_size;
    uint32_t num_nodes, num_edges;
    const uint32_t *edges; /* num_edges x 2 */
    const double *weight; /* num_edges, finite; not read, and may be NULL, where no weight counts */
} psfm_graph;

/* Label of each node's connected component (num_nodes), numbered by their lowest node. */
PSFM_API psfm_status psfm_graph_components(psfm_context *ctx, const psfm_graph *graph,
                                           uint32_t *label, uint32_t *num_components);

/* The spanning tree with the smallest difference between its largest and its smallest weight (Eq.
 * 6, Algorithm 1 of the paper): exact, O(E log E). tree gets num_nodes - 1 edges, ascending; range
 * (2, or NULL) their lowest and highest weight. Of several optima the one with the lowest range
 * start. PSFM_ERR_ARGUMENT if the graph is not connected. */
PSFM_API psfm_status psfm_min_range_tree(psfm_context *ctx, const psfm_graph *graph, uint32_t *tree,
                                         double *range);

/* Adds edges to a spanning tree (num_nodes - 1 edges) in the order in which they widen the range of
 * its weights least, each only if it joins two biconnected components, until no single node holds
 * the graph together. in_graph (num_edges) marks the edges of tree and extension; is_cut_node
 * (num_nodes) and is_bridge (num_edges), which may be NULL, what still does; range (2, or NULL) the
 * widened one. */
PSFM_API psfm_status psfm_biconnected_extension(psfm_context *ctx, const psfm_graph *graph,
                                                const uint32_t *tree, bool *in_graph,
                                                bool *is_cut_node, bool *is_bridge, double *range);

/* Goes on adding to the marked edges (num_edges), in the same order, those that determine something
 * new, until directions along the marked edges determine all positions in space up to translation
 * and scale (parallel rigid), or no edge is left. */
PSFM_API psfm_status psfm_extend_rigidly(psfm_context *ctx, const psfm_graph *graph,
                                         bool *in_graph);

/* Parallel rigidity of all edges of a graph, for points in general position. edge_component
 * (num_edges) is the maximal rigid component of each edge, the one of most nodes first; num_free,
 * which may be NULL, the degrees of freedom beyond translation and scale, 0 if the graph is rigid.
 */
PSFM_API psfm_status psfm_find_rigid_components(psfm_context *ctx, const psfm_graph *graph,
                                                uint32_t *edge_component, uint32_t *num_components,
                                                uint64_t *num_free);

/* A square sparse matrix: row r has the entries row_begin[r] .. row_begin[r + 1] - 1, columns
 * ascending. One that the library made is freed with psfm_csr_free. It keeps this layout. */
typedef struct {
    uint32_t n;
    size_t *row_begin; /* n + 1 */
    uint32_t *col;
    double *value;
} psfm_csr;

PSFM_API void psfm_csr_free(psfm_csr *A);

/* Embeds what a symmetric matrix S >= 0 says is similar near to each other on the real line (Eq.
 * 5): h (n) is, in each connected component of S, the eigenvector of the second-smallest eigenvalue
 * of I - D^-1 S, D the row sums, of unit norm in the D-metric, its entry of largest magnitude
 * positive; 0 in a component of one. component (n, or NULL) by decreasing size. Near-linear. */
PSFM_API psfm_status psfm_embed_similarity(psfm_context *ctx, const psfm_csr *S, double *h,
                                           uint32_t *component);

#ifdef __cplusplus
}
#endif
#endif
