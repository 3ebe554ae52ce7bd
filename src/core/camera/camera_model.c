/* The table of camera models, and what cannot be a camera. */
#include "core/camera/camera_model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base/context.h"

/* Larger than any sensor or stitched panorama; a size beyond it is a damaged file. */
#define MAX_IMAGE_SIDE 1000000u

const char *const psfm_camera_model_names[PSFM_NUM_CAMERA_MODELS + 1] = {
    [PSFM_CAMERA_SIMPLE_PINHOLE] = "SIMPLE_PINHOLE",
    [PSFM_CAMERA_PINHOLE] = "PINHOLE",
    [PSFM_CAMERA_SIMPLE_RADIAL] = "SIMPLE_RADIAL",
    [PSFM_CAMERA_RADIAL] = "RADIAL",
    [PSFM_CAMERA_OPENCV] = "OPENCV",
    [PSFM_CAMERA_OPENCV_FISHEYE] = "OPENCV_FISHEYE",
    [PSFM_CAMERA_FULL_OPENCV] = "FULL_OPENCV",
    [PSFM_CAMERA_FOV] = "FOV",
    [PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE] = "SIMPLE_RADIAL_FISHEYE",
    [PSFM_CAMERA_RADIAL_FISHEYE] = "RADIAL_FISHEYE",
    [PSFM_CAMERA_THIN_PRISM_FISHEYE] = "THIN_PRISM_FISHEYE",
    [PSFM_CAMERA_RAD_TAN_THIN_PRISM_FISHEYE] = "RAD_TAN_THIN_PRISM_FISHEYE",
    [PSFM_CAMERA_SIMPLE_DIVISION] = "SIMPLE_DIVISION",
    [PSFM_CAMERA_DIVISION] = "DIVISION",
    [PSFM_CAMERA_SIMPLE_FISHEYE] = "SIMPLE_FISHEYE",
    [PSFM_CAMERA_FISHEYE] = "FISHEYE",
    [PSFM_CAMERA_EUCM] = "EUCM",
    [PSFM_CAMERA_EQUIRECTANGULAR] = "EQUIRECTANGULAR",
};

const psfm_camera_model_info psfm_camera_models[PSFM_NUM_CAMERA_MODELS] = {
    [PSFM_CAMERA_SIMPLE_PINHOLE] = {.parameters = "f cx cy",
                                    .num_params = 3,
                                    .focal = {0, 0},
                                    .center = {1, 2}},
    [PSFM_CAMERA_PINHOLE] = {.parameters = "fx fy cx cy",
                             .num_params = 4,
                             .focal = {0, 1},
                             .center = {2, 3}},
    [PSFM_CAMERA_SIMPLE_RADIAL] = {.parameters = "f cx cy k",
                                   .num_params = 4,
                                   .focal = {0, 0},
                                   .center = {1, 2},
                                   .radial = {3}},
    [PSFM_CAMERA_RADIAL] = {.parameters = "f cx cy k1 k2",
                            .num_params = 5,
                            .focal = {0, 0},
                            .center = {1, 2},
                            .radial = {3, 4}},
    [PSFM_CAMERA_OPENCV] = {.parameters = "fx fy cx cy k1 k2 p1 p2",
                            .num_params = 8,
                            .focal = {0, 1},
                            .center = {2, 3},
                            .radial = {4, 5},
                            .tangential = {6, 7}},
    [PSFM_CAMERA_OPENCV_FISHEYE] = {.parameters = "fx fy cx cy k1 k2 k3 k4",
                                    .num_params = 8,
                                    .focal = {0, 1},
                                    .center = {2, 3},
                                    .is_fisheye = true,
                                    .radial = {4, 5, 6, 7}},
    [PSFM_CAMERA_FULL_OPENCV] = {.parameters = "fx fy cx cy k1 k2 p1 p2 k3 k4 k5 k6",
                                 .num_params = 12,
                                 .focal = {0, 1},
                                 .center = {2, 3},
                                 .radial = {4, 5, 8},
                                 .denominator = {9, 10, 11},
                                 .tangential = {6, 7}},
    [PSFM_CAMERA_FOV] = {.parameters = "fx fy cx cy omega",
                         .num_params = 5,
                         .focal = {0, 1},
                         .center = {2, 3},
                         .omega = 4},
    [PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE] = {.parameters = "f cx cy k",
                                           .num_params = 4,
                                           .focal = {0, 0},
                                           .center = {1, 2},
                                           .is_fisheye = true,
                                           .radial = {3}},
    [PSFM_CAMERA_RADIAL_FISHEYE] = {.parameters = "f cx cy k1 k2",
                                    .num_params = 5,
                                    .focal = {0, 0},
                                    .center = {1, 2},
                                    .is_fisheye = true,
                                    .radial = {3, 4}},
    [PSFM_CAMERA_THIN_PRISM_FISHEYE] = {.parameters = "fx fy cx cy k1 k2 p1 p2 k3 k4 sx1 sy1",
                                        .num_params = 12,
                                        .focal = {0, 1},
                                        .center = {2, 3},
                                        .is_fisheye = true,
                                        .radial = {4, 5, 8, 9},
                                        .tangential = {6, 7},
                                        .prism = {10, 11}},
    [PSFM_CAMERA_RAD_TAN_THIN_PRISM_FISHEYE] =
        {.parameters = "fx fy cx cy k0 k1 k2 k3 k4 k5 p0 p1 s0 s1 s2 s3",
         .num_params = 16,
         .focal = {0, 1},
         .center = {2, 3},
         .is_fisheye = true,
         .is_chained = true,
         .radial = {4, 5, 6, 7, 8, 9},
         .tangential = {11, 10},
         .prism = {12, 14, 13, 15}},
    [PSFM_CAMERA_SIMPLE_DIVISION] = {.parameters = "f cx cy k",
                                     .num_params = 4,
                                     .focal = {0, 0},
                                     .center = {1, 2},
                                     .division = 3},
    [PSFM_CAMERA_DIVISION] = {.parameters = "fx fy cx cy k",
                              .num_params = 5,
                              .focal = {0, 1},
                              .center = {2, 3},
                              .division = 4},
    [PSFM_CAMERA_SIMPLE_FISHEYE] = {.parameters = "f cx cy",
                                    .num_params = 3,
                                    .focal = {0, 0},
                                    .center = {1, 2},
                                    .is_fisheye = true},
    [PSFM_CAMERA_FISHEYE] = {.parameters = "fx fy cx cy",
                             .num_params = 4,
                             .focal = {0, 1},
                             .center = {2, 3},
                             .is_fisheye = true},
    [PSFM_CAMERA_EUCM] = {.parameters = "fx fy cx cy alpha beta",
                          .num_params = 6,
                          .focal = {0, 1},
                          .center = {2, 3},
                          .unified = {4, 5}},
    [PSFM_CAMERA_EQUIRECTANGULAR] = {.parameters = "w h",
                                     .num_params = 2,
                                     .focal = {0, 1},
                                     .center = {2, 3},
                                     .is_panorama = true},
};

