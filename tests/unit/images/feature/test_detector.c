/* Networks behind one interface: the same features as the networks' own functions. */
#include "../bench/network_weights.h"
#include "core/base/parallel.h"
#include "images/feature/detector.h"
#include "nn_util.h"
#include "run_defaults.h"

enum { WIDTH = 96, HEIGHT = 64, NUM_IMAGES = 6 };

static psfm_context *ctx;
static uint8_t *pixels[NUM_IMAGES];

static psfm_gray_view view(size_t k) {
    return (psfm_gray_view){pixels[k], WIDTH, HEIGHT, WIDTH};
}

/* Those that are tried here, and the weights of each. */
static const struct {
    psfm_feature_kind kind;
    void (*add_weights)(weights_file *w);
    double threshold; /* that every pixel passes */
} networks[] = {{PSFM_FEATURES_SUPERPOINT, weights_superpoint, 0},
                {PSFM_FEATURES_XFEAT, weights_xfeat, 0},
                {PSFM_FEATURES_EDGEPOINT2, weights_edgepoint2, -1000}};
enum { NUM_NETWORKS = sizeof networks / sizeof *networks, XFEAT = 1 };

static void make_file(int network, weights_file *w) {
    weights_open(w, 7);
    networks[network].add_weights(w);
    weights_close(w, NULL);
}

static psfm_detector_options make_options(int network) {
    const psfm_feature_kind kind = networks[network].kind;
    psfm_detector_options options = default_detector();
    options.kind = (int)kind;
    options.neural[kind].max_keypoints = 40;
    options.neural[kind].threshold = networks[network].threshold;
    return options;
}

/* By the network's own function. */
static void extract_plainly(const psfm_detector_options *o, const char *path, size_t k,
                            psfm_keypoint_set *out) {
    psfm_engine *nn;
    void *model = NULL;
    psfm_gray_view image = view(k);
    const psfm_neural_detector *detector = psfm_detector_get((psfm_feature_kind)o->kind);
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    assert_ok(ctx, psfm_network_create(ctx, detector->network, nn, path, &model));
    assert_ok(ctx, psfm_neural_extract(ctx, detector, model, &image, &o->neural[o->kind], out));
    psfm_network_destroy(detector->network, &model);
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
    detection *d = user;
    psfm_gray_view image = view(index);
    return psfm_detectors_extract(worker_ctx, d->detectors, worker, &image, &d->sets[index]);
}

/* As many networks as threads, and several threads for the one that there is memory for. */
static void features_are_the_networks_own(void **state) {
    (void)state;
    static const struct {
        int threads;
        double max_pixels;
        int expected;
    } settings[] = {{4, WIDTH * HEIGHT, 4}, {3, 1e12, 1}};
    for (int network = 0; network < NUM_NETWORKS; ++network) {
        weights_file w;
        psfm_detector_options o = make_options(network);
        make_file(network, &w);
        for (size_t s = 0; s < sizeof settings / sizeof *settings; ++s) {
            detection d = {0};
            psfm_context_set_threads(ctx, settings[s].threads);
            assert_ok(ctx, psfm_detectors_create(ctx, &o, w.path, settings[s].threads,
                                                 settings[s].max_pixels, &d.detectors));
            assert_int_equal(psfm_detectors_num(d.detectors), settings[s].expected);
            if (settings[s].expected == settings[s].threads)
                assert_ok(ctx, psfm_parallel_for(ctx, NULL, NUM_IMAGES, extract, &d));
            else
                for (size_t k = 0; k < NUM_IMAGES; ++k)
                    assert_ok(ctx, extract(ctx, k, 0, &d));
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
    psfm_detector_options o = make_options(XFEAT);
    make_file(XFEAT, &w);
    o.neural[PSFM_FEATURES_XFEAT].max_keypoints = 0;
    assert_int_equal(psfm_detectors_create(ctx, &o, w.path, 1, 1e6, &detectors), PSFM_ERR_ARGUMENT);
    assert_null(detectors);
    o.neural[PSFM_FEATURES_XFEAT].max_keypoints = 10;
    assert_int_equal(psfm_detectors_create(ctx, &o, "/nonexistent", 1, 1e6, &detectors),
                     PSFM_ERR_IO);
    assert_null(detectors);
    assert_ok(ctx, psfm_detectors_create(ctx, &o, w.path, 1, 1e6, &detectors));
    psfm_gray_view small = {pixels[0], 31, HEIGHT, WIDTH};
    assert_int_equal(psfm_detectors_extract(ctx, detectors, 0, &small, &set), PSFM_ERR_DATA);
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
