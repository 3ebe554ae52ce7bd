/* Centres from baselines.
 *
 * With lengths from the planes (core/positions/plane_scale.h) a kept edge says c_1 - c_2 = s b with
 * b = R_2^T t_21 of that length, s = 1 in the scale component with most edges and those that were
 * brought to its unit (core/positions/scale_merging.h), and one unknown s for each further
 * component. An edge with a direction g alone says (I - g g^T)(c_1 - c_2) = 0. All is linear; the
 * sum of residual lengths is minimised by IRLS. The first posed node is the origin.
 *
 * Where things repeat at even spaces, as along a facade, false edges have right rotations and wrong
 * baselines, in such numbers that the sum's minimum folds the scene onto itself. Edges with most
 * matches are the last to be false. So there is a second start, from the tree of the best edges,
 * with robust weights for what does not fit; it wins if clearly more agrees with it. Then sets
 * of cameras are moved by what edges ask for (core/positions/position_shift.h).
 *
 * Directions do not collapse here, as they would alone: the lengths hold them open. */
#include "core/positions/position_plane.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/posegraph/rotation_edges.h"
#include "core/positions/plane_scale.h"
#include "core/positions/position_shift.h"
#include "core/positions/position_system.h"
#include "core/positions/position_tree.h"
#include "core/positions/scale_merging.h"

/* Rounds of reweighting for the distances of planes, and for the centres. */
enum { SCALE_ITERATIONS = 30, POSITION_ITERATIONS = 30 };

/* Weight of an edge that has a direction but no length. */
#define DIRECTION_WEIGHT 0.5

/* Misfit of a baseline, as a share of its length, from which on its edge may be a false one. */
#define WRONG_SHARE 0.5

/* By how much more must agree for the second start to win. */
#define MIN_GAIN 1.05

/* A plane is not seen at a sharper angle than this. */
#define MIN_COSINE 0.05

/* Sets of cameras that are moved one after the other. */
enum { MOST_SHIFTS = 50 };

static psfm_status number_nodes(psfm_context *ctx, const psfm_pose_graph *graph, const bool *posed,
                                psfm_position_system *s) {
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &s->local);
    for (uint32_t v = 0; status == PSFM_OK && v < graph->num_nodes; ++v)
        s->local[v] = posed[v] ? s->num_nodes++ : UINT32_MAX;
    return status;
}

static double inliers_of(const psfm_pose_graph *graph, const psfm_edge *edge) {
    double inliers = edge->plane_begin == edge->plane_end ? edge->essential_inliers : 0.0;
    for (uint32_t p = edge->plane_begin; p < edge->plane_end; ++p)
        inliers += graph->planes[p].num_inliers;
    return inliers;
}

/* Scale components that occur get an unknown each, but for the first. */
static uint32_t scale_unknown(uint32_t *unknown, uint32_t component, psfm_position_system *s) {
    if (component == 0)
        return UINT32_MAX;
    if (unknown[component] == 0)
        unknown[component] = s->num_unknowns++;
    return unknown[component];
}

/* A rotation says that the centres are one, but for its slack in distances of what it shows: how
 * far ahead its plane is, if that is known in the unit of the centres. */
static void set_rotation(const psfm_position_plane_input *in, const psfm_edge *edge,
                         const psfm_baseline *baseline, psfm_position_term *t) {
    t->is_rotation = t->has_length = true;
    t->slack = INFINITY;
    t->weight *= PSFM_ROTATION_WEIGHT;
    memset(t->baseline, 0, sizeof t->baseline);
    for (uint32_t p = edge->plane_begin; p < edge->plane_end; ++p) {
        if (baseline->scale_component != 0 || in->groups->group[p] == UINT32_MAX)
            continue;
        const double *n = psfm_plane_choice(in->graph, p)->motion.n1;
        double ahead = baseline->distance / fmax(fabs(psfm_dot3(n, edge->ahead)), MIN_COSINE);
        t->slack = in->noise_px * edge->slack * ahead;
        return;
    }
}

