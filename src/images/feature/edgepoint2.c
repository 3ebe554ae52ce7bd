/* EdgePoint2.
 *
 * The image, shrunk to multiples of 32 pixels and standardised, goes through three residual stages
 * at 1/2, 1/8 and 1/32 of its size. Descriptors are made at 1/4 from all three, enlarged and put
 * side by side: a 1 x 1 convolution, a 3 x 3 one in groups of 16 channels, a 1 x 1 one. Scores are
 * made at 1/2 from 1 x 1 projections of all three, enlarged and added: three 3 x 3 convolutions to
 * four channels, which are the pixels of a 2 x 2 square. Keypoints are local maxima above the
 * threshold and 4 pixels from the border; descriptors are read bilinearly.
 *
 * The original shrinks with the corner pixels' centres fixed but scales keypoints by W0 / W; ours
 * are scaled as the image was, by (W0 - 1) / (W - 1), and agree with it when nothing is shrunk. */
#include "images/feature/detector.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "images/feature/gray_map.h"
#include "images/feature/score_peaks.h"

#define MULTIPLE 32
#define BORDER 4
#define MAX_CHANNELS 4096

#define NMS_RADIUS 2 /* pixels about a keypoint in which there is no other */

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_neural_options, max_keypoints, "max-keypoints", 4096, 1, 1000000,
                    "keep at most this many keypoints, the best"),
    PSFM_OPTION_DOUBLE(psfm_neural_options, threshold, "threshold", 0, -1000, 1000,
                       "lowest score of a keypoint, a logit"),
};
/* It makes poses better (docs/neural.md); without, positions are those of the original program. */
static const psfm_neural_options unlisted = {.subpixel = true};
const psfm_option_table psfm_edgepoint2_option_table =
    PSFM_OPTION_TABLE_FROM("edgepoint2", rows, unlisted);

enum {
    STEM_0,
    STEM_1,
    STAGE1_A,
    STAGE1_B,
    STAGE2_A,
    STAGE2_B,
    STAGE2_SKIP,
    STAGE3_A,
    STAGE3_B,
    STAGE3_SKIP,
    DESC_0,
    DESC_1,
    DESC_2,
    DETECT_1,
    DETECT_2,
    DETECT_3,
    SCORE_0,
    SCORE_1,
    SCORE_2,
    NUM_LAYERS
};

/* Sizes that differ between the models of the family. */
enum { ONE, C1, C2, C3, C4, C_SUM, C_DESC, C_DETECT, FOUR, NUM_SIZES };

typedef struct {
    const char *name, *norm;
    int c_in, c_out; /* of the enum above */
    size_t kernel, stride;
    bool relu;
    size_t scale; /* of the output, 1 / scale of the image */
} layer_row;

static const layer_row layers[NUM_LAYERS] = {
    [STEM_0] = {"block1.0.layer.0", "block1.0.layer.1", ONE, C1, 4, 2, true, 2},
    [STEM_1] = {"block1.1.layer.0", "block1.1.layer.1", C1, C2, 3, 1, true, 2},
    [STAGE1_A] = {"block1.2.layer.0", "block1.2.layer.1", C2, C2, 3, 1, true, 2},
    [STAGE1_B] = {"block1.2.layer.3", "block1.2.layer.4", C2, C2, 3, 1, true, 2},
    [STAGE2_A] = {"block2.layer.0", "block2.layer.1", C2, C3, 3, 1, true, 8},
    [STAGE2_B] = {"block2.layer.3", "block2.layer.4", C3, C3, 3, 1, true, 8},
    [STAGE2_SKIP] = {"block2.skip", NULL, C2, C3, 1, 1, false, 8},
    [STAGE3_A] = {"block3.layer.0", "block3.layer.1", C3, C4, 3, 1, true, 32},
    [STAGE3_B] = {"block3.layer.3", "block3.layer.4", C4, C4, 3, 1, true, 32},
    [STAGE3_SKIP] = {"block3.skip", NULL, C3, C4, 1, 1, false, 32},
    [DESC_0] = {"desc_head.0", NULL, C_SUM, C_SUM, 1, 1, false, 4},
    [DESC_1] = {"desc_head.1.layer.0", "desc_head.1.layer.1", C_SUM, C_SUM, 3, 1, true, 4},
    [DESC_2] = {"desc_head.2", NULL, C_SUM, C_DESC, 1, 1, false, 4},
    [DETECT_1] = {"conv1", NULL, C2, C_DETECT, 1, 1, false, 2},
    [DETECT_2] = {"conv2", NULL, C3, C_DETECT, 1, 1, false, 8},
    [DETECT_3] = {"conv3", NULL, C4, C_DETECT, 1, 1, false, 32},
    [SCORE_0] = {"score_head.0", NULL, C_DETECT, C_DETECT, 3, 1, true, 2},
    [SCORE_1] = {"score_head.2", NULL, C_DETECT, C_DETECT, 3, 1, true, 2},
    [SCORE_2] = {"score_head.4", NULL, C_DETECT, FOUR, 3, 1, false, 2},
};

