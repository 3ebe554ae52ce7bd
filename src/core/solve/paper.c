/* Positions. As published, the tree of each component is extended to a bi-connected graph by the
 * edges that least widen its range (core/posegraph/biconnect.c), and LUD solves for the centres
 * from the directions of that graph (core/positions/position_lud.c). A bi-connected graph need not
 * determine the positions, though, so that the extension can go on until it does
 * (core/rigidity/rigidity.c), or take all edges that agree with the rotations. docs/paper.md says
 * how all this is read here. */
#include "core/solve/paper.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/posegraph/biconnect.h"
#include "core/posegraph/min_range_tree.h"
#include "core/rigidity/rigidity.h"

const char *const psfm_paper_positions_names[] = {"biconnected", "rigid", "agreeing", NULL};

static const psfm_option rows[] = {
    PSFM_OPTION_CHOICE(psfm_paper_options, positions, "positions", PSFM_POSITIONS_AGREEING,
                       psfm_paper_positions_names,
                       "edges that give the positions: the tree extended until it is bi-connected, "
                       "as published, or until it is parallel rigid, or all edges that agree with "
                       "the rotations"),
    PSFM_OPTION_DOUBLE(psfm_paper_options, agreeing_deg, "agreeing-deg", 3.0, 0.0, 180.0,
                       "largest difference of an agreeing edge from the rotations"),
};
const psfm_option_table psfm_paper_option_table = PSFM_OPTION_TABLE("paper", rows);

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

/* Extends the tree of a graph; in_use (num_edges, zeroed) marks its edges and those added. */
static psfm_status extend_tree(psfm_context *ctx, const psfm_edge_list *list,
                               const psfm_spanning_tree *tree, int positions, bool *in_use) {
    psfm_biconnected extended = {0};
    psfm_status status = psfm_biconnect(ctx, list, tree, &extended);
    for (uint32_t k = 0; status == PSFM_OK && k < extended.num_edges; ++k)
        in_use[extended.edges[k]] = true;
    if (status == PSFM_OK && positions == PSFM_POSITIONS_RIGID)
        status = psfm_rigid_extension(ctx, list, tree->low, tree->high, in_use);
    psfm_biconnected_free(&extended);
    return status;
}

/* Marks the edges of the extended tree of a component. */
static psfm_status extend_component(psfm_context *ctx, const psfm_pose_graph *graph,
                                    uint32_t component, int positions, psfm_pose_solution *s) {
    psfm_subgraph sub = {0};
    psfm_spanning_tree tree = {0};
    double *weight = NULL;
    bool *in_use = NULL;
    psfm_edge_list list;
    psfm_status status =
        psfm_subgraph_extract(ctx, graph, s->poses.component, component, NULL, &sub);
    if (status == PSFM_OK)
        status = psfm_subgraph_weigh(ctx, &sub, s->h, &weight, &list);
    if (status == PSFM_OK)
        status = local_tree(ctx, &sub, s, &tree);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, sub.num_edges, &in_use);
    if (status == PSFM_OK)
        status = extend_tree(ctx, &list, &tree, positions, in_use);
    for (uint32_t k = 0; status == PSFM_OK && k < sub.num_edges; ++k)
        s->in_graph[sub.edge[k]] = in_use[k];
    psfm_subgraph_free(&sub);
    psfm_spanning_tree_free(&tree);
    free(weight);
    free(in_use);
    return status;
}

/* The rotations of all edges after the poses; *R_21 is malloc'ed. */
static psfm_status rotations_of_poses(psfm_context *ctx, const psfm_pose_graph *graph,
                                      const psfm_poses *poses, double (**R_21)[9]) {
    psfm_status status = PSFM_ALLOC(ctx, graph->num_edges, R_21);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e)
        psfm_mat3_mul_t(poses->cam_from_world[graph->edges[e].node2],
                        poses->cam_from_world[graph->edges[e].node1], (*R_21)[e]);
    return status;
}

/* Weighs the edges off the tree once more, with the rotations found in place of the essential
 * matrix's, so that the other decomposition of a homography has its chance. */
static psfm_status weigh_by_poses(psfm_context *ctx, const psfm_essential_weight_options *options,
                                  psfm_pose_graph *graph, psfm_pose_solution *s) {
    double(*R_21)[9] = NULL;
    bool *off_tree = NULL;
    psfm_status status = rotations_of_poses(ctx, graph, &s->poses, &R_21);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, graph->num_edges, &off_tree);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e)
        off_tree[e] = !s->in_tree[e];
    if (status == PSFM_OK)
        status = psfm_weigh_by_rotation(ctx, options, (const double(*)[9])R_21, off_tree, graph);
    if (status == PSFM_OK)
        status = psfm_consolidate(ctx, graph, s->edge_pose);
    free(R_21);
    free(off_tree);
    return status;
}

/* Marks the edges of the tree and those whose rotation is that of their images' poses to within
 * max_deg. */
static psfm_status take_agreeing(psfm_context *ctx, double max_deg, const psfm_pose_graph *graph,
                                 psfm_pose_solution *s) {
    double(*R_21)[9] = NULL;
    psfm_status status = rotations_of_poses(ctx, graph, &s->poses, &R_21);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e)
        s->in_graph[e] = s->in_tree[e] || psfm_rotation_angle(s->edge_pose[e].R_21, R_21[e]) <=
                                              psfm_radians(max_deg);
    free(R_21);
    return status;
}

psfm_status psfm_paper_positions(psfm_context *ctx, const psfm_skeleton_options *skeleton,
                                 const psfm_paper_options *options, psfm_pose_graph *graph,
                                 psfm_timings *timings, psfm_pose_solution *solution) {
    psfm_moment start = psfm_moment_now();
    bool agreeing = options->positions == PSFM_POSITIONS_AGREEING;
    psfm_status status = PSFM_OK;
    if (options->positions != PSFM_POSITIONS_BICONNECTED)
        status = weigh_by_poses(ctx, &skeleton->weight, graph, solution);
    if (status == PSFM_OK && agreeing)
        status = take_agreeing(ctx, options->agreeing_deg, graph, solution);
    for (uint32_t c = 0; status == PSFM_OK && c < solution->num_components; ++c) {
        if (!agreeing)
            status = extend_component(ctx, graph, c, options->positions, solution);
        if (status == PSFM_OK)
            status = psfm_component_positions_lud(ctx, graph, c, solution->in_graph, &skeleton->lud,
                                                  solution);
    }
    if (timings != NULL)
        psfm_timings_add(timings, "positions", start);
    return status;
}
