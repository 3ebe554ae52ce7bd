/* Minimum-range spanning tree (Eq. 6, Algorithm 1).
 *
 * Of all spanning trees the one with the smallest difference between its largest and its smallest
 * weight (Planar-SfM paper, Algorithm 1: for each lower bound, Kruskal upward on the edges above
 * it, which is O(E^2)). Equivalent, in one sweep: insert the edges by increasing weight into a
 * forest; when an edge closes a cycle, drop the cycle's smallest edge. The forest is then a maximum
 * spanning forest of the edges so far, so that its smallest edge is as large as it can be, and the
 * best (largest - smallest) over the sweep is the answer: for each upper end the best lower end.
 *
 * The forest must tell the smallest edge of a cycle and let it go. A link-cut tree does both in
 * O(log V). Here the new edge is always the largest, and a simpler structure suffices: the tree of
 * Kruskal's merges. Give the nodes random priorities; link each node to the node of higher priority
 * that Kruskal's algorithm (largest edges first, the root of lower priority going under the other)
 * would link it to, and note the edge. Edges get larger with depth, the depth is O(log V) in
 * expectation (union by random rank), and two nodes are joined by edges >= w in the graph exactly
 * if they are by links >= w in the tree. A new edge (u, v, w) is put in as if Kruskal had seen it:
 *
 *   climb from u and from v over links larger than w; if they meet, w is the edge that leaves;
 *   otherwise the one of lower priority, u say, is linked to v by w, and the link it had, to p by
 *   w' < w, goes on as the edge (v, p, w'), because u and v now hang together by more than w'.
 *
 * The links' edges are those of the maximum spanning forest at any time, though they may hang
 * between other nodes. So E insertions cost O(E log V) in expectation whatever the input (the
 * priorities are drawn), after the sort. The sweep only finds the best range; Kruskal upward within
 * it gives the tree, the same as Algorithm 1's. */
#include "core/posegraph/min_range_tree.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/base/union_find.h"

#define NONE UINT32_MAX

typedef struct {
    double weight;
    uint32_t edge;
} ranked_edge;

static int by_weight(const void *a, const void *b) {
    const ranked_edge *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static psfm_status check_graph(psfm_context *ctx, const psfm_edge_list *graph) {
    if (graph->num_nodes == 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "a graph without nodes has no spanning tree");
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        if (graph->node1[e] == graph->node2[e] || graph->node1[e] >= graph->num_nodes ||
            graph->node2[e] >= graph->num_nodes)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "edge %u joins nodes %u and %u of %u", e,
                             graph->node1[e], graph->node2[e], graph->num_nodes);
        if (!isfinite(graph->weight[e]))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "edge %u has weight %g", e, graph->weight[e]);
    }
    return PSFM_OK;
}

/* The tree of merges; an edge is known by its place in the order of weights. */
typedef struct {
    uint32_t parent;   /* NONE: a root */
    uint32_t link;     /* the edge to the parent */
    uint32_t priority; /* distinct */
} merge_node;

static uint32_t climb_tree(const merge_node *nodes, uint32_t v, uint32_t edge) {
    while (nodes[v].parent != NONE && nodes[v].link > edge)
        v = nodes[v].parent;
    return v;
}

/* Puts an edge in; returns the edge that leaves the forest for it, NONE if two trees became one. */
static uint32_t insert_edge(merge_node *nodes, uint32_t u, uint32_t v, uint32_t edge) {
    for (;;) {
        u = climb_tree(nodes, u, edge);
        v = climb_tree(nodes, v, edge);
        if (u == v)
            return edge;
        if (nodes[u].priority > nodes[v].priority) {
            uint32_t swap = u;
            u = v;
            v = swap;
        }
        uint32_t old_parent = nodes[u].parent, old_link = nodes[u].link;
        nodes[u].parent = v;
        nodes[u].link = edge;
        if (old_parent == NONE)
            return NONE;
        u = old_parent;
        edge = old_link;
    }
}

static psfm_status init_nodes(psfm_context *ctx, merge_node *nodes, uint32_t n) {
    uint32_t *priority;
    psfm_status status = PSFM_ALLOC(ctx, n, &priority);
    if (status != PSFM_OK)
        return status;
    psfm_rng rng = psfm_rng_make(0, PSFM_RNG_SPANNING_TREE, n, 0);
    for (uint32_t v = 0; v < n; ++v)
        priority[v] = v;
    psfm_rng_shuffle(&rng, priority, n);
    for (uint32_t v = 0; v < n; ++v)
        nodes[v] = (merge_node){NONE, 0, priority[v]};
    free(priority);
    return PSFM_OK;
}

/* Finds the best range as first and last place in the order; `connected` tells if there is one. */
static void sweep_edges(const psfm_edge_list *graph, const ranked_edge *order, merge_node *nodes,
                        bool *is_gone, uint32_t range[2], bool *connected) {
    uint32_t trees = graph->num_nodes, low = 0;
    double best = INFINITY;
    *connected = false;
    for (uint32_t k = 0; k < graph->num_edges; ++k) {
        uint32_t e = order[k].edge;
        uint32_t gone = insert_edge(nodes, graph->node1[e], graph->node2[e], k);
        if (gone == NONE)
            --trees;
        else
            is_gone[gone] = true;
        if (trees > 1)
            continue;
        while (is_gone[low])
            ++low;
        double width = order[k].weight - order[low].weight;
        if (!*connected || width < best) {
            best = width;
            range[0] = low;
            range[1] = k;
        }
        *connected = true;
    }
}

