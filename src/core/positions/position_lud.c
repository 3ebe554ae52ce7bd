/* Positions from directions by least unsquared deviations (LUD).
 *
 * Given unit directions g_e of edges e = (1, 2), find centres c that minimise
 *     F(c) = sum_e u_e min_{s >= 1} || c_1 - c_2 - s g_e ||,   sum c = 0,
 * at first with all u_e = 1. The inner minimum has a closed form: with v = c_1 - c_2 it is the
 * distance of v from the ray { s g : s >= 1 },
 *     s = max(1, g . v),   r = v - s g,
 * so F is a sum of distances from convex sets: convex, and free of the s. The bound s >= 1 keeps
 * the centres from collapsing; unsquared norms let a wrong direction keep its residual instead
 * of spreading it. On noise-free directions of a parallel-rigid graph the minimum is 0, and only
 * the truth attains it, up to translation and scale.
 *
 * Reweighted least squares would creep: parabolas that touch a norm from above know nothing of its
 * kink, and most edges end in one. So the distance is smoothed (ray_distance.h), and Newton's
 * method follows the minimum as the smoothing d shrinks, starting at the mean residual. Its plain
 * form would hardly move where norms have a kink. With a multiplier z for each edge, a vector of
 * length 1 at most that is r / norm at the minimum, the condition is norm z = r instead, linearised
 * in both c and z. The matrix of an edge is then (u / norm) B (I - (z r^T + r z^T) / (2 norm)) B +
 * u (z . g) q'' g g^T (made symmetric; not negative, as z . g and q'' are not positive). For q''
 * the bound has multipliers of its own (ray_distance.c), without which single edges that run into
 * it cut most steps on large graphs. The step is solved for by sparse Cholesky (or, roughly, by
 * conjugate gradients, where the graph would fill the factor), and z <- (r + dr - z (r . dr) /
 * norm) / norm, cut to its length. A line search on the smoothed cost follows, and a second one
 * along the centres themselves, for the scale is what single edges correct slowest. Once a step is
 * taken by more than half, d shrinks. That takes 20 to 50 solves whatever the size.
 *
 * Where directions leave something free (translation always; scale when all s > 1; flexes of a
 * graph that is not rigid) the model is singular. A relative damping of 1e-12 makes the step there
 * zero, so what is free stays about as the first, Laplacian, solution put it.
 *
 * Wrong directions still cost their residual, and all residuals shrink with the scene, so many of
 * them press it together until the short edges push back. Hence the further rounds: edges are
 * weighed by u = 1 / (1 + (a / scale)^2)^2 of the angle a between v and g, with the scale from the
 * median angle, and F is minimised again from where it stands.
 *
 * Source of the formulation: Ozyesil and Singer, "Robust Camera Location Estimation by Convex
 * Programming", 2015, which the Planar-SfM paper takes over (docs/paper.md); the angle weights are
 * the Geman-McClure loss's. Newton's method with multipliers for sums of norms: Andersen,
 * Christiansen, Conn and Overton, "An Efficient Primal-Dual Interior-Point Method for Minimizing a
 * Sum of Euclidean Norms", 2000. */
#include "core/positions/position_lud.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/loss.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/sparse.h"
#include "core/linalg/vec3.h"
#include "core/positions/ray_distance.h"

static const psfm_option rows[] = {
    PSFM_OPTION_INT_BY_MODE(psfm_lud_options, rounds, "rounds", 3, 0, 0, 100,
                            "further solves with edges weighed down by the angle they are off"),
};
/* Results hardly depend on the first three ("Constants that were options" in
 * docs/measurements.md). */
static const psfm_lud_options unlisted = {
    .max_iterations = 100,  /* 20 to 30 suffice, on 1,000 cameras as on 10,000 */
    .tolerance = 1e-6,      /* far below what directions are off */
    .residual_floor = 1e-8, /* likewise: norms are smoothed only where they cannot be told from 0 */
    .angle_deg =
        0.5, /* of good directions; twice as much is as good, half of it loses on facades */
};
const psfm_option_table psfm_lud_option_table = PSFM_OPTION_TABLE_FROM("lud", rows, unlisted);

#define DAMPING 1e-12
#define SHRINK 0.5         /* of the smoothing, when a step was good */
#define GOOD 0.5           /* share of a step to be taken for that */
#define ROUNDING 1e-12     /* residuals of exact data, as a share of the mean baseline */
#define LONGEST_DUAL 0.999 /* keeps the model positive */
#define COARSE 1e-3        /* floor and tolerance of all rounds but the last */
#define LEAST_WEIGHT 1e-4  /* keeps what only doubted edges hold from becoming free */
#define NUM_DIAGONAL 6     /* entries of a symmetric 3 x 3 block */
#define NUM_BLOCK 9

