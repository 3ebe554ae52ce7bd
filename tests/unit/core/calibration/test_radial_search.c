/* The distortion of lenses from homographies of a synthetic court, whose cameras are thought to
 * have other focal lengths and none. */
#include "test_util.h"

#include "core/calibration/radial_search.h"
#include "core/camera/camera_origin.h"
#include "synth/scene.h"

enum { CAMERAS = 6 };

typedef struct {
    psfm_scene scene;
    psfm_two_view *two_views;
    bool is_free[CAMERAS];
} fixture;

/* Cameras of focal lengths of their own, thought to be pinholes of the guess. */
static void set_up(psfm_context *ctx, fixture *f, psfm_camera_model model, double focal_px,
                   double noise_px) {
    psfm_scene_options options;
    psfm_two_view_options two_view;
    psfm_options_init(&psfm_scene_option_table, &options);
    psfm_options_init(&psfm_two_view_option_table, &two_view);
    options.num_cameras = CAMERAS;
    options.camera_model = (int)model;
    options.focal_px = focal_px;
    options.focal_spread = 1.05;
    options.noise_px = noise_px;
    options.off_plane = 0.0;
    options.num_points = 500;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 3, &options, &f->scene));
    psfm_match_set *set = &f->scene.matches;
    assert_int_equal(set->num_cameras, CAMERAS);
    for (size_t c = 0; c < CAMERAS; ++c) {
        uint32_t id = set->cameras[c].id;
        set->cameras[c] = psfm_camera_simple(1280, 720, PSFM_GUESS_FACTOR * 1280.0);
        set->cameras[c].id = id;
        f->is_free[c] = true;
    }
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, set, NULL));
    two_view.estimate_essential = false;
    assert_ok(ctx, psfm_two_views_make(ctx, set, &two_view, &f->two_views));
}

static void tear_down(fixture *f) {
    psfm_two_views_free(&f->two_views, f->scene.matches.num_pairs);
    psfm_scene_free(&f->scene);
}

static void strengths_do_not_depend_on_the_focal_length(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) { /* the longer side is the width, and the height */
        psfm_camera camera = {.model = PSFM_CAMERA_OPENCV,
                              .width = k == 0 ? 2000 : 1500,
                              .height = k == 0 ? 1500 : 2000,
                              .params = {1000.0, 1600.0, 900.0, 800.0}};
        psfm_radial_set(&camera, -0.25);
        assert_close(camera.params[4], -0.25 * 0.5 * 0.8, 1e-15);
        assert_close(psfm_radial_strength(&camera), -0.25, 1e-15);
        camera.params[0] *= 2.0; /* a longer lens with as much distortion */
        camera.params[4] *= 2.0;
        assert_close(psfm_radial_strength(&camera), -0.25, 1e-15);
        assert_true(psfm_has_radial(&camera));
        camera.model = PSFM_CAMERA_PINHOLE;
        assert_false(psfm_has_radial(&camera));
        camera.model = PSFM_CAMERA_OPENCV_FISHEYE;
        assert_false(psfm_has_radial(&camera));
    }
}

/* The coefficient is that of the truth, -0.1 for 1200 pixels, in units of the image. */
static void distortion_is_found_whatever_the_focal_lengths(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const double truth = -0.1 * 1280.0 * 1280.0 / (1200.0 * 1200.0);
    for (int noisy = 0; noisy < 2; ++noisy) {
        fixture f;
        psfm_radial_result found;
        set_up(ctx, &f, PSFM_CAMERA_SIMPLE_RADIAL, 1200.0, noisy ? 0.5 : 0.0);
        f.is_free[3] = false;
        double others = f.scene.matches.cameras[3].params[3];
        assert_ok(ctx,
                  psfm_radial_search(ctx, &f.scene.matches, f.two_views, f.is_free, false, &found));
        assert_true(found.found);
        assert_close(found.value, truth, 0.012); /* focal lengths differ by five per cent */
        assert_below(found.sigma_px, 0.7 * found.sigma_before_px);
        if (noisy)
            assert_close(found.sigma_px, 0.5, 0.1);
        for (size_t c = 0; c < CAMERAS; ++c) {
            const psfm_camera *camera = &f.scene.matches.cameras[c];
            assert_close(camera->params[0], PSFM_GUESS_FACTOR * 1280.0, 0.0);
            assert_close(c == 3 ? camera->params[3] - others + found.value
                                : psfm_radial_strength(camera),
                         found.value, 1e-12);
        }
        tear_down(&f);
    }
    psfm_context_destroy(&ctx);
}

