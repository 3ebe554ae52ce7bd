/* Intrinsics that are free, held by priors, or not asked for. */
#include "unit/core/bundle/bundle_run.h"

static void intrinsics_are_recovered_on_request(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    for (int refine = PSFM_REFINE_NONE; refine <= PSFM_REFINE_FOCAL_DISTORTION; ++refine) {
        scene_options o = small_scene;
        o.model = PSFM_CAMERA_OPENCV;
        scene_make(&o, &s);
        psfm_camera truth = s.cameras[0];
        for (size_t c = 0; c < o.num_cameras; ++c) {
            s.cameras[c].params[0] *= 1.02;
            s.cameras[c].params[1] *= 0.98;
            for (int k = 4; refine == PSFM_REFINE_FOCAL_DISTORTION && k < 8; ++k)
                s.cameras[c].params[k] = 0.0;
        }
        psfm_camera start = s.cameras[0];
        psfm_bundle_options options = default_options();
        options.refine = refine;
        options.two_focals = true;
        options.focal_sigma = options.distortion_sigma = 100.0;
        psfm_bundle_stats stats = adjust(ctx, &s, &options);
        if (refine == PSFM_REFINE_NONE) {
            assert_memory_equal(&s.cameras[0], &start, sizeof start);
            assert_true(stats.mean_px > 0.1);
        } else {
            for (int k = 0; k < 8; ++k)
                assert_close(s.cameras[0].params[k], truth.params[k], 1e-7 * (k < 2 ? 1e3 : 1.0));
            assert_below(stats.mean_px, 1e-7);
        }
        psfm_bundle_stats_free(&stats);
    }
    psfm_context_destroy(&ctx);
}

/* Over flat ground a focal length is known to some per cent, and lower cameras with a shorter one
 * look nearly the same. Loose planes must not reward that. */
static void soft_planes_do_not_move_a_focal_length(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    for (uint64_t seed = 0; seed < 3; ++seed) {
        scene_options o = {.num_images = SCENE_MAX_IMAGES,
                           .num_points = SCENE_MAX_POINTS,
                           .num_cameras = 1,
                           .model = PSFM_CAMERA_SIMPLE_PINHOLE,
                           .noise_px = 0.7,
                           .visible = 0.2,
                           .num_planes = 1,
                           .from_above = true,
                           .seed = seed};
        psfm_bundle_options options = default_options();
        options.refine = PSFM_REFINE_FOCAL;
        scene_make(&o, &s);
        psfm_bundle_stats stats = adjust(ctx, &s, &options);
        assert_close(log(s.cameras[0].params[0]), log(1000.0), 0.1);
        psfm_bundle_stats_free(&stats);
    }
    psfm_context_destroy(&ctx);
}

/* One focal length keeps the ratio of fx and fy; a tight prior holds it, cameras without freedom do
 * not move, and the principal point is found where it is asked for. */
static void priors_hold_what_they_know(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    for (int round = 0; round < 4; ++round) {
        scene_options o = small_scene;
        o.model = PSFM_CAMERA_PINHOLE;
        scene_make(&o, &s);
        psfm_camera truth = s.cameras[0];
        for (size_t c = 0; c < o.num_cameras; ++c) {
            s.cameras[c].params[0] *= 1.05;
            s.cameras[c].params[1] *= 1.05;
            s.cameras[c].params[2] += round == 3 ? 4.0 : 0.0;
        }
        psfm_camera start = s.cameras[0];
        psfm_camera_prior prior[SCENE_MAX_IMAGES];
        for (size_t c = 0; c < o.num_cameras; ++c)
            prior[c] = (psfm_camera_prior){.refine = round == 1   ? PSFM_REFINE_NONE
                                                     : round == 3 ? PSFM_REFINE_ALL
                                                                  : PSFM_REFINE_FOCAL,
                                           .camera = s.cameras[c],
                                           .focal_sigma = round == 2 ? 1e-9 : 10.0,
                                           .distortion_sigma = 1.0,
                                           .center_sigma = 10.0};
        s.problem.camera_priors = prior;
        psfm_bundle_options options = default_options();
        psfm_bundle_stats stats = adjust(ctx, &s, &options);
        bool moves = round == 0 || round == 3;
        double expected = moves ? truth.params[0] : start.params[0];
        assert_close(s.cameras[0].params[0], expected, round == 1 ? 0.0 : 1e-3);
        assert_close(s.cameras[0].params[1] / s.cameras[0].params[0],
                     start.params[1] / start.params[0], 1e-12);
        assert_close(s.cameras[0].params[2], truth.params[2], 1e-3);
        psfm_bundle_stats_free(&stats);
    }
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intrinsics_are_recovered_on_request),
        cmocka_unit_test(soft_planes_do_not_move_a_focal_length),
        cmocka_unit_test(priors_hold_what_they_know),
    };
    return cmocka_run_group_tests_name("bundle/bundle_intrinsics", tests, NULL, NULL);
}
