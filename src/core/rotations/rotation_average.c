/* Robust rotation averaging.
 *
 * The error of an edge (1, 2) is the rotation vector of E = R_2^T R_21 R_1, a rotation of the world
 * frame. Turning the world side of each camera by a small x, R <- R exp(x), changes it to
 *     e + x_1 - x_2
 * to first order, without any Jacobian: the normal equations of sum_e w |e + x_1 - x_2|^2 are the
 * weighted graph Laplacian, one scalar matrix for all three coordinates of x.
 *
 * Phase 1 minimises the sum of the angles |e| by iteratively reweighted least squares (IRLS,
 * w = 1 / |e|), which finds its way from a poor start, for edges that are far off pull no harder
 * than others. Phase 2 weighs by the Geman-McClure loss, w = 1 / (1 + (|e| / scale)^2)^2, which
 * all but drops outliers and treats inliers as least squares does; its scale follows the median
 * residual. So noise-free edges are met exactly, and noisy ones with the efficiency of a mean.
 *
 * Of graphs without wrong edges the two classical costs can be minimised instead: sum w |e|^2 with
 * the weights as they are, and the chordal one, sum w ||R_2 - R_21 R_1||^2 = sum 8 w sin^2(|e| /
 * 2), by reweighting with its slope sin(|e|) / |e|. The gradient of |e|^2 by x is 2 e to all
 * orders, so that the iteration ends at a stationary point of the cost itself.
 *
 * Sources: Chatterjee and Govindu, "Efficient and Robust Large-Scale Rotation Averaging", 2013, and
 * "Robust Relative Rotation Averaging", 2017. */
#include "core/rotations/rotation_average.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/angle.h"
#include "core/linalg/loss.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/sparse.h"

static const psfm_rotation_average_options defaults = {.l1_iterations = 50,
                                                       .max_iterations = 100,
                                                       .tolerance_deg = 1e-5,
                                                       .max_scale_deg = 5.0,
                                                       .min_scale_deg = 0.05};

#define EDGES_PER_TASK 4096
#define DAMPING 1e-12        /* of the Laplacian's diagonal, which is singular by the gauge */
#define SCALE_PER_MEDIAN 3.0 /* of the residual angles: 4.6 standard deviations of one axis */

/* Phase 1 takes angles below a floor as squares. The floor shrinks: from the start, edges of the
 * tree that gave it fit exactly, and would be stiff against all others. */
#define L1_FIRST_FLOOR psfm_radians(30.0)
#define L1_LAST_FLOOR psfm_radians(0.01)
#define L1_SHRINK 0.5
#define L1_TOLERANCE psfm_radians(0.1) /* phase 2 does the rest */

typedef struct {
    const psfm_topology *graph;
    const double (*R_21)[9];
    const double *weight; /* NULL: all 1 */
    double (*R)[9];
    double (*error)[3]; /* per edge: rotation vector of E */
    double *value;      /* of the triplets: n diagonal entries, then one per edge */
    double *rhs;        /* 3 n, one coordinate after the other */
    double *scratch;    /* per edge */
    psfm_spd *system;
} averaging;

static double edge_weight(const averaging *a, size_t e) {
    return a->weight == NULL ? 1.0 : a->weight[e];
}

static psfm_status error_block(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    averaging *a = user;
    size_t end = (index + 1) * EDGES_PER_TASK;
    for (size_t e = index * EDGES_PER_TASK; e < end && e < a->graph->num_edges; ++e) {
        double turned[9], E[9];
        psfm_mat3_mul(a->R_21[e], a->R[a->graph->node1[e]], turned);
        psfm_mat3_t_mul(a->R[a->graph->node2[e]], turned, E);
        psfm_rotation_log(E, a->error[e]);
    }
    return PSFM_OK;
}

static psfm_status compute_errors(psfm_context *ctx, averaging *a) {
    size_t num_tasks = (a->graph->num_edges + (size_t)EDGES_PER_TASK - 1) / EDGES_PER_TASK;
    return psfm_parallel_for(ctx, NULL, num_tasks, error_block, a);
}

static void add_edge(averaging *a, size_t e, double w) {
    size_t n = a->graph->num_nodes, i = a->graph->node1[e], j = a->graph->node2[e];
    a->value[i] += w;
    a->value[j] += w;
    a->value[n + e] = -w;
    for (size_t k = 0; k < 3; ++k) {
        a->rhs[k * n + i] -= w * a->error[e][k];
        a->rhs[k * n + j] += w * a->error[e][k];
    }
}

