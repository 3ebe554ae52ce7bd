#include "nn_util.h"

#include "core/base/alloc.h"
#include "images/feature/detector.h"

enum { C1 = 8, C2 = 8, C3 = 16, C4 = 24, SUM = 48, DESC = 20, DETECT = 8 };

/* As the originals place keypoints. */
static psfm_neural_options at_pixels;

static nn_file *make_weights(void) {
    static const struct {
        const char *name;
        size_t in, out, kernel;
        const char *norm;
    } layers[] = {
        {"block1.0.layer.0", 1, C1, 4, "block1.0.layer.1"},
        {"block1.1.layer.0", C1, C2, 3, "block1.1.layer.1"},
        {"block1.2.layer.0", C2, C2, 3, "block1.2.layer.1"},
        {"block1.2.layer.3", C2, C2, 3, "block1.2.layer.4"},
        {"block2.layer.0", C2, C3, 3, "block2.layer.1"},
        {"block2.layer.3", C3, C3, 3, "block2.layer.4"},
        {"block2.skip", C2, C3, 1, NULL},
        {"block3.layer.0", C3, C4, 3, "block3.layer.1"},
        {"block3.layer.3", C4, C4, 3, "block3.layer.4"},
        {"block3.skip", C3, C4, 1, NULL},
        {"desc_head.0", SUM, SUM, 1, NULL},
        {"desc_head.1.layer.0", 16, SUM, 3, "desc_head.1.layer.1"},
        {"desc_head.2", SUM, DESC, 1, NULL},
        {"conv1", C2, DETECT, 1, NULL},
        {"conv2", C3, DETECT, 1, NULL},
        {"conv3", C4, DETECT, 1, NULL},
        {"score_head.0", DETECT, DETECT, 3, NULL},
        {"score_head.2", DETECT, DETECT, 3, NULL},
        {"score_head.4", DETECT, 4, 3, NULL},
    };
    nn_file *file = nn_file_make(31);
    for (size_t k = 0; k < sizeof layers / sizeof *layers; ++k) {
        nn_add_layer(file, layers[k].name, layers[k].out, layers[k].in, layers[k].kernel);
        if (layers[k].norm != NULL)
            nn_add_norm(file, layers[k].norm, layers[k].out, true);
    }
    nn_write(file);
    return file;
}

/* Takes its input over. */
static nn_plain conv(const nn_file *f, const char *name, const char *norm, nn_plain in,
                     nn_shape shape) {
    nn_plain out = nn_plain_conv(f, name, norm, &in, shape);
    free(in.v);
    return out;
}

static nn_plain copy(const nn_plain *m) {
    nn_plain out = nn_plain_make(m->h, m->w, m->c);
    memcpy(out.v, m->v, m->h * m->w * m->c * sizeof *m->v);
    return out;
}

static void add_to(nn_plain *a, nn_plain b) {
    for (size_t k = 0; k < a->h * a->w * a->c; ++k)
        a->v[k] += b.v[k];
    free(b.v);
}

static nn_plain residual(const nn_file *f, const char *block, nn_plain in, size_t out) {
    char names[5][64];
    const char *parts[5] = {"layer.0", "layer.1", "layer.3", "layer.4", "skip"};
    for (int k = 0; k < 5; ++k)
        snprintf(names[k], sizeof names[k], "%s.%s", block, parts[k]);
    nn_plain skip = nn_values(f, names[4], "weight") == NULL
                        ? copy(&in)
                        : nn_plain_conv(f, names[4], NULL, &in, (nn_shape){out, 1, 1, 1, false});
    nn_plain x = conv(f, names[0], names[1], in, (nn_shape){out, 3, 1, 1, true});
    x = conv(f, names[2], names[3], x, (nn_shape){out, 3, 1, 1, false});
    add_to(&x, skip);
    for (size_t k = 0; k < x.h * x.w * x.c; ++k)
        x.v[k] = fmax(0, x.v[k]);
    return x;
}

static nn_plain pool(const nn_plain *in, size_t side) {
    return nn_plain_pool(in, side, false);
}