/* At known focal lengths it is the coefficient itself, which is one for all. */
static void the_coefficient_of_one_kind_of_lens_is_found(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_radial_result found;
    set_up(ctx, &f, PSFM_CAMERA_SIMPLE_RADIAL, 1200.0, 0.0);
    for (size_t c = 0; c < CAMERAS; ++c)
        f.scene.matches.cameras[c].params[0] = f.scene.truth.cameras[c].params[0];
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &f.scene.matches, NULL));
    psfm_two_views_free(&f.two_views, f.scene.matches.num_pairs);
    assert_ok(ctx, psfm_two_views_make(ctx, &f.scene.matches, NULL, &f.two_views));
    assert_ok(ctx, psfm_radial_search(ctx, &f.scene.matches, f.two_views, f.is_free, true, &found));
    assert_true(found.found);
    assert_close(found.value, -0.1, 2e-3);
    for (size_t c = 0; c < CAMERAS; ++c)
        assert_close(f.scene.matches.cameras[c].params[3], found.value, 0.0);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* Nothing is found where there is none, where no lens may have any, and in nothing; cameras stay.
 */
static void what_is_not_there_is_not_found(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_radial_result found;
    set_up(ctx, &f, PSFM_CAMERA_PINHOLE, 1200.0, 0.7);
    psfm_match_set *set = &f.scene.matches;
    psfm_camera before[CAMERAS];
    memcpy(before, set->cameras, sizeof before);
    assert_ok(ctx, psfm_radial_search(ctx, set, f.two_views, f.is_free, false, &found));
    assert_false(found.found);
    assert_close(found.value, 0.0, 0.02);
    assert_ok(ctx, psfm_fisheye_search(ctx, set, f.two_views, f.is_free, false, &found));
    assert_false(found.found);
    memset(f.is_free, 0, sizeof f.is_free);
    assert_ok(ctx, psfm_radial_search(ctx, set, f.two_views, f.is_free, false, &found));
    assert_true(!found.found && found.value == 0.0);
    assert_memory_equal(before, set->cameras, sizeof before);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* Fewer than twenty matches of each plane say nothing, even of a lens with distortion. */
static void few_matches_are_not_asked(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_radial_result found;
    set_up(ctx, &f, PSFM_CAMERA_SIMPLE_RADIAL, 1200.0, 0.2);
    for (size_t p = 0; p < f.scene.matches.num_pairs; ++p)
        for (size_t h = 0; h < f.two_views[p].num_homographies; ++h)
            f.two_views[p].homographies[h].num_inliers = 19;
    assert_ok(ctx,
              psfm_radial_search(ctx, &f.scene.matches, f.two_views, f.is_free, false, &found));
    assert_false(found.found);
    assert_close(found.sigma_before_px, 0.0, 0.0);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* A lens whose images of angles are all but linear; a second search starts from such lenses. */
static void fisheyes_are_found_by_their_focal_length(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_radial_result found;
    set_up(ctx, &f, PSFM_CAMERA_OPENCV_FISHEYE, 500.0, 0.5);
    psfm_match_set *set = &f.scene.matches;
    assert_ok(ctx, psfm_fisheye_search(ctx, set, f.two_views, f.is_free, false, &found));
    assert_true(found.found);
    assert_below(fabs(log(found.value * 1280.0 / 500.0)), 0.15);
    assert_below(found.sigma_px, found.sigma_before_px);
    for (size_t c = 0; c < CAMERAS; ++c) {
        assert_int_equal(set->cameras[c].model, PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE);
        assert_close(set->cameras[c].params[0], 1280.0 * found.value, 1e-9);
        assert_close(set->cameras[c].params[1], 640.0, 0.0);
        assert_close(set->cameras[c].params[2], 360.0, 0.0);
        assert_close(set->cameras[c].params[3], 0.0, 0.0);
    }
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

static void threads_make_no_difference(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_radial_result found[2];
    for (int k = 0; k < 2; ++k) {
        fixture f;
        psfm_context_set_threads(ctx, k == 0 ? 1 : 3);
        set_up(ctx, &f, PSFM_CAMERA_SIMPLE_RADIAL, 1200.0, 0.5);
        assert_ok(ctx, psfm_radial_search(ctx, &f.scene.matches, f.two_views, f.is_free, false,
                                          &found[k]));
        tear_down(&f);
    }
    assert_true(found[0].value == found[1].value && found[0].sigma_px == found[1].sigma_px);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strengths_do_not_depend_on_the_focal_length),
        cmocka_unit_test(distortion_is_found_whatever_the_focal_lengths),
        cmocka_unit_test(the_coefficient_of_one_kind_of_lens_is_found),
        cmocka_unit_test(what_is_not_there_is_not_found),
        cmocka_unit_test(few_matches_are_not_asked),
        cmocka_unit_test(fisheyes_are_found_by_their_focal_length),
        cmocka_unit_test(threads_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
