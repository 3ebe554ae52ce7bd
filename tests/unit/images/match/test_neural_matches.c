#include "nn_util.h"

#include "images/match/neural_matches.h"

enum { M = 150, N = 77, LD = 80 };

/* The pair that is best for row i, if it is best for its column too. */
static bool is_mutual(const psfm_score_matrix *s, size_t i, size_t *best) {
    size_t back = 0;
    *best = 0;
    for (size_t j = 1; j < N; ++j)
        if (s->gain * s->z[i * LD + j] + s->column_shift[j] >
            s->gain * s->z[i * LD + *best] + s->column_shift[*best])
            *best = j;
    for (size_t k = 1; k < M; ++k)
        if (s->gain * s->z[k * LD + *best] + s->row_shift[k] >
            s->gain * s->z[back * LD + *best] + s->row_shift[back])
            back = k;
    return back == i;
}

static void finds_mutual_maxima(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(61, PSFM_RNG_TEST, 0, 0);
    float *z = nn_new(M * LD, 4), rows[M], columns[N];
    for (size_t k = 0; k < M * LD; ++k)
        z[k] = (float)psfm_rng_normal(&rng);
    for (size_t k = 0; k < M; ++k)
        rows[k] = (float)psfm_rng_normal(&rng) - 4;
    for (size_t k = 0; k < N; ++k)
        columns[k] = (float)psfm_rng_normal(&rng);
    psfm_score_matrix scores = {M, N, LD, z, 1.5f, rows, columns};
    for (int threads = 1; threads <= 3; threads += 2) {
        psfm_engine *nn;
        psfm_neural_matches matches;
        psfm_context_set_threads(ctx, threads);
        assert_ok(ctx, psfm_engine_create(ctx, &nn));
        assert_ok(ctx, psfm_mutual_matches(ctx, nn, &scores, 0.2f, &matches));
        size_t num = 0, best;
        for (size_t i = 0; i < M; ++i) {
            bool mutual = is_mutual(&scores, i, &best);
            double confidence = exp(1.5 * z[i * LD + best] + rows[i] + columns[best]);
            if (!mutual || confidence <= 0.2)
                continue;
            assert_true(num < matches.list.num);
            assert_int_equal(matches.list.matches[num][0], i);
            assert_int_equal(matches.list.matches[num][1], best);
            assert_close(matches.confidence[num++], confidence, 1e-5 * confidence);
        }
        assert_int_equal(num, matches.list.num);
        assert_true(num > 10);
        psfm_neural_matches_free(&matches);
        psfm_engine_destroy(&nn);
    }
    free(z);
    psfm_context_destroy(&ctx);
}

/* Of equal scores the first wins, in rows and in columns; no scores, no matches. */
static void equal_and_no_scores(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_engine *nn;
    assert_ok(ctx, psfm_engine_create(ctx, &nn));
    float z[3 * 16];
    for (int k = 0; k < 48; ++k)
        z[k] = 0.5f;
    const float zero[16] = {0};
    psfm_score_matrix scores = {3, 4, 16, z, 1, zero, zero};
    psfm_neural_matches matches;
    assert_ok(ctx, psfm_mutual_matches(ctx, nn, &scores, 0, &matches));
    assert_int_equal(matches.list.num, 1);
    assert_int_equal(matches.list.matches[0][0], 0);
    assert_int_equal(matches.list.matches[0][1], 0);
    psfm_neural_matches_free(&matches);
    for (int k = 0; k < 48; ++k)
        z[k] = NAN;
    assert_ok(ctx, psfm_mutual_matches(ctx, nn, &scores, 0, &matches));
    assert_int_equal(matches.list.num, 0);
    psfm_neural_matches_free(&matches);
    scores.num_columns = 0;
    assert_ok(ctx, psfm_mutual_matches(ctx, nn, &scores, 0, &matches));
    assert_int_equal(matches.list.num, 0);
    psfm_neural_matches_free(&matches);
    psfm_engine_destroy(&nn);
    psfm_context_destroy(&ctx);
}

static size_t prune(double confident, size_t at_least, const float *values, size_t num,
                    uint32_t *last) {
    psfm_context *ctx = psfm_context_create();
    psfm_neural_matches m = {{nn_new(num, sizeof *m.list.matches), num},
                             nn_new(num, sizeof *m.confidence)};
    for (uint32_t k = 0; k < num; ++k) {
        m.list.matches[k][0] = m.list.matches[k][1] = k;
        m.confidence[k] = values[k];
    }
    assert_ok(ctx, psfm_neural_matches_prune(ctx, confident, at_least, &m));
    size_t left = m.list.num;
    *last = left == 0 ? 0 : m.list.matches[left - 1][1];
    for (size_t k = 0; k < left; ++k)
        assert_true(m.confidence[k] == values[m.list.matches[k][0]]);
    psfm_neural_matches_free(&m);
    psfm_context_destroy(&ctx);
    return left;
}

static void sure_matches_stay_and_enough_of_the_others(void **state) {
    (void)state;
    static const float values[6] = {0.9f, 0.2f, 0.5f, 0.3f, 0.3f, 0.1f};
    uint32_t last;
    assert_int_equal(prune(0.4, 0, values, 6, &last), 2);
    assert_int_equal(last, 2);
    assert_int_equal(prune(0.4, 2, values, 6, &last), 2);
    assert_int_equal(prune(0.4, 3, values, 6, &last), 4); /* equals stay together */
    assert_int_equal(last, 4);
    assert_int_equal(prune(0.4, 5, values, 6, &last), 5);
    assert_int_equal(last, 4);
    assert_int_equal(prune(0.4, 100, values, 6, &last), 6);
    assert_int_equal(prune(0, 0, values, 6, &last), 6);
    assert_int_equal(prune(0.95, 0, values, 6, &last), 0);
    assert_int_equal(prune(0.4, 0, values, 0, &last), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_mutual_maxima),
        cmocka_unit_test(equal_and_no_scores),
        cmocka_unit_test(sure_matches_stay_and_enough_of_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
