/* A wrong focal length rarely stops a reconstruction. It bends it, and the residuals hide most of
 * that. So once everything is adjusted, the focal lengths are let go, and what they do is compared
 * with how well the images determine them. */
#include "refine/check_intrinsics.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "camera/camera_model.h"
#include "pose/covariance.h"

#define MAX_SIGMAS 5.0   /* that a focal length may want to move */
#define MIN_CHANGE 0.005 /* less than that is nobody's concern */

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
        judge(problem, focals->copy.cameras, sigmas, out);
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
