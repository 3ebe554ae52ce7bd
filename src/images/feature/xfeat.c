/* XFeat.
 *
 * The image, shrunk to multiples of 32 pixels and normalised to mean 0 and variance 1, goes through
 * five blocks of convolutions down to 1/32; the results at 1/8, 1/16 and 1/32 are brought to 1/8,
 * added and fused to 64 channels of descriptors. One head makes a reliability map of those.
 * Another takes each 8 x 8 cell of the normalised image as 64 channels and gives 65 logits, as
 * SuperPoint's. Keypoints are the local maxima of the latter; descriptors are read at them with
 * bicubic interpolation.
 *
 * The original reads maps at x w / (W - 1) - 1/2, which is slightly off towards the borders (W
 * instead of W - 1 would be right). The network's users were trained with it, so we do the same.
 * Its keypoints are pixel indices of the shrunk image times W0 / W; ours are the right place in
 * the original, (index + 1/2) W0 / W, at most 1/64 pixel from that plus 1/2. */
#include "images/feature/detector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "images/feature/gray_map.h"
#include "images/feature/score_peaks.h"
#include "images/nn/plane_conv.h"

#define CELL ((size_t)8)
#define DIM 64 /* of descriptors */
#define MULTIPLE 32
#define BLOCK_PEAKS 256

#define NMS_RADIUS 2 /* pixels about a keypoint in which there is no other */

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_neural_options, max_keypoints, "max-keypoints", 2048, 1, 1000000,
                    "keep at most this many keypoints, the best"),
    PSFM_OPTION_DOUBLE(psfm_neural_options, threshold, "threshold", 0.05, 0, 1,
                       "lowest value of a keypoint in the keypoint map"),
};
/* It makes poses better (docs/neural.md); without, positions are those of the original program. */
static const psfm_neural_options unlisted = {.subpixel = true};
const psfm_option_table psfm_xfeat_option_table = PSFM_OPTION_TABLE_FROM("xfeat", rows, unlisted);

#define NUM_PLANE_LAYERS 4

enum {
    SKIP,
    BLOCK2_0,
    BLOCK2_1,
    BLOCK3_0,
    BLOCK3_1,
    BLOCK3_2,
    BLOCK4_0,
    BLOCK4_1,
    BLOCK4_2,
    BLOCK5_0,
    BLOCK5_1,
    BLOCK5_2,
    BLOCK5_3,
    FUSION_0,
    FUSION_1,
    FUSION_2,
    HEAT_0,
    HEAT_1,
    HEAT_2,
    KEYS_0,
    KEYS_1,
    KEYS_2,
    KEYS_3,
    NUM_LAYERS
};

typedef struct {
    const char *name;
    psfm_conv_shape shape;
    int scale; /* of the layer's output, 1 / scale of the image */
} layer_row;

static const layer_row plane_layers[NUM_PLANE_LAYERS] = {
    {"block1.0", {1, 4, 3, 1, 1, true}, 1},
    {"block1.1", {4, 8, 3, 2, 1, true}, 2},
    {"block1.2", {8, 8, 3, 1, 1, true}, 2},
    {"block1.3", {8, 24, 3, 2, 1, true}, 4},
};

