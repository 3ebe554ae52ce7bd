/* Bundle adjustment by Levenberg and Marquardt.
 *
 * Minimises half the sum of rho(|r|^2) over all observations (and, with soft planes, over the
 * distances of points from their planes). Each step solves the damped normal equations
 * (H + lambda diag H) d = -g; lambda follows the ratio of the true to the predicted decrease.
 *
 * H is that of the weighted squares, which lie above a robust loss: near the end steps are too
 * short, by a factor that the last step shows, and are stretched by it.
 *
 *   bundle_check.c      what is refused
 *   bundle_setup.c      what takes part, gauge
 *   bundle_pattern.c    blocks of the reduced system
 *   bundle_solver.c     how it is solved; bundle_cg.c without forming it
 *   bundle_linearize.c  residuals and derivatives
 *   bundle_intrinsics.c which intrinsics move, and their priors
 *   bundle_schur.c      elimination of the points; bundle_rows.c and bundle_elimination.c of one
 *   bundle_step.c       the step and the cost after it
 *   bundle_tree.c       the step along a tree of images, where a long chain is curved
 *   bundle_planes.c     weights of soft planes
 *   bundle_errors.c     reprojection errors
 *
 * Sources: B. Triggs, P. McLauchlan, R. Hartley, A. Fitzgibbon, "Bundle adjustment - a modern
 * synthesis" (1999); H. B. Nielsen, "Damping parameter in Marquardt's method" (1999). */
#include "core/bundle/bundle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/bundle_internal.h"
#include "core/linalg/mat3.h"

static const char *const plane_choices[] = {"free", "soft", "hard", NULL};
static const char *const refine_choices[] = {
    "auto", "none", "focal", "focal,distortion", "focal,distortion,principal", NULL};
static const char *const solver_choices[] = {"auto", "direct", "iterative", NULL};

static const psfm_option option_rows[] = {
    PSFM_OPTION_CHOICE(psfm_bundle_options, planes, "planes", PSFM_PLANES_SOFT, plane_choices,
                       "points of a plane: ignore it, pull them to it, or keep them in it"),
    PSFM_OPTION_CHOICE(psfm_bundle_options, refine, "refine", PSFM_REFINE_AUTO, refine_choices,
                       "intrinsics to refine, shared by the images of a camera; auto: focal length "
                       "and distortion of uncalibrated cameras"),
    PSFM_OPTION_BOOL(psfm_bundle_options, two_focals, "two-focals", 0,
                     "refine the two focal lengths of a camera model that has two apart"),
    PSFM_OPTION_DOUBLE(psfm_bundle_options, focal_sigma, "focal-sigma", 0.2, 1e-9, 100.0,
                       "how far a given focal length may be off if it is refined: standard "
                       "deviation of its logarithm"),
    PSFM_OPTION_CHOICE(
        psfm_bundle_options, solver, "solver", PSFM_BUNDLE_AUTO, solver_choices,
        "the normal equations of the poses: a sparse factor, conjugate gradients, or "
        "as is cheaper"),
};
/* What no user has a reason to change. Results hardly depend on what stops it, on the damping, the
 * scale of the loss and the number of observations ("Constants that were options" in
 * docs/measurements.md). */
static const psfm_bundle_options unlisted = {
    .loss = PSFM_LOSS_CAUCHY, /* of the family that the last round fits to the residuals */
    .loss_scale_px = 2.0,     /* two standard deviations of keypoints with noise of a pixel */
    .distortion_sigma = 0.1,  /* as large as coefficients of common lenses are */
    .center_sigma = 0.02,     /* principal points are within a few per cent of the middle */
    .max_iterations = 100,    /* several times what it takes; valleys of long chains take most */
    .tolerance = 1e-6,       /* a thousandth of what chance is to the cost of a million residuals */
    .converged = 0.1,        /* a tenth of what noise does to them is no change */
    .min_observations = 4,   /* three points determine a pose, the fourth confirms it */
    .initial_damping = 1e-6, /* starts are good: nearly Gauss and Newton's step */
};
const psfm_option_table psfm_bundle_option_table =
    PSFM_OPTION_TABLE_FROM("bundle", option_rows, unlisted);

