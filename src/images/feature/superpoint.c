/* SuperPoint.
 *
 * A VGG-like encoder (eight 3 x 3 convolutions, three 2 x 2 maxima) gives 128 channels at an
 * eighth of the size. Two heads follow: 65 logits per cell of 8 x 8 pixels (64 positions and "no
 * keypoint"), and 256 channels of descriptors, normalised, then sampled bilinearly at the
 * keypoints and normalised again. Non-maximum suppression takes the local maxima, and twice more
 * the maxima of what is not near one.
 *
 * Borders follow the original code (all four sides of the 8h x 8w score map), not Hugging Face's
 * copy, which misses two of them. */
#include "images/feature/detector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "images/feature/gray_map.h"
#include "images/feature/score_peaks.h"
#include "images/nn/map_sampling.h"

#define CELL ((size_t)8)
#define DIM 256                /* of descriptors */
#define NMS_RADIUS ((size_t)4) /* pixels about a keypoint in which there is no other */
#define BORDER ((size_t)4)     /* pixels at the image border without keypoints */

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_neural_options, max_keypoints, "max-keypoints", 2048, 1, 1000000,
                    "keep at most this many keypoints, the best"),
    PSFM_OPTION_DOUBLE(psfm_neural_options, threshold, "threshold", 0.005, 0, 1,
                       "lowest score of a keypoint"),
};
/* It makes poses better (docs/neural.md); without, positions are those of the original program. */
static const psfm_neural_options unlisted = {.subpixel = true};
const psfm_option_table psfm_superpoint_option_table =
    PSFM_OPTION_TABLE_FROM("superpoint", rows, unlisted);

enum {
    CONV1A,
    CONV1B,
    CONV2A,
    CONV2B,
    CONV3A,
    CONV3B,
    CONV4A,
    CONV4B,
    SCORE_A,
    SCORE_B,
    DESC_A,
    DESC_B,
    NUM_LAYERS
};

typedef struct {
    const char *name;
    psfm_conv_shape shape;
    int scale; /* of the layer's input, 1 / scale of the image */
} layer_row;

static const layer_row layers[NUM_LAYERS] = {
    [CONV1A] = {"encoder.conv_blocks.0.conv_a", {1, 64, 3, 1, 1, true}, 1},
    [CONV1B] = {"encoder.conv_blocks.0.conv_b", {64, 64, 3, 1, 1, true}, 1},
    [CONV2A] = {"encoder.conv_blocks.1.conv_a", {64, 64, 3, 1, 1, true}, 2},
    [CONV2B] = {"encoder.conv_blocks.1.conv_b", {64, 64, 3, 1, 1, true}, 2},
    [CONV3A] = {"encoder.conv_blocks.2.conv_a", {64, 128, 3, 1, 1, true}, 4},
    [CONV3B] = {"encoder.conv_blocks.2.conv_b", {128, 128, 3, 1, 1, true}, 4},
    [CONV4A] = {"encoder.conv_blocks.3.conv_a", {128, 128, 3, 1, 1, true}, 8},
    [CONV4B] = {"encoder.conv_blocks.3.conv_b", {128, 128, 3, 1, 1, true}, 8},
    [SCORE_A] = {"keypoint_decoder.conv_score_a", {128, 256, 3, 1, 1, true}, 8},
    [SCORE_B] = {"keypoint_decoder.conv_score_b", {256, 65, 1, 1, 1, false}, 8},
    [DESC_A] = {"descriptor_decoder.conv_descriptor_a", {128, 256, 3, 1, 1, true}, 8},
    [DESC_B] = {"descriptor_decoder.conv_descriptor_b", {256, DIM, 1, 1, 1, false}, 8},
};

typedef struct {
    psfm_engine *nn;
    psfm_conv convs[NUM_LAYERS];
    psfm_map image, a, b, features, logits, descriptors;
    psfm_map scores, mask, left; /* left: scores of what is not near a keypoint */
    psfm_peak_list peaks;
} superpoint;

static const char first_layer[] = "encoder.conv_blocks.0.conv_a.weight";

/* Files of matchers carry the detector under a name of its own. */
static int fit_weights(const psfm_safetensors *file, size_t dim) {
    (void)dim;
    if (psfm_safetensors_find(file, first_layer) != NULL)
        return 2;
    return psfm_weights_have(file, "keypoint_detector", first_layer) ? 1 : 0;
}