/* The baselines of the kept edges between posed nodes as terms. */
static psfm_status list_terms(psfm_context *ctx, const psfm_position_plane_input *in,
                              const psfm_baseline *baseline, uint32_t num_components,
                              double direction_weight, psfm_position_system *s) {
    const psfm_pose_graph *graph = in->graph;
    uint32_t *unknown = NULL;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_edges, &s->terms);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_components, &unknown);
    s->num_unknowns = 3 * s->num_nodes;
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        psfm_position_term t = {
            s->local[edge->node1], s->local[edge->node2], e, UINT32_MAX, false, {0}, 0, false, 0};
        if ((in->keep != NULL && !in->keep[e]) || t.a == UINT32_MAX || t.b == UINT32_MAX)
            continue;
        t.has_length = baseline[e].scale_component != UINT32_MAX;
        psfm_mat3_tmul_vec(in->cam_from_world_R[edge->node2], in->edge_pose[e].t_21, t.baseline);
        t.weight = sqrt(inliers_of(graph, edge) + 1.0);
        if (edge->is_rotation) {
            set_rotation(in, edge, &baseline[e], &t);
        } else if (t.has_length) {
            t.scale = scale_unknown(unknown, baseline[e].scale_component, s);
            psfm_scale3(baseline[e].length, t.baseline, t.baseline);
        } else {
            t.weight *= direction_weight;
            if (!(psfm_norm3(t.baseline) > 0.5))
                continue; /* no direction either */
        }
        s->terms[s->num_terms++] = t;
    }
    free(unknown);
    return status;
}

/* Parts that only rotations connect, and whose planes do not go on across, have no common scale:
 * left free, all but one would shrink to nothing. So in each that has not the first scale component
 * the largest that it has is taken for it: cameras are about as far from their planes in all. */
static psfm_status find_sizes(psfm_context *ctx, const psfm_position_plane_input *in,
                              uint32_t num_components, psfm_baseline *baseline) {
    const psfm_pose_graph *graph = in->graph;
    uint32_t n = graph->num_nodes, total = n + num_components, *set = NULL, *largest = NULL;
    psfm_status status = PSFM_ALLOC(ctx, total, &set); /* of nodes, then scale components */
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, total, &largest);
    if (status != PSFM_OK) {
        free(set);
        return status;
    }
    psfm_sets_init(set, total);
    for (uint32_t e = 0; e < graph->num_edges; ++e) {
        if (graph->edges[e].is_rotation || (in->keep != NULL && !in->keep[e]))
            continue;
        psfm_sets_unite(set, graph->edges[e].node1, graph->edges[e].node2);
        if (baseline[e].scale_component != UINT32_MAX)
            psfm_sets_unite(set, graph->edges[e].node1, n + baseline[e].scale_component);
    }
    for (uint32_t c = num_components; c-- > 0;)
        largest[psfm_sets_find(set, n + c)] = c;
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        if (baseline[e].scale_component != UINT32_MAX &&
            baseline[e].scale_component ==
                largest[psfm_sets_find(set, n + baseline[e].scale_component)])
            baseline[e].scale_component = 0;
    free(set);
    free(largest);
    return PSFM_OK;
}

/* The terms with lengths, for the search and for who asks. */
static psfm_status list_known(psfm_context *ctx, const psfm_position_system *s,
                              const psfm_pose_graph *graph, psfm_known_baselines *out) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, s->num_terms, &out->edges)) ||
        (status = PSFM_ALLOC(ctx, s->num_terms, &out->edge)) ||
        (status = PSFM_ALLOC(ctx, s->num_nodes, &out->node)))
        return status;
    for (uint32_t v = 0; v < graph->num_nodes; ++v)
        if (s->local[v] != UINT32_MAX)
            out->node[out->num_nodes++] = v;
    for (uint32_t k = 0; k < s->num_terms; ++k) {
        const psfm_position_term *t = &s->terms[k];
        if (!psfm_has_known_length(t))
            continue;
        psfm_weighted_baseline *edge = &out->edges[out->num_edges];
        *edge = (psfm_weighted_baseline){.a = t->a, .b = t->b, .weight = t->weight};
        memcpy(edge->baseline, t->baseline, sizeof t->baseline);
        if (t->is_rotation)
            edge->ruler = fmax(psfm_position_ruler(t), DBL_MIN);
        out->edge[out->num_edges++] = t->edge;
    }
    return PSFM_OK;
}

