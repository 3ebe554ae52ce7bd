/* The front of planarsfm/graph.h; in this room because its functions reach from trees to rigidity.
 */
#include "planarsfm/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/public_input.h"
#include "core/posegraph/biconnect.h"
#include "core/posegraph/embedding.h"
#include "core/posegraph/public_edges.h"
#include "core/rigidity/rigidity.h"

psfm_status psfm_graph_components(psfm_context *ctx, const psfm_graph *graph, uint32_t *label,
                                  uint32_t *num_components) {
    psfm_public_edges edges;
    psfm_status status = psfm_public_edges_init(ctx, graph, false, &edges);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE_ARRAY(ctx, label, edges.topology.num_nodes);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE(ctx, num_components);
    if (status == PSFM_OK)
        status = psfm_topology_components(ctx, &edges.topology, NULL, label, num_components);
    psfm_public_edges_free(&edges);
    return status;
}

/* ---- trees and what they are extended to ---- */

static void give_range(double low, double high, double *range) {
    if (range == NULL)
        return;
    range[0] = low;
    range[1] = high;
}

psfm_status psfm_min_range_tree(psfm_context *ctx, const psfm_graph *graph, uint32_t *tree,
                                double *range) {
    psfm_public_edges edges;
    psfm_spanning_tree made = {0};
    psfm_status status = psfm_public_edges_init(ctx, graph, true, &edges);
    if (status == PSFM_OK && edges.list.num_nodes > 1)
        status = PSFM_REQUIRE(ctx, tree);
    if (status == PSFM_OK)
        status = psfm_spanning_tree_min_range(ctx, &edges.list, &made);
    if (status == PSFM_OK && made.num_edges > 0)
        memcpy(tree, made.edges, made.num_edges * sizeof *tree);
    if (status == PSFM_OK)
        give_range(made.low, made.high, range);
    psfm_spanning_tree_free(&made);
    psfm_public_edges_free(&edges);
    return status;
}

static int compare_edges(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The caller's tree, checked to span the graph, with its range. */
static psfm_status take_tree(psfm_context *ctx, const psfm_public_edges *edges,
                             const uint32_t *tree, psfm_spanning_tree *out) {
    uint32_t num = edges->list.num_nodes > 0 ? edges->list.num_nodes - 1 : 0, num_components = 0;
    uint32_t *label = NULL;
    bool *keep = NULL;
    psfm_status status;
    if ((status = PSFM_REQUIRE_ARRAY(ctx, tree, num)) ||
        (status = PSFM_ALLOC(ctx, num, &out->edges)) ||
        (status = PSFM_ALLOC(ctx, edges->list.num_nodes, &label)) ||
        (status = PSFM_ALLOC(ctx, edges->list.num_edges, &keep)))
        goto cleanup;
    for (uint32_t k = 0; k < num && status == PSFM_OK; ++k) {
        if (tree[k] >= edges->list.num_edges) {
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "tree edge %u of only %u edges", tree[k],
                               edges->list.num_edges);
            break;
        }
        double weight = edges->list.weight[tree[k]];
        out->low = k == 0 || weight < out->low ? weight : out->low;
        out->high = k == 0 || weight > out->high ? weight : out->high;
        keep[tree[k]] = true;
        out->edges[out->num_edges++] = tree[k];
    }
    if (status == PSFM_OK)
        status = psfm_topology_components(ctx, &edges->topology, keep, label, &num_components);
    if (status == PSFM_OK && num_components > 1)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "the tree does not span the graph");
    qsort(out->edges, out->num_edges, sizeof *out->edges, compare_edges);

cleanup:
    free(label);
    free(keep);
    return status;
}

static void mark_all(const uint32_t *list, uint32_t num, bool *mark, size_t size) {
    if (mark == NULL)
        return;
    memset(mark, 0, size * sizeof *mark);
    for (uint32_t k = 0; k < num; ++k)
        mark[list[k]] = true;
}

psfm_status psfm_biconnected_extension(psfm_context *ctx, const psfm_graph *graph,
                                       const uint32_t *tree, bool *in_graph, bool *is_cut_node,
                                       bool *is_bridge, double *range) {
    psfm_public_edges edges;
    psfm_spanning_tree start = {0};
    psfm_biconnected made = {0};
    psfm_status status = psfm_public_edges_init(ctx, graph, true, &edges);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE_ARRAY(ctx, in_graph, edges.list.num_edges);
    if (status == PSFM_OK)
        status = take_tree(ctx, &edges, tree, &start);
    if (status == PSFM_OK)
        status = psfm_biconnect(ctx, &edges.list, &start, &made);
    if (status == PSFM_OK) {
        mark_all(made.edges, made.num_edges, in_graph, edges.list.num_edges);
        mark_all(made.cut_nodes, made.num_cut_nodes, is_cut_node, edges.list.num_nodes);
        mark_all(made.bridges, made.num_bridges, is_bridge, edges.list.num_edges);
        give_range(made.low, made.high, range);
    }
    psfm_biconnected_free(&made);
    psfm_spanning_tree_free(&start);
    psfm_public_edges_free(&edges);
    return status;
}