typedef struct {
    const psfm_topology *graph;
    const double (*direction)[3];
    double (*center)[3];
    double (*step)[3];
    double (*diff)[3];      /* per edge: c_1 - c_2 */
    double (*diff_step)[3]; /* the same of the step */
    double (*dual)[3];      /* z */
    psfm_ray_bound *bound;
    double *edge_weight; /* u */
    double *gradient;    /* 3 n */
    double *value;       /* of the triplets: 6 per node, then 9 per edge */
    psfm_spd *system;
    double floor; /* the smoothing d, in units of the centres */
    double mean_residual, mean_baseline;
} lud;

static void fill_pattern(const psfm_topology *graph, uint32_t *row, uint32_t *col) {
    size_t k = 0;
    for (uint32_t v = 0; v < graph->num_nodes; ++v)
        for (uint32_t i = 0; i < 3; ++i)
            for (uint32_t j = i; j < 3; ++j, ++k) {
                row[k] = 3 * v + i;
                col[k] = 3 * v + j;
            }
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        for (uint32_t i = 0; i < 3; ++i)
            for (uint32_t j = 0; j < 3; ++j, ++k) {
                row[k] = 3 * graph->node1[e] + i;
                col[k] = 3 * graph->node2[e] + j;
            }
}

static psfm_status create_system(psfm_context *ctx, const psfm_topology *graph, psfm_spd **spd) {
    size_t num = NUM_DIAGONAL * (size_t)graph->num_nodes + NUM_BLOCK * (size_t)graph->num_edges;
    uint32_t *row = NULL, *col = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num, &row);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &col);
    if (status == PSFM_OK) {
        fill_pattern(graph, row, col);
        status = psfm_spd_create(ctx, 3 * graph->num_nodes, num, row, col, spd);
    }
    free(row);
    free(col);
    return status;
}

static void clear_model(lud *l) {
    uint32_t n = l->graph->num_nodes;
    memset(l->value, 0, NUM_DIAGONAL * (size_t)n * sizeof *l->value);
    memset(l->gradient, 0, 3 * (size_t)n * sizeof *l->gradient);
}

/* Adds w (I - share g g^T - (z r^T + r z^T) / 2) of an edge to the matrix and w r to the gradient.
 */
static void add_edge(lud *l, uint32_t e, double w, double share, const double z[3],
                     const double r[3]) {
    const double *g = l->direction[e];
    size_t a = l->graph->node1[e], b = l->graph->node2[e];
    double *end1 = l->value + NUM_DIAGONAL * a, *end2 = l->value + NUM_DIAGONAL * b;
    double *block = l->value + NUM_DIAGONAL * (size_t)l->graph->num_nodes + NUM_BLOCK * (size_t)e;
    for (int i = 0, k = 0; i < 3; ++i)
        for (int j = i; j < 3; ++j, ++k) {
            double entry = w * ((i == j ? 1.0 : 0.0) - share * g[i] * g[j] -
                                0.5 * (z[i] * r[j] + r[i] * z[j]));
            end1[k] += entry;
            end2[k] += entry;
            block[3 * i + j] = block[3 * j + i] = -entry;
        }
    psfm_axpy3(l->gradient + 3 * a, w, r, l->gradient + 3 * a);
    psfm_axpy3(l->gradient + 3 * b, -w, r, l->gradient + 3 * b);
}

/* Solves for the step of the assembled model. */
static psfm_status solve_step(psfm_context *ctx, lud *l) {
    static const int diagonal[3] = {0, 3, 5};
    uint32_t n = l->graph->num_nodes;
    for (uint32_t v = 0; v < n; ++v) {
        double *block = l->value + NUM_DIAGONAL * (size_t)v;
        double trace = block[0] + block[3] + block[5];
        for (int i = 0; i < 3; ++i)
            block[diagonal[i]] += DAMPING * trace;
    }
    psfm_status status = psfm_spd_factor(ctx, l->system, l->value, 0.0);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < 3 * (size_t)n; ++k)
        l->gradient[k] = -l->gradient[k];
    return psfm_spd_solve(ctx, l->system, 1, l->gradient, &l->step[0][0]);
}

/* The start: all scales 1, squared norms; a graph Laplacian. */
static psfm_status first_step(psfm_context *ctx, lud *l) {
    static const double none[3] = {0.0, 0.0, 0.0};
    clear_model(l);
    for (uint32_t e = 0; e < l->graph->num_edges; ++e) {
        double r[3];
        psfm_scale3(-1.0, l->direction[e], r);
        add_edge(l, e, 1.0, 0.0, none, r);
    }
    return solve_step(ctx, l);
}