typedef struct {
    psfm_engine *nn;
    size_t sizes[NUM_SIZES];
    psfm_conv convs[NUM_LAYERS];
    psfm_map given, image;
    psfm_map a, b, skip;
    psfm_map x1, x2, x3;         /* at 1/2, 1/8, 1/32 */
    psfm_map quarter, pooled;    /* x1 at 1/4; what stage 2 or 3 takes */
    psfm_map enlarged, together; /* for the descriptors */
    psfm_map descriptors, detect, squares, scores;
    psfm_peak_list peaks;
} edgepoint2;

/* Reads a size off the first or second dimension of a tensor. */
static psfm_status read_size(psfm_context *ctx, const psfm_safetensors *file, const char *tensor,
                             int dim, size_t *size) {
    const psfm_tensor_info *info = psfm_safetensors_find(file, tensor);
    if (info == NULL || info->num_dims != 4 || info->dims[dim] == 0 ||
        info->dims[dim] > MAX_CHANNELS)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: tensor %s is missing or no convolution",
                         psfm_safetensors_name(file), tensor);
    *size = info->dims[dim];
    return PSFM_OK;
}

static psfm_status read_sizes(psfm_context *ctx, const psfm_safetensors *file, size_t *sizes) {
    static const struct {
        int size;
        const char *tensor;
    } table[] = {
        {C1, "block1.0.layer.0.weight"}, {C2, "block1.1.layer.0.weight"},
        {C3, "block2.layer.0.weight"},   {C4, "block3.layer.0.weight"},
        {C_DESC, "desc_head.2.weight"},  {C_DETECT, "conv1.weight"},
    };
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < sizeof table / sizeof *table; ++k)
        status = read_size(ctx, file, table[k].tensor, 0, &sizes[table[k].size]);
    sizes[ONE] = 1;
    sizes[FOUR] = 4;
    sizes[C_SUM] = sizes[C2] + sizes[C3] + sizes[C4];
    return status;
}

static psfm_conv_shape make_shape(const edgepoint2 *m, int layer) {
    const layer_row *l = &layers[layer];
    size_t groups = layer == DESC_1 ? m->sizes[C_SUM] / 16 : 1;
    return (psfm_conv_shape){
        m->sizes[l->c_in], m->sizes[l->c_out], l->kernel, l->stride, groups, l->relu};
}

static psfm_status load_weights(psfm_context *ctx, const psfm_safetensors *file, void *network) {
    edgepoint2 *m = network;
    psfm_status status = read_sizes(ctx, file, m->sizes);
    if (status == PSFM_OK && m->sizes[C_SUM] % 16 != 0)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: %zu channels do not make groups of 16",
                         psfm_safetensors_name(file), m->sizes[C_SUM]);
    for (int k = 0; status == PSFM_OK && k < NUM_LAYERS; ++k) {
        psfm_conv_shape shape = make_shape(m, k);
        status = psfm_conv_load(ctx, file, layers[k].name, layers[k].norm, &shape, &m->convs[k]);
    }
    return status;
}

static int fit_weights(const psfm_safetensors *file, size_t dim) {
    (void)dim;
    return psfm_safetensors_find(file, "desc_head.2.weight") != NULL &&
                   psfm_safetensors_find(file, "block1.0.layer.0.weight") != NULL
               ? 2
               : 0;
}

static const psfm_network_file weights_file = {
    "EdgePoint2",
    "EdgePoint2 weights (a .safetensors file with the names of the original model, T32 to E64)", 0,
    fit_weights};

static const psfm_network_part parts[] = {
    PSFM_PART(PSFM_PART_CONV, edgepoint2, convs, convs),
    PSFM_PART(PSFM_PART_MAP, edgepoint2, given, scores),
    PSFM_PART(PSFM_PART_ARRAY, edgepoint2, peaks.peaks, peaks.counts),
};
static const psfm_network_type network_type = {&weights_file, sizeof(edgepoint2), load_weights,
                                               parts, sizeof parts / sizeof *parts};

static size_t descriptor_dim(const edgepoint2 *model) {
    return model->sizes[C_DESC];
}

typedef struct {
    const psfm_map *src;
    psfm_map *dst;
    size_t side;
} pool_job;

