#include "test_util.h"

#include "core/calibration/calibrate.h"
#include "core/calibration/radial_search.h"
#include "synth/scene.h"

/* A scene whose cameras are forgotten: SIMPLE_RADIAL at a guessed focal length. */
typedef struct {
    psfm_scene scene;
    double true_focal[32];
} unknown_scene;

static void forget(psfm_context *ctx, unknown_scene *s) {
    psfm_match_set *set = &s->scene.matches;
    set->origins = calloc(set->num_cameras, sizeof *set->origins);
    for (size_t c = 0; c < set->num_cameras; ++c) {
        psfm_camera *camera = &set->cameras[c];
        s->true_focal[c] = camera->params[0];
        uint32_t id = camera->id;
        *camera = psfm_camera_simple(camera->width, camera->height, 1.2 * 1280.0);
        camera->id = id;
        set->origins[c] = psfm_camera_origin_of(camera, false);
    }
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, set, NULL));
}

static unknown_scene make(psfm_context *ctx, psfm_scene_kind kind, psfm_scene_options options) {
    unknown_scene s;
    assert_ok(ctx, psfm_scene_make(ctx, kind, 1, &options, &s.scene));
    forget(ctx, &s);
    return s;
}

static psfm_scene_options scene_options(int num_cameras) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = num_cameras;
    return options;
}

static psfm_calibrate_stats calibrate(psfm_context *ctx, unknown_scene *s) {
    psfm_calibrate_options options;
    psfm_focal_options focal;
    psfm_two_view_options two_view;
    psfm_calibrate_stats stats;
    psfm_options_init(&psfm_calibrate_option_table, &options);
    psfm_options_init(&psfm_focal_option_table, &focal);
    psfm_options_init(&psfm_two_view_option_table, &two_view);
    assert_true(psfm_needs_calibration(&s->scene.matches, &options));
    assert_ok(ctx, psfm_calibrate(ctx, &options, &focal, &two_view, &s->scene.matches, &stats));
    return stats;
}

static void planes_give_every_camera_its_focal_length(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options = scene_options(16);
    options.focal_spread = 1.25;
    unknown_scene s = make(ctx, PSFM_SCENE_ARENA, options);
    psfm_calibrate_stats stats = calibrate(ctx, &s);
    const psfm_match_set *set = &s.scene.matches;
    assert_int_equal(set->num_cameras, 16);
    assert_int_equal(stats.num_determined, 16);
    for (size_t c = 0; c < set->num_cameras; ++c) {
        double error = log(set->cameras[c].params[0] / s.true_focal[c]);
        assert_below(fabs(error), 0.005);
        assert_below(fabs(error), 4.0 * set->origins[c].sigma);
        assert_int_equal(set->origins[c].source, PSFM_FOCAL_PLANES);
        assert_close(set->origins[c].before.params[0], 1536.0, 0.0);
    }
    psfm_scene_free(&s.scene);
    psfm_context_destroy(&ctx);
}

/* Takes all views for those of the first camera, by guess. */
static void take_for_one(unknown_scene *s) {
    psfm_match_set *set = &s->scene.matches;
    for (size_t v = 0; v < set->num_views; ++v)
        set->views[v].camera_idx = 0;
    set->num_cameras = 1;
    set->origins[0].group = set->cameras[0].id;
}

static void a_camera_is_split_if_planes_contradict_it(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options = scene_options(16);
    for (int differ = 0; differ < 2; ++differ) {
        options.focal_spread = differ ? 1.25 : 1.0;
        unknown_scene s = make(ctx, PSFM_SCENE_ARENA, options);
        take_for_one(&s);
        psfm_calibrate_stats stats = calibrate(ctx, &s);
        const psfm_match_set *set = &s.scene.matches;
        assert_int_equal(set->num_cameras, differ ? 16 : 1);
        assert_int_equal(stats.num_unknown, set->num_cameras);
        assert_int_equal(stats.num_determined, set->num_cameras);
        for (size_t v = 0; v < set->num_views; ++v) {
            double focal = set->cameras[set->views[v].camera_idx].params[0];
            assert_below(fabs(log(focal / s.true_focal[differ ? v : 0])), 0.005);
        }
        psfm_scene_free(&s.scene);
    }
    psfm_context_destroy(&ctx);
}

