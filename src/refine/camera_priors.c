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

/* The coefficients of the distortion that are 0, as bits; *others says that there are more. */
static uint32_t find_zeros(const psfm_camera *camera, bool *others) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    uint32_t zeros = 0;
    *others = false;
    for (int k = 0; k < info->num_params; ++k) {
        if (k == info->focal[0] || k == info->focal[1] || k == info->center[0] ||
            k == info->center[1])
            continue;
        zeros |= (uint32_t)(camera->params[k] == 0.0) << k;
        *others = *others || camera->params[k] != 0.0;
    }
    return zeros;
}

/* What of a camera moves if the options leave it to its origin. A distortion that the matches of
 * planes do not ask for waits for the refinement to ask for it (choose_lens.h), unless a model was
 * named. */
static void refine_by_origin(const psfm_match_set *set, size_t c, psfm_camera_prior *prior) {
    const psfm_camera_origin *origin = set->origins == NULL ? NULL : &set->origins[c];
    bool distorts;
    prior->refine = PSFM_REFINE_NONE;
    if (origin == NULL || origin->source == PSFM_FOCAL_GIVEN || origin->is_open)
        return;
    prior->held = find_zeros(&set->cameras[c], &distorts);
    if (origin->keeps_model)
        prior->held = 0;
    prior->refine =
        distorts || origin->keeps_model ? PSFM_REFINE_FOCAL_DISTORTION : PSFM_REFINE_FOCAL;
}

psfm_status psfm_camera_priors_make(psfm_context *ctx, const psfm_match_set *set,
                                    const psfm_bundle_options *options, psfm_camera_prior **out) {
    psfm_status status = PSFM_ALLOC(ctx, set->num_cameras, out);
    for (size_t c = 0; status == PSFM_OK && c < set->num_cameras; ++c) {
        (*out)[c] = (psfm_camera_prior){.refine = (psfm_bundle_refine)options->refine,
                                        .camera = set->cameras[c],
                                        .focal_sigma = focal_sigma(set, c, options),
                                        .distortion_sigma = options->distortion_sigma,
                                        .center_sigma = options->center_sigma};
        if (options->refine == PSFM_REFINE_AUTO)
            refine_by_origin(set, c, &(*out)[c]);
    }
    return status;
}

psfm_status psfm_take_cameras(psfm_context *ctx, const psfm_camera *cameras, psfm_match_set *set) {
    bool moved = false;
    for (size_t c = 0; c < set->num_cameras; ++c) {
        const psfm_camera *from = &set->cameras[c];
        moved = moved || from->model != cameras[c].model;
        for (size_t k = 0; k < sizeof from->params / sizeof *from->params; ++k)
            moved = moved || from->params[k] != cameras[c].params[k];
    }
    if (!moved)
        return PSFM_OK;
    memcpy(set->cameras, cameras, set->num_cameras * sizeof *cameras);
    return psfm_match_set_compute_rays(ctx, set, NULL);
}
