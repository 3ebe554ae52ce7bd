/* Levenberg and Marquardt on homographies.
 *
 * A view i of a plane maps it by G_i = K_i [r1 r2 t], so a pair has H = G_j G_i^-1. Residuals and
 * derivatives, and the pattern of the equations, are in plane_normal.c.
 *
 * Homographies do not tell where on the plane its origin is, nor its axes and scale: these four
 * directions are kept by a little damping, and the focal lengths do not depend on them.
 *
 * The scale of the loss follows the residuals, first loosely, then tightly: homographies that are
 * no plane, or of another one, must not count in the end.
 *
 * Principal points are fixed. What they may be off is in the standard deviations, plane_sigma.c. */
#include "core/calibration/plane_adjust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/calibration/plane_adjust_internal.h"
#include "core/linalg/levenberg.h"
#include "core/linalg/loss.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/linalg/vec3.h"

#define LOSS_SCALE 3.0 /* least scale of the loss, a chi */
#define LOOSE 2.0      /* its scale in medians while the start is rough */
#define TIGHT 1.2      /* and afterwards */
#define GOOD_CHI 8.0   /* of an edge that fits */
#define MAX_TRIALS 12
#define MAX_TURN 0.3  /* of a step, radians */
#define MAX_SHIFT 0.5 /* of a step, relative */
#define MAX_LOG 0.3   /* of a step in a focal length */
#define MAX_K1 0.05   /* of a step in a radial distortion */

/* How an adjustment goes on from its start. Damping is relative to the diagonal, where the soft
 * ways of a large plane, all lenses of a part of it a little longer, have but a millionth of the
 * curvature: a damping that a rough start needs would hold them for many iterations. */
typedef struct {
    int max_iterations;
    double damping;         /* of the first step */
    double loose_tolerance; /* relative decrease that ends the loose loss; 0: it is left out */
    double tolerance;       /* and the tight one */
} schedule;

static const schedule schedules[] = {
    [PSFM_PLANE_FROM_SEARCH] = {40, 1e-3, 1e-5, 1e-5},
    [PSFM_PLANE_GROWING] = {12, 1e-6, 1e-2, 1e-3},
    [PSFM_PLANE_GROWN] = {40, 1e-6, 1e-2, 1e-5},
    [PSFM_PLANE_CONVERGED] = {30, 1e-6, 0.0, 1e-5},
};

static double median_chi(const psfm_plane_adjustment *a) {
    memcpy(a->scratch, a->now.chi, a->p->num_edges * sizeof *a->scratch);
    return psfm_median(a->scratch, a->p->num_edges);
}

static double total_cost(const psfm_plane_problem *p, const psfm_plane_state *s, double scale) {
    double cost = 0.0;
    for (size_t e = 0; e < p->num_edges; ++e)
        cost += psfm_cauchy(s->chi[e] * s->chi[e], scale * scale);
    for (size_t g = 0; g < p->num_groups; ++g) {
        double off = (s->log_focal[g] - p->prior_log_focal[g]) / p->prior_sigma[g];
        cost += off * off;
        if (p->k1 != NULL && p->prior_k1_sigma[g] > 0.0) {
            off = (s->k1[g] - p->prior_k1[g]) / p->prior_k1_sigma[g];
            cost += off * off;
        }
    }
    return cost;
}

static double limit_step(double x, double most) {
    return fmin(fmax(x, -most), most);
}

