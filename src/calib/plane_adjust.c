/* Levenberg and Marquardt on homographies.
 *
 * A view i of a plane maps it by G_i = K_i [r1 r2 t], so a pair has H = G_j G_i^-1. Residuals and
 * derivatives are in plane_normal.c, the pattern of the equations in plane_pattern.c.
 *
 * Homographies do not tell where on the plane its origin is, nor its axes and scale: these four
 * directions are held by a little damping, and the focal lengths do not depend on them.
 *
 * The scale of the loss follows the residuals, first loosely, then tightly: a start is rough, and
 * homographies that are no plane, or of another one, must not count in the end.
 *
 * Principal points are held. What they may be off is in the standard deviations, plane_sigma.c. */
#include "calib/plane_adjust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "calib/plane_adjust_internal.h"
#include "linalg/mat3.h"
#include "linalg/order.h"

#define LOSS_SCALE 3.0  /* least chi at which the loss bends */
#define LOOSE 2.0       /* medians at which it bends while the start is rough */
#define TIGHT 1.2       /* and afterwards */
#define LOOSE_SHARE 0.6 /* of the iterations */
#define GOOD_CHI 8.0    /* of an edge that fits */
#define MAX_TRIALS 12
#define MAX_TURN 0.3  /* of a step, radians */
#define MAX_SHIFT 0.5 /* of a step, relative */
#define MAX_LOG 0.3   /* of a step in a focal length */
#define MAX_BEND 0.05 /* of a step in a radial distortion */

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
    [PSFM_PLANE_SETTLED] = {30, 1e-6, 0.0, 1e-5},
};

static double median_chi(const psfm_plane_adjustment *a) {
    memcpy(a->scratch, a->now.chi, a->p->num_edges * sizeof *a->scratch);
    return psfm_median(a->scratch, a->p->num_edges);
}

static double total_cost(const psfm_plane_problem *p, const psfm_plane_state *s, double scale) {
    double cost = 0.0;
    for (size_t e = 0; e < p->num_edges; ++e)
        cost += scale * scale * log1p(s->chi[e] * s->chi[e] / (scale * scale));
    for (size_t g = 0; g < p->num_groups; ++g) {
        double off = (s->log_focal[g] - p->prior_log_focal[g]) / p->prior_sigma[g];
        cost += off * off;
        if (p->bend != NULL && p->prior_bend_sigma[g] > 0.0) {
            off = (s->bend[g] - p->prior_bend[g]) / p->prior_bend_sigma[g];
            cost += off * off;
        }
    }
    return cost;
}

static double limited(double x, double most) {
    return fmin(fmax(x, -most), most);
}

static void move(psfm_plane_adjustment *a) {
    const psfm_plane_problem *p = a->p;
    for (size_t g = 0; g < p->num_groups; ++g) {
        const double *step = a->eq.step + a->eq.pattern.scalar_begin[g];
        a->trial.log_focal[g] =
            fmin(fmax(a->now.log_focal[g] + limited(step[0], MAX_LOG), log(0.7 * PSFM_MIN_FOCAL)),
                 log(1.5 * PSFM_MAX_FOCAL));
        if (p->bend != NULL)
            a->trial.bend[g] = a->now.bend[g] + limited(step[PSFM_LENS_BEND], MAX_BEND);
    }
    for (size_t k = 0; k < p->num_sights; ++k) {
        const double *step = a->eq.step + a->eq.pattern.scalar_begin[p->num_groups + k];
        const psfm_plane_sight *from = &a->now.sights[k];
        psfm_plane_sight *to = &a->trial.sights[k];
        double w[3] = {step[0], step[1], step[2]}, E[9], length = psfm_norm3(from->t);
        psfm_scale3(fmin(1.0, MAX_TURN / fmax(psfm_norm3(w), 1e-300)), w, w);
        psfm_rotation_exp(w, E);
        to->group = from->group;
        to->plane = from->plane;
        psfm_mat3_mul(E, from->R, to->R);
        psfm_mat3_mul_vec(E, from->t, to->t);
        for (int i = 0; i < 3; ++i)
            to->t[i] += length * limited(step[3 + i], MAX_SHIFT);
    }
}

/* Tries steps of growing damping until one lowers the cost; *cost is then the new one. */
static psfm_status lower(psfm_context *ctx, psfm_plane_adjustment *a, double scale, double *damping,
                         double *cost, bool *lowered) {
    *lowered = false;
    for (int k = 0; k < MAX_TRIALS && !*lowered; ++k) {
        psfm_status status = psfm_plane_factor(ctx, a, *damping);
        if (status == PSFM_OK)
            status = psfm_block_spd_solve(ctx, a->eq.spd, a->eq.rhs, a->eq.step);
        if (status != PSFM_OK && status != PSFM_ERR_NUMERIC)
            return status;
        if (status == PSFM_OK) {
            move(a);
            if (psfm_plane_evaluate(a, &a->trial)) {
                double trial = total_cost(a->p, &a->trial, scale);
                *lowered = trial < *cost;
                *cost = *lowered ? trial : *cost;
            }
        }
        *damping = *lowered ? fmax(*damping / 5.0, 1e-9) : 6.0 * *damping;
    }
    return PSFM_OK;
}

