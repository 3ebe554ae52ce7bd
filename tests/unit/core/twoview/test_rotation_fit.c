#include "test_util.h"

#include "core/twoview/homography.h"
#include "core/twoview/rotation_fit.h"
#include "unit/core/twoview/twoview_util.h"

/* Fits a homography to a scene and asks. */
static bool ask(const scene_options *o, uint64_t seed, double rotation_px, double *angle) {
    scene s = scene_make(o, seed);
    psfm_ray_pairs pairs = pairs_of(&s);
    double H[9], R[9], *scratch = malloc(pairs.num * sizeof *scratch);
    assert_true(psfm_homography_fit(&pairs, pairs.num_blocks, H));
    psfm_homography_refine(&pairs, pairs.num_blocks, (psfm_loss){1e6, 0.0}, 50, H);
    assert_true(psfm_homography_normalize(H));
    bool answer = psfm_is_rotation(&pairs, H, rotation_px, scratch, R);
    *angle = answer ? psfm_rotation_angle(R, s.R_21) : NAN;
    free(scratch);
    psfm_ray_pairs_free(&pairs);
    scene_free(&s);
    return answer;
}

static void exact_rotation(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.baseline[0] = o.baseline[1] = 0.0;
    o.num_matches = 30;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        double angle;
        assert_true(ask(&o, seed, 0.1, &angle));
        assert_below(angle, 1e-9);
    }
}

static void noisy_rotation(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.baseline[0] = o.baseline[1] = 0.0;
    o.noise_px = 1.0;
    int num = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        const size_t sizes[3] = {8, 30, 300};
        double angle;
        o.num_matches = sizes[seed % 3];
        if (!ask(&o, seed, 0.0, &angle)) /* by significance alone */
            continue;
        ++num;
        assert_below(angle, 0.01);
    }
    assert_true(num >= 58);
}

static void parallax_is_noticed(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.noise_px = 1.0;
    o.num_matches = 300;
    o.baseline[0] = o.baseline[1] = 0.02;
    for (uint64_t seed = 0; seed < 30; ++seed) {
        double angle;
        assert_false(ask(&o, seed, 0.1, &angle));
    }
}

static void the_option_sets_the_bound(void **state) {
    (void)state;
    scene_options o = scene_defaults();
    o.num_matches = 300;
    o.baseline[0] = o.baseline[1] = 0.002; /* about 2.5 px, most of it taken up by a rotation */
    int below = 0, above = 0;
    for (uint64_t seed = 0; seed < 30; ++seed) {
        double angle;
        below += ask(&o, seed, 5.0, &angle);
        above += !ask(&o, seed, 0.01, &angle);
    }
    assert_int_equal(below, 30);
    assert_int_equal(above, 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_rotation),
        cmocka_unit_test(noisy_rotation),
        cmocka_unit_test(parallax_is_noticed),
        cmocka_unit_test(the_option_sets_the_bound),
    };
    return cmocka_run_group_tests_name("twoview/rotation_fit", tests, NULL, NULL);
}
