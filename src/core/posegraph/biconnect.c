/* Extension of a spanning tree to a bi-connected graph, the Planar-SfM paper's way from the tree of
 * rotations to the graph of positions (docs/paper.md).
 *
 * Bi-connected: no node whose removal disconnects it. A tree falls apart at every inner node; its
 * biconnected components ("blocks" below) are its edges. Adding a non-tree edge (u, v) makes one
 * block of all the blocks on the tree path from u to v. So blocks are sets of tree edges, and
 * because each is a connected subtree, it has one topmost node once the tree is hung from node 0.
 * With union-find over the tree edges (each known by its lower end) a path is walked block by
 * block: from u straight to the top of the block that holds the edge above u.
 *
 * Always jumping from the end whose block has the deeper top never passes the path's topmost node:
 * if the deeper of the two tops lay above it, both blocks would hold the edge above that node and
 * so be the same, and then the walk is over. Each jump but the last two unites blocks, so that all
 * insertions together take O((V + E) alpha(V)) after the sort by widening.
 *
 * The order is fixed by the tree's own range: edges inside it, then by distance from it. An edge
 * inside one block would add nothing and is left out; what is left at the end as separate blocks is
 * reported by the nodes and edges that hold it together. */
#include "core/posegraph/biconnect.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/posegraph/min_range_tree.h"
#include "core/posegraph/topology.h"

#define NONE UINT32_MAX

/* The tree hung from node 0, and its blocks. The edge above node v is known as v. */
typedef struct {
    uint32_t parent; /* NONE for node 0 */
    uint32_t edge;   /* to the parent */
    uint32_t depth;
    uint32_t set;  /* union-find over the edges above nodes */
    uint32_t size; /* number of tree edges of the block; valid at its representative */
    uint32_t top;  /* topmost node of the block; valid at its representative */
} tree_node;

static uint32_t find_block(tree_node *nodes, uint32_t v) {
    while (nodes[v].set != v) {
        nodes[v].set = nodes[nodes[v].set].set;
        v = nodes[v].set;
    }
    return v;
}

static uint32_t unite_blocks(tree_node *nodes, uint32_t a, uint32_t b) {
    if (nodes[a].size < nodes[b].size) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    nodes[b].set = a;
    nodes[a].size += nodes[b].size;
    if (nodes[nodes[b].top].depth < nodes[nodes[a].top].depth)
        nodes[a].top = nodes[b].top;
    return a;
}

/* Makes one block of those on the path from u to v; returns how many fewer there are. */
static uint32_t close_path(tree_node *nodes, uint32_t u, uint32_t v) {
    uint32_t block = NONE, merged = 0;
    while (u != v) {
        uint32_t a = nodes[u].parent == NONE ? NONE : find_block(nodes, u);
        uint32_t b = nodes[v].parent == NONE ? NONE : find_block(nodes, v);
        bool at_end = a == b;
        if (a == NONE || (b != NONE && nodes[nodes[b].top].depth > nodes[nodes[a].top].depth)) {
            v = nodes[b].top;
            a = b;
        } else {
            u = nodes[a].top;
        }
        if (block == NONE) {
            block = a;
        } else if (a != block) {
            block = unite_blocks(nodes, block, a);
            ++merged;
        }
        if (at_end)
            break;
    }
    return merged;
}

/* Hangs the tree from node 0, breadth first, each edge a block of its own. */
static psfm_status hang_tree(psfm_context *ctx, const psfm_edge_list *graph,
                             const psfm_spanning_tree *tree, tree_node *nodes) {
    uint32_t n = graph->num_nodes, reached = 1;
    psfm_topology topology = {n, graph->num_edges, graph->node1, graph->node2};
    psfm_adjacency incident = {0};
    uint32_t *queue = NULL;
    psfm_status status;
    if ((status = psfm_adjacency_init(ctx, &topology, tree->edges, tree->num_edges, &incident)) ||
        (status = PSFM_ALLOC(ctx, n, &queue)))
        goto cleanup;
    for (uint32_t v = 0; v < n; ++v)
        nodes[v] = (tree_node){.parent = NONE, .edge = NONE, .set = v, .size = 1};
    for (uint32_t done = 0; done < reached; ++done) {
        uint32_t v = queue[done];
        for (size_t k = incident.begin[v]; k < incident.begin[v + 1]; ++k) {
            uint32_t e = incident.edge[k], w = psfm_topology_other(&topology, e, v);
            if (e == nodes[v].edge || w == 0 || nodes[w].parent != NONE)
                continue;
            nodes[w].parent = nodes[w].top = v;
            nodes[w].edge = e;
            nodes[w].depth = nodes[v].depth + 1;
            queue[reached++] = w;
        }
    }
    if (reached < n)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "the tree to extend reaches %u of %u nodes",
                           reached, n);

cleanup:
    psfm_adjacency_free(&incident);
    free(queue);
    return status;
}

