/* What the neural detectors and matchers share: images in, keypoints with float descriptors. */
#ifndef PSFM_FEATURE_NEURAL_FEATURES_H
#define PSFM_FEATURE_NEURAL_FEATURES_H

#include "core/base/options.h"
#include "images/feature/keypoint_set.h"
#include "images/nn/network.h"

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

/* What a neural detector is asked for. */
typedef struct {
    int max_keypoints; /* the best are kept */
    double threshold;  /* lowest score of a keypoint, which is a number of the network's own kind */
    bool subpixel;     /* positions by parabolas through the scores; off: pixel centres, as the
                          originals have it; no option */
} psfm_neural_options;

/* A neural detector. */
typedef struct {
    const psfm_network_type *network;
    const psfm_option_table *options; /* of psfm_neural_options; its prefix is the name */
    size_t min_side;                  /* pixels that the image needs either way */
    /* How similar nearest neighbours among its descriptors must be, at least, and against the
     * second best; -1 and 1: anyhow. */
    double min_similarity, max_ratio;
    /* Finds the features of an image of this size, at least. What failed half way is freed. */
    psfm_status (*extract)(psfm_context *ctx, void *model, const psfm_gray_view *image,
                           const psfm_neural_options *options, psfm_keypoint_set *features);
} psfm_neural_detector;

/* Features of one image by a network that psfm_network_create made. The model keeps its maps for
 * the next image. options NULL: defaults. The caller frees the features. */
psfm_status psfm_neural_extract(psfm_context *ctx, const psfm_neural_detector *detector,
                                void *model, const psfm_gray_view *image,
                                const psfm_neural_options *options, psfm_keypoint_set *features);

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