static psfm_status newton_step(psfm_context *ctx, lud *l) {
    clear_model(l);
    for (uint32_t e = 0; e < l->graph->num_edges; ++e) {
        const double *g = l->direction[e];
        psfm_smooth_ray s = psfm_smooth_ray_make(g, l->diff[e], l->floor);
        double bound = psfm_ray_bound_curvature(&l->bound[e], &s, g, l->dual[e]);
        double share = 1.0 - s.slope * s.slope - s.norm * bound;
        double z[3], r[3];
        psfm_smooth_ray_project(&s, g, l->dual[e], z);
        psfm_smooth_ray_project(&s, g, s.r, r);
        psfm_scale3(1.0 / s.norm, z, z);
        add_edge(l, e, l->edge_weight[e] / s.norm, share, z, r);
    }
    return solve_step(ctx, l);
}

/* The multipliers that go with the step; they are kept short enough, and on the right side. */
static void move_duals(lud *l) {
    for (uint32_t e = 0; e < l->graph->num_edges; ++e) {
        const double *g = l->direction[e];
        psfm_smooth_ray s = psfm_smooth_ray_make(g, l->diff[e], l->floor);
        double dr[3], *z = l->dual[e];
        psfm_ray_bound_move(&l->bound[e], &s, g, l->diff[e], l->diff_step[e]);
        psfm_smooth_ray_project(&s, g, l->diff_step[e], dr);
        psfm_scale3(-psfm_dot3(s.r, dr) / (s.norm * s.norm), z, z);
        psfm_axpy3(z, 1.0 / s.norm, s.r, z);
        psfm_axpy3(z, 1.0 / s.norm, dr, z);
        psfm_axpy3(z, -fmax(0.0, psfm_dot3(z, g)), g, z);
        double length = psfm_norm3(z);
        if (length > LONGEST_DUAL)
            psfm_scale3(LONGEST_DUAL / length, z, z);
    }
}

static void find_differences(const psfm_topology *graph, const double (*x)[3], double (*out)[3]) {
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        psfm_sub3(x[graph->node1[e]], x[graph->node2[e]], out[e]);
}

/* Derivative of the smoothed cost along the step, at share `a` of it. */
static double cost_slope(const lud *l, double a) {
    double sum = 0.0;
    for (uint32_t e = 0; e < l->graph->num_edges; ++e) {
        const double *g = l->direction[e];
        double v[3], dr[3];
        psfm_axpy3(l->diff[e], a, l->diff_step[e], v);
        psfm_smooth_ray s = psfm_smooth_ray_make(g, v, l->floor);
        psfm_smooth_ray_project(&s, g, l->diff_step[e], dr);
        sum += l->edge_weight[e] * psfm_dot3(s.r, dr) / s.norm;
    }
    return sum;
}

/* Share of the step at which the convex cost along it is near its minimum: bracketed by doubling,
 * then narrowed by false position (Illinois) until the slope is a tenth of the first. 0 when the
 * step does not descend, which rounding brings about at the end. */
static double line_search(const lud *l) {
    double start = cost_slope(l, 0.0);
    if (!(start < 0.0))
        return 0.0;
    double low = 0.0, slope_low = start, high = 1.0, slope_high = cost_slope(l, high);
    while (slope_high < 0.0 && high < 64.0) {
        low = high;
        slope_low = slope_high;
        high *= 2.0;
        slope_high = cost_slope(l, high);
    }
    if (slope_high <= 0.0)
        return high;
    for (int k = 0, last = 0; k < 30; ++k) {
        double a = (low * slope_high - high * slope_low) / (slope_high - slope_low);
        double s = cost_slope(l, a);
        if (fabs(s) <= 0.1 * -start)
            return a;
        if (s < 0.0) {
            low = a;
            slope_low = s;
            slope_high *= last == -1 ? 0.5 : 1.0;
            last = -1;
        } else {
            high = a;
            slope_high = s;
            slope_low *= last == 1 ? 0.5 : 1.0;
            last = 1;
        }
    }
    return low;
}

/* Moves along the step as far as the cost falls, keeping the centroid at the origin. Returns the
 * largest move of a centre as a share of the scene's size (root mean square distance from the
 * centroid). */