/* Score map and (not normalised) descriptor map by definition. */
static void run_plain(const nn_file *f, const nn_plain *image, nn_plain *scores, nn_plain *desc) {
    const nn_shape one = {DETECT, 1, 1, 1, false}, three = {DETECT, 3, 1, 1, true};
    nn_plain x1 =
        conv(f, "block1.0.layer.0", "block1.0.layer.1", copy(image), (nn_shape){C1, 4, 2, 1, true});
    x1 = conv(f, "block1.1.layer.0", "block1.1.layer.1", x1, (nn_shape){C2, 3, 1, 1, true});
    x1 = residual(f, "block1.2", x1, C2);
    nn_plain quarter = pool(&x1, 2);
    nn_plain x2 = residual(f, "block2", pool(&quarter, 2), C3);
    nn_plain x3 = residual(f, "block3", pool(&x2, 4), C4);
    nn_plain parts[3] = {quarter, nn_plain_enlarge(&x2, 2), nn_plain_enlarge(&x3, 8)};
    nn_plain both = nn_plain_make(quarter.h, quarter.w, SUM);
    for (size_t k = 0, begin = 0; k < 3; begin += parts[k++].c)
        for (size_t p = 0; p < both.h * both.w; ++p)
            memcpy(both.v + p * SUM + begin, parts[k].v + p * parts[k].c,
                   parts[k].c * sizeof(double));
    both = conv(f, "desc_head.0", NULL, both, (nn_shape){SUM, 1, 1, 1, false});
    both = conv(f, "desc_head.1.layer.0", "desc_head.1.layer.1", both,
                (nn_shape){SUM, 3, 1, SUM / 16, true});
    *desc = conv(f, "desc_head.2", NULL, both, (nn_shape){DESC, 1, 1, 1, false});
    nn_plain s2 = conv(f, "conv2", NULL, x2, one), s3 = conv(f, "conv3", NULL, x3, one);
    nn_plain s = conv(f, "conv1", NULL, x1, one);
    add_to(&s, nn_plain_enlarge(&s2, 4));
    add_to(&s, nn_plain_enlarge(&s3, 16));
    s = conv(f, "score_head.0", NULL, s, three);
    s = conv(f, "score_head.2", NULL, s, three);
    s = conv(f, "score_head.4", NULL, s, (nn_shape){4, 3, 1, 1, false});
    *scores = nn_plain_make(2 * s.h, 2 * s.w, 1);
    for (size_t k = 0; k < scores->h * scores->w; ++k) {
        size_t y = k / scores->w, x = k % scores->w;
        scores->v[k] = nn_at(&s, y / 2, x / 2)[y % 2 * 2 + x % 2];
    }
    for (int k = 0; k < 3; ++k)
        free(parts[k].v);
    free(s.v), free(s2.v), free(s3.v);
}

static bool is_peak(const nn_plain *m, size_t y, size_t x) {
    for (int k = 0; k < 25; ++k) {
        size_t py = y + (size_t)(k / 5 - 2), px = x + (size_t)(k % 5 - 2);
        if (py < m->h && px<m->w && * nn_at(m, py, px)> * nn_at(m, y, x))
            return false;
    }
    return true;
}

static void check_descriptor(const nn_plain *map, size_t x, size_t y, const float *descriptor) {
    double gx = ((double)x + 0.5) / 4 - 0.5, gy = ((double)y + 0.5) / 4 - 0.5;
    double out[DESC] = {0}, length = 0;
    for (int k = 0; k < 4; ++k) {
        size_t px = (size_t)gx + (size_t)(k % 2), py = (size_t)gy + (size_t)(k / 2);
        double weight = (1 - fabs(gx - (double)px)) * (1 - fabs(gy - (double)py));
        for (size_t c = 0; px < map->w && py < map->h && c < DESC; ++c)
            out[c] += weight * nn_at(map, py, px)[c];
    }
    for (size_t c = 0; c < DESC; ++c)
        length += out[c] * out[c];
    for (size_t c = 0; c < DESC; ++c)
        assert_close(descriptor[c], out[c] / sqrt(length), 5e-5);
}

static void agrees_with_definition(void **state) {
    (void)state;
    enum { W = 96, H = 64 };
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(32, PSFM_RNG_TEST, 0, 0);
    psfm_engine *nn;
    void *model;
    nn_file *file = make_weights();
    uint8_t *pixels = nn_image(&rng, W, H, W);
    nn_plain image = nn_plain_make(H, W, 1), scores, descriptors;
    double mean = 0, variance = 0;
    for (size_t k = 0; k < W * H; ++k)
        mean += pixels[k] / 255.0 / (W * H);
    for (size_t k = 0; k < W * H; ++k)
        variance += pow(pixels[k] / 255.0 - mean, 2) / (W * H);
    for (size_t k = 0; k < W * H; ++k)
        image.v[k] = (pixels[k] / 255.0 - mean) / sqrt(variance + 1e-5);
    run_plain(file, &image, &scores, &descriptors);
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    assert_ok(ctx,
              psfm_network_create(ctx, psfm_edgepoint2_detector.network, nn, file->path, &model));
    psfm_gray_view view = {pixels, W, H, W};
    psfm_keypoint_set features;
    assert_ok(ctx, psfm_neural_extract(ctx, &psfm_edgepoint2_detector, model, &view, &at_pixels,
                                       &features));
    assert_int_equal(features.descriptor_size, DESC);
    size_t num = 0;
    for (size_t y = 4; y < H - 4; ++y)
        for (size_t x = 4; x < W - 4; ++x)
            num += *nn_at(&scores, y, x) > 0 && is_peak(&scores, y, x);
    assert_int_equal(features.num, num);
    assert_true(num > 20);
    for (size_t k = 0; k < num; ++k) {
        size_t x = (size_t)features.keypoints[k].x, y = (size_t)features.keypoints[k].y;
        assert_close(features.keypoints[k].x, (double)x + 0.5, 1e-5);
        assert_close(features.keypoints[k].y, (double)y + 0.5, 1e-5);
        assert_true(is_peak(&scores, y, x));
        assert_close(features.scores[k], *nn_at(&scores, y, x), 1e-4);
        assert_true(k == 0 || features.scores[k] <= features.scores[k - 1]);
        check_descriptor(&descriptors, x, y, features.descriptors_f32 + k * DESC);
    }
    psfm_keypoint_set_free(&features);
    psfm_network_destroy(psfm_edgepoint2_detector.network, &model);
    psfm_engine_destroy(&nn);
    free(image.v), free(scores.v), free(descriptors.v), free(pixels);
    nn_file_drop(file);
    psfm_context_destroy(&ctx);
}

