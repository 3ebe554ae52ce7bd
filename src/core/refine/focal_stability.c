/* One adjustment with free intrinsics serves two: the check of given focal lengths asks what they
 * want to be, the stability tests how far poses go with all of them. Principal points have a prior,
 * since a few points over flat ground would take them anywhere. */
#include "core/refine/focal_stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/covariance.h"
#include "core/camera/camera_convert.h"
#include "core/camera/camera_model.h"
#include "core/refine/intrinsics_prior.h"

#define STEPS 30       /* of an adjustment that starts at a solution */
#define TOLERANCE 1e-6 /* the weak modes of a chain cost little */
#define CONVERGED 0.3  /* how far poses move is asked for, not where they end */
#define CONVERGED_SHARE 0.02
#define FREE_SIGMA 100    /* of the logarithm of a focal length: none at all */
#define CENTER_SIGMA 0.01 /* of the longer side: real cameras, twice (intrinsics_prior.c) */

void psfm_free_intrinsics_free(psfm_free_intrinsics *focals) {
    psfm_bundle_copy_free(&focals->copy);
    psfm_bundle_stats_free(&focals->stats);
    free(focals->is_given);
    *focals = (psfm_free_intrinsics){0};
}

/* Focal lengths apart, and the principal point; the distortion stays. Returns how many of them were
 * fixed. */
static size_t free_camera(bool was_given, psfm_camera *camera, psfm_camera_prior *prior) {
    const psfm_camera_model_info *info;
    *camera = psfm_camera_convert(camera, psfm_large_model(camera->model));
    *prior = (psfm_camera_prior){.refine = PSFM_REFINE_ALL,
                                 .camera = *camera,
                                 .focal_sigma = FREE_SIGMA,
                                 .center_sigma = CENTER_SIGMA,
                                 .two_focals = true};
    info = psfm_camera_model_get(camera->model);
    for (int k = 0; k < info->num_params; ++k)
        if (k != info->focal[0] && k != info->focal[1] && k != info->center[0] &&
            k != info->center[1])
            prior->fixed |= 1u << k;
    return was_given ? 4 : 3;
}

static psfm_status free_cameras(psfm_context *ctx, const psfm_bundle_problem *problem,
                                const psfm_bundle_options *options, psfm_free_intrinsics *out) {
    psfm_status status = PSFM_ALLOC(ctx, problem->num_cameras, &out->is_given);
    for (size_t k = 0; status == PSFM_OK && k < problem->num_cameras; ++k) {
        out->is_given[k] = !psfm_bundle_moves_camera(problem, options, k);
        out->num_given += out->is_given[k];
        out->num_freed +=
            free_camera(out->is_given[k], &out->copy.cameras[k], &out->copy.priors[k]);
    }
    out->copy.problem.camera_priors = out->copy.priors;
    return status;
}

psfm_status psfm_free_intrinsics_make(psfm_context *ctx, const psfm_bundle_problem *problem,
                                      const psfm_bundle_options *options,
                                      psfm_free_intrinsics *out) {
    *out = (psfm_free_intrinsics){.options = *options};
    out->options.refine = PSFM_REFINE_AUTO;
    out->options.tolerance = TOLERANCE;
    out->options.converged_share = CONVERGED_SHARE;
    out->options.converged = fmax(options->converged, CONVERGED);
    if (out->options.max_iterations > STEPS)
        out->options.max_iterations = STEPS;
    psfm_status status = psfm_bundle_copy_make(ctx, problem, PSFM_BUNDLE_ALL, &out->copy);
    if (status == PSFM_OK)
        status = free_cameras(ctx, problem, options, out);
    return status == PSFM_OK
               ? psfm_bundle_adjust(ctx, &out->copy.problem, &out->options, &out->stats)
               : status;
}

/* ---- the check of given focal lengths ---- */

/* A wrong focal length rarely stops a reconstruction. It deforms the model, and the residuals hide
 * most of that. So once everything is adjusted, the focal lengths are freed, and what they do is
 * compared with how well the images determine them. */

#define MAX_SIGMAS 5.0   /* that a focal length may want to move */
#define MIN_CHANGE 0.005 /* less than that does not matter */

/* What the cameras want, against how surely. */
static void judge_focals(const psfm_bundle_problem *given, const psfm_free_intrinsics *freed,
                         double (*sigmas)[PSFM_CAMERA_MAX_PARAMS], psfm_intrinsics_check *out) {
    double worst = 0.0;
    for (size_t k = 0; k < given->num_cameras; ++k) {
        int focal = psfm_camera_model_get(given->cameras[k].model)->focal[0];
        double before = given->cameras[k].params[focal],
               after = freed->copy.cameras[k].params[focal];
        double sigma = sigmas[k][focal] / after, change = after / before - 1.0;
        if (!freed->is_given[k] || !isfinite(sigma) ||
            !(fabs(change) > fmax(MIN_CHANGE, MAX_SIGMAS * sigma)))
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
                                  const psfm_free_intrinsics *focals, psfm_intrinsics_check *out) {
    double(*sigmas)[PSFM_CAMERA_MAX_PARAMS] = NULL;
    *out = (psfm_intrinsics_check){.num_checked = focals->num_given,
                                   .before_px = focals->stats.initial_mean_px,
                                   .after_px = focals->stats.mean_px};
    if (focals->num_given == 0)
        return PSFM_OK;
    psfm_status status = PSFM_ALLOC(ctx, problem->num_cameras, &sigmas);
    if (status == PSFM_OK)
        status = psfm_camera_sigmas(ctx, &focals->copy.problem, &focals->options, sigmas);
    if (status == PSFM_OK)
        judge_focals(problem, focals, sigmas, out);
    if (status == PSFM_OK && out->num_wrong > 0)
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "the focal length of %zu of %zu cameras wants to change: camera %u by %+.1f %% "
                 "(known to %.2f %%), error %.2f to %.2f px",
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
        /* beta says nothing while alpha is 0 */
        int means = k == info->unified[1] ? info->unified[0] : k;
        zeros |= (uint32_t)(camera->params[means] == 0.0) << k;
        *others = *others || camera->params[means] != 0.0;
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
