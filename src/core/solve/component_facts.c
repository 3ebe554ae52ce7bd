/* How well each model is connected.
 *
 * The edges of a model are kept pairs between its images. Their minimum-range tree is extended to a
 * bi-connected graph as far as edges allow (core/posegraph/biconnect.c); every edge that could join
 * two biconnected components is taken, so that the cut nodes and bridges that remain are those of
 * all its edges. The ranges are of the embedding. Where rejected pairs leave a model in several
 * subgraphs that only points join, cuts and bridges are those of each subgraph, and the ranges
 * cover all of them. */
#include "core/solve/component_facts.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/posegraph/biconnect.h"

#define NONE UINT32_MAX

/* The edges of all models, and where they are weak. Owns its arrays. */
typedef struct {
    bool *inside;           /* per edge: kept, between images of one model */
    uint32_t *subgraph;     /* per node: what such edges connect */
    uint32_t num_subgraphs; /* of at least two images; they have the lowest labels */
    bool *is_cut;           /* per node */
    bool *is_bridge;        /* per edge */
    bool *seen;             /* per label of the embedding; false between uses */
} inner_graph;

static void free_inner(inner_graph *g) {
    free(g->inside);
    free(g->subgraph);
    free(g->is_cut);
    free(g->is_bridge);
    free(g->seen);
}

static psfm_status make_inner(psfm_context *ctx, const psfm_pose_graph *graph, const bool *keep,
                              const uint32_t *component, inner_graph *g) {
    uint32_t num_labels = 0;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, graph->num_edges, &g->inside)) ||
        (status = PSFM_ALLOC(ctx, graph->num_nodes, &g->subgraph)) ||
        (status = PSFM_ALLOC(ctx, graph->num_nodes, &g->is_cut)) ||
        (status = PSFM_ALLOC(ctx, graph->num_edges, &g->is_bridge)) ||
        (status = PSFM_ALLOC(ctx, graph->num_edges, &g->seen)))
        return status;
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        uint32_t at = component[graph->edges[e].node1];
        g->inside[e] =
            (keep == NULL || keep[e]) && at != NONE && at == component[graph->edges[e].node2];
    }
    status = psfm_pose_graph_components(ctx, graph, g->inside, g->subgraph, &num_labels);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e)
        if (g->inside[e] && g->subgraph[graph->edges[e].node1] >= g->num_subgraphs)
            g->num_subgraphs = g->subgraph[graph->edges[e].node1] + 1;
    return status;
}

static void reset_facts(psfm_component_facts *facts) {
    free(facts->cut_nodes);
    free(facts->bridges);
    facts->cut_nodes = facts->bridges = NULL;
    facts->num_cut_nodes = facts->num_bridges = 0;
    facts->tree_low = facts->graph_low = INFINITY;
    facts->tree_high = facts->graph_high = -INFINITY;
}

static void widen_range(double low, double high, double *all_low, double *all_high) {
    *all_low = fmin(*all_low, low);
    *all_high = fmax(*all_high, high);
}

/* Marks the cuts and bridges of one connected subgraph, and widens the ranges of its component. */
static psfm_status examine_subgraph(psfm_context *ctx, const psfm_pose_graph *graph,
                                    uint32_t subgraph, inner_graph *g, psfm_pose_solution *s) {
    psfm_subgraph sub = {0};
    psfm_spanning_tree tree = {0};
    psfm_biconnected blocks = {0};
    double *weight = NULL;
    psfm_edge_list list;
    psfm_status status = psfm_subgraph_extract(ctx, graph, g->subgraph, subgraph, g->inside, &sub);
    if (status != PSFM_OK || (status = psfm_subgraph_weigh(ctx, &sub, s->h, &weight, &list)) ||
        (status = psfm_spanning_tree_min_range(ctx, &list, &tree)) ||
        (status = psfm_biconnect(ctx, &list, &tree, &blocks)))
        goto cleanup;
    psfm_component_facts *facts = &s->components[s->poses.component[sub.node[0]]];
    widen_range(tree.low, tree.high, &facts->tree_low, &facts->tree_high);
    widen_range(blocks.low, blocks.high, &facts->graph_low, &facts->graph_high);
    for (uint32_t k = 0; k < blocks.num_cut_nodes; ++k)
        g->is_cut[sub.node[blocks.cut_nodes[k]]] = true;
    for (uint32_t k = 0; k < blocks.num_bridges; ++k)
        g->is_bridge[sub.edge[blocks.bridges[k]]] = true;

cleanup:
    psfm_subgraph_free(&sub);
    psfm_spanning_tree_free(&tree);
    psfm_biconnected_free(&blocks);
    free(weight);
    return status;
}

/* Number of different labels among the edges; labels are below the number of edges. */
static uint32_t count_labels(const psfm_subgraph *sub, const uint32_t *label, bool *seen) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < sub->num_edges; ++k) {
        bool *slot = &seen[label[sub->edge[k]]];
        count += *slot ? 0 : 1;
        *slot = true;
    }
    for (uint32_t k = 0; k < sub->num_edges; ++k)
        seen[label[sub->edge[k]]] = false;
    return count;
}

/* The marked ones of `num` ids. */
static psfm_status list_marked(psfm_context *ctx, const uint32_t *ids, uint32_t num,
                               const bool *marked, uint32_t **list, uint32_t *num_marked) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < num; ++k)
        count += marked[ids[k]];
    psfm_status status = PSFM_ALLOC(ctx, count, list);
    for (uint32_t k = 0; status == PSFM_OK && k < num; ++k)
        if (marked[ids[k]])
            (*list)[(*num_marked)++] = ids[k];
    return status;
}

static psfm_status describe_component(psfm_context *ctx, const psfm_pose_graph *graph,
                                      uint32_t component, inner_graph *g, psfm_pose_solution *s) {
    psfm_subgraph sub = {0};
    psfm_component_facts *facts = &s->components[component];
    psfm_status status =
        psfm_subgraph_extract(ctx, graph, s->poses.component, component, g->inside, &sub);
    if (status != PSFM_OK)
        return status;
    facts->num_edges = sub.num_edges;
    facts->num_similarity_components = count_labels(&sub, s->similarity_component, g->seen);
    if (sub.num_edges == 0) /* points alone join its images */
        facts->tree_low = facts->tree_high = facts->graph_low = facts->graph_high = 0.0;
    status = list_marked(ctx, sub.node, sub.num_nodes, g->is_cut, &facts->cut_nodes,
                         &facts->num_cut_nodes);
    if (status == PSFM_OK)
        status = list_marked(ctx, sub.edge, sub.num_edges, g->is_bridge, &facts->bridges,
                             &facts->num_bridges);
    psfm_subgraph_free(&sub);
    return status;
}

psfm_status psfm_component_facts_find(psfm_context *ctx, const psfm_pose_graph *graph,
                                      const bool *keep, psfm_pose_solution *solution) {
    inner_graph g = {0};
    psfm_status status = make_inner(ctx, graph, keep, solution->poses.component, &g);
    for (uint32_t c = 0; c < solution->num_components; ++c)
        reset_facts(&solution->components[c]);
    for (uint32_t k = 0; status == PSFM_OK && k < g.num_subgraphs; ++k)
        status = examine_subgraph(ctx, graph, k, &g, solution);
    for (uint32_t c = 0; status == PSFM_OK && c < solution->num_components; ++c)
        status = describe_component(ctx, graph, c, &g, solution);
    free_inner(&g);
    return status;
}