static psfm_status check_tree(psfm_context *ctx, const psfm_edge_list *graph,
                              const psfm_spanning_tree *tree) {
    if (graph->num_nodes == 0 || tree->num_edges != graph->num_nodes - 1)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "a tree of %u edges does not span %u nodes",
                         tree->num_edges, graph->num_nodes);
    for (uint32_t k = 0; k < tree->num_edges; ++k)
        if (tree->edges[k] >= graph->num_edges)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "edge %u of the tree is not one of %u",
                             tree->edges[k], graph->num_edges);
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        if (graph->node1[e] == graph->node2[e] || graph->node1[e] >= graph->num_nodes ||
            graph->node2[e] >= graph->num_nodes || !isfinite(graph->weight[e]))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "edge %u joins nodes %u and %u of %u with weight %g", e,
                             graph->node1[e], graph->node2[e], graph->num_nodes, graph->weight[e]);
    return PSFM_OK;
}

/* Adds edges in the order of their widening until one block is left; marks those added. */
static psfm_status add_edges(psfm_context *ctx, const psfm_edge_list *graph,
                             const psfm_spanning_tree *tree, tree_node *nodes, bool *is_used) {
    uint32_t *order = NULL, num_blocks = tree->num_edges;
    size_t num = 0;
    psfm_status status =
        psfm_widening_order(ctx, graph, tree->low, tree->high, is_used, &order, &num);
    for (size_t k = 0; status == PSFM_OK && k < num && num_blocks > 1; ++k) {
        uint32_t merged = close_path(nodes, graph->node1[order[k]], graph->node2[order[k]]);
        is_used[order[k]] = merged > 0;
        num_blocks -= merged;
    }
    free(order);
    return status;
}

/* Copies the indices that are marked. */
static psfm_status list_marked(psfm_context *ctx, const bool *marked, uint32_t n, uint32_t **list,
                               uint32_t *num) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < n; ++k)
        count += marked[k];
    psfm_status status = PSFM_ALLOC(ctx, count, list);
    if (status != PSFM_OK)
        return status;
    *num = 0;
    for (uint32_t k = 0; k < n; ++k)
        if (marked[k])
            (*list)[(*num)++] = k;
    return PSFM_OK;
}

/* A node is cut if the tree edges at it are of more than one block; a bridge is a block of one. */
static psfm_status list_cuts(psfm_context *ctx, const psfm_edge_list *graph, tree_node *nodes,
                             psfm_biconnected *out) {
    bool *is_cut = NULL, *is_bridge = NULL;
    uint32_t n = graph->num_nodes, block_at_root = NONE;
    psfm_status status = PSFM_ALLOC(ctx, n, &is_cut);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, graph->num_edges, &is_bridge);
    if (status != PSFM_OK)
        goto cleanup;
    for (uint32_t v = 1; v < n; ++v) {
        uint32_t block = find_block(nodes, v), p = nodes[v].parent;
        if (nodes[block].size == 1)
            is_bridge[nodes[v].edge] = true;
        if (p == 0 && block_at_root == NONE)
            block_at_root = block;
        if (block != (p == 0 ? block_at_root : find_block(nodes, p)))
            is_cut[p] = true;
    }
    status = list_marked(ctx, is_cut, n, &out->cut_nodes, &out->num_cut_nodes);
    if (status == PSFM_OK)
        status = list_marked(ctx, is_bridge, graph->num_edges, &out->bridges, &out->num_bridges);

cleanup:
    free(is_cut);
    free(is_bridge);
    return status;
}

psfm_status psfm_biconnect(psfm_context *ctx, const psfm_edge_list *graph,
                           const psfm_spanning_tree *tree, psfm_biconnected *out) {
    tree_node *nodes = NULL;
    bool *is_used = NULL;
    *out = (psfm_biconnected){0};
    psfm_status status = check_tree(ctx, graph, tree);
    if (status != PSFM_OK || (status = PSFM_ALLOC(ctx, graph->num_nodes, &nodes)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, graph->num_edges, &is_used)) != PSFM_OK ||
        (status = hang_tree(ctx, graph, tree, nodes)) != PSFM_OK)
        goto cleanup;
    for (uint32_t k = 0; k < tree->num_edges; ++k)
        is_used[tree->edges[k]] = true;
    if ((status = add_edges(ctx, graph, tree, nodes, is_used)) != PSFM_OK ||
        (status = list_marked(ctx, is_used, graph->num_edges, &out->edges, &out->num_edges)) !=
            PSFM_OK ||
        (status = list_cuts(ctx, graph, nodes, out)) != PSFM_OK)
        goto cleanup;
    out->low = tree->low;
    out->high = tree->high;
    for (uint32_t k = 0; k < out->num_edges; ++k) {
        out->low = fmin(out->low, graph->weight[out->edges[k]]);
        out->high = fmax(out->high, graph->weight[out->edges[k]]);
    }

cleanup:
    free(nodes);
    free(is_used);
    if (status != PSFM_OK)
        psfm_biconnected_free(out);
    return status;
}

void psfm_biconnected_free(psfm_biconnected *b) {
    free(b->edges);
    free(b->cut_nodes);
    free(b->bridges);
    *b = (psfm_biconnected){0};
}