static void pool_task(psfm_engine *nn, const void *user, size_t y, void *memory) {
    (void)nn, (void)memory;
    const pool_job *job = user;
    size_t side = job->side, channels = job->src->channels, pitch = job->src->pitch;
    float inverse = 1.0f / (float)(side * side);
    for (size_t x = 0; x < job->dst->width; ++x) {
        float *out = job->dst->data + (y * job->dst->width + x) * pitch;
        memset(out, 0, channels * sizeof *out);
        for (size_t k = 0; k < side * side; ++k) {
            const float *in =
                job->src->data +
                ((y * side + k / side) * job->src->width + x * side + k % side) * pitch;
            for (size_t c = 0; c < channels; ++c)
                out[c] += in[c];
        }
        for (size_t c = 0; c < channels; ++c)
            out[c] *= inverse;
    }
}

/* Means of squares of side x side pixels. */
static psfm_status pool_squares(psfm_context *ctx, psfm_engine *nn, const psfm_map *src,
                                size_t side, psfm_map *dst) {
    psfm_status status =
        psfm_map_resize(ctx, dst, src->height / side, src->width / side, src->channels);
    pool_job job = {src, dst, side};
    return status == PSFM_OK ? psfm_engine_run(ctx, nn, dst->height, 0, pool_task, &job) : status;
}

/* dst = relu(second(first(src)) + skip(src)); skip < 0: src itself. */
static psfm_status run_residual(psfm_context *ctx, edgepoint2 *m, int first, int second, int skip,
                                const psfm_map *src, psfm_map *dst) {
    psfm_status status = psfm_conv_run(ctx, m->nn, &m->convs[first], src, NULL, &m->a);
    if (status == PSFM_OK && skip >= 0)
        status = psfm_conv_run(ctx, m->nn, &m->convs[skip], src, NULL, &m->skip);
    psfm_conv_extras extras = {.add = skip >= 0 ? &m->skip : src};
    return status == PSFM_OK ? psfm_conv_run(ctx, m->nn, &m->convs[second], &m->a, &extras, dst)
                             : status;
}

static psfm_status run_stages(psfm_context *ctx, edgepoint2 *m) {
    psfm_status status = psfm_conv_run(ctx, m->nn, &m->convs[STEM_0], &m->image, NULL, &m->a);
    if (status == PSFM_OK)
        status = psfm_conv_run(ctx, m->nn, &m->convs[STEM_1], &m->a, NULL, &m->b);
    if (status == PSFM_OK)
        status = run_residual(ctx, m, STAGE1_A, STAGE1_B, -1, &m->b, &m->x1);
    if (status == PSFM_OK)
        status = pool_squares(ctx, m->nn, &m->x1, 2, &m->quarter);
    if (status == PSFM_OK)
        status = pool_squares(ctx, m->nn, &m->quarter, 2, &m->pooled);
    if (status == PSFM_OK)
        status = run_residual(ctx, m, STAGE2_A, STAGE2_B, STAGE2_SKIP, &m->pooled, &m->x2);
    if (status == PSFM_OK)
        status = pool_squares(ctx, m->nn, &m->x2, 4, &m->pooled);
    if (status == PSFM_OK)
        status = run_residual(ctx, m, STAGE3_A, STAGE3_B, STAGE3_SKIP, &m->pooled, &m->x3);
    return status;
}

/* Copies a map into channels begin .. of another of the same size. */
static void put_channels(const psfm_map *src, size_t begin, psfm_map *dst) {
    for (size_t k = 0; k < src->height * src->width; ++k)
        memcpy(dst->data + k * dst->pitch + begin, src->data + k * src->pitch,
               src->channels * sizeof *src->data);
}

static psfm_status run_descriptors(psfm_context *ctx, edgepoint2 *m) {
    const psfm_map *sources[3] = {&m->quarter, &m->x2, &m->x3};
    size_t h = m->quarter.height, w = m->quarter.width, begin = 0;
    psfm_status status = psfm_map_resize(ctx, &m->together, h, w, m->sizes[C_SUM]);
    for (int k = 0; status == PSFM_OK && k < 3; ++k) {
        if (k > 0)
            status = psfm_map_resize_bilinear(ctx, m->nn, sources[k],
                                              &(psfm_resize){h, w, PSFM_RESIZE_CENTERS, false},
                                              &m->enlarged);
        if (status == PSFM_OK)
            put_channels(k > 0 ? &m->enlarged : sources[k], begin, &m->together);
        begin += sources[k]->channels;
    }
    if (status == PSFM_OK)
        status = psfm_conv_run(ctx, m->nn, &m->convs[DESC_0], &m->together, NULL, &m->a);
    if (status == PSFM_OK)
        status = psfm_conv_run(ctx, m->nn, &m->convs[DESC_1], &m->a, NULL, &m->b);
    if (status == PSFM_OK)
        status = psfm_conv_run(ctx, m->nn, &m->convs[DESC_2], &m->b, NULL, &m->descriptors);
    return status;
}

