/* The choice of a matcher; full-sized networks load and match; threads do not matter. */
#include "../bench/network_weights.h"
#include "core/base/parallel.h"
#include "images/match/neural_matcher.h"
#include "nn_util.h"
#include "run_defaults.h"

static psfm_context *ctx;

static psfm_matcher_kind resolve(psfm_feature_kind features, psfm_matcher_kind asked,
                                 const psfm_network_file **file) {
    psfm_matcher_kind kind;
    assert_ok(ctx, psfm_matcher_resolve(ctx, features, asked, &kind, file));
    return kind;
}

static void features_and_matchers_go_together(void **state) {
    (void)state;
    const psfm_network_file *file;
    psfm_matcher_kind kind;
    assert_int_equal(resolve(PSFM_FEATURES_SIFT, PSFM_MATCHER_AUTO, &file), PSFM_MATCHER_NEAREST);
    assert_null(file);
    assert_int_equal(resolve(PSFM_FEATURES_EDGEPOINT2, PSFM_MATCHER_AUTO, &file),
                     PSFM_MATCHER_NEAREST);
    assert_null(file);
    assert_int_equal(resolve(PSFM_FEATURES_SUPERPOINT, PSFM_MATCHER_AUTO, &file),
                     PSFM_MATCHER_SUPERGLUE);
    assert_ptr_equal(file, &psfm_superglue_file);
    assert_int_equal(resolve(PSFM_FEATURES_SUPERPOINT, PSFM_MATCHER_LIGHTGLUE, &file),
                     PSFM_MATCHER_LIGHTGLUE);
    assert_ptr_equal(file, &psfm_lightglue_superpoint_file);
    assert_int_equal(resolve(PSFM_FEATURES_XFEAT, PSFM_MATCHER_AUTO, &file),
                     PSFM_MATCHER_LIGHTGLUE);
    assert_ptr_equal(file, &psfm_lightglue_xfeat_file);
    assert_int_equal(resolve(PSFM_FEATURES_XFEAT, PSFM_MATCHER_NEAREST, &file),
                     PSFM_MATCHER_NEAREST);
    assert_int_equal(
        psfm_matcher_resolve(ctx, PSFM_FEATURES_SIFT, PSFM_MATCHER_SUPERGLUE, &kind, &file),
        PSFM_ERR_ARGUMENT);
    assert_int_equal(
        psfm_matcher_resolve(ctx, PSFM_FEATURES_EDGEPOINT2, PSFM_MATCHER_LIGHTGLUE, &kind, &file),
        PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "cannot match edgepoint2 features"));
}

/* Images of the same points in another order and with noise; image 3 has none. */
enum { NUM_IMAGES = 4, NUM_POINTS = 60 };

static void make_images(size_t dim, psfm_keypoint_set sets[NUM_IMAGES],
                        psfm_neural_input inputs[NUM_IMAGES]) {
    for (uint32_t i = 0; i < NUM_IMAGES; ++i) {
        size_t num = i == 3 ? 0 : NUM_POINTS;
        assert_ok(ctx, psfm_neural_features_init(ctx, num, dim, &sets[i]));
        inputs[i] = (psfm_neural_input){&sets[i], 640, 480};
        for (size_t k = 0; k < num; ++k) {
            size_t point = (k + 7 * i) % NUM_POINTS;
            psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, (uint32_t)point, 0);
            psfm_rng noise = psfm_rng_make(6, PSFM_RNG_TEST, (uint32_t)point, i);
            float *d = sets[i].descriptors_f32 + k * dim;
            double norm = 0;
            for (size_t c = 0; c < dim; ++c) {
                d[c] = (float)(psfm_rng_normal(&rng) + 0.1 * psfm_rng_normal(&noise));
                norm += (double)d[c] * d[c];
            }
            for (size_t c = 0; c < dim; ++c)
                d[c] /= (float)sqrt(norm);
            sets[i].keypoints[k] =
                psfm_keypoint_make((float)psfm_rng_range(&rng, 0, 640) + (float)i,
                                   (float)psfm_rng_range(&rng, 0, 480), 1, 0);
            sets[i].scores[k] = 0.5F;
        }
    }
}

static uint32_t pair_rows[][2] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {2, 1}};
enum { NUM_PAIRS = 5 };

typedef struct {
    psfm_matchers *matchers;
    const psfm_neural_input *inputs;
    psfm_match_list *out;
} pair_matching;

