/* Centres from baselines.
 *
 * With lengths from the planes (pose/plane_scale.h) a kept edge says c_1 - c_2 = s b with
 * b = R_2^T t_21 of that length, s = 1 in the scale component with most edges and one unknown s for
 * each further component. An edge with a direction g alone says (I - g g^T)(c_1 - c_2) = 0. All is
 * linear; the sum of residual lengths is minimised by IRLS. The first posed node is the origin.
 *
 * Where things repeat at even spaces, as along a facade, false edges have right rotations and wrong
 * baselines, in such numbers that the sum's minimum folds the scene onto itself. Edges with most
 * matches are the last to be false. So there is a second start, from the tree of the best edges,
 * with weights that let go of what does not fit; it wins if clearly more agrees with it. Then sets
 * of cameras are moved by what edges ask for (pose/position_shift.h).
 *
 * Directions do not collapse here, as they would alone: the lengths hold them open. */
#include "pose/position_plane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/mat3.h"
#include "linalg/order.h"
#include "linalg/sparse.h"
#include "pose/baseline_tree.h"
#include "pose/plane_scale.h"
#include "pose/position_shift.h"

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_position_plane_options, scale_iterations, "scale-iterations", 30, 1, 1000,
                    "rounds of reweighting for the distances of planes"),
    PSFM_OPTION_INT(psfm_position_plane_options, position_iterations, "position-iterations", 30, 1,
                    1000, "rounds of reweighting for the centres"),
    PSFM_OPTION_DOUBLE(psfm_position_plane_options, direction_weight, "direction-weight", 0.5, 0.0,
                       100.0, "weight of an edge that has a direction but no length"),
};
const psfm_option_table psfm_position_plane_option_table = {"position", rows, 3};

/* Misfit of a baseline, as a share of its length, from which on its edge may be a false one. */
#define WRONG_SHARE 0.5

/* By how much more must agree for the second start to win. */
#define MIN_GAIN 1.05

/* Sets of cameras that are moved one after the other. */
enum { MOST_SHIFTS = 50 };

/* Residuals below this share of a typical baseline count in full: rounding must not decide which
 * edge of a tree is an outlier. */
static const double small_residual = 1e-3;

/* One edge of the system. */
typedef struct {
    uint32_t a, b;  /* local nodes */
    uint32_t edge;  /* in the graph */
    uint32_t scale; /* unknown of its scale, UINT32_MAX for 1 */
    bool has_length;
    double baseline[3]; /* c_a - c_b if scale is 1; a unit vector if it has no length */
    double weight;
} term;

typedef struct {
    uint32_t num_nodes;
    uint32_t *local; /* per node of the graph, UINT32_MAX if not posed */
    term *terms;
    uint32_t num_terms;
    uint32_t num_unknowns; /* three per node, then the scales */
    double *x;
} position_system;

