/* The robust engine: rotations and positions of all components.
 *
 *   1. Hypotheses are chosen jointly (core/posegraph/joint_choice.c); the confidences of all are
 * kept.
 *   2. The skeleton (core/solve/planar_sfm.c), with triangles as further evidence, gives first
 * rotations.
 *   3. Consensus over all candidates (core/rotations/rotation_consensus.c) gets out of wrong trees.
 *   4. Twice: per plane the hypothesis that agrees with the rotations is taken, edges without any
 *      are rejected, and the rotations are averaged over the rest
 * (core/rotations/rotation_average.c).
 *   5. Components are found again with the accepted edges, and the centres of each solved, with
 *      lengths from planes where there are any (core/positions/position_plane.c), by LUD otherwise.
 * Edges whose baselines contradict the centres are rejected as well. The runner-ups of 3 and 5 are
 * weighed; where nothing decides, models are marked or split.
 *
 * Nothing is removed from the graph: choosing sets weights, rejecting clears a flag. Each step has
 * a switch (--robust.*), so that its effect can be measured. */
#include "core/solve/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/ambiguity/rotation_ambiguity.h"
#include "core/ambiguity/shift_ambiguity.h"
#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/posegraph/confidence.h"
#include "core/posegraph/missing_matches.h"
#include "core/posegraph/rotation_edges.h"
#include "core/solve/rotation_candidates.h"

static const psfm_option rows[] = {
    PSFM_OPTION_BOOL(psfm_robust_control_options, joint_choice, "joint-choice", 1,
                     "choose decompositions jointly; off: by the essential matrix, as published"),
    PSFM_OPTION_BOOL(psfm_robust_control_options, cycles, "cycles", 1,
                     "use triangles and the consensus of all cycles as evidence"),
    PSFM_OPTION_BOOL(psfm_robust_control_options, averaging, "averaging", 1,
                     "average rotations over all agreeing edges; off: the tree alone"),
    PSFM_OPTION_BOOL(psfm_robust_control_options, plane_scale, "plane-scale", 1,
                     "take the lengths of baselines from the planes; off: directions alone (LUD)"),
    PSFM_OPTION_BOOL(psfm_robust_control_options, refinement, "refinement", 1,
                     "triangulate and adjust the bundle"),
};
/* The unit of thresholds in pixels, multiplied by the noise that was measured. */
static const psfm_robust_control_options unlisted = {.noise_px = 1.0};
const psfm_option_table psfm_robust_control_option_table =
    PSFM_OPTION_TABLE_FROM("robust", rows, unlisted);

static const char *const ambiguous_models[] = {"mark", "split", "best", NULL};

static const psfm_option ambiguity_rows[] = {
    PSFM_OPTION_CHOICE(psfm_ambiguity_options, models, "models", PSFM_AMBIGUOUS_MARK,
                       ambiguous_models,
                       "a model that its photographs do not tell from its runner-up (a part "
                       "turned or shifted, an image flipped): say so in the summary, split it "
                       "there, or ask no further"),
};
const psfm_option_table psfm_ambiguity_option_table =
    PSFM_OPTION_TABLE("ambiguity", ambiguity_rows);

/* A model is told from its runner-up if the evidence for that over the evidence against it is not
 * larger: where a part is turned or an image flipped, and where a part is shifted. */
#define MAX_TURN_RATIO 0.8
#define MAX_SHIFT_RATIO 0.5

/* Per plane the heaviest hypothesis keeps its weight, the others get none; sums to 1 per edge. */
static void keep_best(psfm_pose_graph *graph) {
    for (uint32_t p = 0; p < graph->num_planes; ++p) {
        const psfm_edge_plane *plane = &graph->planes[p];
        uint32_t best = plane->hypothesis_begin;
        for (uint32_t h = best; h < plane->hypothesis_end; ++h)
            if (graph->hypotheses[h].weight > graph->hypotheses[best].weight)
                best = h;
        for (uint32_t h = plane->hypothesis_begin; h < plane->hypothesis_end; ++h)
            if (h != best)
                graph->hypotheses[h].weight = 0.0;
    }
}

/* How far a rotation with this standard deviation at one pixel's noise may be off. */
static double rotation_reach(const psfm_robust_options *options, double sigma_rad) {
    return fmax(psfm_radians(PSFM_AGREEMENT_DEG),
                PSFM_CONSENSUS_SIGMAS * options->control.noise_px * sigma_rad);
}