static const layer_row layers[NUM_LAYERS] = {
    [SKIP] = {"skip1.1", {1, 24, 1, 1, 1, false}, 4},
    [BLOCK2_0] = {"block2.0", {24, 24, 3, 1, 1, true}, 4},
    [BLOCK2_1] = {"block2.1", {24, 24, 3, 1, 1, true}, 4},
    [BLOCK3_0] = {"block3.0", {24, 64, 3, 2, 1, true}, 8},
    [BLOCK3_1] = {"block3.1", {64, 64, 3, 1, 1, true}, 8},
    [BLOCK3_2] = {"block3.2", {64, 64, 1, 1, 1, true}, 8},
    [BLOCK4_0] = {"block4.0", {64, 64, 3, 2, 1, true}, 16},
    [BLOCK4_1] = {"block4.1", {64, 64, 3, 1, 1, true}, 16},
    [BLOCK4_2] = {"block4.2", {64, 64, 3, 1, 1, true}, 16},
    [BLOCK5_0] = {"block5.0", {64, 128, 3, 2, 1, true}, 32},
    [BLOCK5_1] = {"block5.1", {128, 128, 3, 1, 1, true}, 32},
    [BLOCK5_2] = {"block5.2", {128, 128, 3, 1, 1, true}, 32},
    [BLOCK5_3] = {"block5.3", {128, 64, 1, 1, 1, true}, 32},
    [FUSION_0] = {"block_fusion.0", {64, 64, 3, 1, 1, true}, 8},
    [FUSION_1] = {"block_fusion.1", {64, 64, 3, 1, 1, true}, 8},
    [FUSION_2] = {"block_fusion.2", {64, 64, 1, 1, 1, false}, 8},
    [HEAT_0] = {"heatmap_head.0", {64, 64, 1, 1, 1, true}, 8},
    [HEAT_1] = {"heatmap_head.1", {64, 64, 1, 1, 1, true}, 8},
    [HEAT_2] = {"heatmap_head.2", {64, 1, 1, 1, 1, false}, 8},
    [KEYS_0] = {"keypoint_head.0", {64, 64, 1, 1, 1, true}, 8},
    [KEYS_1] = {"keypoint_head.1", {64, 64, 1, 1, 1, true}, 8},
    [KEYS_2] = {"keypoint_head.2", {64, 64, 1, 1, 1, true}, 8},
    [KEYS_3] = {"keypoint_head.3", {64, 65, 1, 1, 1, false}, 8},
};

typedef struct {
    psfm_engine *nn;
    psfm_plane_conv plane_convs[NUM_PLANE_LAYERS];
    psfm_conv convs[NUM_LAYERS];
    psfm_planes planes[2];
    psfm_map given, image; /* gray; shrunk and normalised */
    psfm_map cells;        /* the image, 64 channels of a cell */
    psfm_map a, b, x3, x4, x5;
    psfm_map features, heat, logits, scores;
    psfm_peak_list peaks;
} xfeat;

/* The name of a layer in this file, and of the batch norm after it, "" if folded already. */
static void find_names(const psfm_safetensors *file, const char *layer,
                       char name[PSFM_TENSOR_NAME_SIZE], char norm[PSFM_TENSOR_NAME_SIZE]) {
    const char *prefix = psfm_safetensors_find(file, "net.skip1.1.weight") != NULL ? "net." : "";
    norm[0] = '\0';
    snprintf(name, PSFM_TENSOR_NAME_SIZE, "%s%s", prefix, layer);
    if (psfm_weights_have(file, name, "weight") || !psfm_weights_have(file, name, "layer.0.weight"))
        return;
    snprintf(name, PSFM_TENSOR_NAME_SIZE, "%s%s.layer.0", prefix, layer);
    snprintf(norm, PSFM_TENSOR_NAME_SIZE, "%s%s.layer.1", prefix, layer);
}

static psfm_status load_weights(psfm_context *ctx, const psfm_safetensors *file, void *network) {
    xfeat *m = network;
    char name[PSFM_TENSOR_NAME_SIZE], norm[PSFM_TENSOR_NAME_SIZE];
    psfm_status status = PSFM_OK;
    for (int k = 0; status == PSFM_OK && k < NUM_PLANE_LAYERS; ++k) {
        find_names(file, plane_layers[k].name, name, norm);
        status = psfm_plane_conv_load(ctx, file, name, norm[0] != '\0' ? norm : NULL,
                                      &plane_layers[k].shape, &m->plane_convs[k]);
    }
    for (int k = 0; status == PSFM_OK && k < NUM_LAYERS; ++k) {
        find_names(file, layers[k].name, name, norm);
        status = psfm_conv_load(ctx, file, name, norm[0] != '\0' ? norm : NULL, &layers[k].shape,
                                &m->convs[k]);
    }
    return status;
}