/* Turns all rotations; returns the largest angle. */
static double apply_step(averaging *a) {
    size_t n = a->graph->num_nodes;
    double largest = 0.0;
    for (size_t v = 0; v < n; ++v) {
        double x[3] = {a->rhs[v], a->rhs[n + v], a->rhs[2 * n + v]}, turn[9], R[9], q[4];
        largest = fmax(largest, psfm_norm3(x));
        psfm_rotation_exp(x, turn);
        psfm_mat3_mul(a->R[v], turn, R);
        psfm_rotation_to_quat(R, q);
        psfm_rotation_from_quat(q, a->R[v]);
    }
    return largest;
}

/* Weight of an edge in the normal equations, by its angle. */
typedef double (*loss_fn)(double angle, double scale);

/* Sum of angles, squares below the scale. */
static double l1_weight(double angle, double scale) {
    return 1.0 / fmax(angle, scale);
}

static double geman_mcclure_weight(double angle, double scale) {
    double ratio = angle / scale;
    return psfm_geman_mcclure_weight(ratio * ratio, 1.0);
}

static double unit_weight(double angle, double scale) {
    (void)angle;
    (void)scale;
    return 1.0;
}

static double chordal_weight(double angle, double scale) {
    (void)scale;
    return angle < 1e-4 ? 1.0 - angle * angle / 6.0 : fmax(sin(angle), 0.0) / angle;
}

/* One reweighted solve; *largest is the largest turn. */
static psfm_status solve_reweighted(psfm_context *ctx, averaging *a, loss_fn loss, double scale,
                                    double *largest) {
    size_t n = a->graph->num_nodes;
    memset(a->value, 0, n * sizeof *a->value);
    memset(a->rhs, 0, 3 * n * sizeof *a->rhs);
    for (size_t e = 0; e < a->graph->num_edges; ++e) {
        add_edge(a, e, edge_weight(a, e) * loss(psfm_norm3(a->error[e]), scale));
    }
    double mean = 0.0;
    for (size_t v = 0; v < n; ++v)
        mean += a->value[v] / (double)n;
    for (size_t v = 0; v < n; ++v)
        a->value[v] += DAMPING * (a->value[v] + mean) + DBL_MIN;
    psfm_status status = psfm_spd_factor(ctx, a->system, a->value, 0.0);
    if (status == PSFM_OK)
        status = psfm_spd_solve(ctx, a->system, 3, a->rhs, a->rhs);
    if (status != PSFM_OK)
        return status;
    *largest = apply_step(a);
    return compute_errors(ctx, a);
}

/* Scale of the loss: a multiple of the median residual of the edges that count. */
static double robust_scale(averaging *a, const psfm_rotation_average_options *o) {
    size_t num = 0;
    for (size_t e = 0; e < a->graph->num_edges; ++e)
        if (edge_weight(a, e) > 0.0)
            a->scratch[num++] = psfm_norm3(a->error[e]);
    double scale = SCALE_PER_MEDIAN * psfm_median(a->scratch, num);
    return fmin(fmax(scale, psfm_radians(o->min_scale_deg)), psfm_radians(o->max_scale_deg));
}

static psfm_status run_least_squares(psfm_context *ctx, averaging *a,
                                     const psfm_rotation_average_options *o,
                                     psfm_rotation_average_stats *stats) {
    loss_fn loss = o->loss == PSFM_ROTATION_CHORDAL ? chordal_weight : unit_weight;
    double largest = INFINITY;
    psfm_status status = PSFM_OK;
    for (int k = 0; status == PSFM_OK && k < o->max_iterations && !stats->converged; ++k) {
        status = solve_reweighted(ctx, a, loss, 0.0, &largest);
        ++stats->iterations;
        stats->converged = largest <= psfm_radians(o->tolerance_deg);
    }
    return status;
}

static psfm_status run_averaging(psfm_context *ctx, averaging *a,
                                 const psfm_rotation_average_options *o,
                                 psfm_rotation_average_stats *stats) {
    double largest = INFINITY, floor = L1_FIRST_FLOOR;
    psfm_status status = compute_errors(ctx, a);
    if (status == PSFM_OK && o->loss != PSFM_ROTATION_ROBUST)
        return run_least_squares(ctx, a, o, stats);
    for (int k = 0; status == PSFM_OK && k < o->l1_iterations; ++k) {
        status = solve_reweighted(ctx, a, l1_weight, floor, &largest);
        ++stats->l1_iterations;
        if (largest <= L1_TOLERANCE && floor <= L1_LAST_FLOOR)
            break;
        floor = fmax(L1_SHRINK * floor, L1_LAST_FLOOR);
    }
    for (int k = 0; status == PSFM_OK && k < o->max_iterations && !stats->converged; ++k) {
        double scale = robust_scale(a, o);
        status = solve_reweighted(ctx, a, geman_mcclure_weight, scale, &largest);
        ++stats->iterations;
        stats->scale_deg = psfm_degrees(scale);
        stats->converged = largest <= psfm_radians(o->tolerance_deg);
    }
    return status;
}