/* Planes of one edge that contradict its heaviest hypothesis lose their weight. */
static void keep_agreeing_planes(const psfm_robust_options *options, psfm_pose_graph *graph) {
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        const psfm_hypothesis *best = NULL;
        for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
            if (best == NULL || graph->hypotheses[h].weight > best->weight)
                best = &graph->hypotheses[h];
        for (uint32_t h = edge->hypothesis_begin; best != NULL && h < edge->hypothesis_end; ++h)
            if (psfm_rotation_angle(graph->hypotheses[h].motion.R_21, best->motion.R_21) >
                rotation_reach(options, graph->hypotheses[h].sigma_rad))
                graph->hypotheses[h].weight = 0.0;
    }
}

/* First choice of hypotheses; the confidence of each in `confidence`. */
static psfm_status choose_hypotheses(psfm_context *ctx, const psfm_skeleton_options *base,
                                     const psfm_robust_options *options, psfm_pose_graph *graph,
                                     double *confidence) {
    psfm_status status;
    if (options->control.joint_choice) {
        status = psfm_joint_choice(ctx, graph, confidence);
    } else {
        status = psfm_weigh_by_essential(ctx, &base->weight, graph);
        for (uint32_t h = 0; h < graph->num_hypotheses; ++h)
            confidence[h] = graph->hypotheses[h].weight;
    }
    if (status == PSFM_OK) {
        keep_best(graph);
        keep_agreeing_planes(options, graph);
    }
    return status;
}

/* Weights after the rotations are known: per plane the hypothesis nearest to them, if it agrees. */
static void choose_by_rotations(const psfm_robust_options *options, psfm_pose_graph *graph,
                                const psfm_pose_solution *s) {
    for (uint32_t p = 0; p < graph->num_planes; ++p) {
        const psfm_edge_plane *plane = &graph->planes[p];
        const psfm_edge *edge = &graph->edges[plane->edge];
        double R_21[9], nearest = INFINITY;
        uint32_t best = UINT32_MAX;
        psfm_mat3_mul_t(s->poses.cam_from_world[edge->node2], s->poses.cam_from_world[edge->node1],
                        R_21);
        for (uint32_t h = plane->hypothesis_begin; h < plane->hypothesis_end; ++h) {
            double angle = psfm_rotation_angle(graph->hypotheses[h].motion.R_21, R_21);
            graph->hypotheses[h].weight = 0.0;
            if (angle < nearest &&
                angle < rotation_reach(options, graph->hypotheses[h].sigma_rad)) {
                nearest = angle;
                best = h;
            }
        }
        if (best != UINT32_MAX)
            graph->hypotheses[best].weight = plane->num_inliers;
    }
}

/* One rotation per edge from what agrees with the rotations: its hypotheses with weight, or the
 * essential matrix. accepted[e] is false if nothing does. */
static psfm_status choose_edge_hypotheses(psfm_context *ctx, const psfm_robust_options *options,
                                          psfm_pose_graph *graph, psfm_pose_solution *s,
                                          bool *accepted) {
    choose_by_rotations(options, graph, s);
    psfm_status status = psfm_consolidate(ctx, graph, s->edge_pose);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        double R_21[9], weight = 0.0;
        psfm_mat3_mul_t(s->poses.cam_from_world[edge->node2], s->poses.cam_from_world[edge->node1],
                        R_21);
        for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
            weight += graph->hypotheses[h].weight;
        double off_plane = psfm_edge_essential_confidence(edge);
        bool essential_agrees =
            off_plane > 0.5 && psfm_rotation_angle(edge->essential_R_21, R_21) <
                                   rotation_reach(options, edge->essential_sigma_rad);
        if (weight == 0.0 && essential_agrees) {
            memcpy(s->edge_pose[e].R_21, edge->essential_R_21, sizeof edge->essential_R_21);
            memcpy(s->edge_pose[e].t_21, edge->essential_t_21, sizeof edge->essential_t_21);
        }
        accepted[e] = weight > 0.0 || essential_agrees;
    }
    return status;
}

/* What the rotations are found from. */
static psfm_rotation_problem rotation_problem(const psfm_context *ctx,
                                              const psfm_topology *topology,
                                              const psfm_rotation_candidates *candidates) {
    return (psfm_rotation_problem){topology, candidates, psfm_context_seed(ctx)};
}

/* The runner-up of a consensus. Edges that are no pairs of the graph, those from num_pairs on, take
 * part and are not listed. */