static void move_state(psfm_plane_adjustment *a) {
    const psfm_plane_problem *p = a->p;
    for (size_t g = 0; g < p->num_groups; ++g) {
        const double *step = a->eq.step + a->eq.pattern.scalar_begin[g];
        a->trial.log_focal[g] = fmin(
            fmax(a->now.log_focal[g] + limit_step(step[0], MAX_LOG), log(0.7 * PSFM_MIN_FOCAL)),
            log(1.5 * PSFM_MAX_FOCAL));
        if (p->k1 != NULL)
            a->trial.k1[g] = a->now.k1[g] + limit_step(step[PSFM_LENS_K1], MAX_K1);
    }
    for (size_t k = 0; k < p->num_poses; ++k) {
        const double *step = a->eq.step + a->eq.pattern.scalar_begin[p->num_groups + k];
        const psfm_plane_pose *from = &a->now.poses[k];
        psfm_plane_pose *to = &a->trial.poses[k];
        double w[3] = {step[0], step[1], step[2]}, E[9], length = psfm_norm3(from->t);
        psfm_scale3(fmin(1.0, MAX_TURN / fmax(psfm_norm3(w), 1e-300)), w, w);
        psfm_rotation_exp(w, E);
        to->group = from->group;
        to->plane = from->plane;
        psfm_mat3_mul(E, from->R, to->R);
        psfm_mat3_mul_vec(E, from->t, to->t);
        for (int i = 0; i < 3; ++i)
            to->t[i] += length * limit_step(step[3 + i], MAX_SHIFT);
    }
}

static psfm_status attempt_step(psfm_context *ctx, void *user, double damping, double *cost) {
    psfm_plane_adjustment *a = user;
    psfm_status status = psfm_plane_factor(ctx, a, damping);
    if (status == PSFM_OK)
        status = psfm_block_spd_solve(ctx, a->eq.spd, 1, a->eq.rhs, a->eq.step);
    if (status != PSFM_OK)
        return status;
    move_state(a);
    if (!psfm_plane_evaluate(a, &a->trial))
        return PSFM_ERR_NUMERIC;
    *cost = total_cost(a->p, &a->trial, a->scale);
    return PSFM_OK;
}

static bool accept_step(void *user, double before, double after) {
    psfm_plane_adjustment *a = user;
    (void)before, (void)after;
    psfm_plane_state swap = a->now;
    a->now = a->trial;
    a->trial = swap;
    return false;
}

static psfm_status linearize_edges(psfm_context *ctx, void *user, bool is_loose, double *cost) {
    psfm_plane_adjustment *a = user;
    (void)ctx;
    a->scale = fmax(LOSS_SCALE, (is_loose ? LOOSE : TIGHT) * median_chi(a));
    *cost = total_cost(a->p, &a->now, a->scale);
    psfm_plane_linearize(a, a->scale, 1.0);
    return PSFM_OK;
}

static psfm_status iterate_stage(psfm_context *ctx, psfm_plane_adjustment *a,
                                 psfm_plane_stage stage) {
    const schedule *plan = &schedules[stage];
    const psfm_descent descent = {a, plan->damping, &psfm_patient_damping, attempt_step,
                                  accept_step};
    const psfm_robust_descent robust = {plan->max_iterations, MAX_TRIALS, plan->loose_tolerance,
                                        plan->tolerance, linearize_edges};
    return psfm_descend_robustly(ctx, &descent, &robust);
}

/* How much more the homographies of each plane scatter than they say.
 *
 * Not every plane is flat: stands are steps, fields have furrows. The matches of such a plane err
 * together, and its homographies are off by more than their inliers' scatter tells. What is left of
 * them in the adjustment shows it. But a plane has few more measurements than unknowns, down to
 * none at all in a chain, and an adjustment with as many unknowns leaves nothing. So the residuals
 * are compared with the redundant measurements: 8 an edge, less 6 a pose, less its share
 * of the focal lengths, and 4 more for its origin, axes and unit.
 *
 * The variance is the least one that explains the residuals if none counts for more than MAX_EDGE
 * times it: a few homographies that are of no plane do not matter where there are many redundant
 * ones. Where few are, a loss that rejects them leaves nothing of the others, and this counts.
 *
 * A plane that has few redundant measurements is taken for like the others, as if these had one
 * homography to add to its own. */

