#include "nn_util.h"

#include "images/feature/detector.h"

#define CELL 8

/* As the originals place keypoints. */
static psfm_neural_options at_pixels;

static const struct {
    const char *name;
    size_t in, out, kernel;
} layers[] = {
    {"encoder.conv_blocks.0.conv_a", 1, 64, 3},
    {"encoder.conv_blocks.0.conv_b", 64, 64, 3},
    {"encoder.conv_blocks.1.conv_a", 64, 64, 3},
    {"encoder.conv_blocks.1.conv_b", 64, 64, 3},
    {"encoder.conv_blocks.2.conv_a", 64, 128, 3},
    {"encoder.conv_blocks.2.conv_b", 128, 128, 3},
    {"encoder.conv_blocks.3.conv_a", 128, 128, 3},
    {"encoder.conv_blocks.3.conv_b", 128, 128, 3},
    {"keypoint_decoder.conv_score_a", 128, 256, 3},
    {"keypoint_decoder.conv_score_b", 256, 65, 1},
    {"descriptor_decoder.conv_descriptor_a", 128, 256, 3},
    {"descriptor_decoder.conv_descriptor_b", 256, 256, 1},
};

static nn_file *make_weights(const char *prefix) {
    nn_file *file = nn_file_make(11);
    for (size_t k = 0; k < 12; ++k) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", prefix, layers[k].name);
        nn_add_layer(file, name, layers[k].out, layers[k].in, layers[k].kernel);
    }
    nn_write(file);
    return file;
}

static nn_plain run_layer(const nn_file *file, size_t layer, nn_plain in, bool drop) {
    nn_plain out = nn_plain_conv(
        file, layers[layer].name, NULL, &in,
        (nn_shape){layers[layer].out, layers[layer].kernel, 1, 1, layers[layer].kernel == 3});
    if (drop)
        free(in.v);
    return out;
}

/* The whole network by definition: score map and normalised descriptor map. */
static void run_plain(const nn_file *file, const uint8_t *pixels, size_t w, size_t h, size_t stride,
                      nn_plain *scores, nn_plain *descriptors) {
    nn_plain x = nn_plain_make(h, w, 1);
    for (size_t k = 0; k < w * h; ++k)
        x.v[k] = pixels[k / w * stride + k % w] / 255.0;
    for (size_t k = 0; k < 8; ++k) {
        x = run_layer(file, k, x, true);
        if (k % 2 == 1 && k < 7) {
            nn_plain pooled = nn_plain_pool(&x, 2, true);
            free(x.v);
            x = pooled;
        }
    }
    nn_plain logits = run_layer(file, 9, run_layer(file, 8, x, false), true);
    *descriptors = run_layer(file, 11, run_layer(file, 10, x, true), true);
    *scores = nn_plain_make(logits.h * CELL, logits.w * CELL, 1);
    for (size_t k = 0; k < logits.h * logits.w; ++k) {
        double sum = 0, length = 0;
        for (size_t c = 0; c < 65; ++c)
            sum += exp(logits.v[k * 65 + c]);
        for (size_t c = 0; c < 64; ++c)
            *nn_at(scores, k / logits.w * CELL + c / CELL, k % logits.w * CELL + c % CELL) =
                exp(logits.v[k * 65 + c]) / sum;
        for (size_t c = 0; c < 256; ++c)
            length += pow(descriptors->v[k * 256 + c], 2);
        for (size_t c = 0; c < 256; ++c)
            descriptors->v[k * 256 + c] /= sqrt(length);
    }
    free(logits.v);
}

/* Whether v is the largest of its square window. */
static bool is_peak(const nn_plain *m, size_t y, size_t x, int radius) {
    for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) {
            size_t py = y + (size_t)dy, px = x + (size_t)dx;
            if (py < m->h && px<m->w && * nn_at(m, py, px)> * nn_at(m, y, x))
                return false;
        }
    return true;
}

static bool near_mark(const nn_plain *mask, size_t y, size_t x, int radius) {
    for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) {
            size_t py = y + (size_t)dy, px = x + (size_t)dx;
            if (py < mask->h && px<mask->w && * nn_at(mask, py, px)> 0)
                return true;
        }
    return false;
}