#define SIGMA_ROUNDS 2       /* of estimating how flat planes are */
#define POINT_STEPS 3        /* when that has changed */
#define ROUGH_TOLERANCE 1e-4 /* before the last of them */
#define ROUGH_CONVERGED 3.0
#define MIN_LAMBDA 1e-12
#define MAX_LAMBDA 1e12
#define LESS_DAMPING 0.1 /* at most, after a step that did what was predicted */
#define LIGHT_DAMPING                                                                          \
    1e-8                /* at most, for the length of a step to say how far it is from the end \
                         */
#define NEAR 0.01       /* share of the cost: steps that lower it by less may be stretched */
#define MAX_STRETCH 1.6 /* beyond 2 a quadratic cost diverges */
/* Half squared residual per observation, in pixels, below which only rounding is left. */
#define ROUNDING_COST 1e-22

const char *psfm_bundle_stop_name(psfm_bundle_stop stop) {
    switch (stop) {
    case PSFM_BUNDLE_CONVERGED:
        return "converged";
    case PSFM_BUNDLE_MAX_ITERATIONS:
        return "max_iterations";
    case PSFM_BUNDLE_STALLED:
        return "stalled";
    case PSFM_BUNDLE_EMPTY:
        return "empty";
    }
    return "unknown";
}

void psfm_bundle_stats_free(psfm_bundle_stats *stats) {
    free(stats->images);
    *stats = (psfm_bundle_stats){0};
}

#define FEW_OBSERVATIONS 4000 /* linearised in less time than it takes to start threads */

psfm_status psfm_bundle_for(psfm_context *ctx, const psfm_bundle *b, size_t n, psfm_task_fn task,
                            void *user) {
    psfm_status status = PSFM_OK;
    if (b->num_obs > FEW_OBSERVATIONS)
        return psfm_parallel_for(ctx, NULL, n, task, user);
    for (size_t k = 0; status == PSFM_OK && k < n; ++k)
        status = task(ctx, k, 0, user);
    return status;
}

static bool has_one_residual(const psfm_bundle *b, uint32_t o) {
    return b->problem->obs_sqrt_info != NULL &&
           b->problem->obs_sqrt_info[b->obs_source[o]][2] == 0.0;
}

long long psfm_bundle_redundancy(const psfm_bundle *b) {
    long long unknowns = b->pattern.scalar_begin[b->pattern.num_blocks];
    long long residuals = 0;
    for (uint32_t o = 0; o < b->num_obs; ++o)
        residuals += has_one_residual(b, o) ? 1 : 2;
    for (size_t c = 0; c < b->problem->num_cameras; ++c)
        residuals += b->num_free_params[c]; /* each has a prior, as the shape has */
    for (size_t i = 0; i < b->problem->num_images; ++i)
        unknowns -= b->scale_anchor[i] != PSFM_BUNDLE_NONE;
    for (uint32_t p = 0; p < b->num_points; ++p) {
        bool on_plane = b->point_plane[p] != PSFM_BUNDLE_NONE;
        int freedom = on_plane && b->options.planes == PSFM_PLANES_HARD ? 2 : 3;
        unknowns += b->point_fixed[p] ? 0 : freedom;
        residuals += on_plane && b->options.planes == PSFM_PLANES_SOFT;
    }
    return residuals - unknowns;
}

static void accept_trial(psfm_bundle *b) {
    psfm_bundle_values swap = b->now;
    b->now = b->trial;
    b->trial = swap;
    /* Images, cameras and planes that do not move are equal in both. */
}

/* The damping and stretching of the steps. */
typedef struct {
    double lambda, growth, stretch;
} step_control;

/* Eliminates, solves and evaluates one step. A system that is not positive definite is a step that
 * failed, not an error. */
