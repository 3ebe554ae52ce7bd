/* What the neural detectors and matchers share: images in, keypoints with float descriptors. */
#ifndef PSFM_FEATURE_NEURAL_FEATURES_H
#define PSFM_FEATURE_NEURAL_FEATURES_H

#include "feature/keypoint_set.h"

/* An 8-bit gray image that someone else owns. */
typedef struct {
    const uint8_t *pixels;
    size_t width, height;
    size_t stride; /* bytes between rows */
} psfm_gray_view;

/* Fails if the image is smaller than min_side either way, larger than 2^26 pixels, or has no
 * pixels; `model` goes into the message. */
psfm_status psfm_gray_view_check(psfm_context *ctx, const psfm_gray_view *image, size_t min_side,
                                 const char *model);

/* Makes room for num keypoints with scores and descriptors of `dim` floats; the caller frees. */
psfm_status psfm_neural_features_init(psfm_context *ctx, size_t num, size_t dim,
                                      psfm_keypoint_set *set);

/* Features and the size of their image: what a matcher takes. */
typedef struct {
    const psfm_keypoint_set
        *set; /* with float descriptors; scores only where the matcher says so */
    size_t width, height;
} psfm_neural_input;

/* Fails if the descriptors are not `dim` floats long, scores are needed and missing, the image has
 * no size, or a number is not finite; `model` goes into the message. */
psfm_status psfm_neural_input_check(psfm_context *ctx, const psfm_neural_input *input, size_t dim,
                                    bool scores, const char *model);

#endif
