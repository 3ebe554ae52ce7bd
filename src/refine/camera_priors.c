/* A focal length from planes comes with its standard deviation, and planes are worth more than the
 * points on them: an adjustment that lets these leave their plane must not lose what is known. A
 * focal length that planes leave open stays as it is. A given one moves only if asked for, by what
 * the options allow. */
#include "refine/camera_priors.h"

#include <string.h>

#include "base/alloc.h"
#include "camera/camera_model.h"

/* Deviation of the logarithm of a camera's focal length. */
static double focal_sigma(const psfm_match_set *set, size_t c, const psfm_bundle_options *options) {
    if (set->origins == NULL || set->origins[c].source == PSFM_FOCAL_GIVEN)
        return options->focal_sigma;
    return set->origins[c].sigma;
}

static bool is_straight(const psfm_camera *camera) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    for (int k = 0; k < info->num_params; ++k)
        if (k != info->focal[0] && k != info->focal[1] && k != info->center[0] &&
            k != info->center[1] && camera->params[k] != 0.0)
            return false;
    return true;
}

/* What of a camera moves if the options leave it to its origin. A distortion that the matches of
 * planes do not ask for waits for the refinement to ask for it (check_intrinsics.h). */
static psfm_bundle_refine refine_by_origin(const psfm_match_set *set, size_t c) {
    if (set->origins == NULL || set->origins[c].source == PSFM_FOCAL_GIVEN ||
        set->origins[c].is_open)
        return PSFM_REFINE_NONE;
    return is_straight(&set->cameras[c]) ? PSFM_REFINE_FOCAL : PSFM_REFINE_FOCAL_DISTORTION;
}

psfm_status psfm_camera_priors_make(psfm_context *ctx, const psfm_match_set *set,
                                    const psfm_bundle_options *options, psfm_camera_prior **out) {
    psfm_status status = PSFM_ALLOC(ctx, set->num_cameras, out);
    for (size_t c = 0; status == PSFM_OK && c < set->num_cameras; ++c) {
        psfm_bundle_refine refine = (psfm_bundle_refine)options->refine;
        if (refine == PSFM_REFINE_AUTO)
            refine = refine_by_origin(set, c);
        (*out)[c] = (psfm_camera_prior){.refine = refine,
                                        .camera = set->cameras[c],
                                        .focal_sigma = focal_sigma(set, c, options),
                                        .distortion_sigma = options->distortion_sigma,
                                        .center_sigma = options->center_sigma};
    }
    return status;
}

psfm_status psfm_take_cameras(psfm_context *ctx, const psfm_camera *cameras, psfm_match_set *set) {
    bool moved = false;
    for (size_t c = 0; c < set->num_cameras; ++c) {
        const psfm_camera *from = &set->cameras[c];
        for (size_t k = 0; k < sizeof from->params / sizeof *from->params; ++k)
            moved = moved || from->params[k] != cameras[c].params[k];
    }
    if (!moved)
        return PSFM_OK;
    memcpy(set->cameras, cameras, set->num_cameras * sizeof *cameras);
    return psfm_match_set_compute_rays(ctx, set, NULL);
}