static psfm_status attempt_step(psfm_context *ctx, psfm_bundle *b, double cost,
                                const step_control *control, psfm_bundle_trial *trial) {
    double lambda = control->lambda;
    *trial = (psfm_bundle_trial){.cost = INFINITY, .predicted = INFINITY};
    psfm_status status = psfm_bundle_reduce(ctx, b, lambda);
    if (status == PSFM_ERR_NUMERIC)
        return PSFM_OK;
    if (status == PSFM_OK && b->border != NULL)
        status = psfm_bundle_reduce_shape(ctx, b, lambda);
    return status == PSFM_OK ? psfm_bundle_try_step(ctx, b, cost, control->stretch, trial) : status;
}

/* When to stop: see psfm_bundle_options. */
typedef struct {
    double tolerance, converged, converged_share;
    double light; /* with more damping a step may hide that it is not there yet */
} stop_rule;

/* Damping that leaves the weakest mode of a chain of all images alone. It turns them by up to a,
 * the next by 2 pi a / n beyond the last, which moves centres by a times their distance L from the
 * datum: with points at a distance z, observations hold it with a share 1 / n^2 of their diagonal,
 * and damping with lambda (1 + L^2 / z^2). */
static double light_damping(const psfm_bundle *b) {
    double squares = 0.0, depths = 0.0, n = (double)b->num_pose_blocks + 1.0;
    const uint32_t *first = b->image_begin;
    uint32_t datum = 0;
    for (uint32_t i = 0; i < b->problem->num_images; ++i)
        datum = first[i + 1] - first[i] > first[datum + 1] - first[datum] ? i : datum;
    for (uint32_t k = 0; k < b->num_pose_blocks; ++k) {
        uint32_t i = b->block_source[k], middle = (first[i] + first[i + 1]) / 2;
        double D[3], ray[3];
        psfm_sub3(b->now.c[i], b->now.c[datum], D);
        psfm_sub3(b->now.X[b->obs_point[b->image_obs[middle]]], b->now.c[i], ray);
        squares += psfm_dot3(D, D);
        depths += psfm_dot3(ray, ray);
    }
    return fmax(1.0 / (n * n * (1.0 + (depths > 0.0 ? squares / depths : 0.0))), MIN_LAMBDA);
}

/* The last step, and where it leads to. */
typedef struct {
    double cost, lambda; /* before it */
    double variance;     /* of a residual */
    double travelled;    /* length of all steps so far, in the metric of `moved` */
} step_facts;

/* Along a step d the cost falls by g (2 s - k s^2) at s d, and the weighted squares by
 * g (2 s - s^2): where the cost has its minimum, as far as the last step tells. */
static double next_stretch(double stretch, double decrease, double predicted) {
    double g = predicted / (2.0 * stretch - stretch * stretch);
    double k = (2.0 * stretch - decrease / g) / (stretch * stretch);
    return k * MAX_STRETCH < 1.0 ? MAX_STRETCH : fmax(1.0 / k, 1.0);
}

static void after_success(const psfm_bundle_trial *trial, double cost, step_control *c) {
    double decrease = cost - trial->cost, f = 2.0 * decrease / trial->predicted - 1.0;
    c->lambda = fmax(c->lambda * fmax(LESS_DAMPING, 1.0 - f * f * f), MIN_LAMBDA);
    c->growth = 2.0;
    c->stretch =
        decrease < NEAR * cost ? next_stretch(c->stretch, decrease, trial->predicted) : 1.0;
}

static void after_failure(step_control *c) {
    c->lambda *= c->growth;
    c->growth *= 2.0;
    c->stretch = 1.0;
}

/* Whether a step did so little that none need follow. A share of the cost of millions of
 * observations is many standard deviations of the weakest mode: a rule that asks for fewer than one
 * goes on until the cost falls by less than what one of them counts. */
static bool is_last(const psfm_bundle_trial *trial, const step_facts *step, const stop_rule *rule) {
    double decrease = step->cost - trial->cost, tiny = rule->tolerance * step->cost;
    if (rule->converged < 1.0)
        tiny = fmin(tiny, 0.5 * step->variance);
    if (trial->predicted <= tiny || decrease <= 0.0)
        return trial->predicted <= tiny;
    double little =
        fmax(rule->converged * sqrt(step->variance), rule->converged_share * step->travelled);
    return decrease <= tiny || (step->lambda <= LIGHT_DAMPING && trial->moved <= little * little);
}