static int fit_weights(const psfm_safetensors *file, size_t dim) {
    (void)dim;
    return psfm_safetensors_find(file, "skip1.1.weight") != NULL ||
                   psfm_safetensors_find(file, "net.skip1.1.weight") != NULL
               ? 2
               : 0;
}

static const psfm_network_file weights_file = {
    "XFeat", "XFeat weights (a .safetensors file with the names of the original model)", 0,
    fit_weights};

static const psfm_network_part parts[] = {
    PSFM_PART(PSFM_PART_PLANE_CONV, xfeat, plane_convs, plane_convs),
    PSFM_PART(PSFM_PART_CONV, xfeat, convs, convs),
    PSFM_PART(PSFM_PART_PLANES, xfeat, planes, planes),
    PSFM_PART(PSFM_PART_MAP, xfeat, given, scores),
    PSFM_PART(PSFM_PART_ARRAY, xfeat, peaks.peaks, peaks.counts),
};
static const psfm_network_type network_type = {&weights_file, sizeof(xfeat), load_weights, parts,
                                               sizeof parts / sizeof *parts};

/* The 64 channels of a cell are its pixels, row by row. */
static void cells_task(psfm_engine *nn, const void *user, size_t y, void *memory) {
    (void)nn, (void)memory;
    const xfeat *m = user;
    for (size_t x = 0; x < m->cells.width; ++x) {
        float *cell = m->cells.data + (y * m->cells.width + x) * m->cells.pitch;
        for (size_t r = 0; r < CELL; ++r)
            memcpy(cell + r * CELL, m->image.data + (y * CELL + r) * m->image.width + x * CELL,
                   CELL * sizeof *cell);
    }
}

/* x1 += weights * (mean of 4 x 4 pixels) + bias, the short cut around block 1. */
static void skip_task(psfm_engine *nn, const void *user, size_t y, void *memory) {
    const xfeat *m = user;
    const psfm_conv *skip = &m->convs[SKIP];
    float *means = memory, *row = m->a.data + y * m->a.width * m->a.pitch;
    for (size_t x = 0; x < m->a.width; ++x) {
        float sum = 0;
        for (size_t k = 0; k < 16; ++k)
            sum += m->image.data[(4 * y + k / 4) * m->image.width + 4 * x + k % 4];
        means[x] = sum / 16;
    }
    psfm_product product = {.m = m->a.width,
                            .n = skip->shape.c_out,
                            .k = 1,
                            .a = means,
                            .lda = 1,
                            .b = skip->weights,
                            .bias = skip->bias,
                            .add = row,
                            .c = row,
                            .ldc = m->a.pitch};
    psfm_engine_kernels(nn)->product(&product);
}

static psfm_status run_entrance(psfm_context *ctx, xfeat *m) {
    psfm_planes gray = {1, m->image.height, m->image.width, m->image.data, {0}};
    psfm_planes *p = m->planes;
    psfm_status status = psfm_plane_conv_run(ctx, m->nn, &m->plane_convs[0], &gray, &p[0], NULL);
    if (status == PSFM_OK)
        status = psfm_plane_conv_run(ctx, m->nn, &m->plane_convs[1], &p[0], &p[1], NULL);
    if (status == PSFM_OK)
        status = psfm_plane_conv_run(ctx, m->nn, &m->plane_convs[2], &p[1], &p[0], NULL);
    if (status == PSFM_OK)
        status = psfm_plane_conv_run(ctx, m->nn, &m->plane_convs[3], &p[0], NULL, &m->a);
    if (status == PSFM_OK)
        status = psfm_engine_run(ctx, m->nn, m->a.height, m->a.width, skip_task, m);
    if (status == PSFM_OK)
        status = psfm_map_resize(ctx, &m->cells, m->image.height / CELL, m->image.width / CELL,
                                 CELL * CELL);
    return status == PSFM_OK ? psfm_engine_run(ctx, m->nn, m->cells.height, 0, cells_task, m)
                             : status;
}

