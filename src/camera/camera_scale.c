/* Intrinsics of a resized image. Pixel coordinates count from the corner of the image, so focal
 * lengths and principal point scale alike and need no half pixel. */
#include "camera/camera_scale.h"

static bool has_one_focal_length(psfm_camera_model model) {
    switch (model) {
    case PSFM_CAMERA_SIMPLE_PINHOLE:
    case PSFM_CAMERA_SIMPLE_RADIAL:
    case PSFM_CAMERA_RADIAL:
    case PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE:
    case PSFM_CAMERA_RADIAL_FISHEYE:
        return true;
    default:
        return false;
    }
}

void psfm_camera_scale(psfm_camera *camera, uint64_t new_width, uint64_t new_height) {
    double sx = (double)new_width / (double)camera->width;
    double sy = (double)new_height / (double)camera->height;
    double *p = camera->params;
    camera->width = new_width;
    camera->height = new_height;
    if (has_one_focal_length(camera->model)) {
        p[0] *= 0.5 * (sx + sy);
        p[1] *= sx;
        p[2] *= sy;
    } else {
        p[0] *= sx;
        p[1] *= sy;
        p[2] *= sx;
        p[3] *= sy;
    }
}