const psfm_camera_model_info *psfm_camera_model_get(psfm_camera_model model) {
    /* A file may have put any number into the enum. */
    unsigned index = (unsigned)model;
    return index < PSFM_NUM_CAMERA_MODELS ? &psfm_camera_models[index] : NULL;
}

int psfm_camera_first_coefficient(psfm_camera_model model) {
    const psfm_camera_model_info *info = &psfm_camera_models[model];
    return info->radial[0] != 0 ? info->radial[0] : info->omega + info->division + info->unified[0];
}

int psfm_camera_num_params(psfm_camera_model model) {
    const psfm_camera_model_info *info = psfm_camera_model_get(model);
    return info == NULL ? 0 : info->num_params;
}

const char *psfm_camera_model_name(psfm_camera_model model) {
    return psfm_camera_model_get(model) == NULL ? NULL : psfm_camera_model_names[model];
}

bool psfm_camera_model_from_name(const char *name, psfm_camera_model *model) {
    for (int k = 0; k < PSFM_NUM_CAMERA_MODELS; ++k) {
        if (name != NULL && model != NULL && strcmp(psfm_camera_model_names[k], name) == 0) {
            *model = (psfm_camera_model)k;
            return true;
        }
    }
    return false;
}

/* What parameters have to be for the model to be one. */
static psfm_status check_parameters(psfm_context *ctx, const psfm_camera *camera,
                                    const psfm_camera_model_info *info) {
    const double *p = camera->params;
    for (int k = 0; k < 2; ++k)
        if (!(p[info->focal[k]] > 0.0))
            return psfm_fail(ctx, PSFM_ERR_DATA, "camera %" PRIu32 ": the %s %g is not positive",
                             camera->id, info->is_panorama ? "side" : "focal length",
                             p[info->focal[k]]);
    if (info->omega != 0 && !(fabs(p[info->omega]) < M_PI))
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "camera %" PRIu32 ": the FOV model's omega %g is not below pi", camera->id,
                         p[info->omega]);
    if (info->unified[0] == 0)
        return PSFM_OK;
    double alpha = p[info->unified[0]], beta = p[info->unified[1]];
    if (!(alpha >= 0.0 && alpha <= 1.0))
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "camera %" PRIu32 ": EUCM's alpha %g is not from 0 to 1", camera->id,
                         alpha);
    if (!(beta > 0.0))
        return psfm_fail(ctx, PSFM_ERR_DATA, "camera %" PRIu32 ": EUCM's beta %g is not positive",
                         camera->id, beta);
    return PSFM_OK;
}

psfm_status psfm_camera_check(psfm_context *ctx, const psfm_camera *camera) {
    psfm_status status = psfm_check_given(ctx, "psfm_camera_check", camera != NULL);
    if (status != PSFM_OK)
        return status;
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    if (info == NULL)
        return psfm_fail(ctx, PSFM_ERR_DATA, "camera %" PRIu32 ": %d is not a camera model",
                         camera->id, (int)camera->model);
    if (camera->width == 0 || camera->height == 0 || camera->width > MAX_IMAGE_SIDE ||
        camera->height > MAX_IMAGE_SIDE)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "camera %" PRIu32 ": an image size of %" PRIu64 " x %" PRIu64
                         " is not possible",
                         camera->id, camera->width, camera->height);
    for (int k = 0; k < info->num_params; ++k)
        if (!isfinite(camera->params[k]))
            return psfm_fail(ctx, PSFM_ERR_DATA,
                             "camera %" PRIu32 ": parameter %d of %s is not a finite number",
                             camera->id, k + 1, psfm_camera_model_name(camera->model));
    return check_parameters(ctx, camera, info);
}

psfm_status psfm_camera_check_lens(psfm_context *ctx, const psfm_camera *camera) {
    psfm_status status = psfm_camera_check(ctx, camera);
    if (status == PSFM_OK && psfm_camera_models[camera->model].is_panorama)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "camera %" PRIu32 " is %s, from which no poses are computed: cut "
                         "perspective images out of the panoramas and take these",
                         camera->id, psfm_camera_model_name(camera->model));
    return status;
}

double psfm_camera_mean_focal(const psfm_camera *camera) {
    const psfm_camera_model_info *info = &psfm_camera_models[camera->model];
    return info->is_panorama
               ? camera->params[0] / (2.0 * M_PI)
               : sqrt(camera->params[info->focal[0]] * camera->params[info->focal[1]]);
}