static psfm_status find_runner_up(psfm_context *ctx, const psfm_robust_options *options,
                                  const psfm_rotation_problem *problem, uint32_t num_pairs,
                                  double (*R)[9], const uint32_t *chosen, psfm_ambiguities *out) {
    if (options->ambiguity.models == PSFM_AMBIGUOUS_BEST)
        return PSFM_OK;
    psfm_status status =
        psfm_rotation_ambiguities_find(ctx, problem, MAX_TURN_RATIO, R, chosen, out);
    for (size_t k = 0; status == PSFM_OK && k < out->num; ++k) {
        psfm_runner_up *item = &out->item[k].cut;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < item->num_agreeing; ++i)
            if (item->edge[i] < num_pairs)
                item->edge[kept++] = item->edge[i];
        item->num_agreeing = kept;
    }
    return status;
}

/* The consensus of pairs and further edges, and its runner-up, which is of the images alone. */
static psfm_status find_consensus(psfm_context *ctx, const psfm_robust_options *options,
                                  const psfm_robust_input *input, const double *confidence,
                                  const psfm_topology *topology, psfm_pose_solution *s,
                                  psfm_robust_edges *edges) {
    psfm_candidate_list list;
    psfm_extended_graph g = {0};
    psfm_topology images;
    psfm_rotation_candidates without;
    uint32_t *chosen = NULL;
    double(*R)[9] = s->poses.cam_from_world;
    psfm_status status =
        psfm_candidate_list_make(ctx, input->graph, options->control.noise_px, confidence, &list);
    if (status == PSFM_OK)
        status =
            psfm_extended_graph_make(ctx, topology, &list, input->extra, PSFM_AGREEMENT_DEG, R, &g);
    psfm_candidate_list_free(&list);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, g.topology.num_edges, &chosen);
    psfm_rotation_problem problem = rotation_problem(ctx, &g.topology, &g.candidates);
    if (status == PSFM_OK)
        status = psfm_rotation_consensus(ctx, &problem, g.R, chosen, &edges->consensus);
    if (status == PSFM_OK) {
        psfm_extended_graph_hand_out(&g, chosen, R, input->extra);
        psfm_extended_graph_images(&g, &images, &without);
        problem = rotation_problem(ctx, &images, &without);
        status =
            find_runner_up(ctx, options, &problem, g.num_pairs, R, chosen, &edges->ambiguities);
    }
    free(chosen);
    psfm_extended_graph_free(&g);
    return status;
}

static psfm_status average_rotations(psfm_context *ctx, const psfm_pose_graph *graph,
                                     const psfm_topology *topology, psfm_pose_solution *s,
                                     psfm_robust_edges *edges) {
    double(*R_21)[9] = NULL, *weight = NULL;
    uint32_t n = graph->num_edges;
    psfm_status status = PSFM_ALLOC(ctx, n, &R_21);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &weight);
    for (uint32_t e = 0; status == PSFM_OK && e < n; ++e) {
        memcpy(R_21[e], s->edge_pose[e].R_21, sizeof *R_21);
        weight[e] = edges->accepted[e] ? sqrt(psfm_edge_num_inliers(graph, &graph->edges[e])) : 0.0;
        weight[e] *= graph->edges[e].is_rotation ? PSFM_ROTATION_WEIGHT : 1.0;
    }
    psfm_relative_rotations relative = {topology, (const double(*)[9])R_21, weight};
    if (status == PSFM_OK)
        status = psfm_rotations_average(ctx, &relative, NULL, s->poses.cam_from_world,
                                        edges->residual_deg, NULL);
    for (uint32_t e = 0; status == PSFM_OK && e < n; ++e)
        edges->residual_deg[e] = psfm_degrees(edges->residual_deg[e]);
    free(R_21);
    free(weight);
    return status;
}

/* The topology of the whole graph; *ends is malloc'ed and holds its arrays. */
static psfm_status whole_topology(psfm_context *ctx, const psfm_pose_graph *graph, uint32_t **ends,
                                  psfm_topology *topology) {
    uint32_t n = graph->num_edges;
    psfm_status status = PSFM_ALLOC(ctx, 2 * (size_t)n, ends);
    for (uint32_t e = 0; status == PSFM_OK && e < n; ++e) {
        (*ends)[e] = graph->edges[e].node1;
        (*ends)[n + e] = graph->edges[e].node2;
    }
    if (status == PSFM_OK)
        *topology = (psfm_topology){graph->num_nodes, n, *ends, *ends + n};
    return status;
}

