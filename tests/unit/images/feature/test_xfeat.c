#include "nn_util.h"

#include "images/feature/detector.h"

#define CELL 8

/* As the originals place keypoints. */
static psfm_neural_options at_pixels;

static const struct {
    const char *name;
    size_t in, out, kernel, stride;
    bool norm; /* a batch norm and ReLU follow */
} layers[] = {
    {"block1.0", 1, 4, 3, 1, true},           {"block1.1", 4, 8, 3, 2, true},
    {"block1.2", 8, 8, 3, 1, true},           {"block1.3", 8, 24, 3, 2, true},
    {"skip1.1", 1, 24, 1, 1, false},          {"block2.0", 24, 24, 3, 1, true},
    {"block2.1", 24, 24, 3, 1, true},         {"block3.0", 24, 64, 3, 2, true},
    {"block3.1", 64, 64, 3, 1, true},         {"block3.2", 64, 64, 1, 1, true},
    {"block4.0", 64, 64, 3, 2, true},         {"block4.1", 64, 64, 3, 1, true},
    {"block4.2", 64, 64, 3, 1, true},         {"block5.0", 64, 128, 3, 2, true},
    {"block5.1", 128, 128, 3, 1, true},       {"block5.2", 128, 128, 3, 1, true},
    {"block5.3", 128, 64, 1, 1, true},        {"block_fusion.0", 64, 64, 3, 1, true},
    {"block_fusion.1", 64, 64, 3, 1, true},   {"block_fusion.2", 64, 64, 1, 1, false},
    {"heatmap_head.0", 64, 64, 1, 1, true},   {"heatmap_head.1", 64, 64, 1, 1, true},
    {"heatmap_head.2", 64, 1, 1, 1, false},   {"keypoint_head.0", 64, 64, 1, 1, true},
    {"keypoint_head.1", 64, 64, 1, 1, true},  {"keypoint_head.2", 64, 64, 1, 1, true},
    {"keypoint_head.3", 64, 65, 1, 1, false},
};

/* As the original code saves it: batch norms apart, "net." before the names. */
static nn_file *make_weights(void) {
    nn_file *file = nn_file_make(21);
    for (size_t k = 0; k < sizeof layers / sizeof *layers; ++k) {
        char name[128], norm[128];
        snprintf(name, sizeof name, "net.%s%s", layers[k].name, layers[k].norm ? ".layer.0" : "");
        snprintf(norm, sizeof norm, "net.%s.layer.1", layers[k].name);
        nn_add_layer(file, name, layers[k].out, layers[k].in, layers[k].kernel);
        if (layers[k].norm)
            nn_add_norm(file, norm, layers[k].out, false);
    }
    nn_write(file);
    return file;
}

/* Runs layers `first` to `last` one after the other. */
static nn_plain run(const nn_file *file, const char *first, const char *last, const nn_plain *in) {
    nn_plain x = *in;
    size_t k = 0;
    while (strcmp(layers[k].name, first) != 0)
        ++k;
    for (;; ++k) {
        char name[128], norm[128];
        snprintf(name, sizeof name, "net.%s%s", layers[k].name, layers[k].norm ? ".layer.0" : "");
        snprintf(norm, sizeof norm, "net.%s.layer.1", layers[k].name);
        nn_plain out = nn_plain_conv(
            file, name, layers[k].norm ? norm : NULL, &x,
            (nn_shape){layers[k].out, layers[k].kernel, layers[k].stride, 1, layers[k].norm});
        if (x.v != in->v)
            free(x.v);
        x = out;
        if (strcmp(layers[k].name, last) == 0)
            return x;
    }
}

static void add_to(nn_plain *a, nn_plain b) {
    for (size_t k = 0; k < a->h * a->w * a->c; ++k)
        a->v[k] += b.v[k];
    free(b.v);
}

typedef struct {
    nn_plain features, heat, scores;
} outputs;