/* Turns the world of each connected component back to where its first node had it. */
static psfm_status restore_gauge(psfm_context *ctx, averaging *a, const double (*start)[9]) {
    uint32_t n = a->graph->num_nodes, num = 0;
    uint32_t *label = NULL;
    double(*turn)[9] = NULL;
    psfm_status status = PSFM_ALLOC(ctx, n, &label);
    if (status == PSFM_OK)
        status = psfm_topology_components(ctx, a->graph, NULL, label, &num);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &turn);
    for (uint32_t v = 0, next = 0; status == PSFM_OK && v < n; ++v) {
        double R[9];
        if (label[v] == next)
            psfm_mat3_t_mul(a->R[v], start[v], turn[next++]);
        psfm_mat3_mul(a->R[v], turn[label[v]], R);
        memcpy(a->R[v], R, sizeof R);
    }
    free(label);
    free(turn);
    return status;
}

static psfm_status allocate_averaging(psfm_context *ctx, averaging *a) {
    size_t n = a->graph->num_nodes, m = a->graph->num_edges;
    uint32_t *row = NULL, *col = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &a->R)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, m, &a->error)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n + m, &a->value)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, 3 * n, &a->rhs)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, m, &a->scratch)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n + m, &row)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n + m, &col)) != PSFM_OK)
        goto cleanup;
    for (size_t v = 0; v < n; ++v)
        row[v] = col[v] = (uint32_t)v;
    memcpy(row + n, a->graph->node1, m * sizeof *row);
    memcpy(col + n, a->graph->node2, m * sizeof *col);
    status = psfm_spd_create(ctx, a->graph->num_nodes, n + m, row, col, &a->system);
    if (status == PSFM_OK)
        psfm_spd_allow_iterative(a->system, 1e-4, 200);

cleanup:
    free(row);
    free(col);
    return status;
}

static void release_averaging(averaging *a) {
    psfm_spd_destroy(&a->system);
    free(a->R);
    free(a->error);
    free(a->value);
    free(a->rhs);
    free(a->scratch);
}

static bool is_rotation(const double R[9]) {
    double E[9];
    psfm_mat3_mul_t(R, R, E);
    double off =
        fabs(E[0] - 1) + fabs(E[4] - 1) + fabs(E[8] - 1) + fabs(E[1]) + fabs(E[2]) + fabs(E[5]);
    return off < 1e-6 && psfm_mat3_det(R) > 0.0; /* false for NaN */
}

static psfm_status check_input(psfm_context *ctx, const averaging *a, const double (*start)[9]) {
    psfm_status status = psfm_topology_check(ctx, a->graph);
    for (uint32_t e = 0; status == PSFM_OK && e < a->graph->num_edges; ++e)
        if (!is_rotation(a->R_21[e]))
            status =
                psfm_fail(ctx, PSFM_ERR_ARGUMENT, "edge %u (cameras %u and %u) has no rotation", e,
                          a->graph->node1[e], a->graph->node2[e]);
        else if (!(edge_weight(a, e) >= 0.0) || isinf(edge_weight(a, e)))
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "edge %u has the weight %g", e,
                               edge_weight(a, e));
    for (uint32_t v = 0; status == PSFM_OK && v < a->graph->num_nodes; ++v)
        if (!is_rotation(start[v]))
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "camera %u starts without a rotation", v);
    return status;
}

psfm_status psfm_rotations_average(psfm_context *ctx, const psfm_relative_rotations *relative,
                                   const psfm_rotation_average_options *options,
                                   double (*cam_from_world)[9], double *residual_rad,
                                   psfm_rotation_average_stats *stats) {
    const psfm_topology *topology = relative->topology;
    const psfm_rotation_average_options *o = options != NULL ? options : &defaults;
    psfm_rotation_average_stats made = {0};
    averaging a = {.graph = topology, .R_21 = relative->R_21, .weight = relative->weight};
    const double(*start)[9] = (const double(*)[9])cam_from_world;
    psfm_status status = check_input(ctx, &a, start);
    if (status == PSFM_OK)
        status = allocate_averaging(ctx, &a);
    if (status == PSFM_OK) {
        memcpy(a.R, start, topology->num_nodes * sizeof *a.R);
        status = run_averaging(ctx, &a, o, &made);
    }
    if (status == PSFM_OK)
        status = restore_gauge(ctx, &a, start);
    if (status == PSFM_OK) {
        memcpy(cam_from_world, a.R, topology->num_nodes * sizeof *a.R);
        for (size_t e = 0; residual_rad != NULL && e < topology->num_edges; ++e)
            residual_rad[e] = psfm_norm3(a.error[e]);
        if (stats != NULL)
            *stats = made;
    }
    release_averaging(&a);
    return status;
}
