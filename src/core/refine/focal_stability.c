/* One adjustment with free focal lengths serves two: the check of given ones asks what they want to
 * be, the stability tests how far poses go with them. */
#include "core/refine/focal_stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/covariance.h"
#include "core/camera/camera_model.h"

#define STEPS 15       /* of an adjustment that starts at a solution */
#define TOLERANCE 1e-6 /* the weak modes of a chain cost little */
#define CONVERGED 0.3  /* how far poses move is asked for, not where they end */
#define CONVERGED_SHARE 0.02
#define FREE_SIGMA 100 /* of the logarithm of a focal length: none at all */

void psfm_free_focals_free(psfm_free_focals *focals) {
    psfm_bundle_copy_free(&focals->copy);
    psfm_bundle_stats_free(&focals->stats);
    *focals = (psfm_free_focals){0};
}

/* Frees the focal lengths that are fixed, and fixes the others; returns how many it freed. */
static size_t free_fixed_focals(const psfm_bundle_problem *problem,
                                const psfm_bundle_options *options, psfm_bundle_copy *copy) {
    size_t num = 0;
    for (size_t k = 0; k < problem->num_cameras; ++k) {
        bool is_fixed = !psfm_bundle_moves_camera(problem, options, k);
        num += is_fixed;
        copy->priors[k] =
            (psfm_camera_prior){.refine = is_fixed ? PSFM_REFINE_FOCAL : PSFM_REFINE_NONE,
                                .camera = copy->cameras[k],
                                .focal_sigma = FREE_SIGMA,
                                .two_focals = true};
    }
    copy->problem.camera_priors = copy->priors;
    return num;
}

psfm_status psfm_free_focals_make(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  const psfm_bundle_options *options, psfm_free_focals *out) {
    *out = (psfm_free_focals){.options = *options};
    out->options.refine = PSFM_REFINE_AUTO;
    out->options.tolerance = TOLERANCE;
    out->options.converged_share = CONVERGED_SHARE;
    out->options.converged = fmax(options->converged, CONVERGED);
    if (out->options.max_iterations > STEPS)
        out->options.max_iterations = STEPS;
    psfm_status status = psfm_bundle_copy_make(ctx, problem, PSFM_BUNDLE_ALL, &out->copy);
    if (status != PSFM_OK)
        return status;
    out->num_free = free_fixed_focals(problem, options, &out->copy);
    out->all = out->num_free == problem->num_cameras;
    if (out->num_free == 0)
        return PSFM_OK;
    return psfm_bundle_adjust(ctx, &out->copy.problem, &out->options, &out->stats);
}

/* ---- the check of given focal lengths ---- */

/* A wrong focal length rarely stops a reconstruction. It deforms the model, and the residuals hide
 * most of that. So once everything is adjusted, the focal lengths are freed, and what they do is
 * compared with how well the images determine them. */

#define MAX_SIGMAS 5.0   /* that a focal length may want to move */
#define MIN_CHANGE 0.005 /* less than that does not matter */

/* What the cameras want, against how surely. */
static void judge_focals(const psfm_bundle_problem *given, const psfm_camera *free_cameras,
                         double (*sigmas)[PSFM_CAMERA_MAX_PARAMS], psfm_intrinsics_check *out) {
    double worst = 0.0;
    for (size_t k = 0; k < given->num_cameras; ++k) {
        int focal = psfm_camera_model_get(given->cameras[k].model)->focal[0];
        double before = given->cameras[k].params[focal], after = free_cameras[k].params[focal];
        double sigma = sigmas[k][focal] / after, change = after / before - 1.0;
        if (!isfinite(sigma) || !(fabs(change) > fmax(MIN_CHANGE, MAX_SIGMAS * sigma)))
            continue;
        ++out->num_wrong;
        if (fabs(change) / sigma > worst) {
            worst = fabs(change) / sigma;
            out->worst = (uint32_t)k;
            out->change = change;
            out->sigma = sigma;
        }
    }
}