#define FREE_SIGMA 0.1 /* of a prior from which on the data find a focal length */
#define MAX_EDGE 16.0  /* chi^2 of an edge, at most: twice what eight numbers have */
#define OTHERS 8.0     /* measurements for which all planes count in each */
#define CONVERGED 1e-3 /* relative change of a variance that matters no more */

/* Redundant measurements, per plane. */
static psfm_status count_left(psfm_context *ctx, const psfm_plane_problem *p, double *left) {
    double *poses = NULL; /* per group */
    psfm_status status = PSFM_ALLOC(ctx, p->num_groups, &poses);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < p->num_planes; ++k)
        left[k] = 4.0;
    for (size_t k = 0; k < p->num_poses; ++k)
        poses[p->poses[k].group] += 1.0;
    for (size_t k = 0; k < p->num_poses; ++k) {
        uint32_t g = p->poses[k].group;
        left[p->poses[k].plane] -= 6.0 + (p->prior_sigma[g] > FREE_SIGMA ? 1.0 / poses[g] : 0.0);
    }
    for (size_t e = 0; e < p->num_edges; ++e)
        left[p->poses[p->edges[e].pose1].plane] += 8.0;
    for (size_t k = 0; k < p->num_planes; ++k)
        left[k] = fmax(left[k], 0.0);
    free(poses);
    return PSFM_OK;
}

/* chi^2 of the edges in units of each plane's variance, cut off; summed per plane. */
static void sum_residuals(const psfm_plane_adjustment *a, const double *variance, double *sum) {
    const psfm_plane_problem *p = a->p;
    for (size_t k = 0; k < p->num_planes; ++k)
        sum[k] = 0.0;
    for (size_t e = 0; e < p->num_edges; ++e) {
        uint32_t k = p->poses[p->edges[e].pose1].plane;
        double chi2 = a->now.chi[e] * a->now.chi[e] / a->weight[k];
        sum[k] += fmin(chi2, MAX_EDGE * variance[k]);
    }
}

/* One variance for all planes. It only grows, as the cut does. */
static double find_common(const psfm_plane_adjustment *a, const double *left, double *variance,
                          double *sum) {
    double total_left = 0.0, common = 1.0, before;
    for (size_t k = 0; k < a->p->num_planes; ++k)
        total_left += left[k];
    if (!(total_left > 0.0))
        return 1.0;
    do {
        double total = 0.0;
        before = common;
        for (size_t k = 0; k < a->p->num_planes; ++k)
            variance[k] = common;
        sum_residuals(a, variance, sum);
        for (size_t k = 0; k < a->p->num_planes; ++k)
            total += sum[k];
        common = fmax(common, total / total_left);
    } while (common > before * (1.0 + CONVERGED));
    return common;
}

static void find_own(const psfm_plane_adjustment *a, const double *left, double common,
                     double *variance, double *sum) {
    bool grows;
    for (size_t k = 0; k < a->p->num_planes; ++k)
        variance[k] = 1.0;
    do {
        grows = false;
        sum_residuals(a, variance, sum);
        for (size_t k = 0; k < a->p->num_planes; ++k) {
            double next = (sum[k] + OTHERS * common) / (left[k] + OTHERS);
            grows = grows || next > variance[k] * (1.0 + CONVERGED);
            variance[k] = fmax(variance[k], next);
        }
    } while (grows);
}

/* Sets the weights to what the residuals of the current state say. */
psfm_status psfm_plane_measure_noise(psfm_context *ctx, psfm_plane_adjustment *a) {
    double *left = NULL, *variance = NULL, *sum = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, a->p->num_planes, &left)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, a->p->num_planes, &variance)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, a->p->num_planes, &sum)) != PSFM_OK ||
        (status = count_left(ctx, a->p, left)) != PSFM_OK)
        goto cleanup;
    find_own(a, left, find_common(a, left, variance, sum), variance, sum);
    for (size_t k = 0; k < a->p->num_planes; ++k)
        a->weight[k] = 1.0 / variance[k];

