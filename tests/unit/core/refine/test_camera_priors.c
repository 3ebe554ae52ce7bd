#include "test_util.h"

#include "core/refine/focal_stability.h"
#include "synth/scene.h"

static psfm_bundle_options bundle_defaults(void) {
    psfm_bundle_options options;
    psfm_options_init(&psfm_bundle_option_table, &options);
    return options;
}

static void what_moves_depends_on_where_it_comes_from(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_camera cameras[4];
    psfm_camera_origin origins[4];
    for (int c = 0; c < 4; ++c) {
        cameras[c] = psfm_camera_simple(1280, 720, 1000.0 + c);
        origins[c] = (psfm_camera_origin){.before = cameras[c], .sigma = 0.01 * (c + 1)};
    }
    origins[0].source = PSFM_FOCAL_GIVEN;
    origins[1].source = PSFM_FOCAL_PLANES;
    origins[2].source = PSFM_FOCAL_GUESS;
    origins[3].source = PSFM_FOCAL_GUESS;
    origins[3].is_open = true;
    cameras[2].params[3] = -0.05;
    psfm_match_set set = {.cameras = cameras, .origins = origins, .num_cameras = 4};
    psfm_bundle_options options = bundle_defaults();
    psfm_camera_prior *priors = NULL;
    assert_ok(ctx, psfm_camera_priors_make(ctx, &set, &options, &priors));
    assert_int_equal(priors[0].refine, PSFM_REFINE_NONE);
    assert_int_equal(priors[1].refine, PSFM_REFINE_FOCAL); /* straight, as far as is known */
    assert_int_equal(priors[2].refine, PSFM_REFINE_FOCAL_DISTORTION);
    assert_int_equal(priors[3].refine, PSFM_REFINE_NONE);
    assert_close(priors[1].focal_sigma, 0.02, 1e-15);
    assert_close(priors[1].camera.params[0], 1001.0, 0.0);
    free(priors);

    options.refine = PSFM_REFINE_FOCAL; /* asked for: all */
    assert_ok(ctx, psfm_camera_priors_make(ctx, &set, &options, &priors));
    for (int c = 0; c < 4; ++c)
        assert_int_equal(priors[c].refine, PSFM_REFINE_FOCAL);
    assert_close(priors[0].focal_sigma, options.focal_sigma, 0.0);
    free(priors);
    psfm_context_destroy(&ctx);
}

static void rays_follow_the_cameras(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options;
    psfm_scene scene;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 2;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 1, &options, &scene));
    psfm_match_set *set = &scene.matches;
    double(*rays)[3] = set->views[0].rays;
    psfm_camera camera = set->cameras[0];
    assert_ok(ctx, psfm_take_cameras(ctx, &camera, set));
    assert_ptr_equal(set->views[0].rays, rays); /* nothing moved, nothing done */
    camera.params[0] *= 1.1;
    camera.params[1] *= 1.1;
    assert_ok(ctx, psfm_take_cameras(ctx, &camera, set));
    double xy[2];
    assert_true(psfm_camera_project(&camera, set->views[0].rays[3], xy));
    assert_close(xy[0], set->views[0].keypoints[3][0], 1e-9);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_moves_depends_on_where_it_comes_from),
        cmocka_unit_test(rays_follow_the_cameras),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