static nn_plain suppress(const nn_plain *scores, int radius) {
    size_t h = scores->h, w = scores->w;
    nn_plain mask = nn_plain_make(h, w, 1), left = nn_plain_make(h, w, 1);
    for (size_t k = 0; k < h * w; ++k)
        mask.v[k] = is_peak(scores, k / w, k % w, radius);
    for (int round = 0; round < 2; ++round) {
        for (size_t k = 0; k < h * w; ++k)
            left.v[k] = near_mark(&mask, k / w, k % w, radius) ? 0 : scores->v[k];
        for (size_t k = 0; k < h * w; ++k)
            if (left.v[k] > 0 && is_peak(&left, k / w, k % w, radius))
                mask.v[k] = 1;
    }
    free(left.v);
    return mask;
}

static void check_descriptor(const nn_plain *map, double x, double y, const float *descriptor) {
    double gx = (x - 3.5) / ((double)map->w * CELL - 4.5) * (double)(map->w - 1);
    double gy = (y - 3.5) / ((double)map->h * CELL - 4.5) * (double)(map->h - 1);
    double out[256] = {0}, length = 0;
    for (int k = 0; k < 4; ++k) {
        double fx = floor(gx) + k % 2, fy = floor(gy) + k / 2;
        if (fx < 0 || fy < 0 || fx >= (double)map->w || fy >= (double)map->h)
            continue;
        double weight = (1 - fabs(gx - fx)) * (1 - fabs(gy - fy));
        for (size_t c = 0; c < 256; ++c)
            out[c] += weight * nn_at(map, (size_t)fy, (size_t)fx)[c];
    }
    for (size_t c = 0; c < 256; ++c)
        length += out[c] * out[c];
    for (size_t c = 0; c < 256; ++c)
        assert_close(descriptor[c], out[c] / sqrt(length), 2e-5);
}

typedef struct {
    psfm_context *ctx;
    psfm_engine *nn;
    nn_file *file;
    void *model;
} fixture;

static fixture set_up(const char *prefix, int threads) {
    fixture f = {.ctx = psfm_context_create(), .file = make_weights(prefix)};
    psfm_context_set_threads(f.ctx, threads);
    assert_ok(f.ctx, psfm_engine_create(f.ctx, &f.nn));
    assert_ok(f.ctx, psfm_network_create(f.ctx, psfm_superpoint_detector.network, f.nn,
                                         f.file->path, &f.model));
    return f;
}

static void tear_down(fixture *f) {
    psfm_network_destroy(psfm_superpoint_detector.network, &f->model);
    assert_null(f->model);
    psfm_engine_destroy(&f->nn);
    nn_file_drop(f->file);
    psfm_context_destroy(&f->ctx);
}

static void agrees_with_definition(void **state) {
    (void)state;
    enum { W = 59, H = 44, STRIDE = 64 };
    fixture f = set_up("", 2);
    psfm_rng rng = psfm_rng_make(12, PSFM_RNG_TEST, 0, 0);
    uint8_t *pixels = nn_image(&rng, W, H, STRIDE);
    nn_plain scores, descriptors;
    run_plain(f.file, pixels, W, H, STRIDE, &scores, &descriptors);
    psfm_gray_view image = {pixels, W, H, STRIDE};
    psfm_keypoint_set features;
    assert_ok(f.ctx, psfm_neural_extract(f.ctx, &psfm_superpoint_detector, f.model, &image,
                                         &at_pixels, &features));
    assert_int_equal(features.descriptor_size, 256);
    nn_plain mask = suppress(&scores, 4);
    size_t num = 0;
    for (size_t y = 4; y + 4 < scores.h; ++y)
        for (size_t x = 4; x + 4 < scores.w; ++x) {
            if (*nn_at(&mask, y, x) == 0 || *nn_at(&scores, y, x) <= 0.005)
                continue;
            assert_true(num < features.num);
            assert_close(features.keypoints[num].x, (double)x + 0.5, 0);
            assert_close(features.keypoints[num].y, (double)y + 0.5, 0);
            assert_close(features.scores[num], *nn_at(&scores, y, x), 1e-5);
            check_descriptor(&descriptors, (double)x, (double)y,
                             features.descriptors_f32 + num * 256);
            ++num;
        }
    assert_int_equal(num, features.num);
    assert_true(num > 10);
    psfm_keypoint_set_free(&features);
    free(mask.v), free(scores.v), free(descriptors.v), free(pixels);
    tear_down(&f);
}