/* Rejects the edges between sub-models that no decided edge connects. */
static void split_ambiguous(const psfm_pose_graph *graph, psfm_robust_edges *edges) {
    const uint32_t *part = edges->ambiguities.part;
    for (uint32_t e = 0; part != NULL && e < graph->num_edges; ++e) {
        uint32_t a = part[graph->edges[e].node1], b = part[graph->edges[e].node2];
        if (a != b)
            edges->accepted[e] = false;
    }
}

static psfm_status solve_rotations(psfm_context *ctx, const psfm_robust_options *options,
                                   const psfm_robust_input *input, const double *confidence,
                                   psfm_timings *timings, psfm_pose_solution *s,
                                   psfm_robust_edges *edges) {
    psfm_pose_graph *graph = input->graph;
    uint32_t *ends = NULL;
    psfm_topology topology;
    psfm_moment start = psfm_moment_now();
    psfm_status status = whole_topology(ctx, graph, &ends, &topology);
    if (status == PSFM_OK && options->control.cycles)
        status = find_consensus(ctx, options, input, confidence, &topology, s, edges);
    psfm_timings_add(timings, "consensus", start);
    start = psfm_moment_now();
    if (status == PSFM_OK && options->control.averaging)
        status = PSFM_ALLOC(ctx, graph->num_edges, &edges->residual_deg);
    enum { ROUNDS = 2 }; /* the second lets edges change sides after the first average */
    for (int k = 0; status == PSFM_OK && k < ROUNDS; ++k) {
        status = choose_edge_hypotheses(ctx, options, graph, s, edges->accepted);
        if (status == PSFM_OK && options->control.averaging)
            status = average_rotations(ctx, graph, &topology, s, edges);
    }
    psfm_timings_add(timings, "averaging", start);
    if (status == PSFM_OK && options->ambiguity.models == PSFM_AMBIGUOUS_SPLIT)
        split_ambiguous(graph, edges);
    free(ends);
    return status;
}

/* What the placing of all components shares. */
typedef struct {
    const psfm_skeleton_options *base;
    const psfm_robust_options *options;
    const psfm_pose_graph *graph;
    bool weighs_shifts;
    bool *keep, *posed; /* scratch, per edge and node: those of the component at hand */
} placing;

/* Centres of one component: from plane-scaled baselines where planes give lengths, from directions
 * alone otherwise. */
static psfm_status place_component(psfm_context *ctx, const placing *p, uint32_t component,
                                   psfm_pose_solution *s, psfm_robust_edges *edges) {
    const psfm_pose_graph *graph = p->graph;
    bool *keep = p->keep, *posed = p->posed;
    psfm_position_plane_stats stats = {0};
    psfm_known_baselines known = {0};
    psfm_status status = PSFM_OK;
    for (uint32_t v = 0; v < graph->num_nodes; ++v)
        posed[v] = s->poses.component[v] == component;
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        keep[e] = edges->accepted[e] && posed[graph->edges[e].node1];
    psfm_position_plane_input input = {.graph = graph,
                                       .keep = keep,
                                       .posed = posed,
                                       .groups = &edges->groups,
                                       .edge_pose = s->edge_pose,
                                       .cam_from_world_R =
                                           (const double(*)[9])s->poses.cam_from_world,
                                       .noise_px = p->options->control.noise_px};
    if (p->options->control.plane_scale)
        status =
            psfm_positions_plane(ctx, &input, s->poses.center, edges->baseline, &known, &stats);
    const psfm_placed_nodes placed = {graph->num_nodes, (const double(*)[9])s->poses.cam_from_world,
                                      (const double(*)[3])s->poses.center};
    if (status == PSFM_OK && p->weighs_shifts && known.num_edges > 0)
        status =
            psfm_shift_ambiguities_find(ctx, &known, &placed, MAX_SHIFT_RATIO, &edges->ambiguities);
    psfm_known_baselines_free(&known);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e)
        if (keep[e] && stats.num_scaled_edges > 0 && edges->baseline[e] == PSFM_BASELINE_WRONG)
            edges->accepted[e] = false;
    if (status == PSFM_OK && stats.num_scaled_edges == 0)
        status = psfm_component_positions_lud(ctx, graph, component, keep, &p->base->lud, s);
    return status;
}