cleanup:
    free(left);
    free(variance);
    free(sum);
    return status;
}

/* ---- the whole adjustment ---- */

/* Measures the noise of the planes, and weighs the residuals by it. */
static psfm_status weigh_planes(psfm_context *ctx, psfm_plane_adjustment *a) {
    psfm_status status = psfm_plane_measure_noise(ctx, a);
    if (status == PSFM_OK)
        psfm_plane_evaluate(a, &a->now); /* as it could be before */
    return status;
}

/* Once more with each plane weighed by its noise, and the standard deviations. */
static psfm_status finish_adjustment(psfm_context *ctx, psfm_plane_adjustment *a, double *sigma,
                                     double *k1_sigma) {
    psfm_status status = weigh_planes(ctx, a);
    if (status == PSFM_OK)
        status = iterate_stage(ctx, a, PSFM_PLANE_CONVERGED);
    if (status == PSFM_OK)
        status = weigh_planes(ctx, a);
    double scale = fmax(LOSS_SCALE, TIGHT * median_chi(a));
    return status == PSFM_OK ? psfm_plane_find_sigma(ctx, a, scale, sigma, k1_sigma) : status;
}

static void describe_fit(psfm_plane_adjustment *a, psfm_plane_fit *fit) {
    size_t n = a->p->num_edges, good = 0;
    *fit = (psfm_plane_fit){.median_chi = median_chi(a)};
    for (size_t e = 0; e < n; ++e) {
        double x = a->now.chi[e];
        fit->cost += log1p(x * x / (LOSS_SCALE * LOSS_SCALE));
        good += x < GOOD_CHI;
    }
    fit->share_good = n == 0 ? 0.0 : (double)good / (double)n;
}

static psfm_status alloc_state(psfm_context *ctx, const psfm_plane_problem *p,
                               psfm_plane_state *s) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->num_poses, &s->poses)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_groups, &s->log_focal)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_groups, &s->k1)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_poses, &s->G)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_poses, &s->G_inverse)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_edges, &s->chi)) != PSFM_OK)
        return status;
    if (p->num_poses > 0) /* an empty problem has no arrays */
        memcpy(s->poses, p->poses, p->num_poses * sizeof *s->poses);
    if (p->num_groups > 0)
        memcpy(s->log_focal, p->log_focal, p->num_groups * sizeof *s->log_focal);
    if (p->k1 != NULL)
        memcpy(s->k1, p->k1, p->num_groups * sizeof *s->k1);
    return PSFM_OK;
}

static void free_state(psfm_plane_state *s) {
    free(s->poses);
    free(s->log_focal);
    free(s->k1);
    free(s->G);
    free(s->G_inverse);
    free(s->chi);
}

static psfm_status set_up(psfm_context *ctx, psfm_plane_adjustment *a) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, a->p->num_planes, &a->weight)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, a->p->num_edges, &a->scratch)) != PSFM_OK ||
        (status = alloc_state(ctx, a->p, &a->now)) != PSFM_OK ||
        (status = alloc_state(ctx, a->p, &a->trial)) != PSFM_OK)
        return status;
    for (size_t k = 0; k < a->p->num_planes; ++k)
        a->weight[k] = 1.0;
    if (!psfm_plane_evaluate(a, &a->now))
        return psfm_fail(ctx, PSFM_ERR_NUMERIC, "a plane is seen edge-on at the start");
    return PSFM_OK;
}

static void take_down(psfm_plane_adjustment *a) {
    psfm_plane_equations_free(&a->eq);
    free_state(&a->now);
    free_state(&a->trial);
    free(a->weight);
    free(a->scratch);
}

psfm_status psfm_plane_describe(psfm_context *ctx, const psfm_plane_problem *problem,
                                psfm_plane_fit *fit) {
    psfm_plane_adjustment a = {.p = problem};
    psfm_status status = set_up(ctx, &a);
    if (status == PSFM_OK)
        describe_fit(&a, fit);
    take_down(&a);
    return status;
}

