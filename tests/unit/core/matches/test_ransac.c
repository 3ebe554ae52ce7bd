#include "test_util.h"

#include "core/matches/ransac.h"
#include "unit/core/twoview/twoview_util.h"

static void iterations_follow_the_confidence(void **state) {
    (void)state;
    /* log(1e-4) / log(1 - 0.6^4) = 66.4 */
    assert_int_equal(psfm_ransac_iterations(0.6, 4, 0.9999, 1000), 67);
    assert_int_equal(psfm_ransac_iterations(0.6, 4, 0.9999, 50), 50);
    assert_int_equal(psfm_ransac_iterations(1.0, 4, 0.9999, 50), 1);
    assert_int_equal(psfm_ransac_iterations(0.0, 4, 0.9999, 50), 50);
    assert_int_equal(psfm_ransac_iterations(NAN, 4, 0.9999, 50), 50);
    assert_int_equal(psfm_ransac_iterations(1e-60, 5, 0.9999, 50), 50);
}

static double binomial(int n, int k) {
    double v = 1.0;
    for (int i = 1; i <= k; ++i)
        v = v * (n - k + i) / i;
    return v;
}

static void false_alarms_by_hand(void **state) {
    (void)state;
    psfm_chance_group e = {20, 8, -3.0};
    double expected = 16.0 * binomial(20, 8) * binomial(8, 4) * 1e-12;
    assert_close(psfm_log10_false_alarms(&e, 1, 4), log10(expected), 1e-9);
    /* two groups; the sample comes from the first */
    psfm_chance_group two[2] = {{10, 5, -3.0}, {30, 6, -0.5}};
    expected = 36.0 * binomial(10, 5) * binomial(30, 6) * binomial(11, 4) * 1e-3 * 1e-3;
    assert_close(psfm_log10_false_alarms(two, 2, 4), log10(expected), 1e-9);
    psfm_chance_group sample_only = {20, 4, -3.0}, nothing = {0, 0, -3.0};
    assert_true(psfm_log10_false_alarms(&sample_only, 1, 4) == 0.0);
    assert_true(psfm_log10_false_alarms(&nothing, 1, 4) == 0.0);
}

static void more_inliers_are_less_likely_chance(void **state) {
    (void)state;
    double last = 10.0;
    for (size_t k = 5; k < 60; ++k) {
        psfm_chance_group e = {100, k, -4.0};
        double value = psfm_log10_false_alarms(&e, 1, 4);
        assert_true(value < last);
        last = value;
    }
}

static void spatial_order_joins_neighbours(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 400;
    scene s = scene_make(&o, 1);
    psfm_ray_pairs pairs = pairs_of(&s);
    uint32_t order[400];
    bool seen[400] = {false};
    assert_ok(NULL, psfm_spatial_order(NULL, &pairs, order));
    double along = 0.0, across = 0.0;
    for (size_t i = 0; i < 400; ++i) {
        assert_false(seen[order[i]]);
        seen[order[i]] = true;
        const double *a = pairs.xy1[order[i]], *b = pairs.xy1[order[(i + 1) % 400]];
        const double *p = pairs.xy1[i], *q = pairs.xy1[(i + 1) % 400];
        along += hypot(a[0] - b[0], a[1] - b[1]);
        across += hypot(p[0] - q[0], p[1] - q[1]);
    }
    assert_below(along, 0.25 * across);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void windows_give_distinct_neighbours(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    uint32_t order[100], out[4];
    for (uint32_t i = 0; i < 100; ++i)
        order[i] = 1000 + i;
    bool low = false, high = false;
    for (int round = 0; round < 2000; ++round) {
        psfm_sample_window(&rng, order, 100, 10, 4, out);
        for (int a = 0; a < 4; ++a) {
            assert_true(out[a] >= 1000 && out[a] < 1100);
            low = low || out[a] == 1000;
            high = high || out[a] == 1099;
            for (int b = 0; b < a; ++b) {
                assert_int_not_equal(out[a], out[b]);
                assert_true(abs((int)out[a] - (int)out[b]) < 10);
            }
        }
    }
    assert_true(low && high);
    psfm_sample_window(&rng, order, 4, 24, 4, out); /* fewer than the window */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterations_follow_the_confidence),
        cmocka_unit_test(false_alarms_by_hand),
        cmocka_unit_test(more_inliers_are_less_likely_chance),
        cmocka_unit_test(spatial_order_joins_neighbours),
        cmocka_unit_test(windows_give_distinct_neighbours),
    };
    return cmocka_run_group_tests_name("matches/ransac", tests, NULL, NULL);
}
