/* What both engines have in common: from a pose graph to rotations.
 *
 * Hypotheses get their weights (Eq. 4 of the paper, core/posegraph/confidence.c), edges that share
 * a camera are compared (Eq. 2 and 3, core/posegraph/similarity.c), the line graph is embedded on
 * the real line (Eq. 5, core/posegraph/embedding.c), each edge becomes one relative pose (Eq.
 * 7, core/posegraph/consolidate.c), the minimum-range spanning tree of each component is taken
 * (Algorithm 1, core/posegraph/min_range_tree.c), and rotations go through the tree from its first
 * image. docs/paper.md has the formulas. A variant says
 * which parts are at work: all of them as published, those the ablation leaves, or, for the robust
 * engine, weights that its joint choice has set and triangles as further evidence.
 */
#include "core/solve/planar_sfm.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/posegraph/min_range_tree.h"
#include "core/posegraph/rotation_edges.h"
#include "core/rotations/rotation.h"

static const psfm_skeleton_variant whole_method = {0};

static psfm_status weigh_hypotheses(psfm_context *ctx, const psfm_skeleton_options *options,
                                    const psfm_skeleton_variant *variant, psfm_pose_graph *graph) {
    if (variant->given_weights)
        return PSFM_OK;
    if (variant->random_weights)
        return psfm_weigh_randomly(ctx, variant->seed, graph);
    return psfm_weigh_by_essential(ctx, &options->weight, graph);
}

static psfm_status embed_edges(psfm_context *ctx, const psfm_skeleton_options *options,
                               const psfm_skeleton_variant *variant, const psfm_pose_graph *graph,
                               psfm_timings *timings, psfm_pose_solution *s) {
    psfm_csr S = {0};
    psfm_embedding embedding = {0};
    psfm_moment start = psfm_moment_now();
    psfm_status status = psfm_similarity_build(ctx, graph, &options->similarity, &S);
    if (status == PSFM_OK && variant->triangles)
        status = psfm_cycle_evidence(ctx, graph, &S, NULL);
    if (timings != NULL)
        psfm_timings_add(timings, "similarity", start);
    start = psfm_moment_now();
    if (status == PSFM_OK)
        status = psfm_embedding_compute(ctx, &S, NULL, &embedding);
    if (status == PSFM_OK && s->num_edges > 0) {
        memcpy(s->h, embedding.h, s->num_edges * sizeof *s->h);
        memcpy(s->similarity_component, embedding.component,
               s->num_edges * sizeof *s->similarity_component);
    }
    if (timings != NULL)
        psfm_timings_add(timings, "embedding", start);
    psfm_csr_free(&S);
    psfm_embedding_free(&embedding);
    return status;
}

/* Rotations of one component through its tree, the first image as the identity. */
static psfm_status propagate_rotations(psfm_context *ctx, const psfm_subgraph *sub,
                                       const psfm_spanning_tree *tree, psfm_pose_solution *s) {
    psfm_relative_pose *poses = NULL;
    double(*R)[9] = NULL;
    bool *reached = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, sub->num_edges, &poses)) ||
        (status = PSFM_ALLOC(ctx, sub->num_nodes, &R)) ||
        (status = PSFM_ALLOC(ctx, sub->num_nodes, &reached)))
        goto cleanup;
    for (uint32_t k = 0; k < sub->num_edges; ++k)
        poses[k] = s->edge_pose[sub->edge[k]];
    psfm_topology topology = {sub->num_nodes, sub->num_edges, sub->node1, sub->node2};
    status = psfm_rotations_propagate(ctx, &topology, poses, tree, 0, R, reached);
    for (uint32_t v = 0; status == PSFM_OK && v < sub->num_nodes; ++v)
        memcpy(s->poses.cam_from_world[sub->node[v]], R[v], sizeof R[v]);

cleanup:
    free(poses);
    free(R);
    free(reached);
    return status;
}

static psfm_status solve_tree(psfm_context *ctx, const psfm_pose_graph *graph, uint32_t component,
                              const psfm_skeleton_variant *variant, psfm_pose_solution *s) {
    psfm_subgraph sub = {0};
    psfm_spanning_tree tree = {0};
    double *weight = NULL;
    psfm_edge_list list;
    psfm_status status =
        psfm_subgraph_extract(ctx, graph, s->poses.component, component, NULL, &sub);
    if (status == PSFM_OK)
        status = psfm_subgraph_weigh(ctx, &sub, s->h, &weight, &list);
    if (status == PSFM_OK)
        status = variant->random_tree ? psfm_spanning_tree_random(ctx, &list, variant->seed, &tree)
                                      : psfm_spanning_tree_min_range(ctx, &list, &tree);
    if (status != PSFM_OK)
        goto cleanup;
    for (uint32_t k = 0; k < tree.num_edges; ++k)
        s->in_tree[sub.edge[tree.edges[k]]] = true;
    status = propagate_rotations(ctx, &sub, &tree, s);

cleanup:
    psfm_subgraph_free(&sub);
    psfm_spanning_tree_free(&tree);
    free(weight);
    return status;
}