psfm_status psfm_check_intrinsics(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  const psfm_free_focals *focals, psfm_intrinsics_check *out) {
    double(*sigmas)[PSFM_CAMERA_MAX_PARAMS] = NULL;
    *out = (psfm_intrinsics_check){.num_checked = focals->num_free,
                                   .before_px = focals->stats.initial_mean_px,
                                   .after_px = focals->stats.mean_px};
    if (focals->num_free == 0)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, problem->num_cameras, &sigmas);
    if (status == PSFM_OK)
        status = psfm_camera_sigmas(ctx, &focals->copy.problem, &focals->options, sigmas);
    if (status == PSFM_OK)
        judge_focals(problem, focals->copy.cameras, sigmas, out);
    if (status == PSFM_OK && out->num_wrong > 0)
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "the focal length of %zu of %zu cameras wants to change: camera %u by %+.1f %% "
                 "(known to %.2f %%), error %.2f to %.2f px; try --refine focal",
                 out->num_wrong, out->num_checked, problem->cameras[out->worst].id,
                 100.0 * out->change, 100.0 * out->sigma, out->before_px, out->after_px);
    else if (status == PSFM_ERR_NUMERIC) /* not determined: nothing to complain about */
        status = PSFM_OK;
    free(sigmas);
    return status;
}

/* ---- priors of cameras ---- */

/* A focal length from planes comes with its standard deviation, and planes are surer than the
 * points on them: an adjustment that lets these leave their plane must not lose what is known. A
 * focal length that planes leave open stays as it is. A given one moves only if asked for, by what
 * the options allow. */

/* Standard deviation of the logarithm of a camera's focal length. */
static double focal_sigma(const psfm_match_set *set, size_t c, const psfm_bundle_options *options) {
    if (set->origins == NULL || set->origins[c].source == PSFM_FOCAL_GIVEN)
        return options->focal_sigma;
    return set->origins[c].sigma;
}

/* The coefficients of the distortion that are 0, as bits; *others says that there are more. */
static uint32_t find_zeros(const psfm_camera *camera, bool *others) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    uint32_t zeros = 0;
    *others = false;
    for (int k = 0; k < info->num_params; ++k) {
        if (k == info->focal[0] || k == info->focal[1] || k == info->center[0] ||
            k == info->center[1])
            continue;
        zeros |= (uint32_t)(camera->params[k] == 0.0) << k;
        *others = *others || camera->params[k] != 0.0;
    }
    return zeros;
}

/* What of a camera moves if the options leave it to its origin. A distortion that the matches of
 * planes do not ask for waits for the refinement to ask for it (lens_selection.h), unless a model
 * was named. */
static void refine_by_origin(const psfm_match_set *set, size_t c, psfm_camera_prior *prior) {
    const psfm_camera_origin *origin = set->origins == NULL ? NULL : &set->origins[c];
    bool distorts;
    prior->refine = PSFM_REFINE_NONE;
    if (origin == NULL || origin->source == PSFM_FOCAL_GIVEN || origin->is_open)
        return;
    prior->fixed = find_zeros(&set->cameras[c], &distorts);
    if (origin->keeps_model)
        prior->fixed = 0;
    prior->refine =
        distorts || origin->keeps_model ? PSFM_REFINE_FOCAL_DISTORTION : PSFM_REFINE_FOCAL;
}

psfm_status psfm_camera_priors_make(psfm_context *ctx, const psfm_match_set *set,
                                    const psfm_bundle_options *options, psfm_camera_prior **out) {
    psfm_status status = PSFM_ALLOC(ctx, set->num_cameras, out);
    for (size_t c = 0; status == PSFM_OK && c < set->num_cameras; ++c) {
        (*out)[c] = (psfm_camera_prior){.refine = (psfm_bundle_refine)options->refine,
                                        .camera = set->cameras[c],
                                        .focal_sigma = focal_sigma(set, c, options),
                                        .distortion_sigma = options->distortion_sigma,
                                        .center_sigma = options->center_sigma};
        if (options->refine == PSFM_REFINE_AUTO)
            refine_by_origin(set, c, &(*out)[c]);
    }
    return status;
}

psfm_status psfm_take_cameras(psfm_context *ctx, const psfm_camera *cameras, psfm_match_set *set) {
    bool moved = false;
    for (size_t c = 0; c < set->num_cameras; ++c) {
        const psfm_camera *from = &set->cameras[c];
        moved = moved || from->model != cameras[c].model;
        for (size_t k = 0; k < sizeof from->params / sizeof *from->params; ++k)
            moved = moved || from->params[k] != cameras[c].params[k];
    }
    if (!moved)
        return PSFM_OK;
    memcpy(set->cameras, cameras, set->num_cameras * sizeof *cameras);
    return psfm_match_set_compute_rays(ctx, set, NULL);
}
