#include "test_util.h"

#include "core/twoview/point_spread.h"
#include "unit/core/twoview/twoview_util.h"

static void hull_area_of_known_shapes(void **state) {
    (void)state;
    const double square[5][2] = {{0, 0}, {10, 0}, {10, 10}, {0, 10}, {5, 5}};
    const double line[3][2] = {{0, 0}, {1, 1}, {2, 2}};
    const uint32_t triangle[3] = {0, 1, 2};
    assert_close(psfm_hull_area(square, NULL, 5), 100.0, 1e-9);
    assert_close(psfm_hull_area(square, triangle, 3), 50.0, 1e-9);
    assert_close(psfm_hull_area(line, NULL, 3), 0.0, 1e-12);
    assert_true(psfm_hull_area(square, NULL, 2) == 0.0);
    double circle[1000][2];
    for (int i = 0; i < 1000; ++i) {
        circle[i][0] = cos(0.01 * i);
        circle[i][1] = sin(0.01 * i);
    }
    double area = psfm_hull_area((const double(*)[2])circle, NULL, 1000);
    assert_true(area > 0.95 * 3.14159 && area <= 3.1416);
}

static void clusters_have_less_effective_area(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    double even[500][2], clustered[500][2];
    for (int i = 0; i < 500; ++i) {
        double x = psfm_rng_range(&rng, 0, 100), y = psfm_rng_range(&rng, 0, 100);
        even[i][0] = x;
        even[i][1] = y;
        clustered[i][0] = i % 10 == 0 ? x : 0.1 * x;
        clustered[i][1] = i % 10 == 0 ? y : 0.1 * y;
    }
    double a = psfm_effective_area((const double(*)[2])even, 500);
    double b = psfm_effective_area((const double(*)[2])clustered, 500);
    assert_true(a > 6000 && a <= 10000);
    assert_true(b < 0.2 * a);
    assert_close(psfm_effective_area((const double(*)[2])even, 10),
                 psfm_hull_area((const double(*)[2])even, NULL, 10), 0.0);
    double same[64][2] = {{0}};
    assert_true(psfm_effective_area((const double(*)[2])same, 64) == 0.0);
}

static void repeated_matches_are_not_distinct(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 40;
    scene s = scene_make(&o, 1);
    psfm_ray_pairs pairs = pairs_of(&s);
    uint32_t idx[40];
    for (uint32_t i = 0; i < 40; ++i)
        idx[i] = i;
    assert_close(psfm_distinct_share(&pairs, idx, 40, 2.0), 1.0, 0.05);
    for (uint32_t i = 0; i < 40; ++i)
        idx[i] = i % 10;
    assert_close(psfm_distinct_share(&pairs, idx, 40, 2.0), 0.25, 0.02);
    const double area[2] = {1024.0 * 768.0, 2 * 1024.0 * 768.0};
    double share = psfm_covered_share(&pairs, idx, 40, area);
    assert_close(share,
                 fmin(psfm_hull_area((const double(*)[2])pairs.xy1, idx, 40) / area[0],
                      psfm_hull_area((const double(*)[2])pairs.xy2, idx, 40) / area[1]),
                 0.0);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
}

static void noise_bound_follows_the_noise(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    for (int dimension = 1; dimension <= 2; ++dimension) {
        double squared[1000];
        for (int i = 0; i < 1000; ++i) {
            double a = 0.5 * psfm_rng_normal(&rng), b = 0.5 * psfm_rng_normal(&rng);
            squared[i] = a * a + (dimension == 2 ? b * b : 0.0);
            if (i % 4 == 0)
                squared[i] = psfm_rng_range(&rng, 0.0, 400.0); /* something else */
        }
        double bound = sqrt(psfm_noise_bound(squared, 1000, dimension, 400.0));
        assert_true(bound > 1.3 && bound < 2.6); /* 3.5 sigma = 1.75 */
    }
    double few[5] = {0.1, 0.1, 0.1, 0.1, 0.1}, none[30];
    assert_true(psfm_noise_bound(few, 5, 2, 16.0) == 16.0);
    for (int i = 0; i < 30; ++i)
        none[i] = 0.0;
    assert_true(psfm_noise_bound(none, 30, 2, 16.0) == 16.0 / 64.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hull_area_of_known_shapes),
        cmocka_unit_test(clusters_have_less_effective_area),
        cmocka_unit_test(repeated_matches_are_not_distinct),
        cmocka_unit_test(noise_bound_follows_the_noise),
    };
    return cmocka_run_group_tests_name("twoview/point_spread", tests, NULL, NULL);
}