/* One step of the network: a layer, or the sum of two maps after the first is enlarged. */
typedef struct {
    int layer; /* -1: enlarge src and add it to dst */
    const psfm_map *src;
    psfm_map *dst;
} step;

static psfm_status run_network(psfm_context *ctx, xfeat *m) {
    const step steps[] = {
        {BLOCK2_0, &m->a, &m->b},
        {BLOCK2_1, &m->b, &m->a},
        {BLOCK3_0, &m->a, &m->b},
        {BLOCK3_1, &m->b, &m->a},
        {BLOCK3_2, &m->a, &m->x3},
        {BLOCK4_0, &m->x3, &m->a},
        {BLOCK4_1, &m->a, &m->b},
        {BLOCK4_2, &m->b, &m->x4},
        {BLOCK5_0, &m->x4, &m->a},
        {BLOCK5_1, &m->a, &m->b},
        {BLOCK5_2, &m->b, &m->a},
        {BLOCK5_3, &m->a, &m->x5},
        {-1, &m->x4, &m->x3},
        {-1, &m->x5, &m->x3},
        {FUSION_0, &m->x3, &m->a},
        {FUSION_1, &m->a, &m->b},
        {FUSION_2, &m->b, &m->features},
        {HEAT_0, &m->features, &m->a},
        {HEAT_1, &m->a, &m->b},
        {HEAT_2, &m->b, &m->heat},
        {KEYS_0, &m->cells, &m->a},
        {KEYS_1, &m->a, &m->b},
        {KEYS_2, &m->b, &m->a},
        {KEYS_3, &m->a, &m->logits},
    };
    psfm_status status = run_entrance(ctx, m);
    for (size_t k = 0; status == PSFM_OK && k < sizeof steps / sizeof *steps; ++k) {
        const step *s = &steps[k];
        status = s->layer >= 0
                     ? psfm_conv_run(ctx, m->nn, &m->convs[s->layer], s->src, NULL, s->dst)
                     : psfm_map_resize_bilinear(
                           ctx, m->nn, s->src,
                           &(psfm_resize){s->dst->height, s->dst->width, PSFM_RESIZE_CENTERS, true},
                           s->dst);
    }
    for (size_t k = 0; status == PSFM_OK && k < m->heat.height * m->heat.width; ++k)
        m->heat.data[k] = 1.0f / (1.0f + expf(-m->heat.data[k]));
    return status;
}

/* Where the original reads a map that is `size` pixels wide at pixel `at` of an image of `full`. */
static float map_position(size_t at, size_t full, size_t size) {
    float normalised = 2.0f * ((float)at / (float)(full - 1)) - 1.0f;
    return ((normalised + 1.0f) * (float)size - 1.0f) / 2.0f;
}

/* The score of a peak is its value times the reliability there. */
static void score_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    (void)nn, (void)memory;
    const xfeat *m = user;
    size_t w = m->scores.width, h = m->scores.height, begin = index * BLOCK_PEAKS;
    size_t end = begin + BLOCK_PEAKS < m->peaks.num ? begin + BLOCK_PEAKS : m->peaks.num;
    for (size_t k = begin; k < end; ++k) {
        psfm_peak *peak = &m->peaks.peaks[k];
        float key, reliability;
        size_t x = peak->index % w, y = peak->index / w;
        psfm_map_sample(&m->scores, PSFM_SAMPLE_NEAREST, map_position(x, w, w),
                        map_position(y, h, h), &key);
        psfm_map_sample(&m->heat, PSFM_SAMPLE_BILINEAR, map_position(x, w, m->heat.width),
                        map_position(y, h, m->heat.height), &reliability);
        peak->score = key * reliability;
    }
}

