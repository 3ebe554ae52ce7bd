#include "nn_util.h"

#include "match/cosine.h"

static psfm_neural_features make_features(psfm_context *ctx, psfm_rng *rng, size_t num,
                                          size_t dim) {
    psfm_neural_features f;
    psfm_gray_view image = {(const uint8_t *)"", 10, 10, 10};
    assert_ok(ctx, psfm_neural_features_init(ctx, &image, num, dim, &f));
    for (size_t k = 0; k < num; ++k) {
        double length = 0;
        for (size_t c = 0; c < dim; ++c) {
            f.descriptors[k * dim + c] = (float)psfm_rng_normal(rng);
            length += pow(f.descriptors[k * dim + c], 2);
        }
        for (size_t c = 0; c < dim; ++c)
            f.descriptors[k * dim + c] /= (float)sqrt(length);
    }
    return f;
}

static double cosine(const psfm_neural_features *a, size_t i, const psfm_neural_features *b,
                     size_t j) {
    double sum = 0;
    for (size_t c = 0; c < a->dim; ++c)
        sum += (double)a->descriptors[i * a->dim + c] * b->descriptors[j * b->dim + c];
    return sum;
}

static void finds_mutual_neighbours(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(61, PSFM_RNG_TEST, 0, 0);
    psfm_neural_features a = make_features(ctx, &rng, 150, 8), b = make_features(ctx, &rng, 77, 8);
    psfm_neural_matches first = {0};
    for (int threads = 1; threads <= 3; ++threads) {
        psfm_engine *nn;
        psfm_neural_matches matches;
        psfm_context_set_threads(ctx, threads);
        assert_ok(ctx, psfm_engine_create(ctx, &nn));
        assert_ok(ctx, psfm_cosine_match(ctx, nn, &a, &b, 0.7, &matches));
        psfm_engine_destroy(&nn);
        if (threads == 1) {
            first = matches;
            continue;
        }
        assert_int_equal(matches.num, first.num);
        assert_memory_equal(matches.pairs, first.pairs, first.num * sizeof *first.pairs);
        psfm_neural_matches_free(&matches);
    }
    size_t num = 0;
    for (size_t i = 0; i < a.num; ++i) {
        size_t best = 0, back = 0;
        for (size_t j = 1; j < b.num; ++j)
            best = cosine(&a, i, &b, j) > cosine(&a, i, &b, best) ? j : best;
        for (size_t k = 1; k < a.num; ++k)
            back = cosine(&a, k, &b, best) > cosine(&a, back, &b, best) ? k : back;
        if (back != i || cosine(&a, i, &b, best) <= 0.7)
            continue;
        assert_true(num < first.num);
        assert_int_equal(first.pairs[num][0], i);
        assert_int_equal(first.pairs[num][1], best);
        assert_close(first.confidence[num++], cosine(&a, i, &b, best), 1e-6);
    }
    assert_int_equal(num, first.num);
    assert_true(num > 10);
    psfm_neural_matches_free(&first);
    psfm_neural_features_free(&a), psfm_neural_features_free(&b);
    psfm_context_destroy(&ctx);
}

/* Of equal scores the first wins, in rows and in columns. */
static void equal_scores_go_to_the_first(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    float z[3 * 16];
    for (int k = 0; k < 48; ++k)
        z[k] = 0.5f;
    psfm_score_matrix scores = {3, 4, 16, z, 1, NULL, NULL};
    psfm_neural_matches matches;
    assert_ok(ctx, psfm_mutual_matches(ctx, nn, &scores, true, 0, &matches));
    assert_int_equal(matches.num, 1);
    assert_int_equal(matches.pairs[0][0], 0);
    assert_int_equal(matches.pairs[0][1], 0);
    psfm_neural_matches_free(&matches);
    /* Shifts count, and confidences are exponentials. */
    const float rows[3] = {0, 1, 0}, columns[4] = {0, 0, -2, 0.25f};
    scores = (psfm_score_matrix){3, 4, 16, z, 2, rows, columns};
    assert_ok(ctx, psfm_mutual_matches(ctx, nn, &scores, false, 0, &matches));
    assert_int_equal(matches.num, 1);
    assert_int_equal(matches.pairs[0][0], 1);
    assert_int_equal(matches.pairs[0][1], 3);
    assert_close(matches.confidence[0], exp(2 * 0.5 + 1 + 0.25), 1e-5);
    psfm_neural_matches_free(&matches);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

static void empty_and_wrong_input(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(62, PSFM_RNG_TEST, 0, 0);
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    psfm_neural_features a = make_features(ctx, &rng, 3, 8), none = make_features(ctx, &rng, 0, 8);
    psfm_neural_features other = make_features(ctx, &rng, 3, 4);
    psfm_neural_matches matches;
    assert_ok(ctx, psfm_cosine_match(ctx, nn, &a, &none, -1, &matches));
    assert_int_equal(matches.num, 0);
    assert_int_equal(psfm_cosine_match(ctx, nn, &a, &other, -1, &matches), PSFM_ERR_ARGUMENT);
    psfm_neural_features_free(&a), psfm_neural_features_free(&none);
    psfm_neural_features_free(&other);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_mutual_neighbours),
        cmocka_unit_test(equal_scores_go_to_the_first),
        cmocka_unit_test(empty_and_wrong_input),
    };
    return nn_run_tests("match/cosine", tests);
}