static psfm_status number_nodes(psfm_context *ctx, const psfm_pose_graph *graph, const bool *posed,
                                position_system *s) {
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
static uint32_t scale_unknown(uint32_t *unknown, uint32_t component, position_system *s) {
    if (component == 0)
        return UINT32_MAX;
    if (unknown[component] == 0)
        unknown[component] = s->num_unknowns++;
    return unknown[component];
}

/* The baselines of the kept edges between posed nodes as terms. */
static psfm_status list_terms(psfm_context *ctx, const psfm_position_plane_input *in,
                              const psfm_baseline *baseline, uint32_t num_components,
                              double direction_weight, position_system *s) {
    const psfm_pose_graph *graph = in->graph;
    uint32_t *unknown = NULL;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_edges, &s->terms);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_components, &unknown);
    s->num_unknowns = 3 * s->num_nodes;
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e) {
        const psfm_edge *edge = &graph->edges[e];
        term t = {s->local[edge->node1], s->local[edge->node2], e, UINT32_MAX, false, {0}, 0};
        if ((in->keep != NULL && !in->keep[e]) || t.a == UINT32_MAX || t.b == UINT32_MAX)
            continue;
        t.has_length = baseline[e].scale_component != UINT32_MAX;
        psfm_mat3_tmul_vec(in->cam_from_world_R[edge->node2], in->edge_pose[e].t_21, t.baseline);
        t.weight = sqrt(inliers_of(graph, edge) + 1.0);
        if (t.has_length) {
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

static bool has_known_length(const term *t) {
    return t->has_length && t->scale == UINT32_MAX;
}

/* Residual of a term. */
static void residual(const position_system *s, const term *t, double r[3]) {
    psfm_sub3(s->x + 3 * t->a, s->x + 3 * t->b, r);
    if (t->has_length)
        psfm_axpy3(r, t->scale == UINT32_MAX ? -1.0 : -s->x[t->scale], t->baseline, r);
    else
        psfm_axpy3(r, -psfm_dot3(r, t->baseline), t->baseline, r);
}

/* Triplets of the normal equations. With row NULL only the values are written. Returns how many. */
typedef struct {
    uint32_t *row, *col;
    double *value;
    size_t num;
} triplets;

static void add(triplets *t, uint32_t row, uint32_t col, double value) {
    if (t->row != NULL) {
        t->row[t->num] = row;
        t->col[t->num] = col;
    }
    if (t->value != NULL)
        t->value[t->num] = value;
    ++t->num;
}

static void add_length_term(triplets *m, const term *t, double w) {
    for (uint32_t k = 0; k < 3; ++k) {
        uint32_t a = 3 * t->a + k, b = 3 * t->b + k;
        add(m, a, a, w);
        add(m, b, b, w);
        add(m, a, b, -w);
        if (t->scale != UINT32_MAX) {
            add(m, a, t->scale, -w * t->baseline[k]);
            add(m, b, t->scale, w * t->baseline[k]);
            add(m, t->scale, t->scale, w * t->baseline[k] * t->baseline[k]);
        }
    }
}

static void add_direction_term(triplets *m, const term *t, double w) {
    const double *g = t->baseline;
    for (uint32_t i = 0; i < 3; ++i) {
        for (uint32_t j = 0; j < 3; ++j) {
            double p = w * ((i == j) - g[i] * g[j]);
            if (i <= j) {
                add(m, 3 * t->a + i, 3 * t->a + j, p);
                add(m, 3 * t->b + i, 3 * t->b + j, p);
            }
            add(m, 3 * t->a + i, 3 * t->b + j, -p);
        }
    }
}

/* All terms with weights w[k] (NULL: 1), and the pin of the first node. */
static void assemble(const position_system *s, const double *w, double pin, triplets *m) {
    m->num = 0;
    for (uint32_t k = 0; k < s->num_terms; ++k) {
        const term *t = &s->terms[k];
        double weight = w == NULL ? 1.0 : w[k];
        if (t->has_length)
            add_length_term(m, t, weight);
        else
            add_direction_term(m, t, weight);
    }
    for (uint32_t k = 0; k < 3; ++k)
        add(m, k, k, pin);
}

static void right_side(const position_system *s, const double *w, double *rhs) {
    memset(rhs, 0, s->num_unknowns * sizeof *rhs);
    for (uint32_t k = 0; k < s->num_terms; ++k) {
        const term *t = &s->terms[k];
        if (!t->has_length || t->scale != UINT32_MAX)
            continue;
        psfm_axpy3(rhs + 3 * t->a, w[k], t->baseline, rhs + 3 * t->a);
        psfm_axpy3(rhs + 3 * t->b, -w[k], t->baseline, rhs + 3 * t->b);
    }
}

/* Median residual of the terms with a length, relative to the median baseline *length. */
static double typical_residual(const position_system *s, double *scratch, double *length) {
    size_t num = 0;
    for (uint32_t k = 0; k < s->num_terms; ++k)
        if (has_known_length(&s->terms[k]))
            scratch[num++] = psfm_norm3(s->terms[k].baseline);
    *length = psfm_median(scratch, num);
    num = 0;
    for (uint32_t k = 0; k < s->num_terms; ++k) {
        double r[3];
        residual(s, &s->terms[k], r);
        scratch[num++] = psfm_norm3(r);
    }
    return psfm_median(scratch, num);
}

/* ---- least squares with changing weights ---- */

typedef struct {
    triplets m;
    psfm_spd *spd;
    double *w, *rhs, *scratch, *kept; /* kept: the centres of the first start */
    double shift;
} solver;

static psfm_status solver_init(psfm_context *ctx, position_system *s, solver *v) {
    size_t room = 21 * (size_t)s->num_terms + 3;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, s->num_unknowns, &s->x)) ||
        (status = PSFM_ALLOC(ctx, s->num_unknowns, &v->rhs)) ||
        (status = PSFM_ALLOC(ctx, s->num_unknowns, &v->kept)) ||
        (status = PSFM_ALLOC(ctx, s->num_terms, &v->w)) ||
        (status = PSFM_ALLOC(ctx, s->num_terms, &v->scratch)) ||
        (status = PSFM_ALLOC(ctx, room, &v->m.row)) ||
        (status = PSFM_ALLOC(ctx, room, &v->m.col)) ||
        (status = PSFM_ALLOC(ctx, room, &v->m.value)))
        return status;
    /* what directions leave undetermined stays small instead of making the system singular */
    v->shift = 1e-14;
    for (uint32_t k = 0; k < s->num_terms; ++k)
        if (!has_known_length(&s->terms[k]))
            v->shift = 1e-9;
    assemble(s, NULL, 1.0, &v->m);
    return psfm_spd_create(ctx, s->num_unknowns, v->m.num, v->m.row, v->m.col, &v->spd);
}

