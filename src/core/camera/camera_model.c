/* Names of camera models, and what cannot be a camera. The models are a table in lens.c. */
#include "core/camera/camera_model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base/context.h"

/* Larger than any sensor or stitched panorama; a size beyond it is a damaged file. */
#define MAX_IMAGE_SIDE 1000000u

const psfm_camera_model_info *psfm_camera_model_get(psfm_camera_model model) {
    /* A file may have put any number into the enum. */
    unsigned index = (unsigned)model;
    return index < PSFM_NUM_CAMERA_MODELS ? &psfm_camera_models[index] : NULL;
}

int psfm_camera_first_coefficient(psfm_camera_model model) {
    const psfm_camera_model_info *info = &psfm_camera_models[model];
    return info->radial[0] != 0 ? info->radial[0] : info->omega;
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
        if (name != NULL && strcmp(psfm_camera_model_names[k], name) == 0) {
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
                             camera->id, k + 1, psfm_camera_model_name(camera->model));
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
