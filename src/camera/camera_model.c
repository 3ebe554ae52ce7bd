/* COLMAP's camera models as one table: per model the number of parameters and which of them are
 * focal lengths, principal point, and the terms of the distortion (an index of 0 means that the
 * model has no such term). Projection, derivatives and refinement read the table, so that a model
 * is one row. */
#include "camera/camera_model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/context.h"

/* Larger than any sensor or stitched panorama; a size beyond it is a damaged file. */
#define MAX_IMAGE_SIDE 1000000u

static const psfm_camera_model_info models[PSFM_NUM_CAMERA_MODELS] = {
    [PSFM_CAMERA_SIMPLE_PINHOLE] = {.name = "SIMPLE_PINHOLE",
                                    .num_params = 3,
                                    .focal = {0, 0},
                                    .center = {1, 2}},
    [PSFM_CAMERA_PINHOLE] = {.name = "PINHOLE", .num_params = 4, .focal = {0, 1}, .center = {2, 3}},
    [PSFM_CAMERA_SIMPLE_RADIAL] = {.name = "SIMPLE_RADIAL",
                                   .num_params = 4,
                                   .focal = {0, 0},
                                   .center = {1, 2},
                                   .radial = {3}},
    [PSFM_CAMERA_RADIAL] =
        {.name = "RADIAL", .num_params = 5, .focal = {0, 0}, .center = {1, 2}, .radial = {3, 4}},
    [PSFM_CAMERA_OPENCV] = {.name = "OPENCV",
                            .num_params = 8,
                            .focal = {0, 1},
                            .center = {2, 3},
                            .radial = {4, 5},
                            .tangential = {6, 7}},
    [PSFM_CAMERA_OPENCV_FISHEYE] = {.name = "OPENCV_FISHEYE",
                                    .num_params = 8,
                                    .focal = {0, 1},
                                    .center = {2, 3},
                                    .is_fisheye = true,
                                    .radial = {4, 5, 6, 7}},
    [PSFM_CAMERA_FULL_OPENCV] = {.name = "FULL_OPENCV",
                                 .num_params = 12,
                                 .focal = {0, 1},
                                 .center = {2, 3},
                                 .radial = {4, 5, 8},
                                 .denominator = {9, 10, 11},
                                 .tangential = {6, 7}},
    [PSFM_CAMERA_FOV] =
        {.name = "FOV", .num_params = 5, .focal = {0, 1}, .center = {2, 3}, .omega = 4},
    [PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE] = {.name = "SIMPLE_RADIAL_FISHEYE",
                                           .num_params = 4,
                                           .focal = {0, 0},
                                           .center = {1, 2},
                                           .is_fisheye = true,
                                           .radial = {3}},
    [PSFM_CAMERA_RADIAL_FISHEYE] = {.name = "RADIAL_FISHEYE",
                                    .num_params = 5,
                                    .focal = {0, 0},
                                    .center = {1, 2},
                                    .is_fisheye = true,
                                    .radial = {3, 4}},
    [PSFM_CAMERA_THIN_PRISM_FISHEYE] = {.name = "THIN_PRISM_FISHEYE",
                                        .num_params = 12,
                                        .focal = {0, 1},
                                        .center = {2, 3},
                                        .is_fisheye = true,
                                        .radial = {4, 5, 8, 9},
                                        .tangential = {6, 7},
                                        .prism = {10, 11}},
};

const psfm_camera_model_info *psfm_camera_model_get(psfm_camera_model model) {
    /* A file may have put any number into the enum. */
    unsigned index = (unsigned)model;
    return index < PSFM_NUM_CAMERA_MODELS ? &models[index] : NULL;
}

int psfm_camera_num_params(psfm_camera_model model) {
    const psfm_camera_model_info *info = psfm_camera_model_get(model);
    return info == NULL ? 0 : info->num_params;
}

const char *psfm_camera_model_name(psfm_camera_model model) {
    const psfm_camera_model_info *info = psfm_camera_model_get(model);
    return info == NULL ? NULL : info->name;
}

bool psfm_camera_model_from_name(const char *name, psfm_camera_model *model) {
    for (int k = 0; k < PSFM_NUM_CAMERA_MODELS; ++k) {
        if (name != NULL && strcmp(models[k].name, name) == 0) {
            *model = (psfm_camera_model)k;
            return true;
        }
    }
    return false;
}

psfm_status psfm_camera_check(psfm_context *ctx, const psfm_camera *camera) {
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
                             camera->id, k + 1, info->name);
    for (int k = 0; k < 2; ++k)
        if (!(camera->params[info->focal[k]] > 0.0))
            return psfm_fail(ctx, PSFM_ERR_DATA,
                             "camera %" PRIu32 ": the focal length %g is not positive", camera->id,
                             camera->params[info->focal[k]]);
    if (info->omega != 0 && !(fabs(camera->params[info->omega]) < M_PI))
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "camera %" PRIu32 ": the FOV model's omega %g is not below pi", camera->id,
                         camera->params[info->omega]);
    return PSFM_OK;
}