static const psfm_network_file weights_file = {
    "SuperPoint",
    "SuperPoint weights (model.safetensors of magic-leap-community/superpoint on Hugging Face)", 0,
    fit_weights};

static psfm_status load_weights(psfm_context *ctx, const psfm_safetensors *file, void *network) {
    superpoint *m = network;
    const char *prefix =
        psfm_weights_have(file, "keypoint_detector", first_layer) ? "keypoint_detector." : "";
    psfm_status status = PSFM_OK;
    for (int k = 0; status == PSFM_OK && k < NUM_LAYERS; ++k) {
        char name[PSFM_TENSOR_NAME_SIZE];
        snprintf(name, sizeof name, "%s%s", prefix, layers[k].name);
        status = psfm_conv_load(ctx, file, name, NULL, &layers[k].shape, &m->convs[k]);
    }
    return status;
}

static const psfm_network_part parts[] = {
    PSFM_PART(PSFM_PART_CONV, superpoint, convs, convs),
    PSFM_PART(PSFM_PART_MAP, superpoint, image, left),
    PSFM_PART(PSFM_PART_ARRAY, superpoint, peaks.peaks, peaks.counts),
};
static const psfm_network_type network_type = {&weights_file, sizeof(superpoint), load_weights,
                                               parts, sizeof parts / sizeof *parts};

static psfm_status run_network(psfm_context *ctx, superpoint *m) {
    const psfm_conv *c = m->convs;
    const struct {
        int layer;
        const psfm_map *src;
        psfm_map *dst;
        psfm_conv_extras extras;
    } steps[] = {
        {CONV1B, &m->image, &m->a, {.first = &c[CONV1A], .pool = true}},
        {CONV2A, &m->a, &m->b, {0}},
        {CONV2B, &m->b, &m->a, {.pool = true}},
        {CONV3A, &m->a, &m->b, {0}},
        {CONV3B, &m->b, &m->a, {.pool = true}},
        {CONV4A, &m->a, &m->b, {0}},
        {CONV4B, &m->b, &m->features, {0}},
        {SCORE_A, &m->features, &m->a, {0}},
        {SCORE_B, &m->a, &m->logits, {0}},
        {DESC_A, &m->features, &m->b, {0}},
        {DESC_B, &m->b, &m->descriptors, {0}},
    };
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < sizeof steps / sizeof *steps; ++k)
        status = psfm_conv_run(ctx, m->nn, &c[steps[k].layer], steps[k].src, &steps[k].extras,
                               steps[k].dst);
    return status;
}

/* The three steps of suppression, row by row. */
static void mark_maxima(const void *user, size_t y, const float *largest) {
    const superpoint *m = user;
    size_t w = m->scores.width;
    const float *score = m->scores.data + y * w;
    float *mask = m->mask.data + y * w;
    for (size_t x = 0; x < w; ++x)
        mask[x] = score[x] == largest[x] ? 1.0f : 0.0f;
}

static void clear_near(const void *user, size_t y, const float *largest) {
    const superpoint *m = user;
    size_t w = m->scores.width;
    const float *score = m->scores.data + y * w;
    float *left = m->left.data + y * w;
    for (size_t x = 0; x < w; ++x)
        left[x] = largest[x] > 0 ? 0.0f : score[x];
}

static void mark_more(const void *user, size_t y, const float *largest) {
    const superpoint *m = user;
    size_t w = m->scores.width;
    const float *left = m->left.data + y * w;
    float *mask = m->mask.data + y * w;
    /* What is near a maximum has left = 0 there, and scores are positive. */
    for (size_t x = 0; x < w; ++x)
        mask[x] = left[x] > 0 && left[x] == largest[x] ? 1.0f : mask[x];
}