void psfm_known_baselines_free(psfm_known_baselines *known) {
    free(known->edges);
    free(known->edge);
    free(known->node);
    *known = (psfm_known_baselines){0};
}

/* A second start, along the tree of the heaviest terms; it stays if clearly more agrees. */
static psfm_status solve_from_tree(psfm_context *ctx, psfm_position_system *s, int iterations,
                                   const psfm_shift_problem *lengths, psfm_position_solver *v) {
    double before = psfm_position_support(s);
    bool spans = false;
    memcpy(v->kept, s->x, s->num_unknowns * sizeof *s->x);
    memset(s->x, 0, s->num_unknowns * sizeof *s->x);
    psfm_status status = psfm_centers_along_tree(ctx, s->num_nodes, lengths->edges,
                                                 lengths->num_edges, s->x, &spans);
    if (status == PSFM_OK && spans)
        status = psfm_position_solve_agreement(ctx, s, iterations, v);
    if (status == PSFM_OK && !(spans && psfm_position_support(s) > MIN_GAIN * before))
        memcpy(s->x, v->kept, s->num_unknowns * sizeof *s->x);
    return status;
}

/* Sets of cameras are moved as long as more agrees. */
static psfm_status solve_shifts(psfm_context *ctx, psfm_position_system *s, int iterations,
                                const psfm_shift_problem *lengths, psfm_position_solver *v) {
    psfm_status status = PSFM_OK;
    bool moved = true;
    for (int round = 0; status == PSFM_OK && moved && round < MOST_SHIFTS; ++round) {
        double before = psfm_position_support(s);
        memcpy(v->kept, s->x, s->num_unknowns * sizeof *s->x);
        status = psfm_centers_shift(ctx, lengths, s->x, &moved);
        if (status == PSFM_OK && moved)
            status = psfm_position_solve_agreement(ctx, s, iterations, v);
        if (status == PSFM_OK && moved && !(psfm_position_support(s) > before)) {
            memcpy(s->x, v->kept, s->num_unknowns * sizeof *s->x);
            break;
        }
    }
    return status;
}

static psfm_status solve_positions(psfm_context *ctx, psfm_position_system *s, int iterations,
                                   const psfm_known_baselines *known) {
    psfm_position_solver v = {0};
    const psfm_shift_problem lengths = {known->edges, known->num_edges, s->num_nodes,
                                        psfm_context_seed(ctx)};
    psfm_status status = psfm_position_solver_init(ctx, s, &v);
    if (status == PSFM_OK)
        status = psfm_position_solve_lengths(ctx, s, iterations, &v);
    if (status == PSFM_OK)
        status = solve_from_tree(ctx, s, iterations, &lengths, &v);
    if (status == PSFM_OK)
        status = solve_shifts(ctx, s, iterations, &lengths, &v);
    psfm_position_solver_free(&v);
    return status;
}

/* Marks the edges whose baselines are off by more than WRONG_SHARE of their length, and by far more
 * than those that agree usually are; an end that would be left with a single other edge keeps all
 * of them. */
static psfm_status mark_wrong(psfm_context *ctx, const psfm_position_system *s,
                              psfm_baseline_kind *kind) {
    double *off = NULL, *sorted = NULL; /* the latter of those that agree */
    uint32_t *num_right = NULL, num = 0;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, s->num_terms, &off)) ||
        (status = PSFM_ALLOC(ctx, s->num_terms, &sorted)) ||
        (status = PSFM_ALLOC(ctx, s->num_nodes, &num_right)))
        goto cleanup;
    for (uint32_t k = 0; k < s->num_terms; ++k) {
        const psfm_position_term *t = &s->terms[k];
        double r[3];
        psfm_position_residual(s, t, r);
        if (psfm_has_known_length(t))
            off[k] = psfm_norm3(r) / fmax(psfm_position_ruler(t), 1e-300);
        if (psfm_has_known_length(t) && off[k] <= WRONG_SHARE)
            sorted[num++] = off[k];
    }
    double limit = num + 1 < s->num_nodes ? HUGE_VAL : /* too few to judge the others by */
                       fmax(WRONG_SHARE, 5.0 * psfm_median(sorted, num));
    for (uint32_t k = 0; k < s->num_terms; ++k) {
        num_right[s->terms[k].a] += off[k] <= limit;
        num_right[s->terms[k].b] += off[k] <= limit;
    }
    for (uint32_t k = 0; k < s->num_terms; ++k)
        if (off[k] > limit && num_right[s->terms[k].a] > 1 && num_right[s->terms[k].b] > 1)
            kind[s->terms[k].edge] = PSFM_BASELINE_WRONG;