static double move_centers(lud *l, double a) {
    uint32_t n = l->graph->num_nodes;
    double mean[3] = {0, 0, 0}, largest = 0.0, spread = 0.0;
    for (uint32_t v = 0; v < n; ++v)
        psfm_axpy3(mean, 1.0 / n, l->step[v], mean);
    for (uint32_t v = 0; v < n; ++v) {
        double d[3];
        psfm_sub3(l->step[v], mean, d);
        psfm_axpy3(l->center[v], a, d, l->center[v]);
        largest = fmax(largest, a * psfm_norm3(d));
        spread += psfm_dot3(l->center[v], l->center[v]) / n;
    }
    find_differences(l->graph, (const double(*)[3])l->center, l->diff);
    return spread > 0.0 ? largest / sqrt(spread) : 0.0;
}

/* *share: of the step, as far as it is taken. */
static double search_and_move(lud *l, double *share) {
    find_differences(l->graph, (const double(*)[3])l->step, l->diff_step);
    move_duals(l);
    *share = line_search(l);
    return move_centers(l, *share);
}

/* Growth of all centres that frees every edge from the bound; edges that point backwards never
 * get free and do not count. */
static double largest_growth(const lud *l) {
    double least = 1.0;
    for (uint32_t e = 0; e < l->graph->num_edges; ++e) {
        double along = psfm_dot3(l->direction[e], l->diff[e]);
        if (along > 0.0)
            least = fmin(least, along);
    }
    return 1.0 / least - 1.0;
}

/* Scales all centres to where the cost is least. Growing beyond the bound of all edges can only
 * follow rounding errors. */
static void rescale_centers(lud *l) {
    uint32_t n = l->graph->num_nodes;
    memcpy(l->step, l->center, n * sizeof *l->step);
    find_differences(l->graph, (const double(*)[3])l->step, l->diff_step);
    double a = fmin(line_search(l), largest_growth(l));
    if (a <= 0.0) {
        for (uint32_t v = 0; v < n; ++v)
            psfm_scale3(-1.0, l->step[v], l->step[v]);
        find_differences(l->graph, (const double(*)[3])l->step, l->diff_step);
        a = fmin(line_search(l), 0.9);
    }
    move_centers(l, a);
}

/* Weighed sum of the residuals; sets their mean and the mean baseline. */
static double measure_residuals(lud *l) {
    double sum = 0.0, length = 0.0, weight = 0.0;
    for (uint32_t e = 0; e < l->graph->num_edges; ++e) {
        sum += l->edge_weight[e] * psfm_ray_distance(l->direction[e], l->diff[e]);
        length += l->edge_weight[e] * psfm_norm3(l->diff[e]);
        weight += l->edge_weight[e];
    }
    l->mean_residual = sum / weight;
    l->mean_baseline = length / weight;
    return sum;
}

/* Minimises the cost with the present weights. With the smoothing as small as asked for, the
 * centres must rest twice in a row, or the cost must not fall by more than a tenth of the
 * tolerance: a line search may take one short step. */
static psfm_status minimise_cost(psfm_context *ctx, lud *l, int max_iterations, double tolerance,
                                 double residual_floor, psfm_lud_stats *stats) {
    stats->cost = measure_residuals(l);
    stats->converged = false;
    l->floor = fmax(l->mean_residual, COARSE * l->mean_baseline);
    int num_resting = 0;
    for (int k = 0; k < max_iterations && !stats->converged; ++k) {
        double before = stats->cost, least = residual_floor * l->mean_baseline, share;
        l->floor = fmax(l->floor, least);
        psfm_status status = newton_step(ctx, l);
        if (status != PSFM_OK)
            return status;
        double moved = search_and_move(l, &share);
        rescale_centers(l);
        stats->cost = measure_residuals(l);
        ++stats->iterations;
        bool whole =
            share > GOOD || share <= 0.0 || l->mean_residual <= ROUNDING * l->mean_baseline;
        bool rests =
            whole && (moved <= tolerance || before - stats->cost <= 0.1 * tolerance * stats->cost);
        num_resting = rests && l->floor <= least ? num_resting + 1 : 0;
        stats->converged = num_resting >= 2;
        l->floor *= whole ? SHRINK : 1.0;
    }
    return PSFM_OK;
}

/* Weighs edges by how well they keep their direction. */
static psfm_status weigh_by_angle(psfm_context *ctx, lud *l, double least_scale) {
    uint32_t m = l->graph->num_edges;
    double *angle = NULL;
    psfm_status status = PSFM_ALLOC(ctx, m, &angle);
    if (status != PSFM_OK)
        return status;
    for (uint32_t e = 0; e < m; ++e)
        angle[e] = psfm_angle3(l->diff[e], l->direction[e]);
    double scale = fmax(2.0 * PSFM_MAD_TO_SIGMA * psfm_median(angle, m), least_scale);
    for (uint32_t e = 0; e < m; ++e) {
        double a = psfm_angle3(l->diff[e], l->direction[e]) / scale;
        l->edge_weight[e] = fmax(psfm_geman_mcclure_weight(a * a, 1.0), LEAST_WEIGHT);
    }
    free(angle);
    return PSFM_OK;
}