/* Keypoints of an image that is shrunk first lie in the image given. */
static void keypoints_are_in_the_image_given(void **state) {
    (void)state;
    enum { W = 127, H = 95 };
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(33, PSFM_RNG_TEST, 0, 0);
    nn_file *file = make_weights();
    uint8_t *pixels = nn_image(&rng, W, H, W);
    psfm_gray_view view = {pixels, W, H, W};
    psfm_keypoint_set features[2];
    for (int k = 0; k < 2; ++k) {
        psfm_engine *nn;
        void *model;
        psfm_context_set_threads(ctx, 1 + 2 * k);
        assert_ok(ctx, psfm_engine_create(ctx, &nn));
        assert_ok(ctx, psfm_network_create(ctx, psfm_edgepoint2_detector.network, nn, file->path,
                                           &model));
        assert_ok(ctx, psfm_neural_extract(ctx, &psfm_edgepoint2_detector, model, &view, &at_pixels,
                                           &features[k]));
        psfm_network_destroy(psfm_edgepoint2_detector.network, &model);
        psfm_engine_destroy(&nn);
    }
    assert_true(features[0].num > 20);
    for (size_t k = 0; k < features[0].num; ++k) {
        double x = (features[0].keypoints[k].x - 0.5) * 95 / 126;
        double y = (features[0].keypoints[k].y - 0.5) * 63 / 94;
        assert_close(x, nearbyint(x), 1e-4);
        assert_close(y, nearbyint(y), 1e-4);
        assert_in_range(nearbyint(x), 4, 91);
        assert_in_range(nearbyint(y), 4, 59);
    }
    assert_int_equal(features[0].num, features[1].num);
    assert_memory_equal(features[0].keypoints, features[1].keypoints,
                        features[0].num * sizeof *features[0].keypoints);
    assert_memory_equal(features[0].descriptors_f32, features[1].descriptors_f32,
                        features[0].num * DESC * sizeof(float));
    psfm_keypoint_set_free(&features[0]);
    psfm_keypoint_set_free(&features[1]);
    free(pixels);
    nn_file_drop(file);
    psfm_context_destroy(&ctx);
}

/* Every allocation fails once: a status, nothing left behind. */
static void survives_lack_of_memory(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(34, PSFM_RNG_TEST, 0, 0);
    nn_file *file = make_weights();
    uint8_t *pixels = nn_image(&rng, 40, 36, 40);
    psfm_gray_view view = {pixels, 40, 36, 40};
    psfm_status status = PSFM_ERR_MEMORY;
    psfm_context_set_threads(ctx, 1);
    size_t n = 1;
    for (; n < 2000 && status != PSFM_OK; ++n) {
        psfm_engine *nn;
        void *model = NULL;
        psfm_keypoint_set features = {0};
        assert_ok(ctx, psfm_engine_create(ctx, &nn));
        psfm_alloc_fail_after(n);
        status = psfm_network_create(ctx, psfm_edgepoint2_detector.network, nn, file->path, &model);
        assert_true((status == PSFM_OK) == (model != NULL));
        if (status == PSFM_OK)
            status =
                psfm_neural_extract(ctx, &psfm_edgepoint2_detector, model, &view, NULL, &features);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || (status == PSFM_ERR_MEMORY && features.num == 0));
        psfm_keypoint_set_free(&features);
        psfm_network_destroy(psfm_edgepoint2_detector.network, &model);
        psfm_engine_destroy(&nn);
    }
    assert_in_range(n, 100, 1999);
    free(pixels);
    nn_file_drop(file);
    psfm_context_destroy(&ctx);
}

static void says_what_is_missing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn;
    void *model;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    assert_int_equal(
        psfm_network_create(ctx, psfm_edgepoint2_detector.network, nn, "/nonexistent", &model),
        PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "EdgePoint2 weights"));
    nn_file *other = nn_file_make(1);
    nn_add_layer(other, "block1.0.layer.0", 8, 1, 4);
    nn_write(other);
    assert_int_equal(
        psfm_network_create(ctx, psfm_edgepoint2_detector.network, nn, other->path, &model),
        PSFM_ERR_FORMAT);
    assert_null(model);
    nn_file_drop(other);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

int main(void) {
    psfm_options_init(psfm_edgepoint2_detector.options, &at_pixels);
    at_pixels.subpixel = false;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_definition),
        cmocka_unit_test(keypoints_are_in_the_image_given),
        cmocka_unit_test(survives_lack_of_memory),
        cmocka_unit_test(says_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