static void pairs_give_what_planes_do_not(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options = scene_options(30);
    unknown_scene s = make(ctx, PSFM_SCENE_GENERAL, options);
    psfm_calibrate_stats stats = calibrate(ctx, &s);
    assert_int_equal(stats.num_by_pairs, 1);
    assert_int_equal(stats.num_determined, 1);
    assert_true(stats.num_pairs >= 30);
    assert_int_equal(s.scene.matches.origins[0].source, PSFM_FOCAL_PAIRS);
    assert_close(s.scene.matches.cameras[0].params[0] / 1200.0, 1.0, 0.01);
    psfm_scene_free(&s.scene);

    options.focal_spread = 1.25;
    s = make(ctx, PSFM_SCENE_GENERAL, options);
    stats = calibrate(ctx, &s);
    for (size_t c = 0; c < s.scene.matches.num_cameras; ++c) {
        const psfm_camera_origin *origin = &s.scene.matches.origins[c];
        double error = log(s.scene.matches.cameras[c].params[0] / s.true_focal[c]);
        assert_below(origin->sigma, 0.1);
        assert_below(fabs(error), 3.0 * origin->sigma);
    }
    psfm_scene_free(&s.scene);
    psfm_context_destroy(&ctx);
}

static void distortion_is_found_first(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options = scene_options(16);
    options.camera_model = PSFM_CAMERA_SIMPLE_RADIAL;
    unknown_scene s = make(ctx, PSFM_SCENE_ARENA, options);
    psfm_calibrate_stats stats = calibrate(ctx, &s);
    assert_int_equal(stats.num_determined, 1);
    assert_close(s.scene.matches.cameras[0].params[0] / 1200.0, 1.0, 0.005);
    assert_close(s.scene.matches.cameras[0].params[3], -0.1, 0.01);
    psfm_scene_free(&s.scene);

    options.camera_model = PSFM_CAMERA_PINHOLE; /* and not invented where there is none */
    s = make(ctx, PSFM_SCENE_ARENA, options);
    calibrate(ctx, &s);
    assert_close(s.scene.matches.cameras[0].params[3], 0.0, 0.0);
    psfm_scene_free(&s.scene);
    psfm_context_destroy(&ctx);
}

/* Wide lenses whose images of angles are linear, but for a few per cent, and one of the same field
 * whose images of lines are straight. */
static void fisheyes_are_told_from_other_wide_lenses(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options = scene_options(16);
    options.camera_model = PSFM_CAMERA_OPENCV_FISHEYE;
    for (int k = 0; k < 2; ++k) {
        options.focal_px = k == 0 ? 500.0 : 700.0;
        unknown_scene s = make(ctx, PSFM_SCENE_ARENA, options);
        psfm_calibrate_stats stats = calibrate(ctx, &s);
        assert_int_equal(stats.num_fisheye, stats.num_unknown);
        assert_below(fabs(log(1280.0 * stats.fisheye_focal / options.focal_px)), 0.1);
        for (size_t c = 0; c < s.scene.matches.num_cameras; ++c) {
            assert_int_equal(s.scene.matches.cameras[c].model, PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE);
            assert_int_equal(s.scene.matches.origins[c].source, PSFM_FOCAL_HINT);
        }
        psfm_scene_free(&s.scene);
    }
    options.focal_px = 500.0;
    options.camera_model = PSFM_CAMERA_SIMPLE_RADIAL;
    unknown_scene s = make(ctx, PSFM_SCENE_ARENA, options);
    assert_int_equal(calibrate(ctx, &s).num_fisheye, 0);
    psfm_scene_free(&s.scene);
    psfm_context_destroy(&ctx);
}

/* Gives camera c of a scene a radial coefficient of its own; its keypoints move. */
static void distort_camera(psfm_context *ctx, psfm_match_set *set, size_t c, double k1) {
    psfm_camera distorted = set->cameras[c];
    double ray[3];
    distorted.params[3] = k1;
    for (size_t v = 0; v < set->num_views; ++v)
        for (size_t i = 0; set->views[v].camera_idx == c && i < set->views[v].num_keypoints; ++i) {
            assert_true(psfm_camera_unproject(&set->cameras[c], set->views[v].keypoints[i], ray));
            assert_true(psfm_camera_project(&distorted, ray, set->views[v].keypoints[i]));
        }
    set->cameras[c] = distorted;
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, set, NULL));
}

/* Forgets the cameras of a scene whose lenses have k1 of -0.14, -0.1 and -0.06 in turn; k1 gets the
 * truth. */
static unknown_scene make_distorted(psfm_context *ctx, double noise_px, double k1[16]) {
    psfm_scene_options options = scene_options(16);
    unknown_scene s;
    options.camera_model = PSFM_CAMERA_SIMPLE_RADIAL;
    options.focal_spread = 1.25;
    options.noise_px = noise_px;
    options.outliers = noise_px > 0.0 ? options.outliers : 0.0;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 1, &options, &s.scene));
    psfm_match_set *set = &s.scene.matches;
    assert_int_equal(set->num_cameras, 16);
    for (size_t c = 0; c < 16; ++c) {
        k1[c] = -0.1 + 0.04 * ((double)(c % 3) - 1.0);
        distort_camera(ctx, set, c, k1[c]);
    }
    forget(ctx, &s);
    return s;
}

