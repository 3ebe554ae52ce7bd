/* Positions as published: the tree of each component is extended to a bi-connected graph by the
 * edges that least widen its range (graph/biconnect.c), and LUD solves for the centres from the
 * directions of that graph (pose/position_lud.c). docs/paper.md says how both
 * are read here. */
#include "engine/paper.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/biconnect.h"
#include "graph/spanning_tree.h"

/* The tree of a component in local edge indices. */
static psfm_status local_tree(psfm_context *ctx, const psfm_subgraph *sub,
                              const psfm_pose_solution *s, psfm_spanning_tree *tree) {
    psfm_status status = PSFM_ALLOC(ctx, sub->num_nodes, &tree->edges);
    tree->low = INFINITY;
    tree->high = -INFINITY;
    for (uint32_t k = 0; status == PSFM_OK && k < sub->num_edges; ++k) {
        if (!s->in_tree[sub->edge[k]])
            continue;
        tree->edges[tree->num_edges++] = k;
        tree->low = fmin(tree->low, s->h[sub->edge[k]]);
        tree->high = fmax(tree->high, s->h[sub->edge[k]]);
    }
    return status;
}

/* Marks the edges of the component's bi-connected extension. */
static psfm_status extend(psfm_context *ctx, const psfm_pose_graph *graph, uint32_t component,
                          psfm_pose_solution *s) {
    psfm_subgraph sub = {0};
    psfm_spanning_tree tree = {0};
    psfm_biconnected extended = {0};
    double *weight = NULL;
    psfm_edge_list list;
    psfm_status status =
        psfm_subgraph_extract(ctx, graph, s->poses.component, component, NULL, &sub);
    if (status == PSFM_OK)
        status = psfm_subgraph_weigh(ctx, &sub, s->h, &weight, &list);
    if (status == PSFM_OK)
        status = local_tree(ctx, &sub, s, &tree);
    if (status == PSFM_OK)
        status = psfm_biconnect(ctx, &list, &tree, &extended);
    for (uint32_t k = 0; status == PSFM_OK && k < extended.num_edges; ++k)
        s->in_graph[sub.edge[extended.edges[k]]] = true;
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