static psfm_status match_pair(psfm_context *worker_ctx, size_t index, int worker, void *user) {
    const pair_matching *m = user;
    const uint32_t *pair = pair_rows[index];
    return psfm_matchers_run(worker_ctx, m->matchers, worker, &m->inputs[pair[0]],
                             &m->inputs[pair[1]], &m->out[index]);
}

/* Matches all pairs with this many threads. */
static void match(psfm_matcher_kind kind, const char *path, const psfm_neural_input *inputs,
                  int threads, psfm_match_list out[NUM_PAIRS]) {
    psfm_matcher_options options = default_matcher();
    pair_matching m = {.inputs = inputs, .out = out};
    options.superglue.threshold = options.lightglue.threshold = 0;
    psfm_context_set_threads(ctx, threads);
    memset(out, 0, NUM_PAIRS * sizeof *out);
    assert_ok(ctx, psfm_matchers_create(ctx, kind, &options, path, threads, &m.matchers));
    assert_int_equal(psfm_matchers_num(m.matchers), kind == PSFM_MATCHER_NEAREST ? 0 : threads);
    assert_ok(ctx, psfm_parallel_for(ctx, NULL, NUM_PAIRS, match_pair, &m));
    psfm_matchers_destroy(&m.matchers);
    assert_null(m.matchers);
}

/* Matches with one and with three threads; returns the number of matches of all pairs. */
static size_t match_twice(psfm_matcher_kind kind, const char *path, size_t dim) {
    psfm_keypoint_set sets[NUM_IMAGES];
    psfm_neural_input inputs[NUM_IMAGES];
    psfm_match_list one[NUM_PAIRS], three[NUM_PAIRS];
    size_t num = 0;
    make_images(dim, sets, inputs);
    match(kind, path, inputs, 1, one);
    match(kind, path, inputs, 3, three);
    for (size_t k = 0; k < NUM_PAIRS; ++k) {
        assert_int_equal(one[k].num, three[k].num);
        if (one[k].num > 0)
            assert_memory_equal(one[k].matches, three[k].matches,
                                one[k].num * sizeof *one[k].matches);
        num += one[k].num;
        psfm_match_list_free(&one[k]);
        psfm_match_list_free(&three[k]);
    }
    for (size_t i = 0; i < NUM_IMAGES; ++i)
        psfm_keypoint_set_free(&sets[i]);
    return num;
}

static void nearest_neighbours_find_the_points(void **state) {
    (void)state;
    assert_int_equal(match_twice(PSFM_MATCHER_NEAREST, NULL, 32), 4 * NUM_POINTS);
}

static void superglue_of_its_size(void **state) {
    (void)state;
    weights_file w;
    weights_open(&w, 3);
    weights_superglue(&w, 2);
    weights_close(&w, NULL);
    assert_true(match_twice(PSFM_MATCHER_SUPERGLUE, w.path, 256) > 0);
    unlink(w.path);
}

/* Full LightGlue as published for SuperPoint (descriptors as they are) and for ALIKED and DISK
 * (128 floats through a first layer), and its small version for XFeat. */
static void lightglue_of_all_sizes(void **state) {
    (void)state;
    static const struct {
        size_t layers, dim, heads, dim_in, expected;
    } sizes[] = {{9, 256, 4, 0, 256}, {9, 256, 4, 128, 128}, {6, 96, 1, 64, 64}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        weights_file w;
        psfm_engine *nn;
        psfm_lightglue *model;
        weights_open(&w, 3);
        weights_lightglue(&w, sizes[k].layers, sizes[k].dim, sizes[k].heads, sizes[k].dim_in);
        weights_close(&w, NULL);
        assert_ok(ctx, psfm_engine_create(ctx, &nn));
        assert_ok(ctx, psfm_network_create(ctx, &psfm_lightglue_network, nn, w.path, &model));
        assert_int_equal(psfm_lightglue_dim(model), sizes[k].expected);
        psfm_network_destroy(&psfm_lightglue_network, &model);
        psfm_engine_destroy(&nn);
        assert_true(match_twice(PSFM_MATCHER_LIGHTGLUE, w.path, sizes[k].expected) > 0);
        unlink(w.path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_and_matchers_go_together),
        cmocka_unit_test(nearest_neighbours_find_the_points),
        cmocka_unit_test(superglue_of_its_size),
        cmocka_unit_test(lightglue_of_all_sizes),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