static void every_lens_has_its_own_distortion(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int noisy = 0; noisy < 2; ++noisy) {
        double k1[16];
        unknown_scene s = make_distorted(ctx, noisy ? 0.7 : 0.0, k1);
        psfm_calibrate_stats stats = calibrate(ctx, &s);
        const psfm_match_set *set = &s.scene.matches;
        assert_int_equal(stats.num_determined, 16);
        assert_int_equal(stats.num_k1_free, 16);
        assert_int_equal(stats.num_k1_determined, 16);
        for (size_t c = 0; c < 16; ++c) {
            assert_close(set->cameras[c].params[0] / s.true_focal[c], 1.0, noisy ? 0.005 : 1e-8);
            assert_close(set->cameras[c].params[3], k1[c], noisy ? 0.02 : 1e-8);
        }
        psfm_scene_free(&s.scene);
    }
    psfm_context_destroy(&ctx);
}

static void a_flight_straight_down_determines_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options = scene_options(16);
    options.focal_spread = 1.25;
    unknown_scene s = make(ctx, PSFM_SCENE_FIELD, options);
    psfm_calibrate_stats stats = calibrate(ctx, &s);
    char text[512];
    assert_int_equal(stats.num_unknown, 16);
    assert_int_equal(stats.num_determined, 0);
    for (size_t c = 0; c < 16; ++c) { /* a hint may take the place of a guess, but stays one */
        assert_true(psfm_focal_is_doubtful(s.scene.matches.origins[c].source));
        assert_true(s.scene.matches.origins[c].sigma > 0.04);
    }
    psfm_calibrate_describe(&stats, text, sizeof text);
    assert_non_null(strstr(text, "turn the camera"));
    psfm_scene_free(&s.scene);
    psfm_context_destroy(&ctx);
}

/* One focal length for all of such a flight is hinted at, and used, but not called determined. */
static void a_shared_focal_length_of_such_a_flight_is_a_hint(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    unknown_scene s = make(ctx, PSFM_SCENE_FIELD, scene_options(32));
    psfm_calibrate_stats stats = calibrate(ctx, &s);
    const psfm_camera_origin *origin = &s.scene.matches.origins[0];
    double error = log(s.scene.matches.cameras[0].params[0] / 1200.0);
    assert_int_equal(stats.num_unknown, 1);
    assert_int_equal(stats.num_determined, 0);
    assert_int_equal(origin->source, PSFM_FOCAL_HINT);
    assert_below(origin->sigma, 0.1);
    assert_below(fabs(error), 3.0 * origin->sigma);
    psfm_scene_free(&s.scene);
    psfm_context_destroy(&ctx);
}

static void wrong_exif_is_let_go_and_right_exif_helps(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    unknown_scene s = make(ctx, PSFM_SCENE_ARENA, scene_options(12));
    psfm_match_set *set = &s.scene.matches;
    for (int wrong = 0; wrong < 2; ++wrong) {
        set->cameras[0] = psfm_camera_simple(1280, 720, wrong ? 1800.0 : 1210.0);
        set->cameras[0].id = 1;
        set->cameras[0].has_prior_focal_length = true;
        set->origins[0] = psfm_camera_origin_of(&set->cameras[0], true);
        assert_int_equal(set->origins[0].source, PSFM_FOCAL_EXIF);
        assert_ok(ctx, psfm_match_set_compute_rays(ctx, set, NULL));
        psfm_calibrate_stats stats = calibrate(ctx, &s);
        assert_int_equal(stats.num_wrong_exif, wrong);
        assert_close(set->cameras[0].params[0] / 1200.0, 1.0, 0.005);
    }
    psfm_scene_free(&s.scene);
    psfm_context_destroy(&ctx);
}

/* Every camera its own lens: a third without EXIF data, a third with, a third with those of another
 * lens, 1.5 times as long. */
