/* Networks behind one interface: the same features as the networks' own functions. */
#include "../../../bench/network_weights.h"
#include "base/parallel.h"
#include "feature/detector.h"
#include "nn_util.h"

enum { WIDTH = 96, HEIGHT = 64, NUM_IMAGES = 6 };

static psfm_context *ctx;
static uint8_t *pixels[NUM_IMAGES];

static psfm_gray_view view(size_t k) {
    return (psfm_gray_view){pixels[k], WIDTH, HEIGHT, WIDTH};
}

static void make_file(psfm_feature_kind kind, weights_file *w) {
    weights_open(w, 7);
    if (kind == PSFM_FEATURES_SUPERPOINT)
        weights_superpoint(w);
    else if (kind == PSFM_FEATURES_XFEAT)
        weights_xfeat(w);
    else
        weights_edgepoint2(w);
    weights_close(w, NULL);
}

static psfm_detector_options make_options(psfm_feature_kind kind) {
    psfm_detector_options options;
    psfm_detector_options_init(&options);
    options.kind = (int)kind;
    options.superpoint.max_keypoints = options.xfeat.max_keypoints =
        options.edgepoint2.max_keypoints = 40;
    options.superpoint.threshold = options.xfeat.threshold = 0;
    options.edgepoint2.threshold = -1000;
    return options;
}

/* By the network's own function. */
static void extract_plainly(const psfm_detector_options *o, const char *path, size_t k,
                            psfm_keypoint_set *out) {
    psfm_engine *nn;
    psfm_superpoint *superpoint = NULL;
    psfm_xfeat *xfeat = NULL;
    psfm_edgepoint2 *edgepoint2 = NULL;
    psfm_gray_view image = view(k);
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    if (o->kind == PSFM_FEATURES_SUPERPOINT) {
        assert_ok(ctx, psfm_superpoint_create(ctx, nn, path, &superpoint));
        assert_ok(ctx, psfm_superpoint_extract(ctx, superpoint, &image, &o->superpoint, out));
    } else if (o->kind == PSFM_FEATURES_XFEAT) {
        assert_ok(ctx, psfm_xfeat_create(ctx, nn, path, &xfeat));
        assert_ok(ctx, psfm_xfeat_extract(ctx, xfeat, &image, &o->xfeat, out));
    } else {
        assert_ok(ctx, psfm_edgepoint2_create(ctx, nn, path, &edgepoint2));
        assert_ok(ctx, psfm_edgepoint2_extract(ctx, edgepoint2, &image, &o->edgepoint2, out));
    }
    psfm_superpoint_destroy(&superpoint);
    psfm_xfeat_destroy(&xfeat);
    psfm_edgepoint2_destroy(&edgepoint2);
    psfm_engine_destroy(&nn);
}

static void assert_same(const psfm_keypoint_set *a, const psfm_keypoint_set *b) {
    assert_int_equal(a->num, 40);
    assert_int_equal(a->num, b->num);
    assert_int_equal(a->descriptor_size, b->descriptor_size);
    assert_memory_equal(a->keypoints, b->keypoints, a->num * sizeof *a->keypoints);
    assert_memory_equal(a->scores, b->scores, a->num * sizeof *a->scores);
    assert_memory_equal(a->descriptors_f32, b->descriptors_f32,
                        a->num * a->descriptor_size * sizeof(float));
}

typedef struct {
    psfm_detectors *detectors;
    psfm_keypoint_set sets[NUM_IMAGES];
} detection;

static psfm_status extract(psfm_context *worker_ctx, size_t index, int worker, void *user) {
    (void)worker;
    detection *d = user;
    psfm_gray_view image = view(index);
    return psfm_detectors_extract(worker_ctx, d->detectors, &image, &d->sets[index]);
}

/* Fewer networks than threads, several threads a network, one of each. */
static void features_are_the_networks_own(void **state) {
    (void)state;
    static const struct {
        int threads;
        size_t num_images;
        double max_pixels;
    } settings[] = {{4, NUM_IMAGES, WIDTH * HEIGHT}, {4, 1, WIDTH * HEIGHT}, {3, NUM_IMAGES, 1e12}};
    for (int kind = PSFM_FEATURES_SUPERPOINT; kind < PSFM_NUM_FEATURE_KINDS; ++kind) {
        weights_file w;
        psfm_detector_options o = make_options((psfm_feature_kind)kind);
        make_file((psfm_feature_kind)kind, &w);
        for (size_t s = 0; s < sizeof settings / sizeof *settings; ++s) {
            detection d = {0};
            psfm_context_set_threads(ctx, settings[s].threads);
            assert_ok(ctx, psfm_detectors_create(ctx, &o, w.path, settings[s].num_images,
                                                 settings[s].max_pixels, &d.detectors));
            assert_ok(ctx, psfm_parallel_for(ctx, NULL, NUM_IMAGES, extract, &d));
            for (size_t k = 0; k < NUM_IMAGES; k += NUM_IMAGES - 1) {
                psfm_keypoint_set plain;
                extract_plainly(&o, w.path, k, &plain);
                assert_same(&plain, &d.sets[k]);
                psfm_keypoint_set_free(&plain);
            }
            for (size_t k = 0; k < NUM_IMAGES; ++k)
                psfm_keypoint_set_free(&d.sets[k]);
            psfm_detectors_destroy(&d.detectors);
        }
        unlink(w.path);
    }
}

static void failures(void **state) {
    (void)state;
    weights_file w;
    psfm_detectors *detectors;
    psfm_keypoint_set set;
    psfm_detector_options o = make_options(PSFM_FEATURES_XFEAT);
    make_file(PSFM_FEATURES_XFEAT, &w);
    o.xfeat.max_keypoints = 0;
    assert_int_equal(psfm_detectors_create(ctx, &o, w.path, 1, 1e6, &detectors), PSFM_ERR_ARGUMENT);
    assert_null(detectors);
    o.xfeat.max_keypoints = 10;
    assert_int_equal(psfm_detectors_create(ctx, &o, "/nonexistent", 1, 1e6, &detectors),
                     PSFM_ERR_IO);
    assert_null(detectors);
    assert_ok(ctx, psfm_detectors_create(ctx, &o, w.path, 1, 1e6, &detectors));
    psfm_gray_view small = {pixels[0], 31, HEIGHT, WIDTH};
    assert_int_equal(psfm_detectors_extract(ctx, detectors, &small, &set), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "too small for XFeat"));
    assert_int_equal(set.num, 0);
    psfm_detectors_destroy(&detectors);
    unlink(w.path);
}

static void names(void **state) {
    (void)state;
    for (int kind = 0; kind < PSFM_NUM_FEATURE_KINDS; ++kind)
        assert_int_equal(psfm_feature_kind_find(psfm_feature_names[kind]), kind);
    assert_int_equal(psfm_feature_kind_find("orb"), PSFM_NUM_FEATURE_KINDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_the_networks_own),
        cmocka_unit_test(failures),
        cmocka_unit_test(names),
    };
    ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(9, PSFM_RNG_TEST, 0, 0);
    for (size_t k = 0; k < NUM_IMAGES; ++k)
        pixels[k] = nn_image(&rng, WIDTH, HEIGHT, WIDTH);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (size_t k = 0; k < NUM_IMAGES; ++k)
        free(pixels[k]);
    psfm_context_destroy(&ctx);
    return failed;
}