/* Lowers the cost from the current values on, with the steps of `stats` counted on. The damping
 * starts at *lambda, which becomes what the next one may start at: what is left is light. */
static psfm_status iterate_steps(psfm_context *ctx, psfm_bundle *b, const stop_rule *rule,
                                 double *lambda, psfm_bundle_stats *stats) {
    step_control control = {*lambda, 2.0, 1.0};
    double cost, travelled = 0.0, redundancy = (double)psfm_bundle_redundancy(b);
    int end = stats->iterations + b->options.max_iterations;
    psfm_status status = psfm_bundle_linearize(ctx, b, &cost);
    stats->initial_cost = stats->final_cost = cost;
    stats->stop = PSFM_BUNDLE_MAX_ITERATIONS;
    while (status == PSFM_OK && stats->iterations < end) {
        if (cost <= ROUNDING_COST * b->num_obs) {
            stats->stop = PSFM_BUNDLE_CONVERGED;
            break;
        }
        psfm_bundle_trial trial;
        if ((status = psfm_progress(ctx, "bundle", (size_t)stats->iterations, (size_t)end)) !=
                PSFM_OK ||
            (status = attempt_step(ctx, b, cost, &control, &trial)) != PSFM_OK)
            break;
        ++stats->iterations;
        travelled += sqrt(fmax(trial.moved, 0.0));
        double variance = redundancy > 0.0 ? 2.0 * cost / redundancy : 0.0;
        bool last = is_last(&trial, &(step_facts){cost, control.lambda, variance, travelled}, rule);
        bool lower = trial.cost < cost, light = control.lambda <= rule->light;
        if (lower) {
            after_success(&trial, cost, &control);
            accept_trial(b);
            ++stats->accepted;
            stats->final_cost = cost = trial.cost;
        } else {
            after_failure(&control);
        }
        if ((last && (light || !lower)) || control.lambda > MAX_LAMBDA) {
            stats->stop = last ? PSFM_BUNDLE_CONVERGED : PSFM_BUNDLE_STALLED;
            break;
        }
        if (lower)
            status = psfm_bundle_linearize(ctx, b, &cost);
    }
    *lambda = fmin(fmax(control.lambda, fmin(LIGHT_DAMPING, rule->light)), *lambda);
    return status;
}

/* Points alone, as far as that lowers the cost much. */
static psfm_status converge_points(psfm_context *ctx, psfm_bundle *b) {
    for (int k = 0; k < POINT_STEPS; ++k) {
        psfm_bundle_trial trial;
        double cost;
        psfm_status status = psfm_bundle_linearize(ctx, b, &cost);
        if (status == PSFM_OK)
            status = psfm_bundle_try_points(ctx, b, &trial);
        if (status != PSFM_OK || !(trial.cost < cost))
            return status;
        accept_trial(b);
        if (cost - trial.cost < NEAR * cost)
            break;
    }
    return PSFM_OK;
}

/* Sigma of the planes from where their points are now. The points then follow: a plane that became
 * stiffer is far from where it pulls them, and poses would move for that in steps too large for
 * them. */
static psfm_status estimate_sigma(psfm_context *ctx, psfm_bundle *b, double most_px) {
    double cost;
    psfm_status status = psfm_bundle_linearize(ctx, b, &cost);
    if (status == PSFM_OK)
        status = psfm_bundle_estimate_sigma(ctx, b, most_px);
    return status == PSFM_OK ? converge_points(ctx, b) : status;
}

/* Adjusts; with soft planes of unknown sigma first roughly, to estimate it. Cameras are fixed while
 * planes are loose: over flat ground a shorter focal length with lower cameras brings points nearer
 * to their plane, and a plane that lets them leave it would be paid for that. */
