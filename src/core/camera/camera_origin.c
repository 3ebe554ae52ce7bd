/* A database only says whether a focal length is better than a guess. Some programs leave that
 * open although they know the camera, so what does not look like a guess is taken as given. */
#include "core/camera/camera_origin.h"

#include <math.h>

#include "core/camera/camera_model.h"

const char *psfm_focal_source_name(psfm_focal_source source) {
    static const char *const names[] = {"given",  "lines", "planes", "pairs",
                                        "points", "exif",  "hint",   "guess"};
    return names[source];
}

bool psfm_focal_is_doubtful(psfm_focal_source source) {
    return source == PSFM_FOCAL_EXIF || source == PSFM_FOCAL_HINT || source == PSFM_FOCAL_GUESS;
}

static double longer_side(const psfm_camera *camera) {
    return (double)(camera->width > camera->height ? camera->width : camera->height);
}

psfm_camera psfm_camera_simple(uint64_t width, uint64_t height, double focal_px) {
    return (psfm_camera){.model = PSFM_CAMERA_SIMPLE_RADIAL,
                         .width = width,
                         .height = height,
                         .params = {focal_px, 0.5 * (double)width, 0.5 * (double)height, 0.0}};
}

static bool is_guess(const psfm_camera *camera) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    double guess = PSFM_GUESS_FACTOR * longer_side(camera);
    return !camera->has_prior_focal_length &&
           fabs(camera->params[info->focal[0]] - guess) <= 1e-6 * guess &&
           fabs(camera->params[info->focal[1]] - guess) <= 1e-6 * guess;
}

psfm_camera_origin psfm_camera_origin_of(const psfm_camera *camera, bool from_exif) {
    psfm_camera_origin origin = {.source = PSFM_FOCAL_GIVEN, .before = *camera};
    if (is_guess(camera)) {
        origin.source = PSFM_FOCAL_GUESS;
        origin.sigma = PSFM_GUESS_SIGMA;
    } else if (from_exif) {
        origin.source = PSFM_FOCAL_EXIF;
        origin.from_exif = true;
        origin.sigma = PSFM_EXIF_SIGMA;
    }
    return origin;
}