static void exif_data_of_all_kinds_may_be_mixed(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options = scene_options(15);
    options.focal_spread = 1.25;
    unknown_scene s = make(ctx, PSFM_SCENE_ARENA, options);
    psfm_match_set *set = &s.scene.matches;
    for (size_t c = 0; c < set->num_cameras; ++c) {
        if (c % 3 == 0)
            continue;
        set->cameras[c].params[0] = s.true_focal[c] * (c % 3 == 1 ? 1.01 : 1.5);
        set->cameras[c].has_prior_focal_length = true;
        set->origins[c] = psfm_camera_origin_of(&set->cameras[c], true);
        assert_int_equal(set->origins[c].source, PSFM_FOCAL_EXIF);
    }
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, set, NULL));
    psfm_calibrate_stats stats = calibrate(ctx, &s);
    assert_int_equal(stats.num_determined, 15);
    assert_int_equal(stats.num_wrong_exif, 5);
    for (size_t c = 0; c < set->num_cameras; ++c)
        assert_close(set->cameras[c].params[0] / s.true_focal[c], 1.0, 0.005);
    psfm_scene_free(&s.scene);
    psfm_context_destroy(&ctx);
}

/* EXIF data that planes can neither replace nor refute are not fixed: the adjustment may do so. */
static void exif_data_that_planes_cannot_judge_stay_free(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options = scene_options(16);
    options.focal_spread = 1.25;
    options.oblique_deg = 20.0;
    unknown_scene s = make(ctx, PSFM_SCENE_FIELD, options);
    psfm_match_set *set = &s.scene.matches;
    size_t num_exif = 0;
    for (size_t c = 0; c < set->num_cameras; ++c) {
        set->cameras[c].params[0] = s.true_focal[c] * 1.01;
        set->cameras[c].has_prior_focal_length = true;
        set->origins[c] = psfm_camera_origin_of(&set->cameras[c], true);
    }
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, set, NULL));
    psfm_calibrate_stats stats = calibrate(ctx, &s);
    assert_int_equal(stats.num_wrong_exif, 0);
    for (size_t c = 0; c < set->num_cameras; ++c) {
        num_exif += set->origins[c].source == PSFM_FOCAL_EXIF && set->origins[c].sigma == 0.05;
        assert_false(set->origins[c].is_open);
    }
    assert_true(num_exif > 0);
    psfm_scene_free(&s.scene);
    psfm_context_destroy(&ctx);
}

/* EXIF data and planes by their deviations: s of planes alone, and 0.05. */
static void exif_data_count_by_their_deviation(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double log_focal[2], sigma[2];
    const double exif = 1290.0;
    for (int k = 0; k < 2; ++k) {
        unknown_scene s = make(ctx, PSFM_SCENE_ARENA, scene_options(8));
        psfm_match_set *set = &s.scene.matches;
        if (k == 1) {
            set->cameras[0].params[0] = exif;
            set->cameras[0].has_prior_focal_length = true;
            set->origins[0] = psfm_camera_origin_of(&set->cameras[0], true);
            assert_ok(ctx, psfm_match_set_compute_rays(ctx, set, NULL));
        }
        psfm_calibrate_stats stats = calibrate(ctx, &s);
        assert_true(stats.num_determined == 1 && stats.num_wrong_exif == 0);
        assert_int_equal(set->origins[0].source, PSFM_FOCAL_PLANES);
        log_focal[k] = log(set->cameras[0].params[0]);
        sigma[k] = set->origins[0].sigma;
        psfm_scene_free(&s.scene);
    }
    double a = 1.0 / (sigma[0] * sigma[0]), b = 1.0 / (0.05 * 0.05);
    double mean = (a * log_focal[0] + b * log(exif)) / (a + b);
    assert_true(mean - log_focal[0] > 5e-4);
    assert_close(log_focal[1], mean, 1e-4);
    assert_close(sigma[1] * sqrt(a + b), 1.0, 0.01);
    psfm_context_destroy(&ctx);
}

/* A model that was asked for by name is that of all unknown cameras, but for fisheyes. */
static void models_that_are_named_are_kept(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_calibrate_options options;
    psfm_focal_options focal;
    psfm_two_view_options two_view;
    psfm_calibrate_stats stats;
    unknown_scene s = make(ctx, PSFM_SCENE_ARENA, scene_options(8));
    psfm_options_init(&psfm_calibrate_option_table, &options);
    psfm_options_init(&psfm_focal_option_table, &focal);
    psfm_options_init(&psfm_two_view_option_table, &two_view);
    options.camera_model = 1 + PSFM_CAMERA_OPENCV;
    assert_ok(ctx, psfm_calibrate(ctx, &options, &focal, &two_view, &s.scene.matches, &stats));
    const psfm_camera *camera = &s.scene.matches.cameras[0];
    assert_int_equal(camera->model, PSFM_CAMERA_OPENCV);
    assert_true(s.scene.matches.origins[0].keeps_model);
    assert_close(camera->params[0] / 1200.0, 1.0, 0.01);
    assert_close(camera->params[1], camera->params[0], 1e-9);
    psfm_scene_free(&s.scene);
    psfm_context_destroy(&ctx);
}