static psfm_status solve_lud(psfm_context *ctx, lud *l, const psfm_lud_options *o,
                             psfm_lud_stats *stats) {
    psfm_status status = first_step(ctx, l);
    if (status == PSFM_OK)
        move_centers(l, 1.0);
    for (int round = 0; status == PSFM_OK && round <= o->rounds; ++round) {
        bool last = round == o->rounds;
        if (round > 0)
            status = weigh_by_angle(ctx, l, psfm_radians(o->angle_deg));
        if (status == PSFM_OK)
            status = minimise_cost(
                ctx, l, o->max_iterations, last ? o->tolerance : fmax(o->tolerance, COARSE),
                last ? o->residual_floor : fmax(o->residual_floor, COARSE), stats);
    }
    return status;
}

static psfm_status check_connected(psfm_context *ctx, const psfm_topology *graph) {
    uint32_t *label = NULL, num = 0;
    psfm_status status = PSFM_ALLOC(ctx, graph->num_nodes, &label);
    if (status == PSFM_OK)
        status = psfm_topology_components(ctx, graph, NULL, label, &num);
    free(label);
    if (status == PSFM_OK && num > 1)
        status =
            psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                      "the directions do not connect all cameras: they fall into %u parts", num);
    return status;
}

static psfm_status check_input(psfm_context *ctx, const psfm_topology *graph,
                               const double (*direction)[3]) {
    if (graph->num_nodes == 0 || graph->num_nodes > UINT32_MAX / 3)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "positions asked of %u cameras", graph->num_nodes);
    psfm_status status = psfm_topology_check(ctx, graph);
    for (uint32_t e = 0; status == PSFM_OK && e < graph->num_edges; ++e)
        if (!(fabs(psfm_norm3(direction[e]) - 1.0) < 1e-6)) /* true for NaN */
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                               "the direction of edge %u (cameras %u and %u) is not a unit vector",
                               e, graph->node1[e], graph->node2[e]);
    return status == PSFM_OK ? check_connected(ctx, graph) : status;
}

static psfm_status allocate_lud(psfm_context *ctx, lud *l) {
    size_t n = l->graph->num_nodes, m = l->graph->num_edges;
    psfm_status status = PSFM_ALLOC(ctx, n, &l->center);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &l->step);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, m, &l->diff);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, m, &l->diff_step);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, m, &l->dual);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, m, &l->bound);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, m, &l->edge_weight);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, 3 * n, &l->gradient);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, NUM_DIAGONAL * n + NUM_BLOCK * m, &l->value);
    if (status == PSFM_OK)
        status = create_system(ctx, l->graph, &l->system);
    if (status == PSFM_OK)
        psfm_spd_allow_iterative(l->system, 1e-5, 100);
    for (size_t e = 0; status == PSFM_OK && e < m; ++e)
        l->edge_weight[e] = 1.0;
    return status;
}

static void release_lud(lud *l) {
    psfm_spd_destroy(&l->system);
    free(l->center);
    free(l->step);
    free(l->diff);
    free(l->diff_step);
    free(l->dual);
    free(l->bound);
    free(l->edge_weight);
    free(l->gradient);
    free(l->value);
}

psfm_status psfm_positions_lud(psfm_context *ctx, const psfm_topology *topology,
                               const double (*direction)[3], const psfm_lud_options *options,
                               double (*centers)[3], psfm_lud_stats *stats) {
    psfm_lud_options defaults;
    psfm_options_init(&psfm_lud_option_table, &defaults);
    const psfm_lud_options *o = options != NULL ? options : &defaults;
    psfm_lud_stats made = {0};
    lud l = {.graph = topology, .direction = direction};
    psfm_status status = psfm_options_check(ctx, &psfm_lud_option_table, o);
    if (status == PSFM_OK)
        status = check_input(ctx, topology, direction);
    if (status == PSFM_OK)
        status = allocate_lud(ctx, &l);
    if (status == PSFM_OK && topology->num_edges > 0)
        status = solve_lud(ctx, &l, o, &made);
    if (status == PSFM_OK) {
        memcpy(centers, l.center, topology->num_nodes * sizeof *centers);
        if (stats != NULL)
            *stats = made;
    }
    release_lud(&l);
    return status;
}
