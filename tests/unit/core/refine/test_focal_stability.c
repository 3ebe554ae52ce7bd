/* A bundle of two cameras with noise, and what its intrinsics do when they are let go. */
#include "unit/core/bundle/bundle_scene.h"

#include "core/refine/focal_stability.h"

/* The second camera's focal length is 3 % too long, the first one is adjusted or given. */
static void free_focals(scene *s, bool first_moves, psfm_free_intrinsics *out) {
    psfm_context *ctx = psfm_context_create();
    psfm_bundle_options options;
    psfm_camera_prior priors[2];
    psfm_options_init(&psfm_bundle_option_table, &options);
    scene_make(&scene_of_two_cameras, s);
    s->cameras[1].params[0] *= 1.03;
    s->cameras[1].params[1] *= 1.03;
    for (int c = 0; c < 2; ++c)
        priors[c] = (psfm_camera_prior){.refine = c == 0 && first_moves ? PSFM_REFINE_FOCAL
                                                                        : PSFM_REFINE_NONE,
                                        .camera = s->cameras[c],
                                        .focal_sigma = 0.1};
    s->problem.camera_priors = priors;
    assert_ok(ctx, psfm_bundle_adjust(ctx, &s->problem, &options, NULL));
    scene before = *s;
    assert_ok(ctx, psfm_free_intrinsics_make(ctx, &s->problem, &options, out));
    assert_memory_equal(s->R, before.R, sizeof s->R); /* only the copy has changed */
    assert_memory_equal(s->cameras, before.cameras, sizeof s->cameras);
    psfm_context_destroy(&ctx);
}

static void given_focal_lengths_find_their_true_values(void **state) {
    (void)state;
    static scene s;
    psfm_free_intrinsics focals;
    free_focals(&s, false, &focals);
    assert_int_equal(focals.num_given, 2);
    assert_int_equal(focals.num_freed, 8); /* fx, fy, cx, cy of both */
    for (int axis = 0; axis < 2; ++axis)
        assert_close(focals.copy.cameras[1].params[axis] / s.cameras[1].params[axis], 1.0 / 1.03,
                     0.005);
    assert_true(focals.stats.final_cost < focals.stats.initial_cost);
    psfm_free_intrinsics_free(&focals);
}

static void what_moved_before_is_freed_and_not_judged(void **state) {
    (void)state;
    static scene s;
    psfm_free_intrinsics focals;
    free_focals(&s, true, &focals);
    assert_int_equal(focals.num_given, 1);
    assert_false(focals.is_given[0]);
    assert_int_equal(focals.num_freed, 7); /* the first focal length was free before */
    assert_true(fabs(focals.copy.cameras[1].params[0] / s.cameras[1].params[0] - 1.0) > 0.01);
    psfm_free_intrinsics_free(&focals);
}

/* A principal point that is given 40 pixels off goes back, of a camera that was refined as well;
 * in a model with one focal length, too. */
static void a_wrong_principal_point_is_found(void **state) {
    (void)state;
    static scene s;
    psfm_context *ctx = psfm_context_create();
    psfm_free_intrinsics freed;
    psfm_bundle_options options;
    scene_options o = scene_of_two_cameras;
    o.model = PSFM_CAMERA_SIMPLE_RADIAL;
    psfm_options_init(&psfm_bundle_option_table, &options);
    for (int refined = 0; refined < 2; ++refined) {
        scene_make(&o, &s);
        s.cameras[1].params[1] += 40.0;
        options.refine = refined ? PSFM_REFINE_FOCAL : PSFM_REFINE_NONE;
        assert_ok(ctx, psfm_bundle_adjust(ctx, &s.problem, &options, NULL));
        assert_ok(ctx, psfm_free_intrinsics_make(ctx, &s.problem, &options, &freed));
        const int *center = psfm_camera_model_get(freed.copy.cameras[1].model)->center;
        assert_close(freed.copy.cameras[1].params[center[0]], s.cameras[1].params[1] - 40.0, 5.0);
        psfm_free_intrinsics_free(&freed);
    }
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_focal_lengths_find_their_true_values),
        cmocka_unit_test(what_moved_before_is_freed_and_not_judged),
        cmocka_unit_test(a_wrong_principal_point_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