static outputs run_plain(const nn_file *file, const nn_plain *image) {
    nn_plain x1 = run(file, "block1.0", "block1.3", image);
    nn_plain small = nn_plain_pool(image, 4, false);
    add_to(&x1, run(file, "skip1.1", "skip1.1", &small));
    nn_plain x3 = run(file, "block2.0", "block3.2", &x1);
    nn_plain x4 = run(file, "block4.0", "block4.2", &x3);
    nn_plain x5 = run(file, "block5.0", "block5.3", &x4);
    add_to(&x3, nn_plain_enlarge(&x4, 2));
    add_to(&x3, nn_plain_enlarge(&x5, 4));
    outputs out = {.features = run(file, "block_fusion.0", "block_fusion.2", &x3)};
    out.heat = run(file, "heatmap_head.0", "heatmap_head.2", &out.features);
    nn_plain cells = nn_plain_make(image->h / CELL, image->w / CELL, 64);
    for (size_t k = 0; k < image->h * image->w; ++k) {
        size_t y = k / image->w, x = k % image->w;
        nn_at(&cells, y / CELL, x / CELL)[y % CELL * CELL + x % CELL] = image->v[k];
    }
    nn_plain logits = run(file, "keypoint_head.0", "keypoint_head.3", &cells);
    out.scores = nn_plain_make(image->h, image->w, 1);
    for (size_t k = 0; k < logits.h * logits.w; ++k) {
        double sum = 0, length = 0;
        for (size_t c = 0; c < 65; ++c)
            sum += exp(logits.v[k * 65 + c]);
        for (size_t c = 0; c < 64; ++c)
            *nn_at(&out.scores, k / logits.w * CELL + c / CELL, k % logits.w * CELL + c % CELL) =
                exp(logits.v[k * 65 + c]) / sum;
        for (size_t c = 0; c < 64; ++c)
            length += pow(out.features.v[k * 64 + c], 2);
        for (size_t c = 0; c < 64; ++c)
            out.features.v[k * 64 + c] /= sqrt(length);
        out.heat.v[k] = 1 / (1 + exp(-out.heat.v[k]));
    }
    free(x1.v), free(small.v), free(x3.v), free(x4.v), free(x5.v), free(cells.v), free(logits.v);
    return out;
}

/* The image at w x h, mean 0 and variance 1. */
static nn_plain prepare(const uint8_t *pixels, size_t w0, size_t h0, size_t w, size_t h) {
    nn_plain image = nn_plain_make(h, w, 1);
    double mean = 0, variance = 0, num = (double)(w * h);
    for (size_t k = 0; k < w * h; ++k) {
        double x = ((double)(k % w) + 0.5) * (double)w0 / (double)w - 0.5;
        double y = ((double)(k / w) + 0.5) * (double)h0 / (double)h - 0.5;
        size_t x0 = (size_t)fmax(0, x), y0 = (size_t)fmax(0, y);
        double fx = fmax(0, x) - (double)x0, fy = fmax(0, y) - (double)y0;
        size_t x1 = x0 + 1 < w0 ? x0 + 1 : x0, y1 = y0 + 1 < h0 ? y0 + 1 : y0;
        image.v[k] = ((1 - fy) * ((1 - fx) * pixels[y0 * w0 + x0] + fx * pixels[y0 * w0 + x1]) +
                      fy * ((1 - fx) * pixels[y1 * w0 + x0] + fx * pixels[y1 * w0 + x1])) /
                     255;
        mean += image.v[k] / num;
    }
    for (size_t k = 0; k < w * h; ++k)
        variance += pow(image.v[k] - mean, 2) / num;
    for (size_t k = 0; k < w * h; ++k)
        image.v[k] = (image.v[k] - mean) / sqrt(variance + 1e-5);
    return image;
}

static double place(double x, size_t full, size_t size) {
    return x * (double)size / ((double)full - 1) - 0.5;
}

static double pixel(const nn_plain *m, double x, double y, size_t c) {
    return x < 0 || y < 0 || x >= (double)m->w || y >= (double)m->h
               ? 0
               : nn_at(m, (size_t)y, (size_t)x)[c];
}

static double keys(double t) {
    const double a = -0.75;
    t = fabs(t);
    return t < 1   ? (a + 2) * t * t * t - (a + 3) * t * t + 1
           : t < 2 ? a * (t * t * t - 5 * t * t + 8 * t - 4)
                   : 0;
}

static void check_keypoint(const outputs *o, double x, double y, float score,
                           const float *descriptor) {
    double hx = place(x, o->scores.w, o->heat.w), hy = place(y, o->scores.h, o->heat.h);
    double reliability = 0, expected[64] = {0}, length = 0;
    for (int k = 0; k < 16; ++k) {
        double px = floor(hx) + k % 4 - 1, py = floor(hy) + k / 4 - 1;
        double linear = fmax(0, 1 - fabs(px - hx)) * fmax(0, 1 - fabs(py - hy));
        reliability += linear * pixel(&o->heat, px, py, 0);
        for (size_t c = 0; c < 64; ++c)
            expected[c] += keys(px - hx) * keys(py - hy) * pixel(&o->features, px, py, c);
    }
    /* Nearest is the pixel itself, except in the last row and column, where it is outside. */
    double nx = nearbyint(place(x, o->scores.w, o->scores.w));
    double ny = nearbyint(place(y, o->scores.h, o->scores.h));
    assert_close(score, pixel(&o->scores, nx, ny, 0) * reliability, 1e-5);
    for (size_t c = 0; c < 64; ++c)
        length += expected[c] * expected[c];
    for (size_t c = 0; c < 64; ++c)
        assert_close(descriptor[c], expected[c] / sqrt(length), 5e-5);
}