/* Pixel 0 is left out: the original's padding of short lists has that position. */
static void drop_useless(psfm_peak_list *list) {
    size_t num = 0;
    for (size_t k = 0; k < list->num; ++k)
        if (list->peaks[k].score > 0 && list->peaks[k].index != 0)
            list->peaks[num++] = list->peaks[k];
    list->num = num;
}

static psfm_status describe_peaks(psfm_context *ctx, xfeat *m, const psfm_gray_view *image,
                                  bool subpixel, psfm_keypoint_set *f) {
    size_t w = m->scores.width, h = m->scores.height;
    float scale_x = (float)image->width / (float)w, scale_y = (float)image->height / (float)h;
    float(*positions)[2];
    psfm_status status = PSFM_ALLOC(ctx, f->num, &positions);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < f->num; ++k) {
        size_t x = m->peaks.peaks[k].index % w, y = m->peaks.peaks[k].index / w;
        f->scores[k] = m->peaks.peaks[k].score;
        float shift[2] = {0, 0};
        if (subpixel)
            psfm_peak_offset(&m->scores, m->peaks.peaks[k].index, true, shift);
        f->keypoints[k] = psfm_keypoint_make(((float)x + 0.5f + shift[0]) * scale_x,
                                             ((float)y + 0.5f + shift[1]) * scale_y, 1, 0);
        positions[k][0] = map_position(x, w, m->features.width);
        positions[k][1] = map_position(y, h, m->features.height);
    }
    status = psfm_map_normalise(ctx, m->nn, &m->features);
    if (status == PSFM_OK)
        status = psfm_map_sample_unit(ctx, m->nn, &m->features, PSFM_SAMPLE_BICUBIC, f->num,
                                      (const float(*)[2])positions, f->descriptors_f32);
    free(positions);
    return status;
}

static psfm_status detect_peaks(psfm_context *ctx, xfeat *m, const psfm_neural_options *options) {
    psfm_peak_rule rule = {NMS_RADIUS, 0, (float)options->threshold};
    psfm_status status = psfm_scores_from_cells(ctx, m->nn, &m->logits, &m->scores);
    if (status == PSFM_OK)
        status = psfm_peaks_find(ctx, m->nn, &m->scores, &rule, &m->peaks);
    if (status == PSFM_OK)
        status = psfm_engine_run(ctx, m->nn, (m->peaks.num + BLOCK_PEAKS - 1) / BLOCK_PEAKS, 0,
                                 score_task, m);
    if (status != PSFM_OK)
        return status;
    drop_useless(&m->peaks);
    return psfm_peaks_keep_best(ctx, &m->peaks, (size_t)options->max_keypoints);
}

static psfm_status extract_features(psfm_context *ctx, void *network, const psfm_gray_view *image,
                                    const psfm_neural_options *options,
                                    psfm_keypoint_set *features) {
    xfeat *model = network;
    psfm_status status = psfm_gray_to_multiple(ctx, model->nn, image, MULTIPLE, PSFM_RESIZE_CENTERS,
                                               &model->given, &model->image);
    if (status == PSFM_OK)
        status = psfm_map_standardise(ctx, model->nn, &model->image);
    if (status == PSFM_OK)
        status = run_network(ctx, model);
    if (status == PSFM_OK)
        status = detect_peaks(ctx, model, options);
    if (status == PSFM_OK)
        status = psfm_neural_features_init(ctx, model->peaks.num, DIM, features);
    if (status == PSFM_OK)
        status = describe_peaks(ctx, model, image, options->subpixel, features);
    return status;
}

const psfm_neural_detector psfm_xfeat_detector = {.network = &network_type,
                                                  .options = &psfm_xfeat_option_table,
                                                  .min_side = MULTIPLE,
                                                  .min_similarity = 0.82,
                                                  .max_ratio = 1,
                                                  .extract = extract_features};