/* ---- rigidity ---- */

psfm_status psfm_extend_rigidly(psfm_context *ctx, const psfm_graph *graph, bool *in_graph) {
    psfm_public_edges edges;
    double low = 0.0, high = 0.0;
    bool any = false;
    psfm_status status = psfm_public_edges_init(ctx, graph, true, &edges);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE_ARRAY(ctx, in_graph, edges.list.num_edges);
    for (uint32_t e = 0; status == PSFM_OK && e < edges.list.num_edges; ++e) {
        if (!in_graph[e])
            continue;
        double weight = edges.list.weight[e];
        low = !any || weight < low ? weight : low;
        high = !any || weight > high ? weight : high;
        any = true;
    }
    if (status == PSFM_OK)
        status = psfm_rigid_extension(ctx, &edges.list, low, high, in_graph);
    psfm_public_edges_free(&edges);
    return status;
}

psfm_status psfm_find_rigid_components(psfm_context *ctx, const psfm_graph *graph,
                                       uint32_t *edge_component, uint32_t *num_components,
                                       uint64_t *num_free) {
    psfm_public_edges edges;
    psfm_rigidity made = {0};
    psfm_status status = psfm_public_edges_init(ctx, graph, false, &edges);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE_ARRAY(ctx, edge_component, edges.topology.num_edges);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE(ctx, num_components);
    if (status == PSFM_OK)
        status = psfm_rigidity_analyse(ctx, &edges.topology, NULL, &made);
    if (status == PSFM_OK) {
        if (edges.topology.num_edges > 0)
            memcpy(edge_component, made.edge_component,
                   edges.topology.num_edges * sizeof *edge_component);
        *num_components = made.num_components;
        if (num_free != NULL)
            *num_free = made.num_free;
    }
    psfm_rigidity_free(&made);
    psfm_public_edges_free(&edges);
    return status;
}

/* ---- embedding ---- */

static psfm_status check_row(psfm_context *ctx, const psfm_csr *S, uint32_t r) {
    if (S->row_begin[r + 1] < S->row_begin[r])
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "row %u of the matrix ends before it begins", r);
    for (size_t k = S->row_begin[r]; k < S->row_begin[r + 1]; ++k)
        if (S->col[k] >= S->n || (k > S->row_begin[r] && S->col[k] <= S->col[k - 1]) ||
            !(S->value[k] >= 0.0) || isinf(S->value[k]))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "row %u of the matrix: columns must ascend below %u and values be "
                             "finite and >= 0, but there is %g in column %u",
                             r, S->n, S->value[k], S->col[k]);
    return PSFM_OK;
}

/* The entry in row r and column c; 0 if there is none. */
static double find_entry(const psfm_csr *S, uint32_t r, uint32_t c) {
    size_t low = S->row_begin[r], high = S->row_begin[r + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (S->col[middle] < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low < S->row_begin[r + 1] && S->col[low] == c ? S->value[low] : 0.0;
}

static psfm_status check_matrix(psfm_context *ctx, const psfm_csr *S) {
    psfm_status status = PSFM_REQUIRE(ctx, S->row_begin);
    if (status == PSFM_OK && S->row_begin[0] != 0)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "row 0 of the matrix does not begin at 0");
    if (status == PSFM_OK && S->row_begin[S->n] > 0 &&
        ((status = PSFM_REQUIRE(ctx, S->col)) || (status = PSFM_REQUIRE(ctx, S->value))))
        return status;
    for (uint32_t r = 0; status == PSFM_OK && r < S->n; ++r)
        status = check_row(ctx, S, r);
    for (uint32_t r = 0; status == PSFM_OK && r < S->n; ++r)
        for (size_t k = S->row_begin[r]; k < S->row_begin[r + 1]; ++k)
            if (fabs(find_entry(S, S->col[k], r) - S->value[k]) > 1e-9 * S->value[k])
                return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                                 "the matrix is not symmetric at row %u, column %u", r, S->col[k]);
    return status;
}

psfm_status psfm_embed_similarity(psfm_context *ctx, const psfm_csr *S, double *h,
                                  uint32_t *component) {
    psfm_embedding made = {0};
    psfm_status status;
    if ((status = PSFM_REQUIRE(ctx, ctx)) || (status = PSFM_REQUIRE(ctx, S)) ||
        (status = PSFM_REQUIRE_ARRAY(ctx, h, S->n)) || (status = check_matrix(ctx, S)) ||
        (status = psfm_embedding_compute(ctx, S, NULL, &made)))
        return status;
    if (S->n > 0)
        memcpy(h, made.h, S->n * sizeof *h);
    if (S->n > 0 && component != NULL)
        memcpy(component, made.component, S->n * sizeof *component);
    psfm_embedding_free(&made);
    return PSFM_OK;
}