static void solver_free(solver *v) {
    psfm_spd_destroy(&v->spd);
    free(v->m.row);
    free(v->m.col);
    free(v->m.value);
    free(v->w);
    free(v->rhs);
    free(v->scratch);
    free(v->kept);
}

/* Solves with the weights v->w. */
static psfm_status solve_once(psfm_context *ctx, position_system *s, solver *v) {
    double mean = 0.0;
    for (uint32_t k = 0; k < s->num_terms; ++k)
        mean += v->w[k] / s->num_terms;
    assemble(s, v->w, mean, &v->m);
    right_side(s, v->w, v->rhs);
    psfm_status status = psfm_spd_factor(ctx, v->spd, v->m.value, v->shift * mean);
    return status == PSFM_OK ? psfm_spd_solve(ctx, v->spd, 1, v->rhs, s->x) : status;
}

/* The least sum of residual lengths. */
static psfm_status solve_lengths(psfm_context *ctx, position_system *s, int iterations, solver *v) {
    psfm_status status = PSFM_OK;
    for (uint32_t k = 0; k < s->num_terms; ++k)
        v->w[k] = s->terms[k].weight;
    for (int it = 0; status == PSFM_OK && it < iterations; ++it) {
        status = solve_once(ctx, s, v);
        double length, floor = 0.1 * typical_residual(s, v->scratch, &length);
        floor = fmax(floor, small_residual * length);
        for (uint32_t k = 0; k < s->num_terms; ++k) {
            double r[3];
            residual(s, &s->terms[k], r);
            v->w[k] = s->terms[k].weight * floor / fmax(psfm_norm3(r), floor);
        }
    }
    return status;
}

/* ---- the most agreement ---- */

/* How far a term agrees: 1 if it fits, 1/2 at a tenth of its baseline. */
static double agreement(const position_system *s, const term *t) {
    double r[3], between[3];
    psfm_sub3(s->x + 3 * t->a, s->x + 3 * t->b, between);
    residual(s, t, r);
    return psfm_baseline_agreement(r, psfm_norm3(has_known_length(t) ? t->baseline : between));
}

