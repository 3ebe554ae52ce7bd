/* Refuses a bundle adjustment problem that makes no sense, with the first reason found. */
#include <math.h>

#include "core/bundle/bundle_internal.h"
#include "core/camera/camera_model.h"
#include "core/linalg/mat3.h"

static bool is_rotation(const double R[9]) {
    double RRt[9], worst = 0.0;
    psfm_mat3_mul_t(R, R, RRt);
    for (int k = 0; k < 9; ++k)
        worst = fmax(worst, fabs(RRt[k] - (k % 4 == 0 ? 1.0 : 0.0)));
    return worst < 1e-6 && psfm_mat3_det(R) > 0.0;
}

static psfm_status check_images(psfm_context *ctx, const psfm_bundle_problem *p) {
    for (size_t c = 0; c < p->num_cameras; ++c) {
        psfm_status status = psfm_camera_check_lens(ctx, &p->cameras[c]);
        if (status != PSFM_OK)
            return status;
    }
    for (size_t i = 0; i < p->num_images; ++i) {
        if (p->image_camera[i] >= p->num_cameras)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "image %zu of the bundle: camera %u of %zu", i,
                             p->image_camera[i], p->num_cameras);
        if (!psfm_all_finite(p->cam_from_world[i], 9) || !psfm_all_finite(p->centers[i], 3))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "image %zu of the bundle: its pose is not finite", i);
        if (!is_rotation(p->cam_from_world[i]))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "image %zu of the bundle: its orientation is not a rotation", i);
    }
    return PSFM_OK;
}

static psfm_status check_points(psfm_context *ctx, const psfm_bundle_problem *p) {
    for (size_t k = 0; k < p->num_planes; ++k)
        if (!isfinite(p->planes[k].distance) || !isfinite(p->planes[k].sigma_px) ||
            !(fabs(psfm_norm3(p->planes[k].normal) - 1.0) < 1e-6))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "plane %zu of the bundle: no unit normal, distance or sigma", k);
    for (size_t k = 0; k < p->num_points; ++k) {
        if (!psfm_all_finite(p->points[k], 3))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "point %zu of the bundle is not finite", k);
        if (p->point_plane != NULL && p->point_plane[k] >= 0 &&
            (size_t)p->point_plane[k] >= p->num_planes)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "point %zu of the bundle: plane %d of %zu", k,
                             (int)p->point_plane[k], p->num_planes);
    }
    return PSFM_OK;
}

static psfm_status check_observations(psfm_context *ctx, const psfm_bundle_problem *p) {
    for (size_t o = 0; o < p->num_observations; ++o) {
        if (p->obs_image[o] >= p->num_images || p->obs_point[o] >= p->num_points)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "observation %zu of the bundle: image %u of %zu, point %u of %zu", o,
                             p->obs_image[o], p->num_images, p->obs_point[o], p->num_points);
        if (!psfm_all_finite(p->obs_xy[o], 2) ||
            (p->obs_sqrt_info != NULL && !psfm_all_finite(p->obs_sqrt_info[o], 3)))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "observation %zu of the bundle (image %u, point %u) is not finite", o,
                             p->obs_image[o], p->obs_point[o]);
    }
    return PSFM_OK;
}

psfm_status psfm_bundle_check(psfm_context *ctx, const psfm_bundle_problem *problem) {
    if (problem->num_images >= PSFM_BUNDLE_NONE || problem->num_points >= PSFM_BUNDLE_NONE ||
        problem->num_cameras >= PSFM_BUNDLE_NONE || problem->num_planes >= INT32_MAX ||
        problem->num_observations >= PSFM_BUNDLE_NONE)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "bundle of more than %u elements",
                         PSFM_BUNDLE_NONE - 1);
    psfm_status status = check_images(ctx, problem);
    if (status == PSFM_OK)
        status = check_points(ctx, problem);
    return status == PSFM_OK ? check_observations(ctx, problem) : status;
}