psfm_status psfm_skeleton_rotations(psfm_context *ctx, const psfm_skeleton_options *options,
                                    const psfm_skeleton_variant *variant, psfm_pose_graph *graph,
                                    psfm_timings *timings, psfm_pose_solution *solution) {
    if (variant == NULL)
        variant = &whole_method;
    psfm_status status = psfm_pose_solution_init(ctx, graph, solution);
    if (status == PSFM_OK)
        status = weigh_hypotheses(ctx, options, variant, graph);
    if (status == PSFM_OK && !variant->random_tree)
        status = embed_edges(ctx, options, variant, graph, timings, solution);
    psfm_moment start = psfm_moment_now();
    if (status == PSFM_OK)
        status = psfm_consolidate(ctx, graph, solution->edge_pose);
    for (uint32_t c = 0; status == PSFM_OK && c < solution->num_components; ++c)
        status = solve_tree(ctx, graph, c, variant, solution);
    if (timings != NULL)
        psfm_timings_add(timings, "spanning tree", start);
    return status;
}

/* Makes one node of those that only rotations join: place[v] is where node v of the whole went. */
static psfm_status contract_rotations(psfm_context *ctx, const psfm_pose_graph *graph,
                                      const bool *keep, psfm_subgraph *sub, uint32_t *place) {
    uint32_t *label = NULL, *number = NULL, num_nodes = 0, num_edges = 0;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &label);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, graph->num_nodes, &number);
    if (status == PSFM_OK)
        status = psfm_rotation_edges_join(ctx, graph, keep, label);
    for (uint32_t v = 0; status == PSFM_OK && v < sub->num_nodes; ++v) {
        if (label[sub->node[v]] == sub->node[v]) /* the lowest of its set comes first */
            number[sub->node[v]] = num_nodes++;
        place[v] = number[label[sub->node[v]]];
    }
    for (uint32_t k = 0; status == PSFM_OK && k < sub->num_edges; ++k) {
        uint32_t a = place[sub->node1[k]], b = place[sub->node2[k]];
        if (graph->edges[sub->edge[k]].is_rotation)
            continue;
        sub->edge[num_edges] = sub->edge[k];
        sub->node1[num_edges] = a;
        sub->node2[num_edges++] = b;
    }
    sub->num_nodes = num_nodes;
    sub->num_edges = num_edges;
    free(label);
    free(number);
    return status;
}

psfm_status psfm_component_positions_lud(psfm_context *ctx, const psfm_pose_graph *graph,
                                         uint32_t component, const bool *keep,
                                         const psfm_lud_options *options, psfm_pose_solution *s) {
    psfm_subgraph sub = {0};
    double(*direction)[3] = NULL, (*center)[3] = NULL;
    uint32_t *place = NULL;
    psfm_component_facts *facts = &s->components[component];
    psfm_status status =
        psfm_subgraph_extract(ctx, graph, s->poses.component, component, keep, &sub);
    uint32_t num_nodes = sub.num_nodes;
    if (status != PSFM_OK || (status = PSFM_ALLOC(ctx, num_nodes, &place)) ||
        (status = contract_rotations(ctx, graph, keep, &sub, place)) ||
        (status = PSFM_ALLOC(ctx, sub.num_edges, &direction)) ||
        (status = PSFM_ALLOC(ctx, sub.num_nodes, &center)))
        goto cleanup;
    for (uint32_t k = 0; k < sub.num_edges; ++k) {
        uint32_t node2 = graph->edges[sub.edge[k]].node2;
        psfm_mat3_tmul_vec(s->poses.cam_from_world[node2], s->edge_pose[sub.edge[k]].t_21,
                           direction[k]);
    }
    psfm_topology topology = {sub.num_nodes, sub.num_edges, sub.node1, sub.node2};
    status = psfm_positions_lud(ctx, &topology, (const double(*)[3])direction, options, center,
                                &facts->lud);
    for (uint32_t v = 0; status == PSFM_OK && v < num_nodes; ++v)
        memcpy(s->poses.center[sub.node[v]], center[place[v]], sizeof center[place[v]]);

cleanup:
    psfm_subgraph_free(&sub);
    free(place);
    free(direction);
    free(center);
    return status;
}