/* Sum of the weights of what agrees; directions do not count, for want of a measure. */
static double support(const position_system *s) {
    double sum = 0.0;
    for (uint32_t k = 0; k < s->num_terms; ++k)
        if (has_known_length(&s->terms[k]))
            sum += s->terms[k].weight * agreement(s, &s->terms[k]);
    return sum;
}

/* Lets go of what does not agree with the centres at hand. */
static psfm_status solve_agreement(psfm_context *ctx, position_system *s, int iterations,
                                   solver *v) {
    psfm_status status = PSFM_OK;
    for (int it = 0; status == PSFM_OK && it < iterations; ++it) {
        for (uint32_t k = 0; k < s->num_terms; ++k) {
            double agrees = agreement(s, &s->terms[k]);
            v->w[k] = s->terms[k].weight * fmax(agrees * agrees, 1e-6);
        }
        status = solve_once(ctx, s, v);
    }
    return status;
}

/* The terms with lengths; *edges is malloc'ed. */
static psfm_status list_lengths(psfm_context *ctx, const position_system *s,
                                psfm_weighted_baseline **edges, uint32_t *num) {
    psfm_status status = PSFM_ALLOC(ctx, s->num_terms, edges);
    *num = 0;
    for (uint32_t k = 0; status == PSFM_OK && k < s->num_terms; ++k) {
        const term *t = &s->terms[k];
        if (!has_known_length(t))
            continue;
        psfm_weighted_baseline *edge = &(*edges)[(*num)++];
        *edge = (psfm_weighted_baseline){.a = t->a, .b = t->b, .weight = t->weight};
        memcpy(edge->baseline, t->baseline, sizeof t->baseline);
    }
    return status;
}

/* A second start, along the tree of the heaviest terms; it stays if clearly more agrees. */
static psfm_status solve_from_tree(psfm_context *ctx, position_system *s, int iterations,
                                   const psfm_shift_problem *lengths, solver *v) {
    double before = support(s);
    bool spans = false;
    memcpy(v->kept, s->x, s->num_unknowns * sizeof *s->x);
    memset(s->x, 0, s->num_unknowns * sizeof *s->x);
    psfm_status status = psfm_centers_along_tree(ctx, s->num_nodes, lengths->edges,
                                                 lengths->num_edges, s->x, &spans);
    if (status == PSFM_OK && spans)
        status = solve_agreement(ctx, s, iterations, v);
    if (status == PSFM_OK && !(spans && support(s) > MIN_GAIN * before))
        memcpy(s->x, v->kept, s->num_unknowns * sizeof *s->x);
    return status;
}

/* Sets of cameras are moved as long as more agrees. */
static psfm_status solve_shifts(psfm_context *ctx, position_system *s, int iterations,
                                const psfm_shift_problem *lengths, solver *v) {
    psfm_status status = PSFM_OK;
    bool moved = true;
    for (int round = 0; status == PSFM_OK && moved && round < MOST_SHIFTS; ++round) {
        double before = support(s);
        memcpy(v->kept, s->x, s->num_unknowns * sizeof *s->x);
        status = psfm_centers_shift(ctx, lengths, s->x, &moved);
        if (status == PSFM_OK && moved)
            status = solve_agreement(ctx, s, iterations, v);
        if (status == PSFM_OK && moved && !(support(s) > before)) {
            memcpy(s->x, v->kept, s->num_unknowns * sizeof *s->x);
            break;
        }
    }
    return status;
}

static psfm_status solve(psfm_context *ctx, position_system *s, int iterations) {
    solver v = {0};
    psfm_weighted_baseline *edges = NULL;
    psfm_shift_problem lengths = {.num_nodes = s->num_nodes, .seed = psfm_context_seed(ctx)};
    psfm_status status = solver_init(ctx, s, &v);
    if (status == PSFM_OK)
        status = list_lengths(ctx, s, &edges, &lengths.num_edges);
    lengths.edges = edges;
    if (status == PSFM_OK)
        status = solve_lengths(ctx, s, iterations, &v);
    if (status == PSFM_OK)
        status = solve_from_tree(ctx, s, iterations, &lengths, &v);
    if (status == PSFM_OK)
        status = solve_shifts(ctx, s, iterations, &lengths, &v);
    free(edges);
    solver_free(&v);
    return status;
}

