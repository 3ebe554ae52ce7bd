/* Cameras that only an adjustment finds, from a reconstruction that is thrown away. */
#include "test_util.h"

#include "core/bundle/covariance.h"
#include "core/refine/stability_tests.h"
#include "sfm/stages.h"
#include "synth/scene.h"

/* What says how good a result is takes longer than all else, and nobody reads it here. These stand
 * between the stage and it. */
psfm_status __wrap_psfm_stage_judge(psfm_context *ctx, psfm_sfm *s);
psfm_status __wrap_psfm_stage_judge(psfm_context *ctx, psfm_sfm *s) {
    (void)s;
    return psfm_fail(ctx, PSFM_ERR_DATA, "a verdict");
}
psfm_status __wrap_psfm_stability_tests_run(psfm_context *ctx, const psfm_bundle_problem *problem,
                                            const psfm_bundle_options *options,
                                            psfm_free_intrinsics *focals,
                                            psfm_stability_test *test);
psfm_status __wrap_psfm_stability_tests_run(psfm_context *ctx, const psfm_bundle_problem *problem,
                                            const psfm_bundle_options *options,
                                            psfm_free_intrinsics *focals,
                                            psfm_stability_test *test) {
    (void)problem, (void)options, (void)focals, (void)test;
    return psfm_fail(ctx, PSFM_ERR_DATA, "stability tests");
}
psfm_status __wrap_psfm_pose_covariance(psfm_context *ctx, const psfm_bundle_problem *problem,
                                        const psfm_bundle_options *options, bool known_sigma,
                                        double (*covariance)[36], psfm_covariance_stats *stats);
psfm_status __wrap_psfm_pose_covariance(psfm_context *ctx, const psfm_bundle_problem *problem,
                                        const psfm_bundle_options *options, bool known_sigma,
                                        double (*covariance)[36], psfm_covariance_stats *stats) {
    (void)problem, (void)options, (void)known_sigma, (void)covariance, (void)stats;
    return psfm_fail(ctx, PSFM_ERR_DATA, "a covariance");
}

/* One camera, a fifth off, that planes left open. */
static void an_adjustment_finds_the_camera_and_nothing_else(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options;
    psfm_scene scene;
    psfm_sfm s;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 8;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 1, &options, &scene));
    psfm_sfm_open(NULL, &s);
    s.asked.settings.options.refine.bundle.refine = PSFM_REFINE_FOCAL;
    s.set = scene.matches;
    s.set.origins = calloc(s.set.num_cameras, sizeof *s.set.origins);
    assert_non_null(s.set.origins);
    const double focal = s.set.cameras[0].params[0];
    for (size_t c = 0; c < s.set.num_cameras; ++c) {
        psfm_camera *camera = &s.set.cameras[c];
        camera->params[0] = camera->params[1] = 1.2 * focal;
        s.set.origins[c] = (psfm_camera_origin){
            .source = PSFM_FOCAL_HINT, .sigma = PSFM_GUESS_SIGMA, .before = *camera};
    }
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &s.set, NULL));
    s.stats.calibration.done = true;
    s.stage = PSFM_AT_CAMERAS;
    assert_ok(ctx, psfm_stage_presolve_cameras(ctx, &s));
    assert_below(fabs(log(s.set.cameras[0].params[0] / focal)), 0.01);
    assert_true(s.two_views == NULL && s.models == NULL && s.refined.images == NULL);
    scene.matches = s.set;
    s.set = (psfm_match_set){0};
    psfm_sfm_close(&s);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_adjustment_finds_the_camera_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
