#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/vec3.h"
#include "core/positions/ray_distance.h"

static const double g[3] = {0.6, 0.0, 0.8};
static const double across[3] = {0.8, 0.0, -0.6};

/* The point with g . v - 1 = x and `side` across. */
static void point(double x, double side, double v[3]) {
    psfm_scale3(1.0 + x, g, v);
    psfm_axpy3(v, side, across, v);
}

/* Far from the kinks, as against the smoothing, the norm is the distance. */
static void norm_tends_to_the_distance(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int k = 0; k < 100; ++k) {
        double v[3];
        point(psfm_rng_range(&rng, -1, 1), psfm_rng_range(&rng, -1, 1), v);
        psfm_smooth_ray s = psfm_smooth_ray_make(g, v, 1e-9);
        assert_below(fabs(s.norm - psfm_ray_distance(g, v)), 1e-7);
    }
}

/* B r / norm, the gradient, against differences of the norm. */
static void gradient_is_that_of_the_norm(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    for (int k = 0; k < 100; ++k) {
        double v[3], gradient[3], h = 1e-6, d = 0.1;
        point(psfm_rng_range(&rng, -1, 1), psfm_rng_range(&rng, -1, 1), v);
        psfm_smooth_ray s = psfm_smooth_ray_make(g, v, d);
        psfm_smooth_ray_project(&s, g, s.r, gradient);
        for (int i = 0; i < 3; ++i) {
            double low[3] = {v[0], v[1], v[2]}, high[3] = {v[0], v[1], v[2]};
            low[i] -= h;
            high[i] += h;
            double slope =
                (psfm_smooth_ray_make(g, high, d).norm - psfm_smooth_ray_make(g, low, d).norm) /
                (2.0 * h);
            assert_below(fabs(gradient[i] / s.norm - slope), 1e-8);
        }
    }
}

/* With the multiplier that belongs to the point the curvature is z . g q'', on the near side, where
 * no spring adds to it. */
static void curvature_is_that_of_the_hyperbola(void **state) {
    (void)state;
    const double z[3] = {-0.3, 0.1, -0.4};
    for (double x = -2.0; x < 0.0; x += 0.1) {
        double v[3], low[3], high[3], h = 1e-5, d = 0.1;
        point(x, 0.2, v);
        point(x - h, 0.2, low);
        point(x + h, 0.2, high);
        psfm_smooth_ray s = psfm_smooth_ray_make(g, v, d);
        psfm_ray_bound b = {.slope = s.slope};
        double bend =
            (psfm_smooth_ray_make(g, high, d).slope - psfm_smooth_ray_make(g, low, d).slope) /
            (2.0 * h);
        assert_below(fabs(psfm_ray_bound_curvature(&b, &s, g, z) - psfm_dot3(z, g) * bend), 1e-7);
    }
}

/* An edge that is off the bound and would be taken across gets a spring, and keeps of it what
 * the next steps need. */
static void a_step_across_the_bound_is_remembered(void **state) {
    (void)state;
    double v[3], dv[3], d = 1e-6;
    const double z[3] = {0.0, 0.5, 0.0};
    psfm_ray_bound b = {0};
    point(0.01, 0.0, v);
    psfm_smooth_ray s = psfm_smooth_ray_make(g, v, d);
    double free_curvature = psfm_ray_bound_curvature(&b, &s, g, z);
    psfm_scale3(-0.5, g, dv);
    psfm_ray_bound_move(&b, &s, g, v, dv);
    assert_true(b.hold > 0.99 && b.hold <= 1.0);
    double held = psfm_ray_bound_curvature(&b, &s, g, z);
    assert_true(held > 10.0 && free_curvature < 0.01); /* of 1 / x = 100 */
    psfm_scale3(-0.0025, g, dv);
    psfm_ray_bound_move(&b, &s, g, v, dv);
    assert_true(b.hold > 0.24 && b.hold < 0.26);
    psfm_scale3(0.001, g, dv);
    psfm_ray_bound_move(&b, &s, g, v, dv);
    assert_true(b.hold == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norm_tends_to_the_distance),
        cmocka_unit_test(gradient_is_that_of_the_norm),
        cmocka_unit_test(curvature_is_that_of_the_hyperbola),
        cmocka_unit_test(a_step_across_the_bound_is_remembered),
    };
    return cmocka_run_group_tests_name("positions/ray_distance", tests, NULL, NULL);
}