static bool is_peak(const nn_plain *m, size_t y, size_t x) {
    for (int k = 0; k < 25; ++k) {
        size_t py = y + (size_t)(k / 5 - 2), px = x + (size_t)(k % 5 - 2);
        if (py < m->h && px<m->w && * nn_at(m, py, px)> * nn_at(m, y, x))
            return false;
    }
    return true;
}

static void agrees_with_definition(void **state) {
    (void)state;
    enum { W0 = 101, H0 = 70, W = 96, H = 64 };
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(22, PSFM_RNG_TEST, 0, 0);
    nn_file *file = make_weights();
    uint8_t *pixels = nn_image(&rng, W0, H0, W0);
    nn_plain image = prepare(pixels, W0, H0, W, H);
    outputs expected = run_plain(file, &image);
    psfm_gray_view view = {pixels, W0, H0, W0};
    psfm_keypoint_set first = {0};
    for (int threads = 1; threads <= 3; threads += 2) {
        psfm_engine *nn;
        void *model;
        psfm_keypoint_set features;
        psfm_context_set_threads(ctx, threads);
        assert_ok(ctx, psfm_engine_create(ctx, &nn));
        assert_ok(ctx,
                  psfm_network_create(ctx, psfm_xfeat_detector.network, nn, file->path, &model));
        assert_ok(ctx, psfm_neural_extract(ctx, &psfm_xfeat_detector, model, &view, &at_pixels,
                                           &features));
        psfm_network_destroy(psfm_xfeat_detector.network, &model);
        psfm_engine_destroy(&nn);
        if (threads == 1) {
            first = features;
            continue;
        }
        assert_int_equal(features.num, first.num);
        assert_memory_equal(features.keypoints, first.keypoints,
                            first.num * sizeof *first.keypoints);
        assert_memory_equal(features.descriptors_f32, first.descriptors_f32,
                            first.num * 64 * sizeof(float));
        psfm_keypoint_set_free(&features);
    }
    size_t num = 0;
    for (size_t k = 1; k < W * H; ++k)
        num += expected.scores.v[k] > 0.05 && is_peak(&expected.scores, k / W, k % W);
    assert_true(num > 20);
    /* Keypoints of the last row and column score zero and are dropped. */
    assert_in_range(first.num, num - 5, num);
    for (size_t k = 0; k < first.num; ++k) {
        double x = first.keypoints[k].x * (double)W / W0 - 0.5;
        double y = first.keypoints[k].y * (double)H / H0 - 0.5;
        assert_close(x, nearbyint(x), 1e-4);
        assert_close(y, nearbyint(y), 1e-4);
        assert_true(is_peak(&expected.scores, (size_t)nearbyint(y), (size_t)nearbyint(x)));
        assert_true(k == 0 || first.scores[k] <= first.scores[k - 1]);
        check_keypoint(&expected, nearbyint(x), nearbyint(y), first.scores[k],
                       first.descriptors_f32 + k * 64);
    }
    psfm_keypoint_set_free(&first);
    free(image.v), free(pixels);
    free(expected.features.v), free(expected.heat.v), free(expected.scores.v);
    nn_file_drop(file);
    psfm_context_destroy(&ctx);
}

static void refuses_nonsense(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn;
    void *model;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    assert_int_equal(
        psfm_network_create(ctx, psfm_xfeat_detector.network, nn, "/nonexistent", &model),
        PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "XFeat weights"));
    nn_file *other = nn_file_make(1);
    nn_add_layer(other, "block1.0", 4, 1, 3);
    nn_write(other);
    assert_int_equal(psfm_network_create(ctx, psfm_xfeat_detector.network, nn, other->path, &model),
                     PSFM_ERR_FORMAT);
    assert_null(model);
    assert_non_null(strstr(psfm_context_message(ctx), "block1.1.weight is missing"));
    nn_file_drop(other);
    nn_file *file = make_weights();
    assert_ok(ctx, psfm_network_create(ctx, psfm_xfeat_detector.network, nn, file->path, &model));
    const uint8_t pixels[40 * 40] = {0};
    psfm_gray_view small = {pixels, 40, 31, 40}, flat = {pixels, 40, 40, 40};
    psfm_keypoint_set features;
    assert_int_equal(psfm_neural_extract(ctx, &psfm_xfeat_detector, model, &small, NULL, &features),
                     PSFM_ERR_ARGUMENT);
    assert_ok(ctx, psfm_neural_extract(ctx, &psfm_xfeat_detector, model, &flat, NULL, &features));
    for (size_t k = 0; k < features.num * 64; ++k)
        assert_true(isfinite(features.descriptors_f32[k]));
    psfm_keypoint_set_free(&features);
    psfm_network_destroy(psfm_xfeat_detector.network, &model);
    nn_file_drop(file);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

int main(void) {
    psfm_options_init(psfm_xfeat_detector.options, &at_pixels);
    at_pixels.subpixel = false;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_definition),
        cmocka_unit_test(refuses_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
