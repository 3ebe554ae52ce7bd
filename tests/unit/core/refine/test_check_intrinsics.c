#include "unit/core/bundle/bundle_scene.h"

#include "core/bundle/covariance.h"
#include "core/refine/focal_stability.h"

static void check_scene(psfm_context *ctx, const scene *s, const psfm_bundle_options *options,
                        psfm_intrinsics_check *check) {
    psfm_free_intrinsics focals;
    assert_ok(ctx, psfm_free_intrinsics_make(ctx, &s->problem, options, &focals));
    assert_ok(ctx, psfm_check_intrinsics(ctx, &s->problem, &focals, check));
    psfm_free_intrinsics_free(&focals);
}

/* Both cameras' focal lengths as true, then the second one's too long by 3 %. */
static void a_wrong_focal_length_is_found_and_a_right_one_is_not(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    for (int wrong = 0; wrong < 2; ++wrong) {
        psfm_bundle_options options;
        psfm_intrinsics_check check;
        psfm_options_init(&psfm_bundle_option_table, &options);
        scene_make(&scene_of_two_cameras, &s);
        s.cameras[1].params[0] *= wrong ? 1.03 : 1.0;
        s.cameras[1].params[1] *= wrong ? 1.03 : 1.0;
        assert_ok(ctx, psfm_bundle_adjust(ctx, &s.problem, &options, NULL));
        scene before = s;
        check_scene(ctx, &s, &options, &check);
        assert_memory_equal(s.R, before.R, sizeof s.R); /* nothing has changed */
        assert_memory_equal(s.points, before.points, sizeof s.points);
        assert_memory_equal(s.cameras, before.cameras, sizeof s.cameras);
        assert_int_equal(check.num_checked, 2);
        if (!wrong) {
            assert_int_equal(check.num_wrong, 0);
            continue;
        }
        assert_true(check.num_wrong >= 1);
        assert_int_equal(check.worst, 1);
        assert_close(check.change, 1.0 / 1.03 - 1.0, 0.005);
        assert_true(check.after_px < check.before_px);
    }
    psfm_context_destroy(&ctx);
}

static void cameras_that_move_are_not_checked(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    psfm_bundle_options options;
    psfm_intrinsics_check check;
    psfm_options_init(&psfm_bundle_option_table, &options);
    scene_make(&scene_of_two_cameras, &s);
    psfm_camera_prior priors[2];
    for (int c = 0; c < 2; ++c)
        priors[c] = (psfm_camera_prior){.refine = PSFM_REFINE_FOCAL,
                                        .camera = s.cameras[c],
                                        .focal_sigma = 0.1,
                                        .distortion_sigma = 0.1,
                                        .center_sigma = 0.1};
    s.problem.camera_priors = priors;
    check_scene(ctx, &s, &options, &check);
    assert_int_equal(check.num_checked, 0);
    double sigma[2][PSFM_CAMERA_MAX_PARAMS];
    assert_ok(ctx, psfm_camera_sigmas(ctx, &s.problem, &options, sigma));
    assert_true(sigma[0][0] > 0.0 && sigma[0][0] < 10.0); /* pixels */
    assert_true(isnan(sigma[0][2]));                      /* the principal point is held */
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_focal_length_is_found_and_a_right_one_is_not),
        cmocka_unit_test(cameras_that_move_are_not_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
