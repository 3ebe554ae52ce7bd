#include "feature/neural_features.h"

#include <stdlib.h>

#include "base/alloc.h"

#define MAX_PIXELS ((size_t)1 << 26)

psfm_status psfm_neural_features_init(psfm_context *ctx, size_t num, size_t dim,
                                      psfm_neural_features *features) {
    *features = (psfm_neural_features){.num = num, .dim = dim};
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