static psfm_status run_scores(psfm_context *ctx, edgepoint2 *m) {
    size_t h = m->x1.height, w = m->x1.width;
    psfm_status status = psfm_conv_run(ctx, m->nn, &m->convs[DETECT_1], &m->x1, NULL, &m->detect);
    const psfm_map *sources[2] = {&m->x2, &m->x3};
    for (int k = 0; status == PSFM_OK && k < 2; ++k) {
        status = psfm_conv_run(ctx, m->nn, &m->convs[DETECT_2 + k], sources[k], NULL, &m->a);
        if (status == PSFM_OK)
            status = psfm_map_resize_bilinear(
                ctx, m->nn, &m->a, &(psfm_resize){h, w, PSFM_RESIZE_CENTERS, true}, &m->detect);
    }
    if (status == PSFM_OK)
        status = psfm_conv_run(ctx, m->nn, &m->convs[SCORE_0], &m->detect, NULL, &m->a);
    if (status == PSFM_OK)
        status = psfm_conv_run(ctx, m->nn, &m->convs[SCORE_1], &m->a, NULL, &m->b);
    if (status == PSFM_OK)
        status = psfm_conv_run(ctx, m->nn, &m->convs[SCORE_2], &m->b, NULL, &m->squares);
    if (status == PSFM_OK)
        status = psfm_map_resize(ctx, &m->scores, 2 * h, 2 * w, 1);
    for (size_t k = 0; status == PSFM_OK && k < h * w * 4; ++k)
        m->scores.data[(k / 4 / w * 2 + k % 4 / 2) * 2 * w + k / 4 % w * 2 + k % 2] =
            m->squares.data[k / 4 * m->squares.pitch + k % 4];
    return status;
}

static psfm_status detect_peaks(psfm_context *ctx, edgepoint2 *m,
                                const psfm_neural_options *options) {
    psfm_peak_rule rule = {NMS_RADIUS, BORDER, (float)options->threshold};
    psfm_status status = psfm_peaks_find(ctx, m->nn, &m->scores, &rule, &m->peaks);
    return status == PSFM_OK ? psfm_peaks_keep_best(ctx, &m->peaks, (size_t)options->max_keypoints)
                             : status;
}

static psfm_status describe_peaks(psfm_context *ctx, edgepoint2 *m, const psfm_gray_view *image,
                                  bool subpixel, psfm_keypoint_set *f) {
    size_t w = m->scores.width, h = m->scores.height;
    float scale_x = (float)(image->width - 1) / (float)(w - 1);
    float scale_y = (float)(image->height - 1) / (float)(h - 1);
    float(*positions)[2];
    psfm_status status = PSFM_ALLOC(ctx, f->num, &positions);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < f->num; ++k) {
        size_t index = m->peaks.peaks[k].index, row = index / w;
        float x = (float)(index % w), y = (float)row;
        f->scores[k] = m->peaks.peaks[k].score;
        float shift[2] = {0, 0};
        if (subpixel)
            psfm_peak_offset(&m->scores, index, false, shift);
        f->keypoints[k] = psfm_keypoint_make((x + shift[0]) * scale_x + 0.5f,
                                             (y + shift[1]) * scale_y + 0.5f, 1, 0);
        positions[k][0] = (x + 0.5f) / 4 - 0.5f;
        positions[k][1] = (y + 0.5f) / 4 - 0.5f;
    }
    status = psfm_map_sample_unit(ctx, m->nn, &m->descriptors, PSFM_SAMPLE_BILINEAR, f->num,
                                  (const float(*)[2])positions, f->descriptors_f32);
    free(positions);
    return status;
}

static psfm_status extract_features(psfm_context *ctx, void *network, const psfm_gray_view *image,
                                    const psfm_neural_options *options,
                                    psfm_keypoint_set *features) {
    edgepoint2 *model = network;
    psfm_status status = psfm_gray_to_multiple(ctx, model->nn, image, MULTIPLE, PSFM_RESIZE_CORNERS,
                                               &model->given, &model->image);
    if (status == PSFM_OK)
        status = psfm_map_standardise(ctx, model->nn, &model->image);
    if (status == PSFM_OK)
        status = run_stages(ctx, model);
    if (status == PSFM_OK)
        status = run_descriptors(ctx, model);
    if (status == PSFM_OK)
        status = run_scores(ctx, model);
    if (status == PSFM_OK)
        status = detect_peaks(ctx, model, options);
    if (status == PSFM_OK)
        status = psfm_neural_features_init(ctx, model->peaks.num, descriptor_dim(model), features);
    if (status == PSFM_OK)
        status = describe_peaks(ctx, model, image, options->subpixel, features);
    return status;
}

const psfm_neural_detector psfm_edgepoint2_detector = {.network = &network_type,
                                                       .options = &psfm_edgepoint2_option_table,
                                                       .min_side = MULTIPLE,
                                                       .min_similarity = -1,
                                                       .max_ratio = 0.95,
                                                       .extract = extract_features};
