/* What networks demand of their input: an image within limits, features with descriptors of the
 * right length, scores where they are needed, nothing that is not finite. */
#include "images/feature/neural_features.h"

#include <math.h>

#include "core/base/alloc.h"

#define MAX_PIXELS ((size_t)1 << 26)

psfm_status psfm_gray_view_check(psfm_context *ctx, const psfm_gray_view *image, size_t min_side,
                                 const char *model) {
    if (image->pixels == NULL || image->stride < image->width)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: no image, or a stride below its width",
                         model);
    if (image->width < min_side || image->height < min_side)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "%s: the image is %zu x %zu pixels, at least %zu x %zu are needed", model,
                         image->width, image->height, min_side, min_side);
    if (image->height > MAX_PIXELS / image->width)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "%s: the image is %zu x %zu pixels, more than 2^26; make it smaller",
                         model, image->width, image->height);
    return PSFM_OK;
}

psfm_status psfm_neural_extract(psfm_context *ctx, const psfm_neural_detector *detector,
                                void *model, const psfm_gray_view *image,
                                const psfm_neural_options *options, psfm_keypoint_set *features) {
    psfm_neural_options defaults;
    *features = (psfm_keypoint_set){0};
    if (options == NULL) {
        psfm_options_init(detector->options, &defaults);
        options = &defaults;
    }
    psfm_status status = psfm_options_check(ctx, detector->options, options);
    if (status == PSFM_OK)
        status =
            psfm_gray_view_check(ctx, image, detector->min_side, detector->network->file->name);
    if (status == PSFM_OK)
        status = detector->extract(ctx, model, image, options, features);
    if (status != PSFM_OK)
        psfm_keypoint_set_free(features);
    return status;
}

psfm_status psfm_neural_features_init(psfm_context *ctx, size_t num, size_t dim,
                                      psfm_keypoint_set *set) {
    *set = (psfm_keypoint_set){.num = num, .descriptor_size = dim};
    psfm_status status = PSFM_ALLOC(ctx, num, &set->keypoints);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &set->scores);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, num, dim * sizeof *set->descriptors_f32, &set->descriptors_f32);
    if (status != PSFM_OK)
        psfm_keypoint_set_free(set);
    return status;
}

static bool floats_finite(const float *values, size_t num) {
    for (size_t k = 0; k < num; ++k)
        if (!isfinite(values[k]))
            return false;
    return true;
}

static bool set_is_finite(const psfm_keypoint_set *set, bool scores) {
    for (size_t k = 0; k < set->num; ++k)
        if (!isfinite(set->keypoints[k].x) || !isfinite(set->keypoints[k].y))
            return false;
    return (!scores || floats_finite(set->scores, set->num)) &&
           floats_finite(set->descriptors_f32, set->num * set->descriptor_size);
}

psfm_status psfm_neural_input_check(psfm_context *ctx, const psfm_neural_input *input, size_t dim,
                                    bool scores, const char *model) {
    const psfm_keypoint_set *set = input->set;
    if (set->num == 0)
        return PSFM_OK;
    if (set->descriptors_f32 == NULL || set->descriptor_size != dim)
        return psfm_fail(
            ctx, PSFM_ERR_ARGUMENT, "%s: descriptors of %zu %s, these weights need %zu floats",
            model, set->descriptor_size, set->descriptors_f32 == NULL ? "bytes" : "floats", dim);
    if (scores && set->scores == NULL)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: the keypoints have no scores", model);
    if (input->width == 0 || input->height == 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: the size of the image is not set", model);
    if (set->num > UINT32_MAX / 2)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: too many keypoints (%zu)", model, set->num);
    if (!set_is_finite(set, scores))
        return psfm_fail(ctx, PSFM_ERR_DATA, "%s: a keypoint or descriptor is not finite", model);
    return PSFM_OK;
}
