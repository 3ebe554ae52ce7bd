#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/linalg/sim3.h"

enum { MAX = 3000 };
static double x[MAX][3], y[MAX][3];

static psfm_sim3 random_similarity(psfm_rng *rng) {
    psfm_sim3 s = {.scale = psfm_rng_range(rng, 0.1, 10)};
    double w[3];
    psfm_rng_direction(rng, w);
    psfm_scale3(psfm_rng_range(rng, 0, M_PI), w, w);
    psfm_rotation_exp(w, s.R);
    for (int k = 0; k < 3; ++k)
        s.t[k] = 100 * psfm_rng_normal(rng);
    return s;
}

/* Points in the unit cube, or the unit square if flat, and their images. */
static psfm_sim3 make_points(psfm_rng *rng, size_t num, bool flat) {
    psfm_sim3 s = random_similarity(rng);
    for (size_t k = 0; k < num; ++k) {
        for (int i = 0; i < 3; ++i)
            x[k][i] = flat && i == 2 ? 0.0 : psfm_rng_uniform(rng);
        psfm_sim3_apply(&s, x[k], y[k]);
    }
    return s;
}

static void assert_same(const psfm_sim3 *a, const psfm_sim3 *b, double tolerance) {
    assert_close(a->scale / b->scale, 1.0, tolerance);
    assert_below(psfm_rotation_angle(a->R, b->R), tolerance);
    for (int k = 0; k < 3; ++k)
        assert_close(a->t[k], b->t[k], tolerance * 100);
}

static const double (*as_const(double (*points)[3]))[3] {
    return (const double(*)[3])points;
}

static void exact_on_exact_points(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 200; ++round) {
        size_t num = round % 4 == 0 ? 3 : 3 + psfm_rng_below(&rng, 40);
        psfm_sim3 truth = make_points(&rng, num, round % 2 == 0), s;
        assert_true(psfm_sim3_fit(num, as_const(x), as_const(y), NULL, &s));
        assert_same(&s, &truth, 1e-9);
        assert_ok(ctx, psfm_sim3_fit_robust(ctx, num, as_const(x), as_const(y), &s));
        assert_same(&s, &truth, 1e-9);
    }
    psfm_context_destroy(&ctx);
}

static void weights_select_points(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    psfm_sim3 truth = make_points(&rng, 20, false), s;
    double weight[20];
    for (int k = 0; k < 20; ++k) {
        weight[k] = k % 3 == 0 ? 0.0 : 0.1 * (k + 1);
        if (k % 3 == 0)
            y[k][1] += 1000.0;
    }
    assert_true(psfm_sim3_fit(20, as_const(x), as_const(y), weight, &s));
    assert_same(&s, &truth, 1e-9);
    psfm_context_destroy(&ctx);
}

/* Least squares: no similarity nearby has a smaller sum of squares. */
static void least_squares_is_least(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    psfm_sim3 s;
    make_points(&rng, 30, false);
    for (int k = 0; k < 30; ++k)
        for (int i = 0; i < 3; ++i)
            y[k][i] += 0.3 * psfm_rng_normal(&rng);
    assert_true(psfm_sim3_fit(30, as_const(x), as_const(y), NULL, &s));
    double least = 0;
    for (int trial = 0; trial < 200; ++trial) {
        psfm_sim3 moved = s;
        double sum = 0, w[3], E[9];
        if (trial > 0) {
            moved.scale *= 1 + 1e-3 * psfm_rng_normal(&rng);
            for (int i = 0; i < 3; ++i) {
                moved.t[i] += 1e-3 * psfm_rng_normal(&rng);
                w[i] = 1e-3 * psfm_rng_normal(&rng);
            }
            psfm_rotation_exp(w, E);
            psfm_mat3_mul(E, s.R, moved.R);
        }
        for (int k = 0; k < 30; ++k) {
            double d[3];
            psfm_sim3_apply(&moved, x[k], d);
            psfm_sub3(d, y[k], d);
            sum += psfm_dot3(d, d);
        }
        if (trial == 0)
            least = sum;
        assert_true(sum >= least);
    }
    psfm_context_destroy(&ctx);
}

/* 40 % of the points moved far, half of them all the same way, which looks like structure. */
static void gross_outliers_do_not_matter(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    const size_t sizes[] = {10, 20, 46, 500, MAX};
    for (int round = 0; round < 25; ++round) {
        size_t num = sizes[round % 5];
        double noise = round % 2 == 0 ? 0.0 : 1e-3;
        psfm_sim3 truth = make_points(&rng, num, round % 3 == 0), s;
        for (size_t k = 0; k < num; ++k)
            for (int i = 0; i < 3; ++i) {
                y[k][i] += noise * truth.scale * psfm_rng_normal(&rng);
                if (k < 4 * num / 10)
                    y[k][i] += truth.scale * (k % 2 == 0 ? 3.0 : psfm_rng_range(&rng, -5, 5));
            }
        assert_ok(ctx, psfm_sim3_fit_robust(ctx, num, as_const(x), as_const(y), &s));
        for (size_t k = 4 * num / 10; k < num; ++k) {
            double d[3];
            psfm_sim3_apply(&s, x[k], d);
            psfm_sub3(d, y[k], d);
            assert_below(psfm_norm3(d), truth.scale * (1e-9 + 10 * noise));
        }
    }
    psfm_context_destroy(&ctx);
}

static void same_result_twice(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    psfm_sim3 s[2];
    make_points(&rng, 100, false);
    for (int k = 0; k < 100; ++k)
        y[k][k % 3] += psfm_rng_normal(&rng);
    for (int run = 0; run < 2; ++run) {
        psfm_context *ctx = psfm_context_create();
        assert_ok(ctx, psfm_sim3_fit_robust(ctx, 100, as_const(x), as_const(y), &s[run]));
        psfm_context_destroy(&ctx);
    }
    assert_memory_equal(&s[0], &s[1], sizeof s[0]);
}

static void undetermined_is_said(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 0, 0);
    psfm_sim3 s = {.scale = 77};
    make_points(&rng, 30, false);
    assert_false(psfm_sim3_fit(2, as_const(x), as_const(y), NULL, &s));
    assert_int_equal(psfm_sim3_fit_robust(ctx, 2, as_const(x), as_const(y), &s), PSFM_ERR_DATA);
    for (int k = 0; k < 30; ++k)
        for (int i = 0; i < 3; ++i)
            x[k][i] = y[k][i] = (i + 1) * 0.25 * k; /* on a line, without rounding */
    assert_false(psfm_sim3_fit(30, as_const(x), as_const(y), NULL, &s));
    assert_int_equal(psfm_sim3_fit_robust(ctx, 30, as_const(x), as_const(y), &s), PSFM_ERR_DATA);
    for (int k = 0; k < 30; ++k)
        for (int i = 0; i < 3; ++i)
            x[k][i] = NAN;
    assert_int_equal(psfm_sim3_fit_robust(ctx, 30, as_const(x), as_const(y), &s), PSFM_ERR_DATA);
    assert_true(s.scale == 77);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_on_exact_points),        cmocka_unit_test(weights_select_points),
        cmocka_unit_test(least_squares_is_least),       cmocka_unit_test(same_result_twice),
        cmocka_unit_test(gross_outliers_do_not_matter), cmocka_unit_test(undetermined_is_said),
    };
    return cmocka_run_group_tests_name("linalg/sim3", tests, NULL, NULL);
}