static psfm_status adjust_bundle(psfm_context *ctx, psfm_bundle *b, psfm_bundle_stats *stats) {
    stop_rule last = {b->options.tolerance, b->options.converged, b->options.converged_share,
                      light_damping(b)};
    stop_rule rough = {fmax(last.tolerance, ROUGH_TOLERANCE), fmax(last.converged, ROUGH_CONVERGED),
                       0.0, INFINITY};
    psfm_status status = PSFM_OK;
    double lambda = b->options.initial_damping;
    b->holds_cameras = b->estimates_sigma;
    if (b->estimates_sigma)
        status = estimate_sigma(ctx, b, PSFM_BUNDLE_START_SIGMA_PX);
    for (int round = 0; status == PSFM_OK && b->estimates_sigma && round < SIGMA_ROUNDS; ++round)
        if ((status = iterate_steps(ctx, b, &rough, &lambda, stats)) == PSFM_OK)
            status = estimate_sigma(ctx, b, INFINITY);
    b->holds_cameras = false;
    return status == PSFM_OK ? iterate_steps(ctx, b, &last, &lambda, stats) : status;
}

static void write_back(const psfm_bundle *b) {
    const psfm_bundle_problem *p = b->problem;
    for (uint32_t k = 0; k < b->num_pose_blocks; ++k) {
        uint32_t i = b->block_source[k];
        /* Products of many rotations drift off SO(3) by rounding. */
        if (!psfm_mat3_nearest_rotation(b->now.R[i], p->cam_from_world[i]))
            memcpy(p->cam_from_world[i], b->now.R[i], sizeof b->now.R[i]);
        memcpy(p->centers[i], b->now.c[i], sizeof b->now.c[i]);
    }
    for (uint32_t k = 0; k < b->num_points; ++k)
        memcpy(p->points[b->point_source[k]], b->now.X[k], sizeof b->now.X[k]);
    for (size_t c = 0; c < p->num_cameras; ++c)
        if (b->camera_block[c] != PSFM_BUNDLE_NONE)
            p->cameras[c] = b->now.cameras[c];
    for (size_t k = 0; k < p->num_planes; ++k)
        if (b->plane_block[k] != PSFM_BUNDLE_NONE)
            p->planes[k] = b->now.planes[k];
    for (int d = 0; d < 2 && p->shape != NULL; ++d)
        p->shape->value[d] = b->now.shape[d];
}

static void count_unknowns(const psfm_bundle *b, psfm_bundle_stats *stats) {
    stats->num_observations = b->num_obs;
    stats->num_parameters = b->pattern.scalar_begin[b->pattern.num_blocks];
    for (size_t i = 0; i < b->problem->num_images; ++i)
        stats->num_parameters -= b->scale_anchor[i] != PSFM_BUNDLE_NONE;
    stats->num_points = b->num_points;
    stats->num_points_left_out = b->problem->num_points - b->num_points;
    stats->num_planes = b->num_plane_blocks;
    stats->factor_entries = b->spd == NULL ? 0 : psfm_block_spd_fill(b->spd);
    stats->inner_steps = b->cg == NULL ? 0 : psfm_bundle_cg_num_steps(b->cg);
}

psfm_status psfm_bundle_adjust(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_bundle_options *options, psfm_bundle_stats *stats) {
    psfm_bundle b;
    psfm_bundle_stats found = {.stop = PSFM_BUNDLE_EMPTY};
    psfm_status status = psfm_bundle_setup(ctx, problem, options, &b);
    if (status != PSFM_OK)
        return status;
    if ((status = PSFM_ALLOC(ctx, problem->num_images, &found.images)) != PSFM_OK ||
        (status = psfm_bundle_measure(ctx, &b, &found)) != PSFM_OK)
        goto cleanup;
    found.initial_mean_px = found.mean_px;
    if (b.num_obs > 0 && (status = adjust_bundle(ctx, &b, &found)) != PSFM_OK)
        goto cleanup;
    if ((status = psfm_bundle_measure(ctx, &b, &found)) != PSFM_OK)
        goto cleanup;
    write_back(&b);
    if (stats == NULL)
        goto cleanup;
    count_unknowns(&b, &found);
    *stats = found;
    found.images = NULL;

cleanup:
    free(found.images);
    psfm_bundle_teardown(&b);
    return status;
}
