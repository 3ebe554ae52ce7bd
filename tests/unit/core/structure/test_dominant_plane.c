#include "core/structure/dominant_plane.h"

#include "core/base/rng.h"
#include "core/linalg/vec3.h"
#include "test_util.h"

static psfm_context *ctx;

enum { NUM = 400, NUM_CENTERS = 5 };

/* A share of the points on 0.6 y + 0.8 z = 2, the rest in a box; centres behind the origin. */
static void make(double share, double noise, double points[NUM][3],
                 double centers[NUM_CENTERS][3]) {
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    for (int k = 0; k < NUM; ++k) {
        double x = psfm_rng_range(&rng, -3, 3), v = psfm_rng_range(&rng, -2, 2);
        double e = noise * psfm_rng_normal(&rng);
        double on[3] = {x, 0.6 * (2.0 + e) + 0.8 * v, 0.8 * (2.0 + e) - 0.6 * v};
        for (int c = 0; c < 3; ++c)
            points[k][c] = k < share * NUM ? on[c] : psfm_rng_range(&rng, -3, 3);
    }
    for (int k = 0; k < NUM_CENTERS; ++k)
        for (int c = 0; c < 3; ++c)
            centers[k][c] = psfm_rng_range(&rng, -1, 1) - (c == 2 ? 3.0 : 0.0);
}

static void test_found(void **state) {
    (void)state;
    double points[NUM][3], centers[NUM_CENTERS][3];
    psfm_scene_plane plane;
    make(0.6, 0.0, points, centers);
    assert_ok(ctx, psfm_dominant_plane(ctx, NUM, (const double(*)[3])points, NUM_CENTERS,
                                       (const double(*)[3])centers, &plane));
    /* towards the centres, which are below; points of the box happen to be near it, too */
    assert_close(plane.normal[0], 0.0, 2e-3);
    assert_close(plane.normal[1], -0.6, 2e-3);
    assert_close(plane.normal[2], -0.8, 2e-3);
    assert_close(plane.distance, -2.0, 2e-3);
    assert_true(plane.num_points >= NUM * 6 / 10 && plane.num_points < NUM * 7 / 10);
    assert_true(plane.area > 20.0 && plane.area < 40.0);
    for (uint32_t k = 0; k < plane.num_corners; ++k)
        assert_close(psfm_dot3(plane.normal, plane.polygon[k]), plane.distance, 1e-9);
    free(plane.polygon);
    make(1.0, 1e-4, points, centers);
    assert_ok(ctx, psfm_dominant_plane(ctx, NUM, (const double(*)[3])points, NUM_CENTERS,
                                       (const double(*)[3])centers, &plane));
    assert_close(plane.distance, -2.0, 1e-4);
    assert_close(plane.sigma, 1e-4, 2e-5);
    free(plane.polygon);
}

static void test_not_found(void **state) {
    (void)state;
    double points[NUM][3], centers[NUM_CENTERS][3];
    psfm_scene_plane plane;
    make(0.05, 0.0, points, centers);
    assert_int_equal(psfm_dominant_plane(ctx, NUM, (const double(*)[3])points, NUM_CENTERS,
                                         (const double(*)[3])centers, &plane),
                     PSFM_ERR_DATA);
    assert_int_equal(psfm_dominant_plane(ctx, 9, (const double(*)[3])points, NUM_CENTERS,
                                         (const double(*)[3])centers, &plane),
                     PSFM_ERR_DATA);
    for (int k = 0; k < NUM; ++k) /* one place: no sample spans a plane */
        points[k][0] = points[k][1] = points[k][2] = 1.0;
    assert_int_equal(psfm_dominant_plane(ctx, NUM, (const double(*)[3])points, NUM_CENTERS,
                                         (const double(*)[3])centers, &plane),
                     PSFM_ERR_DATA);
    assert_null(plane.polygon);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_not_found),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