static psfm_status suppress_neighbours(psfm_context *ctx, superpoint *m, size_t radius) {
    size_t h = m->scores.height, w = m->scores.width;
    psfm_status status = psfm_map_resize(ctx, &m->mask, h, w, 1);
    if (status == PSFM_OK)
        status = psfm_map_resize(ctx, &m->left, h, w, 1);
    if (status == PSFM_OK)
        status = psfm_peaks_window_max(ctx, m->nn, &m->scores, radius, mark_maxima, m);
    for (int round = 0; status == PSFM_OK && round < 2; ++round) {
        status = psfm_peaks_window_max(ctx, m->nn, &m->mask, radius, clear_near, m);
        if (status == PSFM_OK)
            status = psfm_peaks_window_max(ctx, m->nn, &m->left, radius, mark_more, m);
    }
    return status;
}

static psfm_status collect_peaks(psfm_context *ctx, superpoint *m,
                                 const psfm_neural_options *options) {
    size_t w = m->scores.width, h = m->scores.height;
    float threshold = (float)options->threshold;
    m->peaks.num = 0;
    for (size_t y = BORDER; y + BORDER < h; ++y)
        for (size_t x = BORDER; x + BORDER < w; ++x) {
            size_t index = y * w + x;
            if (m->mask.data[index] == 0 || !(m->scores.data[index] > threshold))
                continue;
            psfm_status status = psfm_peaks_add(ctx, &m->peaks, m->scores.data[index], index);
            if (status != PSFM_OK)
                return status;
        }
    size_t max = (size_t)options->max_keypoints;
    return m->peaks.num > max ? psfm_peaks_keep_best(ctx, &m->peaks, max) : PSFM_OK;
}

/* Positions of the keypoints in the descriptor map: the original code maps the centres of the
 * corner cells to the corners of the map. */
static psfm_status describe_peaks(psfm_context *ctx, superpoint *m, bool subpixel,
                                  psfm_keypoint_set *f) {
    size_t w = m->descriptors.width, h = m->descriptors.height;
    float scale_x = (float)(w - 1) / ((float)(w * CELL) - 4.5f);
    float scale_y = (float)(h - 1) / ((float)(h * CELL) - 4.5f);
    float(*positions)[2];
    psfm_status status = PSFM_ALLOC(ctx, f->num, &positions);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < f->num; ++k) {
        size_t x = m->peaks.peaks[k].index % m->scores.width;
        size_t y = m->peaks.peaks[k].index / m->scores.width;
        f->scores[k] = m->peaks.peaks[k].score;
        float shift[2] = {0, 0};
        if (subpixel)
            psfm_peak_offset(&m->scores, m->peaks.peaks[k].index, true, shift);
        f->keypoints[k] =
            psfm_keypoint_make((float)x + 0.5f + shift[0], (float)y + 0.5f + shift[1], 1, 0);
        positions[k][0] = ((float)x - 3.5f) * scale_x;
        positions[k][1] = ((float)y - 3.5f) * scale_y;
    }
    status = psfm_map_normalise(ctx, m->nn, &m->descriptors);
    if (status == PSFM_OK)
        status = psfm_map_sample_unit(ctx, m->nn, &m->descriptors, PSFM_SAMPLE_BILINEAR, f->num,
                                      (const float(*)[2])positions, f->descriptors_f32);
    free(positions);
    return status;
}

static psfm_status extract_features(psfm_context *ctx, void *network, const psfm_gray_view *image,
                                    const psfm_neural_options *options,
                                    psfm_keypoint_set *features) {
    superpoint *model = network;
    psfm_status status = psfm_gray_to_map(ctx, model->nn, image, &model->image);
    if (status == PSFM_OK)
        status = run_network(ctx, model);
    if (status == PSFM_OK)
        status = psfm_scores_from_cells(ctx, model->nn, &model->logits, &model->scores);
    if (status == PSFM_OK)
        status = suppress_neighbours(ctx, model, NMS_RADIUS);
    if (status == PSFM_OK)
        status = collect_peaks(ctx, model, options);
    if (status == PSFM_OK)
        status = psfm_neural_features_init(ctx, model->peaks.num, DIM, features);
    if (status == PSFM_OK)
        status = describe_peaks(ctx, model, options->subpixel, features);
    return status;
}

const psfm_neural_detector psfm_superpoint_detector = {.network = &network_type,
                                                       .options = &psfm_superpoint_option_table,
                                                       .min_side = 2 * CELL,
                                                       .min_similarity = -1,
                                                       .max_ratio = 1,
                                                       .extract = extract_features};