psfm_status psfm_plane_adjust(psfm_context *ctx, const psfm_plane_problem *problem,
                              psfm_plane_stage stage, double *sigma, double *k1_sigma,
                              psfm_plane_fit *fit) {
    psfm_plane_adjustment a = {.p = problem};
    psfm_status status = set_up(ctx, &a);
    if (status == PSFM_OK)
        status = psfm_plane_equations_init(ctx, problem, &a.eq);
    if (status == PSFM_OK && stage != PSFM_PLANE_CONVERGED)
        status = iterate_stage(ctx, &a, stage);
    if (status == PSFM_OK && sigma != NULL)
        status = finish_adjustment(ctx, &a, sigma, k1_sigma);
    if (status == PSFM_OK) {
        describe_fit(&a, fit);
        memcpy(problem->poses, a.now.poses, problem->num_poses * sizeof *problem->poses);
        memcpy(problem->log_focal, a.now.log_focal,
               problem->num_groups * sizeof *problem->log_focal);
        if (problem->k1 != NULL)
            memcpy(problem->k1, a.now.k1, problem->num_groups * sizeof *problem->k1);
    }
    take_down(&a);
    return status;
}

/* ---- the map of a plane ---- */

void psfm_plane_map(const psfm_plane_pose *s, double f, double G[9]) {
    for (int r = 0; r < 3; ++r) {
        double scale = r < 2 ? f : 1.0;
        G[3 * r] = scale * s->R[3 * r];
        G[3 * r + 1] = scale * s->R[3 * r + 1];
        G[3 * r + 2] = scale * s->t[r];
    }
}

/* The nearest orthonormal pair to the first two columns of M, after scaling M so that they have
 * unit length in the mean: M (M^T M)^-1/2 by the closed form of a 2 x 2 root. */
void psfm_plane_pose_from_map(const double M[9], psfm_plane_pose *pose) {
    double a = 0.0, b = 0.0, d = 0.0, scale;
    for (int r = 0; r < 3; ++r) {
        a += M[3 * r] * M[3 * r];
        b += M[3 * r] * M[3 * r + 1];
        d += M[3 * r + 1] * M[3 * r + 1];
    }
    scale = 2.0 / (sqrt(a) + sqrt(d));
    double root = sqrt(fmax(a * d - b * b, 1e-300)), trace = sqrt(a + d + 2.0 * root);
    double inv[3] = {(d + root) / (root * trace), -b / (root * trace), (a + root) / (root * trace)};
    double r1[3], r2[3], r3[3];
    for (int r = 0; r < 3; ++r) {
        r1[r] = M[3 * r] * inv[0] + M[3 * r + 1] * inv[1];
        r2[r] = M[3 * r] * inv[1] + M[3 * r + 1] * inv[2];
        pose->t[r] = scale * M[3 * r + 2];
    }
    psfm_cross3(r1, r2, r3);
    for (int r = 0; r < 3; ++r) {
        pose->R[3 * r] = r1[r];
        pose->R[3 * r + 1] = r2[r];
        pose->R[3 * r + 2] = r3[r];
    }
}

void psfm_circular_split(const double v[6], double w[2], double z[2]) {
    w[0] = v[0] * v[0] - v[3] * v[3] + v[1] * v[1] - v[4] * v[4];
    w[1] = 2.0 * (v[0] * v[3] + v[1] * v[4]);
    z[0] = v[2] * v[2] - v[5] * v[5];
    z[1] = 2.0 * v[2] * v[5];
}

double psfm_clip_focal2(double focal2) {
    const double least = PSFM_MIN_FOCAL * PSFM_MIN_FOCAL, most = PSFM_MAX_FOCAL * PSFM_MAX_FOCAL;
    return focal2 > least ? fmin(focal2, most) : least;
}