static psfm_status iterate(psfm_context *ctx, psfm_plane_adjustment *a, psfm_plane_stage stage) {
    const schedule *plan = &schedules[stage];
    double damping = plan->damping;
    int loose = plan->loose_tolerance > 0.0 ? (int)(LOOSE_SHARE * plan->max_iterations) : 0;
    for (int k = 0; k < plan->max_iterations; ++k) {
        bool is_loose = k < loose, lowered;
        double scale = fmax(LOSS_SCALE, (is_loose ? LOOSE : TIGHT) * median_chi(a));
        double before = total_cost(a->p, &a->now, scale), after = before;
        psfm_plane_linearize(a, scale, 1.0);
        psfm_status status = lower(ctx, a, scale, &damping, &after, &lowered);
        if (status != PSFM_OK)
            return status;
        if (lowered) {
            psfm_plane_state swap = a->now;
            a->now = a->trial;
            a->trial = swap;
        }
        if (before - after <= (is_loose ? plan->loose_tolerance : plan->tolerance) * before) {
            if (!is_loose)
                break;
            k = loose - 1; /* settled under the loose loss: go on with the tight one */
            damping = fmin(damping, 1.0);
        }
    }
    return PSFM_OK;
}

/* Measures the noise of the planes, and weighs the residuals by it. */
static psfm_status weigh_planes(psfm_context *ctx, psfm_plane_adjustment *a) {
    psfm_status status = psfm_plane_measure_noise(ctx, a);
    if (status == PSFM_OK)
        psfm_plane_evaluate(a, &a->now); /* as it could be before */
    return status;
}

/* Once more with each plane weighed by its noise, and the standard deviations. */
static psfm_status finish(psfm_context *ctx, psfm_plane_adjustment *a, double *sigma,
                          double *bend_sigma) {
    psfm_status status = weigh_planes(ctx, a);
    if (status == PSFM_OK)
        status = iterate(ctx, a, PSFM_PLANE_SETTLED);
    if (status == PSFM_OK)
        status = weigh_planes(ctx, a);
    double scale = fmax(LOSS_SCALE, TIGHT * median_chi(a));
    return status == PSFM_OK ? psfm_plane_find_sigma(ctx, a, scale, sigma, bend_sigma) : status;
}

static void describe(psfm_plane_adjustment *a, psfm_plane_fit *fit) {
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
    if ((status = PSFM_ALLOC(ctx, p->num_sights, &s->sights)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_groups, &s->log_focal)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_groups, &s->bend)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_sights, &s->G)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_sights, &s->G_inverse)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_edges, &s->chi)) != PSFM_OK)
        return status;
    memcpy(s->sights, p->sights, p->num_sights * sizeof *s->sights);
    memcpy(s->log_focal, p->log_focal, p->num_groups * sizeof *s->log_focal);
    if (p->bend != NULL)
        memcpy(s->bend, p->bend, p->num_groups * sizeof *s->bend);
    return PSFM_OK;
}

static void free_state(psfm_plane_state *s) {
    free(s->sights);
    free(s->log_focal);
    free(s->bend);
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
        describe(&a, fit);
    take_down(&a);
    return status;
}

psfm_status psfm_plane_adjust(psfm_context *ctx, const psfm_plane_problem *problem,
                              psfm_plane_stage stage, double *sigma, double *bend_sigma,
                              psfm_plane_fit *fit) {
    psfm_plane_adjustment a = {.p = problem};
    psfm_status status = set_up(ctx, &a);
    if (status == PSFM_OK)
        status = psfm_plane_equations_init(ctx, problem, &a.eq);
    if (status == PSFM_OK && stage != PSFM_PLANE_SETTLED)
        status = iterate(ctx, &a, stage);
    if (status == PSFM_OK && sigma != NULL)
        status = finish(ctx, &a, sigma, bend_sigma);
    if (status == PSFM_OK) {
        describe(&a, fit);
        memcpy(problem->sights, a.now.sights, problem->num_sights * sizeof *problem->sights);
        memcpy(problem->log_focal, a.now.log_focal,
               problem->num_groups * sizeof *problem->log_focal);
        if (problem->bend != NULL)
            memcpy(problem->bend, a.now.bend, problem->num_groups * sizeof *problem->bend);
    }
    take_down(&a);
    return status;
}
