/* Lenses of known truth: what is in them is set free, and nothing else. */
#include "unit/core/bundle/bundle_scene.h"

#include "core/camera/camera_convert.h"
#include "core/camera/camera_model.h"
#include "core/refine/lens_selection.h"

typedef struct {
    psfm_context *ctx;
    psfm_camera_prior priors[2];
    psfm_bundle_options options;
    size_t num;
} fixture;

static void set_up(fixture *f, const scene *s, psfm_bundle_refine refine) {
    *f = (fixture){.ctx = psfm_context_create(), .num = 9};
    psfm_options_init(&psfm_bundle_option_table, &f->options);
    for (int c = 0; c < 2; ++c)
        f->priors[c] = (psfm_camera_prior){.refine = refine,
                                           .camera = s->cameras[c],
                                           .focal_sigma = 0.05,
                                           .distortion_sigma = 0.1,
                                           .center_sigma = 0.02};
}

static void choose(fixture *f, scene *s, const psfm_camera_origin *origins) {
    s->problem.camera_priors = f->priors;
    assert_ok(f->ctx, psfm_bundle_adjust(f->ctx, &s->problem, &f->options, NULL));
    assert_ok(f->ctx,
              psfm_choose_lenses(f->ctx, &s->problem, origins, &f->options, f->priors, &f->num));
    for (int c = 0; c < 2; ++c)
        assert_int_equal(s->cameras[c].model, f->priors[c].camera.model);
}

/* Takes camera c for a straight one of SIMPLE_RADIAL. */
static void take_for_simple(scene *s, fixture *f, int c) {
    s->cameras[c] = psfm_camera_convert(&s->cameras[c], PSFM_CAMERA_SIMPLE_RADIAL);
    s->cameras[c].params[3] = 0.0;
    f->priors[c].camera = s->cameras[c];
}

static void right_cameras_stay_as_they_are(void **state) {
    (void)state;
    static scene s;
    fixture f;
    for (uint64_t seed = 0; seed < 5; ++seed) {
        scene_options o = scene_of_two_cameras;
        o.seed = seed;
        scene_make(&o, &s);
        set_up(&f, &s, PSFM_REFINE_FOCAL);
        choose(&f, &s, NULL);
        assert_int_equal(f.num, 0);
        assert_int_equal(f.priors[0].refine, PSFM_REFINE_FOCAL);
        assert_int_equal(s.cameras[0].model, PSFM_CAMERA_PINHOLE);
        psfm_context_destroy(&f.ctx);
    }
}

/* The second camera's principal point is taken to be 20 pixels from where it is. */
static void a_principal_point_off_the_middle_is_set_free(void **state) {
    (void)state;
    static scene s;
    fixture f;
    for (size_t num_images = 8; num_images <= 10; num_images += 2) { /* four each, then five */
        scene_options o = scene_of_two_cameras;
        o.num_images = num_images;
        scene_make(&o, &s);
        s.cameras[1].params[2] += 20.0;
        set_up(&f, &s, PSFM_REFINE_FOCAL_DISTORTION);
        choose(&f, &s, NULL);
        assert_int_equal(f.num, num_images == 10);
        assert_int_equal(f.priors[0].refine, PSFM_REFINE_FOCAL_DISTORTION);
        assert_int_equal(f.priors[1].refine,
                         num_images == 10 ? PSFM_REFINE_ALL : PSFM_REFINE_FOCAL_DISTORTION);
        assert_int_equal(s.cameras[1].model, PSFM_CAMERA_PINHOLE);
        psfm_context_destroy(&f.ctx);
    }
}

/* Of two lenses taken to be straight, the second one is not, and one number says how. */
static void a_distortion_is_set_free_where_there_is_one(void **state) {
    (void)state;
    static scene s;
    fixture f;
    scene_options o = scene_of_two_cameras;
    o.model = PSFM_CAMERA_SIMPLE_RADIAL;
    scene_make(&o, &s);
    set_up(&f, &s, PSFM_REFINE_FOCAL);
    f.priors[1].camera.params[3] = s.cameras[1].params[3] = 0.0;
    choose(&f, &s, NULL);
    assert_int_equal(f.num, 1);
    assert_int_equal(f.priors[0].refine, PSFM_REFINE_FOCAL);
    assert_int_equal(f.priors[1].refine, PSFM_REFINE_FOCAL_DISTORTION);
    assert_int_equal(f.priors[1].fixed & 8, 0);
    assert_int_equal(s.cameras[1].model, PSFM_CAMERA_SIMPLE_RADIAL);
    psfm_context_destroy(&f.ctx);
}

