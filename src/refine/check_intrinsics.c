/* A wrong focal length rarely stops a reconstruction. It bends it, and the residuals hide most of
 * that. So once everything is adjusted, the focal lengths are let go for a few steps, and what they
 * do is compared with how well the images determine them. */
#include "refine/check_intrinsics.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "camera/camera_model.h"
#include "pose/covariance.h"
#include "refine/bundle_copy.h"

#define STEPS 5
#define FREE_SIGMA 0.2   /* of the prior: hardly any */
#define MAX_SIGMAS 5.0   /* that a focal length may want to move */
#define MIN_CHANGE 0.005 /* less than that is nobody's concern */

/* Lets the focal lengths go that are held, and holds the others; returns how many. */
static size_t release(psfm_bundle_copy *copy) {
    size_t num = 0;
    for (size_t k = 0; k < copy->problem.num_cameras; ++k) {
        bool moves =
            copy->problem.camera_priors != NULL && copy->priors[k].refine != PSFM_REFINE_NONE;
        num += !moves;
        copy->priors[k] =
            (psfm_camera_prior){.refine = moves ? PSFM_REFINE_NONE : PSFM_REFINE_FOCAL,
                                .camera = copy->cameras[k],
                                .focal_sigma = FREE_SIGMA};
    }
    copy->problem.camera_priors = copy->priors;
    return num;
}

/* What the cameras want, against how surely. */
static void judge(const psfm_bundle_problem *given, const psfm_camera *free_cameras,
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
                                  const psfm_bundle_options *options, psfm_intrinsics_check *out) {
    psfm_bundle_options steps = *options;
    psfm_bundle_stats stats = {0};
    psfm_bundle_copy copy = {0};
    double(*sigmas)[PSFM_CAMERA_MAX_PARAMS] = NULL;
    *out = (psfm_intrinsics_check){0};
    psfm_status status = psfm_bundle_copy_make(ctx, problem, PSFM_BUNDLE_ALL, &copy);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, problem->num_cameras, &sigmas);
    if (status != PSFM_OK || (out->num_checked = release(&copy)) == 0)
        goto cleanup;
    steps.refine = PSFM_REFINE_AUTO;
    steps.max_iterations = STEPS;
    if ((status = psfm_bundle_adjust(ctx, &copy.problem, &steps, &stats)) != PSFM_OK)
        goto cleanup;
    out->before_px = stats.initial_mean_px;
    out->after_px = stats.mean_px;
    if ((status = psfm_camera_sigmas(ctx, &copy.problem, &steps, sigmas)) == PSFM_OK)
        judge(problem, copy.cameras, sigmas, out);
    if (status == PSFM_OK && out->num_wrong > 0)
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "the focal length of %zu of %zu cameras wants to change: camera %u by %+.1f %% "
                 "(known to %.2f %%), error %.2f to %.2f px; try --refine focal",
                 out->num_wrong, out->num_checked, problem->cameras[out->worst].id,
                 100.0 * out->change, 100.0 * out->sigma, out->before_px, out->after_px);
    else if (status == PSFM_ERR_NUMERIC) /* not determined: nothing to complain about */
        status = PSFM_OK;

cleanup:
    psfm_bundle_stats_free(&stats);
    psfm_bundle_copy_free(&copy);
    free(sigmas);
    return status;
}
