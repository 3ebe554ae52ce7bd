/* Positions as published: the tree of each component is extended to a bi-connected graph by the
 * edges that least widen its range (graph/biconnect.c), and LUD solves for the centres from the
 * directions of that graph (pose/position_lud.c). docs/paper.md says how both
 * are read here. */
#include "engine/paper.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "graph/biconnect.h"
#include "graph/spanning_tree.h"

/* Takes over what the extension found; ids become those of the whole graph. */
static void record_extension(const psfm_subgraph *sub, psfm_biconnected *extended,
                             psfm_pose_solution *s, psfm_component_facts *facts) {
    for (uint32_t k = 0; k < extended->num_edges; ++k)
        s->in_graph[sub->edge[extended->edges[k]]] = true;
    for (uint32_t k = 0; k < extended->num_cut_nodes; ++k)
        extended->cut_nodes[k] = sub->node[extended->cut_nodes[k]];
    for (uint32_t k = 0; k < extended->num_bridges; ++k)
        extended->bridges[k] = sub->edge[extended->bridges[k]];
    facts->cut_nodes = extended->cut_nodes;
    facts->num_cut_nodes = extended->num_cut_nodes;
    facts->bridges = extended->bridges;
    facts->num_bridges = extended->num_bridges;
    facts->graph_low = extended->low;
    facts->graph_high = extended->high;
    extended->cut_nodes = NULL;
    extended->bridges = NULL;
}

/* The tree of a component in local edge indices. */
static psfm_status local_tree(psfm_context *ctx, const psfm_subgraph *sub,
                              const psfm_pose_solution *s, const psfm_component_facts *facts,
                              psfm_spanning_tree *tree) {
    psfm_status status = PSFM_ALLOC(ctx, sub->num_nodes, &tree->edges);
    for (uint32_t k = 0; status == PSFM_OK && k < sub->num_edges; ++k)
        if (s->in_tree[sub->edge[k]])
            tree->edges[tree->num_edges++] = k;
    tree->low = facts->tree_low;
    tree->high = facts->tree_high;
    return status;
}

static psfm_status extend(psfm_context *ctx, const psfm_pose_graph *graph, uint32_t component,
                          psfm_pose_solution *s) {
    psfm_subgraph sub = {0};
    psfm_spanning_tree tree = {0};
    psfm_biconnected extended = {0};
    double *weight = NULL;
    psfm_edge_list list;
    psfm_component_facts *facts = &s->components[component];
    psfm_status status =
        psfm_subgraph_extract(ctx, graph, s->poses.component, component, NULL, &sub);
    if (status == PSFM_OK)
        status = psfm_subgraph_weigh(ctx, &sub, s->h, &weight, &list);
    if (status == PSFM_OK)
        status = local_tree(ctx, &sub, s, facts, &tree);
    if (status == PSFM_OK)
        status = psfm_biconnect(ctx, &list, &tree, &extended);
    if (status == PSFM_OK)
        record_extension(&sub, &extended, s, facts);
    psfm_subgraph_free(&sub);
    psfm_spanning_tree_free(&tree);
    psfm_biconnected_free(&extended);
    free(weight);
    return status;
}

psfm_status psfm_paper_positions(psfm_context *ctx, const psfm_skeleton_options *options,
                                 const psfm_pose_graph *graph, psfm_timings *timings,
                                 psfm_pose_solution *solution) {
    double start = psfm_now();
    psfm_status status = PSFM_OK;
    for (uint32_t c = 0; status == PSFM_OK && c < solution->num_components; ++c) {
        status = extend(ctx, graph, c, solution);
        if (status == PSFM_OK)
            status = psfm_component_positions_lud(ctx, graph, c, solution->in_graph, &options->lud,
                                                  solution);
    }
    if (timings != NULL)
        psfm_timings_add(timings, "positions", start);
    return status;
}