/* A lens of four numbers in a model that has one: the model grows, unless it was asked for. */
static void a_model_grows_unless_it_was_asked_for(void **state) {
    (void)state;
    static scene s;
    fixture f;
    for (int keeps = 0; keeps < 2; ++keeps) {
        psfm_camera_origin origins[2] = {{.keeps_model = keeps}, {.keeps_model = keeps}};
        scene_options o = scene_of_two_cameras;
        o.model = PSFM_CAMERA_OPENCV;
        o.num_points = 400;
        o.noise_px = 0.1;
        scene_make(&o, &s);
        set_up(&f, &s, PSFM_REFINE_FOCAL);
        for (int c = 0; c < 2; ++c)
            take_for_simple(&s, &f, c);
        choose(&f, &s, origins);
        assert_int_equal(s.cameras[0].model,
                         keeps ? PSFM_CAMERA_SIMPLE_RADIAL : PSFM_CAMERA_OPENCV);
        if (!keeps) {
            assert_int_equal(f.priors[0].fixed & 0xd0, 0); /* k1, p1, p2 move */
            assert_ok(f.ctx, psfm_bundle_adjust(f.ctx, &s.problem, &f.options, NULL));
            assert_close(s.cameras[0].params[4], -0.1, 0.01);
            assert_close(s.cameras[0].params[6], 0.001, 2e-4);
            assert_close(s.cameras[0].params[7], -0.002, 2e-4);
        }
        psfm_context_destroy(&f.ctx);
    }
}

/* Pixels 1 % higher than wide, taken to be square. */
static void pixels_that_are_not_square_are_found(void **state) {
    (void)state;
    static scene s;
    fixture f;
    scene_options o = scene_of_two_cameras;
    o.num_points = 400;
    o.noise_px = 0.2;
    scene_make(&o, &s);
    set_up(&f, &s, PSFM_REFINE_FOCAL);
    for (int c = 0; c < 2; ++c)
        take_for_simple(&s, &f, c);
    choose(&f, &s, NULL);
    assert_int_equal(f.num, 2);
    assert_true(f.priors[0].two_focals);
    assert_ok(f.ctx, psfm_bundle_adjust(f.ctx, &s.problem, &f.options, NULL));
    const psfm_camera_model_info *info = psfm_camera_model_get(s.cameras[0].model);
    const double *p = s.cameras[0].params;
    assert_close(p[info->focal[1]] / p[info->focal[0]], 1.01, 0.002);
    psfm_context_destroy(&f.ctx);
}

/* Errors that neighbours share, a pixel in each square of 160: independent ones of that size would
 * be far less likely to agree on a lens. */
static void shared_errors_are_not_taken_for_a_lens(void **state) {
    (void)state;
    static scene s;
    fixture f;
    size_t num_freed = 0;
    for (uint64_t seed = 0; seed < 4; ++seed) {
        scene_options o = scene_of_two_cameras;
        o.num_points = 400;
        o.noise_px = 0.1;
        o.seed = seed;
        scene_make(&o, &s);
        for (size_t k = 0; k < s.problem.num_observations; ++k) {
            uint64_t x = (uint64_t)(s.obs_xy[k][0] / 160.0), y = (uint64_t)(s.obs_xy[k][1] / 160.0);
            psfm_rng rng = psfm_rng_make(seed, s.obs_image[k], x, y);
            s.obs_xy[k][0] += psfm_rng_normal(&rng);
            s.obs_xy[k][1] += psfm_rng_normal(&rng);
        }
        set_up(&f, &s, PSFM_REFINE_FOCAL);
        choose(&f, &s, NULL);
        num_freed += f.num;
        psfm_context_destroy(&f.ctx);
    }
    assert_int_equal(num_freed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_cameras_stay_as_they_are),
        cmocka_unit_test(a_principal_point_off_the_middle_is_set_free),
        cmocka_unit_test(a_distortion_is_set_free_where_there_is_one),
        cmocka_unit_test(a_model_grows_unless_it_was_asked_for),
        cmocka_unit_test(shared_errors_are_not_taken_for_a_lens),
        cmocka_unit_test(pixels_that_are_not_square_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
