/* Intrinsics that an adjustment holds are not known exactly: a lens nobody calibrated has its
 * principal point off the middle, and a calibration was made with errors. Poses move with them by
 * far more than with the noise of keypoints, so that the standard deviations of poses have to allow
 * for it.
 *
 * How far real cameras are off was measured on those of the test data that were calibrated with the
 * parameter free (docs/measurements.md): the camera of the Strecha sets, that of fox25, both of
 * robot_prints42, and that of lund_door12 (by Olsson); coefficients of monstree23's as well.
 * Calibrations of one camera by two people (lund_door12) show what a given one is worth. */
#include "core/refine/intrinsics_prior.h"

#include <math.h>

#include "core/camera/camera_convert.h"
#include "core/camera/camera_model.h"

/* Standard deviations: of the logarithm of the focal length, of the principal point as a share of
 * the longer side, of coefficients of the distortion, and of the aspect. */
typedef struct {
    double focal, center, distortion, aspect;
} prior_sigmas;

static const prior_sigmas of_real_cameras = {PSFM_GUESS_SIGMA, 0.006, 0.02, 0.002};
static const prior_sigmas of_calibrations = {0.001, 0.0005, 0.001, 0.0005};

static prior_sigmas sigmas_of(const psfm_camera_origin *origin, bool moves) {
    prior_sigmas sigmas = of_real_cameras;
    if ((origin == NULL || origin->source == PSFM_FOCAL_GIVEN) && !moves)
        return of_calibrations;
    if (origin != NULL && origin->source == PSFM_FOCAL_EXIF)
        sigmas.focal = PSFM_EXIF_SIGMA;
    if (origin != NULL && origin->source == PSFM_FOCAL_LINES)
        sigmas.focal = origin->sigma;
    return sigmas;
}

psfm_camera_model psfm_large_model(psfm_camera_model own) {
    switch (own) {
    case PSFM_CAMERA_SIMPLE_PINHOLE:
    case PSFM_CAMERA_PINHOLE:
    case PSFM_CAMERA_SIMPLE_RADIAL:
    case PSFM_CAMERA_RADIAL:
        return PSFM_CAMERA_OPENCV;
    case PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE:
    case PSFM_CAMERA_RADIAL_FISHEYE:
    case PSFM_CAMERA_SIMPLE_FISHEYE:
    case PSFM_CAMERA_FISHEYE:
        return PSFM_CAMERA_OPENCV_FISHEYE;
    case PSFM_CAMERA_SIMPLE_DIVISION:
        return PSFM_CAMERA_DIVISION;
    default:
        return own;
    }
}

/* The parameters that stay: all coefficients but the first two, and those that the adjustment
 * moved. */
static uint32_t find_closed(const psfm_camera_prior *moved, psfm_camera_model model) {
    const psfm_camera_model_info *info = psfm_camera_model_get(model);
    uint32_t closed = 0;
    if (moved != NULL && moved->refine >= PSFM_REFINE_FOCAL_DISTORTION &&
        moved->camera.model == model)
        return moved->fixed & find_closed(NULL, model);
    for (int k = 0; k < info->num_params; ++k)
        if (k != info->focal[0] && k != info->focal[1] && k != info->center[0] &&
            k != info->center[1] && k != info->radial[0] && k != info->radial[1] &&
            k != info->division && k != info->unified[0] && k != info->unified[1])
            closed |= 1u << k;
    return closed;
}

/* moved: the prior of an adjustment that moved the camera, or NULL. */
static void open_camera(const prior_sigmas *sigmas, const psfm_camera_prior *moved,
                        psfm_camera *camera, psfm_camera_prior *prior) {
    *camera = psfm_camera_convert(camera, psfm_large_model(camera->model));
    *prior = (psfm_camera_prior){.refine = PSFM_REFINE_ALL,
                                 .camera = *camera,
                                 .focal_sigma = sigmas->focal,
                                 .distortion_sigma = sigmas->distortion,
                                 .center_sigma = sigmas->center,
                                 .aspect_sigma = sigmas->aspect,
                                 .fixed = find_closed(moved, camera->model)};
}

psfm_status psfm_open_intrinsics(psfm_context *ctx, const psfm_bundle_problem *problem,
                                 const psfm_camera_origin *origins, psfm_bundle_options *options,
                                 psfm_bundle_copy *copy) {
    psfm_status status = psfm_bundle_copy_make(ctx, problem, PSFM_BUNDLE_ALL, copy);
    for (size_t c = 0; status == PSFM_OK && c < problem->num_cameras; ++c) {
        bool moves = psfm_bundle_moves_camera(problem, options, c);
        prior_sigmas sigmas = sigmas_of(origins == NULL ? NULL : &origins[c], moves);
        open_camera(&sigmas,
                    moves && problem->camera_priors != NULL ? &problem->camera_priors[c] : NULL,
                    &copy->cameras[c], &copy->priors[c]);
    }
    copy->problem.camera_priors = copy->priors;
    options->refine = PSFM_REFINE_AUTO;
    options->planes = PSFM_PLANES_FREE;
    return status;
}

void psfm_sigmas_in_model(const psfm_camera *from, const double *sigma, psfm_camera_model model,
                          double *out) {
    const psfm_camera_model_info *a = psfm_camera_model_get(from->model);
    const psfm_camera_model_info *b = psfm_camera_model_get(model);
    for (int k = 0; k < PSFM_CAMERA_MAX_PARAMS; ++k)
        out[k] = NAN;
    for (int k = 0; k < 2; ++k) {
        out[b->focal[k]] = sigma[a->focal[0]];
        out[b->center[k]] = sigma[a->center[k]];
        if (b->radial[k] != 0 && a->radial[k] != 0)
            out[b->radial[k]] = sigma[a->radial[k]];
        if (b->tangential[k] != 0 && a->tangential[k] != 0)
            out[b->tangential[k]] = sigma[a->tangential[k]];
        if (b->unified[k] != 0 && a->unified[k] != 0)
            out[b->unified[k]] = sigma[a->unified[k]];
    }
    if (b->division != 0 && a->division != 0)
        out[b->division] = sigma[a->division];
}