static void set_range(const psfm_edge_list *graph, psfm_spanning_tree *tree) {
    for (uint32_t k = 0; k < tree->num_edges; ++k) {
        double w = graph->weight[tree->edges[k]];
        tree->low = k == 0 ? w : fmin(tree->low, w);
        tree->high = k == 0 ? w : fmax(tree->high, w);
    }
}

/* Kruskal's algorithm over order[0 .. num); the tree's edges are marked, then listed. */
static psfm_status run_kruskal(psfm_context *ctx, const psfm_edge_list *graph,
                               const ranked_edge *order, uint32_t num, psfm_spanning_tree *tree) {
    uint32_t *parent = NULL, *edges = NULL;
    bool *in_tree = NULL;
    psfm_status status = PSFM_OK;
    if ((status = PSFM_ALLOC(ctx, graph->num_nodes, &parent)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, graph->num_nodes, &edges)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, graph->num_edges, &in_tree)) != PSFM_OK)
        goto cleanup;
    psfm_sets_init(parent, graph->num_nodes);
    for (uint32_t k = 0; k < num; ++k) {
        uint32_t e = order[k].edge;
        in_tree[e] = psfm_sets_unite(parent, graph->node1[e], graph->node2[e]);
    }
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        if (in_tree[e])
            edges[tree->num_edges++] = e;
    tree->edges = edges;
    edges = NULL;
    set_range(graph, tree);

cleanup:
    free(parent);
    free(edges);
    free(in_tree);
    return status;
}

psfm_status psfm_spanning_tree_min_range(psfm_context *ctx, const psfm_edge_list *graph,
                                         psfm_spanning_tree *tree) {
    ranked_edge *order = NULL;
    merge_node *nodes = NULL;
    bool *is_gone = NULL;
    uint32_t range[2] = {0, 0};
    bool connected;
    *tree = (psfm_spanning_tree){0};
    psfm_status status = check_graph(ctx, graph);
    if (status != PSFM_OK || (status = PSFM_ALLOC(ctx, graph->num_edges, &order)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, graph->num_nodes, &nodes)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, graph->num_edges, &is_gone)) != PSFM_OK ||
        (status = init_nodes(ctx, nodes, graph->num_nodes)) != PSFM_OK)
        goto cleanup;
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        order[e] = (ranked_edge){graph->weight[e], e};
    qsort(order, graph->num_edges, sizeof *order, by_weight);
    sweep_edges(graph, order, nodes, is_gone, range, &connected);
    if (!connected && graph->num_nodes > 1) {
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "the graph of %u nodes and %u edges is not connected, so it has no "
                           "spanning tree",
                           graph->num_nodes, graph->num_edges);
        goto cleanup;
    }
    status =
        run_kruskal(ctx, graph, order + range[0], connected ? range[1] - range[0] + 1 : 0, tree);

cleanup:
    free(order);
    free(nodes);
    free(is_gone);
    return status;
}

psfm_status psfm_spanning_tree_random(psfm_context *ctx, const psfm_edge_list *graph, uint64_t seed,
                                      psfm_spanning_tree *tree) {
    ranked_edge *order = NULL;
    *tree = (psfm_spanning_tree){0};
    psfm_status status = check_graph(ctx, graph);
    if (status != PSFM_OK || (status = PSFM_ALLOC(ctx, graph->num_edges, &order)) != PSFM_OK)
        return status;
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_ABLATION, 0, 1);
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        uint32_t k = (uint32_t)psfm_rng_below(&rng, (size_t)e + 1);
        order[e] = order[k];
        order[k].edge = e;
    }
    status = run_kruskal(ctx, graph, order, graph->num_edges, tree);
    free(order);
    return status;
}

void psfm_spanning_tree_free(psfm_spanning_tree *tree) {
    free(tree->edges);
    *tree = (psfm_spanning_tree){0};
}

/* Edges beyond the spanning tree, those first that widen the range of its weights least: how far a
 * weight lies outside the range, ties by index. One sort, O(E log E). */

typedef struct {
    double widening;
    uint32_t edge;
} candidate;

static int by_widening(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->widening != y->widening)
        return x->widening < y->widening ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

psfm_status psfm_widening_order(psfm_context *ctx, const psfm_edge_list *graph, double low,
                                double high, const bool *is_used, uint32_t **order, size_t *num) {
    candidate *list = NULL;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_edges, &list);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, graph->num_edges, order);
    *num = 0;
    if (status != PSFM_OK)
        goto cleanup;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        double w = graph->weight[e];
        if (!is_used[e])
            list[(*num)++] = (candidate){fmax(0.0, fmax(low - w, w - high)), e};
    }
    qsort(list, *num, sizeof *list, by_widening);
    for (size_t k = 0; k < *num; ++k)
        (*order)[k] = list[k].edge;

cleanup:
    free(list);
    return status;
}