/* The best k, sorted; a detector inside a matcher's file; the same bytes for 1 and 3 threads. */
static void keeps_the_best(void **state) {
    (void)state;
    enum { W = 120, H = 72 };
    psfm_rng rng = psfm_rng_make(13, PSFM_RNG_TEST, 0, 0);
    uint8_t *pixels = nn_image(&rng, W, H, W);
    psfm_gray_view image = {pixels, W, H, W};
    psfm_neural_options options;
    psfm_options_init(psfm_superpoint_detector.options, &options);
    psfm_keypoint_set all, best[2];
    for (int k = 0; k < 2; ++k) {
        fixture f = set_up("keypoint_detector.", k == 0 ? 1 : 3);
        options.max_keypoints = 20;
        assert_ok(f.ctx, psfm_neural_extract(f.ctx, &psfm_superpoint_detector, f.model, &image,
                                             &options, &best[k]));
        options.max_keypoints = 100000;
        if (k == 0)
            assert_ok(f.ctx, psfm_neural_extract(f.ctx, &psfm_superpoint_detector, f.model, &image,
                                                 &options, &all));
        tear_down(&f);
    }
    assert_int_equal(best[0].num, 20);
    assert_true(all.num > 20);
    size_t above = 0;
    for (size_t k = 0; k < all.num; ++k)
        above += all.scores[k] >= best[0].scores[19];
    assert_int_equal(above, 20);
    for (size_t k = 1; k < 20; ++k)
        assert_true(best[0].scores[k] <= best[0].scores[k - 1]);
    assert_memory_equal(best[0].keypoints, best[1].keypoints, 20 * sizeof *best[0].keypoints);
    assert_memory_equal(best[0].scores, best[1].scores, 20 * sizeof(float));
    assert_memory_equal(best[0].descriptors_f32, best[1].descriptors_f32, 20 * 256 * sizeof(float));
    psfm_keypoint_set_free(&all);
    psfm_keypoint_set_free(&best[0]);
    psfm_keypoint_set_free(&best[1]);
    free(pixels);
}

static void refuses_nonsense(void **state) {
    (void)state;
    fixture f = set_up("", 1);
    const uint8_t pixels[64 * 64] = {0};
    psfm_keypoint_set features;
    psfm_gray_view image = {pixels, 15, 64, 64};
    assert_int_equal(
        psfm_neural_extract(f.ctx, &psfm_superpoint_detector, f.model, &image, NULL, &features),
        PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(f.ctx), "15 x 64"));
    image = (psfm_gray_view){NULL, 64, 64, 64};
    assert_int_equal(
        psfm_neural_extract(f.ctx, &psfm_superpoint_detector, f.model, &image, NULL, &features),
        PSFM_ERR_ARGUMENT);
    image = (psfm_gray_view){pixels, (size_t)1 << 40, 64, (size_t)1 << 40};
    assert_int_equal(
        psfm_neural_extract(f.ctx, &psfm_superpoint_detector, f.model, &image, NULL, &features),
        PSFM_ERR_ARGUMENT);
    psfm_neural_options options;
    psfm_options_init(psfm_superpoint_detector.options, &options);
    options.threshold = NAN;
    image = (psfm_gray_view){pixels, 64, 64, 64};
    assert_int_equal(
        psfm_neural_extract(f.ctx, &psfm_superpoint_detector, f.model, &image, &options, &features),
        PSFM_ERR_ARGUMENT);
    options.threshold = 1;
    assert_ok(f.ctx, psfm_neural_extract(f.ctx, &psfm_superpoint_detector, f.model, &image,
                                         &options, &features));
    assert_int_equal(features.num, 0);
    psfm_keypoint_set_free(&features);
    void *other;
    assert_int_equal(
        psfm_network_create(f.ctx, psfm_superpoint_detector.network, f.nn, "/nonexistent", &other),
        PSFM_ERR_IO);
    assert_null(other);
    assert_non_null(strstr(psfm_context_message(f.ctx), "SuperPoint weights"));
    tear_down(&f);
}

int main(void) {
    psfm_options_init(psfm_superpoint_detector.options, &at_pixels);
    at_pixels.subpixel = false;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_definition),
        cmocka_unit_test(keeps_the_best),
        cmocka_unit_test(refuses_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
