#include "feature/neural_features.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

#define MAX_PIXELS ((size_t)1 << 26)

psfm_status psfm_neural_features_init(psfm_context *ctx, const psfm_gray_view *image, size_t num,
                                      size_t dim, psfm_neural_features *features) {
    *features = (psfm_neural_features){
        .num = num, .dim = dim, .width = image->width, .height = image->height};
    psfm_status status =
        psfm_alloc(ctx, num, sizeof *features->keypoints, (void **)&features->keypoints);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, num, sizeof *features->scores, (void **)&features->scores);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, num, dim * sizeof *features->descriptors,
                            (void **)&features->descriptors);
    if (status != PSFM_OK)
        psfm_neural_features_free(features);
    return status;
}

void psfm_neural_features_free(psfm_neural_features *features) {
    free(features->keypoints);
    free(features->scores);
    free(features->descriptors);
    *features = (psfm_neural_features){0};
}

static bool all_finite(const float *values, size_t num) {
    for (size_t k = 0; k < num; ++k)
        if (!isfinite(values[k]))
            return false;
    return true;
}

psfm_status psfm_neural_features_check(psfm_context *ctx, const psfm_neural_features *f, size_t dim,
                                       const char *model) {
    if (f->dim != dim)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "%s: descriptors of %zu values, these weights need %zu", model, f->dim,
                         dim);
    if (f->width == 0 || f->height == 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: the size of the image is not set", model);
    if (f->num > UINT32_MAX / 2)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: too many keypoints (%zu)", model, f->num);
    if (f->num > 0 && (!all_finite(f->keypoints[0], f->num * 2) || !all_finite(f->scores, f->num) ||
                       !all_finite(f->descriptors, f->num * f->dim)))
        return psfm_fail(ctx, PSFM_ERR_DATA, "%s: a keypoint or descriptor is not finite", model);
    return PSFM_OK;
}

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