cleanup:
    free(off);
    free(sorted);
    free(num_right);
    return status;
}

static psfm_status report_fit(psfm_context *ctx, const psfm_pose_graph *graph,
                              const psfm_position_system *s, psfm_baseline_kind *kind,
                              psfm_position_plane_stats *stats) {
    double *scratch = NULL, length;
    psfm_status status = PSFM_ALLOC(ctx, s->num_terms, &scratch);
    if (status != PSFM_OK)
        return status;
    for (uint32_t e = 0; kind != NULL && e < graph->num_edges; ++e)
        if (s->local[graph->edges[e].node1] != UINT32_MAX &&
            s->local[graph->edges[e].node2] != UINT32_MAX)
            kind[e] = PSFM_BASELINE_NONE;
    for (uint32_t k = 0; k < s->num_terms; ++k) {
        bool has_length = s->terms[k].has_length;
        if (s->terms[k].is_rotation)
            continue;
        *(has_length ? &stats->num_scaled_edges : &stats->num_direction_edges) += 1;
        if (kind != NULL)
            kind[s->terms[k].edge] = has_length ? PSFM_BASELINE_LENGTH : PSFM_BASELINE_DIRECTION;
    }
    if (stats->num_scaled_edges > 0 && s->x != NULL) {
        stats->position_residual = psfm_position_typical_residual(s, scratch, &length);
        stats->position_residual /= fmax(length, 1e-300);
        if (kind != NULL)
            status = mark_wrong(ctx, s, kind);
    }
    free(scratch);
    return status;
}

psfm_status psfm_positions_plane(psfm_context *ctx, const psfm_position_plane_input *input,
                                 double (*centers)[3], psfm_baseline_kind *kind,
                                 psfm_known_baselines *known, psfm_position_plane_stats *stats) {
    const psfm_pose_graph *graph = input->graph;
    psfm_position_system s = {0};
    psfm_baseline *baseline = NULL;
    psfm_plane_scale_stats scale = {0};
    const psfm_scale_links_input links = {graph, input->keep, input->cam_from_world_R,
                                          input->edge_pose};
    *known = (psfm_known_baselines){0};
    *stats = (psfm_position_plane_stats){0};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, graph->num_edges, &baseline)) ||
        (status = psfm_plane_scale(ctx, graph, input->keep, input->groups, SCALE_ITERATIONS,
                                   baseline, &scale)) ||
        (status = psfm_scale_join(ctx, &links, scale.num_components, baseline)) ||
        (status = find_sizes(ctx, input, scale.num_components, baseline)) ||
        (status = number_nodes(ctx, graph, input->posed, &s)) ||
        (status = list_terms(ctx, input, baseline, scale.num_components, DIRECTION_WEIGHT, &s)) ||
        (status = list_known(ctx, &s, graph, known)))
        goto cleanup;
    bool any = known->num_edges > 0;
    if (any)
        status = solve_positions(ctx, &s, POSITION_ITERATIONS, known);
    for (uint32_t v = 0; status == PSFM_OK && any && v < graph->num_nodes; ++v)
        if (s.local[v] != UINT32_MAX)
            memcpy(centers[v], s.x + 3 * s.local[v], sizeof *centers);
    stats->num_scale_components = scale.num_components;
    stats->scale_residual = scale.residual;
    if (status == PSFM_OK)
        status = report_fit(ctx, graph, &s, kind, stats);

cleanup:
    free(baseline);
    free(s.local);
    free(s.terms);
    free(s.x);
    return status;
}