static void sentences_say_what_was_found(void **state) {
    (void)state;
    char text[512], small[60];
    psfm_calibrate_stats stats = {.num_unknown = 9,
                                  .num_determined = 7,
                                  .num_homographies = 44,
                                  .num_planes = 3,
                                  .num_by_pairs = 2,
                                  .num_pairs = 12,
                                  .num_wrong_exif = 1,
                                  .num_k1_free = 6,
                                  .num_k1_determined = 4};
    psfm_calibrate_describe(&stats, text, sizeof text);
    assert_non_null(strstr(text, "7 of 9 unknown focal lengths determined, from 44 homographies "
                                 "of 3 planes and, 2 of them, from the epipolar geometry of 12 "
                                 "pairs; 1 contradict their EXIF data"));
    assert_non_null(strstr(text, "distortion of 4 of 6 determined"));
    assert_non_null(strstr(text, "for the others turn the camera"));
    psfm_calibrate_describe(&stats, small, sizeof small); /* cut, and whole */
    assert_int_equal(strlen(small), sizeof small - 1);
    assert_memory_equal(small, text, sizeof small - 1);
    stats = (psfm_calibrate_stats){.num_unknown = 4, .num_fisheye = 4, .fisheye_focal = 0.39};
    psfm_calibrate_describe(&stats, text, sizeof text);
    assert_non_null(strstr(text, "4 look like fisheye lenses of a focal length of 0.39"));
    assert_null(strstr(text, "turn the camera")); /* they need not */
}

static void which_cameras_are_calibrated_is_an_option(void **state) {
    (void)state;
    psfm_calibrate_options options;
    psfm_camera camera = psfm_camera_simple(1280, 720, 1536.0);
    psfm_camera_origin origin = {.source = PSFM_FOCAL_GUESS};
    const psfm_match_set set = {.cameras = &camera, .origins = &origin, .num_cameras = 1};
    static const struct {
        psfm_focal_source source;
        bool auto_wants;
    } kinds[] = {{PSFM_FOCAL_GUESS, true},  {PSFM_FOCAL_EXIF, true},   {PSFM_FOCAL_HINT, true},
                 {PSFM_FOCAL_GIVEN, false}, {PSFM_FOCAL_LINES, false}, {PSFM_FOCAL_PLANES, true}};
    psfm_options_init(&psfm_calibrate_option_table, &options);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        origin.source = kinds[k].source;
        options.cameras = PSFM_CALIBRATE_AUTO;
        assert_int_equal(psfm_needs_calibration(&set, &options), kinds[k].auto_wants);
        options.cameras = PSFM_CALIBRATE_ALL;
        assert_true(psfm_needs_calibration(&set, &options));
        options.cameras = PSFM_CALIBRATE_OFF;
        assert_false(psfm_needs_calibration(&set, &options));
    }
}

static void given_cameras_are_left_alone(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options = scene_options(12);
    psfm_scene scene;
    psfm_calibrate_options calibration;
    psfm_options_init(&psfm_calibrate_option_table, &calibration);
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 1, &options, &scene));
    assert_false(psfm_needs_calibration(&scene.matches, &calibration));
    calibration.cameras = PSFM_CALIBRATE_ALL;
    assert_true(psfm_needs_calibration(&scene.matches, &calibration));
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_give_every_camera_its_focal_length),
        cmocka_unit_test(a_camera_is_split_if_planes_contradict_it),
        cmocka_unit_test(pairs_give_what_planes_do_not),
        cmocka_unit_test(distortion_is_found_first),
        cmocka_unit_test(fisheyes_are_told_from_other_wide_lenses),
        cmocka_unit_test(every_lens_has_its_own_distortion),
        cmocka_unit_test(a_flight_straight_down_determines_nothing),
        cmocka_unit_test(a_shared_focal_length_of_such_a_flight_is_a_hint),
        cmocka_unit_test(wrong_exif_is_let_go_and_right_exif_helps),
        cmocka_unit_test(exif_data_of_all_kinds_may_be_mixed),
        cmocka_unit_test(exif_data_that_planes_cannot_judge_stay_free),
        cmocka_unit_test(exif_data_count_by_their_deviation),
        cmocka_unit_test(models_that_are_named_are_kept),
        cmocka_unit_test(sentences_say_what_was_found),
        cmocka_unit_test(which_cameras_are_calibrated_is_an_option),
        cmocka_unit_test(given_cameras_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
