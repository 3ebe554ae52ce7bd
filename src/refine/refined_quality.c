/* Errors of points, uncertainty of poses and of refined intrinsics, and whether given intrinsics
 * are right: what a reader wants to know before trusting a result. */
#include "refine/refined_quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/angle.h"
#include "pose/covariance.h"
#include "refine/bow.h"

/* Mean reprojection errors of the points. */
static psfm_status measure_points(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  psfm_structure *st) {
    double *error_px = NULL;
    psfm_status status = PSFM_ALLOC(ctx, problem->num_observations, &error_px);
    if (status == PSFM_OK)
        status = psfm_bundle_errors(ctx, problem, error_px);
    for (size_t p = 0; status == PSFM_OK && p < st->num_points; ++p) {
        double sum = 0.0;
        for (size_t k = st->tracks.begin[p]; k < st->tracks.begin[p + 1]; ++k)
            sum += error_px[k];
        sum /= (double)(st->tracks.begin[p + 1] - st->tracks.begin[p]);
        st->error_px[p] = isfinite(sum) ? sum : -1.0; /* a point behind a camera: not known */
    }
    free(error_px);
    return status;
}

static psfm_status find_covariance(psfm_context *ctx, const psfm_bundle_problem *problem,
                                   const psfm_bundle_options *options, psfm_refined_image *images) {
    double(*covariance)[36] = NULL;
    psfm_status status = PSFM_ALLOC(ctx, problem->num_images, &covariance);
    if (status == PSFM_OK)
        status = psfm_pose_covariance(ctx, problem, options, false, covariance, NULL);
    for (size_t v = 0; status == PSFM_OK && v < problem->num_images; ++v) {
        const double *c = covariance[v];
        images[v].rotation_sigma_deg = psfm_degrees(sqrt(c[0] + c[7] + c[14]));
        images[v].center_sigma = sqrt(c[21] + c[28] + c[35]);
        for (int i = 0; i < 3; ++i)
            memcpy(images[v].center_covariance + 3 * i, c + 21 + 6 * i, 3 * sizeof *c);
    }
    free(covariance);
    if (status == PSFM_ERR_NUMERIC) { /* not determined: said as NAN, no reason to fail */
        psfm_log(ctx, PSFM_LOG_WARNING, "uncertainty of the poses: %s", psfm_context_message(ctx));
        return PSFM_OK;
    }
    return status;
}

static psfm_status find_camera_sigmas(psfm_context *ctx, const psfm_bundle_problem *problem,
                                      const psfm_bundle_options *options, psfm_refined *out) {
    psfm_status status = PSFM_ALLOC(ctx, problem->num_cameras, &out->camera_sigma);
    if (status == PSFM_OK)
        status = psfm_camera_sigmas(ctx, problem, options, out->camera_sigma);
    return status == PSFM_ERR_NUMERIC ? PSFM_OK : status;
}

psfm_status psfm_refined_judge(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_bundle_options *options,
                               const psfm_refine_control_options *control, psfm_free_focals *focals,
                               psfm_refined *out) {
    psfm_status status = measure_points(ctx, problem, &out->structure);
    out->bow = NAN;
    for (size_t v = 0; v < problem->num_images; ++v)
        out->images[v].rotation_sigma_deg = out->images[v].center_sigma = NAN;
    if (status != PSFM_OK || problem->num_observations == 0)
        return status;
    if (control->covariance)
        status = find_covariance(ctx, problem, options, out->images);
    if (status == PSFM_OK && control->covariance)
        status = find_camera_sigmas(ctx, problem, options, out);
    if (status == PSFM_OK && (control->check_intrinsics || control->probes))
        status = psfm_free_focals_make(ctx, problem, options, focals);
    if (status == PSFM_OK && control->check_intrinsics)
        status = psfm_check_intrinsics(ctx, problem, focals, &out->check);
    if (status == PSFM_OK && control->check_intrinsics)
        status = psfm_bow_measure(ctx, problem, options, &out->bow);
    return status;
}

void psfm_refined_free(psfm_refined *refined) {
    psfm_structure_free(&refined->structure);
    psfm_scene_planes_free(&refined->planes);
    free(refined->cameras);
    free(refined->camera_sigma);
    free(refined->images);
    psfm_probes_free(refined->probe);
    *refined = (psfm_refined){0};
}