/* Marks the edges whose baselines are off by more than WRONG_SHARE of their length, and by far more
 * than those that agree usually are; an end that would be left with a single other edge keeps all
 * of them. */
static psfm_status mark_wrong(psfm_context *ctx, const position_system *s,
                              psfm_baseline_kind *kind) {
    double *off = NULL, *sorted = NULL; /* the latter of those that agree */
    uint32_t *num_right = NULL, num = 0;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, s->num_terms, &off)) ||
        (status = PSFM_ALLOC(ctx, s->num_terms, &sorted)) ||
        (status = PSFM_ALLOC(ctx, s->num_nodes, &num_right)))
        goto cleanup;
    for (uint32_t k = 0; k < s->num_terms; ++k) {
        const term *t = &s->terms[k];
        double r[3];
        residual(s, t, r);
        if (has_known_length(t))
            off[k] = psfm_norm3(r) / fmax(psfm_norm3(t->baseline), 1e-300);
        if (has_known_length(t) && off[k] <= WRONG_SHARE)
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

static psfm_status report(psfm_context *ctx, const psfm_pose_graph *graph, const position_system *s,
                          psfm_baseline_kind *kind, psfm_position_plane_stats *stats) {
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
        *(has_length ? &stats->num_scaled_edges : &stats->num_direction_edges) += 1;
        if (kind != NULL)
            kind[s->terms[k].edge] = has_length ? PSFM_BASELINE_LENGTH : PSFM_BASELINE_DIRECTION;
    }
    if (stats->num_scaled_edges > 0 && s->x != NULL) {
        stats->position_residual = typical_residual(s, scratch, &length);
        stats->position_residual /= fmax(length, 1e-300);
        if (kind != NULL)
            status = mark_wrong(ctx, s, kind);
    }
    free(scratch);
    return status;
}

psfm_status psfm_positions_plane(psfm_context *ctx, const psfm_position_plane_input *input,
                                 const psfm_position_plane_options *options, double (*centers)[3],
                                 psfm_baseline_kind *kind, psfm_position_plane_stats *stats) {
    const psfm_pose_graph *graph = input->graph;
    position_system s = {0};
    psfm_baseline *baseline = NULL;
    psfm_plane_scale_stats scale = {0};
    bool any = false;
    *stats = (psfm_position_plane_stats){0};
    psfm_status status = psfm_options_check(ctx, &psfm_position_plane_option_table, options);
    if (status != PSFM_OK || (status = PSFM_ALLOC(ctx, graph->num_edges, &baseline)) ||
        (status = psfm_plane_scale(ctx, graph, input->keep, input->groups,
                                   options->scale_iterations, baseline, &scale)) ||
        (status = number_nodes(ctx, graph, input->posed, &s)) ||
        (status =
             list_terms(ctx, input, baseline, scale.num_components, options->direction_weight, &s)))
        goto cleanup;
    for (uint32_t k = 0; k < s.num_terms; ++k)
        any = any || has_known_length(&s.terms[k]);
    if (any)
        status = solve(ctx, &s, options->position_iterations);
    for (uint32_t v = 0; status == PSFM_OK && any && v < graph->num_nodes; ++v)
        if (s.local[v] != UINT32_MAX)
            memcpy(centers[v], s.x + 3 * s.local[v], sizeof *centers);
    stats->num_scale_components = scale.num_components;
    stats->scale_residual = scale.residual;
    if (status == PSFM_OK)
        status = report(ctx, graph, &s, kind, stats);

cleanup:
    free(baseline);
    free(s.local);
    free(s.terms);
    free(s.x);
    return status;
}