static psfm_status place_all(psfm_context *ctx, const placing *p, psfm_pose_solution *s,
                             psfm_robust_edges *edges) {
    psfm_status status = PSFM_OK;
    for (uint32_t c = 0; status == PSFM_OK && c < s->num_components; ++c)
        status = place_component(ctx, p, c, s, edges);
    return status;
}

/* The components of the accepted edges, less those in which nothing has moved. */
static psfm_status find_models(psfm_context *ctx, const psfm_pose_graph *graph,
                               const bool *accepted, psfm_pose_solution *s) {
    psfm_status status = psfm_pose_solution_relabel(ctx, graph, accepted, s);
    return status == PSFM_OK ? psfm_pose_solution_drop_still(ctx, graph, accepted, s) : status;
}

/* Splits components where shifts are undecided, and places the parts. */
static psfm_status split_shifted(psfm_context *ctx, placing *p, psfm_pose_solution *s,
                                 psfm_robust_edges *edges) {
    split_ambiguous(p->graph, edges);
    p->weighs_shifts = false;
    psfm_status status = find_models(ctx, p->graph, edges->accepted, s);
    return status == PSFM_OK ? place_all(ctx, p, s, edges) : status;
}

static psfm_status solve_positions(psfm_context *ctx, const psfm_skeleton_options *base,
                                   const psfm_robust_options *options, const psfm_pose_graph *graph,
                                   psfm_timings *timings, psfm_pose_solution *s,
                                   psfm_robust_edges *edges) {
    placing p = {.base = base,
                 .options = options,
                 .graph = graph,
                 .weighs_shifts = options->ambiguity.models != PSFM_AMBIGUOUS_BEST};
    uint32_t parts = edges->ambiguities.num_parts;
    psfm_moment start = psfm_moment_now();
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, graph->num_edges, &p.keep)) ||
        (status = PSFM_ALLOC(ctx, graph->num_nodes, &p.posed)) ||
        (status = PSFM_ALLOC(ctx, graph->num_edges, &edges->baseline)) ||
        (status = psfm_plane_groups_find(ctx, graph, edges->accepted, &edges->groups)) ||
        (status = place_all(ctx, &p, s, edges)))
        goto cleanup;
    if (options->ambiguity.models == PSFM_AMBIGUOUS_SPLIT && edges->ambiguities.num_parts > parts)
        status = split_shifted(ctx, &p, s, edges);

cleanup:
    psfm_timings_add(timings, "positions", start);
    free(p.keep);
    free(p.posed);
    return status;
}

psfm_status psfm_robust_poses(psfm_context *ctx, const psfm_skeleton_options *base,
                              const psfm_robust_options *options, const psfm_robust_input *input,
                              psfm_timings *timings, psfm_pose_solution *solution,
                              psfm_robust_edges *edges) {
    psfm_pose_graph *graph = input->graph;
    psfm_moment start = psfm_moment_now();
    double *confidence = NULL;
    const psfm_skeleton_variant variant = {.given_weights = true,
                                           .triangles = options->control.cycles};
    psfm_status status;
    *edges = (psfm_robust_edges){0};
    if ((status = PSFM_ALLOC(ctx, graph->num_hypotheses, &confidence)) ||
        (status = PSFM_ALLOC(ctx, graph->num_edges, &edges->accepted)) ||
        (status = choose_hypotheses(ctx, base, options, graph, confidence)))
        goto cleanup;
    psfm_timings_add(timings, "joint choice", start);
    status = psfm_skeleton_rotations(ctx, base, &variant, graph, timings, solution);
    if (status == PSFM_OK)
        status = solve_rotations(ctx, options, input, confidence, timings, solution, edges);
    if (status == PSFM_OK)
        status = find_models(ctx, graph, edges->accepted, solution);
    if (status == PSFM_OK)
        status =
            psfm_rotation_edges_find_planes(ctx, edges->accepted, PSFM_PLANE_MIN_OVERLAP, graph);
    if (status == PSFM_OK)
        status = solve_positions(ctx, base, options, graph, timings, solution, edges);

cleanup:
    free(confidence);
    return status;
}

void psfm_robust_edges_free(psfm_robust_edges *edges) {
    free(edges->accepted);
    free(edges->residual_deg);
    psfm_plane_groups_free(&edges->groups);
    free(edges->baseline);
    psfm_ambiguities_free(&edges->ambiguities);
    *edges = (psfm_robust_edges){0};
}
