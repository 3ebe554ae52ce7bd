/* Views that determine no focal length, and are called so. */
#include "unit/core/calibration/plane_rig.h"

static void assert_none_determined(psfm_context *ctx, rig *r) {
    for (int shared = 0; shared < 2; ++shared) {
        psfm_focal_estimate out = estimate(ctx, r, shared, NULL);
        for (size_t k = 0; k < (shared ? 1 : r->num); ++k)
            if (!(out.sigma[k] > DETERMINED))
                fail_msg("view %zu: f = %g (true %g) is called known to %g", k, out.focal[k],
                         r->f[k], out.sigma[k]);
        psfm_focal_estimate_free(&out);
    }
}

static void views_straight_down_determine_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 3; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 3, 0);
        rig r = {.num = 9, .sigma = 0.7 / 1280.0};
        for (size_t k = 0; k < r.num; ++k) {
            double center[3] = {psfm_rng_range(&rng, -1, 1), psfm_rng_range(&rng, -1, 1),
                                psfm_rng_range(&rng, 7.8, 8.2)};
            double target[3] = {center[0], center[1], 0.0};
            r.f[k] = 1.1;
            look_at(&r, k, center, target, psfm_rng_range(&rng, -3, 3));
        }
        add_ring(&r, &rng, 3, 2.0);
        assert_none_determined(ctx, &r);
        free_rig(&r);
    }
    psfm_context_destroy(&ctx);
}

static void views_of_one_orientation_determine_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 3; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 4, 0);
        rig r = {.num = 9, .sigma = 0.7 / 1280.0};
        for (size_t k = 0; k < r.num; ++k) {
            double center[3] = {psfm_rng_range(&rng, -1, 1), psfm_rng_range(&rng, -1, 1) - 6.0,
                                psfm_rng_range(&rng, 4.5, 5.5)};
            double target[3] = {center[0], center[1] + 6.0, center[2] - 5.0};
            r.f[k] = 1.1;
            look_at(&r, k, center, target, 0.0);
        }
        add_ring(&r, &rng, 3, 2.0);
        assert_none_determined(ctx, &r);
        free_rig(&r);
    }
    psfm_context_destroy(&ctx);
}

/* Views from one place have homographies K R K^-1, of which any plane is the plane; the focal
 * lengths are in them all the same. */
static void pure_rotation_is_not_misread(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 5, 0);
    rig r = {.num = 8, .sigma = 0.3 / 1280.0};
    for (size_t k = 0; k < r.num; ++k) {
        double center[3] = {0, -6, 5};
        double target[3] = {psfm_rng_range(&rng, -2, 2), psfm_rng_range(&rng, -2, 2), 0};
        r.f[k] = 1.2;
        look_at(&r, k, center, target, psfm_rng_range(&rng, -0.3, 0.3));
    }
    add_ring(&r, &rng, 3, 2.0);
    psfm_focal_estimate out = estimate(ctx, &r, true, NULL);
    assert_below(fabs(log(out.focal[0] / 1.2)), fmax(0.02, 3.0 * out.sigma[0]));
    psfm_focal_estimate_free(&out);
    free_rig(&r);
    psfm_context_destroy(&ctx);
}
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_straight_down_determine_nothing),
        cmocka_unit_test(views_of_one_orientation_determine_nothing),
        cmocka_unit_test(pure_rotation_is_not_misread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
