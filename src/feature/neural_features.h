/* What the neural detectors give: keypoints with scores and float descriptors. */
#ifndef PSFM_FEATURE_NEURAL_FEATURES_H
#define PSFM_FEATURE_NEURAL_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/* An 8-bit gray image that someone else owns. */
typedef struct {
    const uint8_t *pixels;
    size_t width, height;
    size_t stride; /* bytes between rows */
} psfm_gray_view;

/* Owns its arrays. */
typedef struct {
    size_t num, dim;
    size_t width, height;  /* of the image */
    float (*keypoints)[2]; /* x, y in pixels, the centre of the top-left pixel at (0.5, 0.5) */
    float *scores;
    float *descriptors; /* num x dim, each of unit length */
} psfm_neural_features;

psfm_status psfm_neural_features_init(psfm_context *ctx, const psfm_gray_view *image, size_t num,
                                      size_t dim, psfm_neural_features *features);
void psfm_neural_features_free(psfm_neural_features *features);

/* Fails if descriptors are not `dim` long, the image has no size, or a number is not finite;
 * `model` goes into the message. */
psfm_status psfm_neural_features_check(psfm_context *ctx, const psfm_neural_features *features,
                                       size_t dim, const char *model);

/* Fails if the image is smaller than min_side either way, larger than 2^26 pixels, or has no
 * pixels; `model` goes into the message. */
psfm_status psfm_gray_view_check(psfm_context *ctx, const psfm_gray_view *image, size_t min_side,
                                 const char *model);

#endif
