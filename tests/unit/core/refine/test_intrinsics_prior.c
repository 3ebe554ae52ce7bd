/* How surely intrinsics and poses are known when all intrinsics are open. */
#include "core/refine/intrinsics_prior.h"
#include "unit/core/bundle/bundle_scene.h"

#include "core/bundle/covariance.h"
#include "core/camera/camera_convert.h"

enum { NUM = 8 };

typedef struct {
    double rotation, noise; /* of an image: radians, all intrinsics open, and as they are */
    double focal;           /* of the logarithm of the focal length */
    double coefficient;     /* of the distortion */
} sigmas;

/* One camera, adjusted with its intrinsics held, of a focal length from `source`. */
static sigmas find_sigmas(bool from_above, psfm_camera_model model, psfm_focal_source source) {
    const scene_options o = {.num_images = NUM,
                             .num_points = 150,
                             .num_cameras = 1,
                             .model = model,
                             .noise_px = 0.5,
                             .visible = 0.9,
                             .num_planes = from_above ? 1 : 0,
                             .from_above = from_above,
                             .seed = 5};
    static scene s;
    psfm_context *ctx = psfm_context_create();
    psfm_bundle_options options;
    psfm_bundle_copy open;
    const psfm_camera_origin origin = {.source = source, .sigma = 0.3};
    double C[NUM][36], sigma[1][PSFM_CAMERA_MAX_PARAMS], own[PSFM_CAMERA_MAX_PARAMS];
    sigmas out = {0};
    psfm_options_init(&psfm_bundle_option_table, &options);
    scene_make(&o, &s);
    options.planes = from_above ? PSFM_PLANES_HARD : PSFM_PLANES_FREE;
    assert_ok(ctx, psfm_bundle_adjust(ctx, &s.problem, &options, NULL));
    assert_ok(ctx, psfm_pose_covariance(ctx, &s.problem, &options, false, C, NULL));
    for (int v = 0; v < NUM; ++v)
        out.noise = fmax(out.noise, sqrt(C[v][0] + C[v][7] + C[v][14]));
    assert_ok(ctx, psfm_open_intrinsics(ctx, &s.problem, &origin, &options, &open));
    assert_int_equal(s.cameras[0].model, model); /* the copy alone has changed */
    assert_ok(ctx, psfm_uncertainty(ctx, &open.problem, &options, C, sigma));
    for (int v = 0; v < NUM; ++v)
        out.rotation = fmax(out.rotation, sqrt(C[v][0] + C[v][7] + C[v][14]));
    psfm_sigmas_in_model(&open.cameras[0], sigma[0], model, own);
    const psfm_camera_model_info *info = psfm_camera_model_get(model);
    out.focal = own[info->focal[0]] / s.cameras[0].params[info->focal[0]];
    out.coefficient = info->radial[0] == 0 ? NAN : own[info->radial[0]];
    psfm_bundle_copy_free(&open);
    psfm_context_destroy(&ctx);
    return out;
}

/* Over flat ground from above the focal length is known as well as its EXIF value is, or the guess:
 * the flatness alone would hold it. */
static void the_ground_does_not_hold_a_focal_length(void **state) {
    (void)state;
    sigmas exif = find_sigmas(true, PSFM_CAMERA_SIMPLE_RADIAL, PSFM_FOCAL_EXIF);
    sigmas guess = find_sigmas(true, PSFM_CAMERA_SIMPLE_RADIAL, PSFM_FOCAL_GUESS);
    assert_true(exif.focal > 0.3 * PSFM_EXIF_SIGMA && exif.focal <= PSFM_EXIF_SIGMA);
    assert_true(guess.focal > exif.focal);
}

/* In space points hold it, whatever is known before; a given one is known better. */
static void points_in_space_hold_it(void **state) {
    (void)state;
    sigmas guess = find_sigmas(false, PSFM_CAMERA_SIMPLE_RADIAL, PSFM_FOCAL_GUESS);
    sigmas given = find_sigmas(false, PSFM_CAMERA_SIMPLE_RADIAL, PSFM_FOCAL_GIVEN);
    assert_true(guess.focal < 0.01);
    assert_true(given.focal < guess.focal);
    assert_true(guess.coefficient < 0.02 && guess.coefficient > given.coefficient);
}

/* Poses are known worse than the noise alone makes them, more so by a lens that nobody measured. */
static void poses_allow_for_held_intrinsics(void **state) {
    static const psfm_camera_model models[] = {PSFM_CAMERA_PINHOLE, PSFM_CAMERA_RADIAL_FISHEYE};
    (void)state;
    for (int k = 0; k < 2; ++k) {
        sigmas guess = find_sigmas(false, models[k], PSFM_FOCAL_GUESS);
        sigmas given = find_sigmas(false, models[k], PSFM_FOCAL_GIVEN);
        assert_true(given.rotation > given.noise);
        assert_true(guess.rotation > given.rotation);
    }
}

/* What a model has no place for is lost when another is taken. */
static void large_models_keep_the_lens(void **state) {
    (void)state;
    const double ray[3] = {0.3, -0.2, 1.0};
    for (int model = 0; model < PSFM_CAMERA_EQUIRECTANGULAR; ++model) {
        psfm_camera small = scene_camera((psfm_camera_model)model), large;
        double a[2], b[2], sigma[PSFM_CAMERA_MAX_PARAMS], out[PSFM_CAMERA_MAX_PARAMS];
        large = psfm_camera_convert(&small, psfm_large_model(small.model));
        assert_true(psfm_camera_project(&small, ray, a) && psfm_camera_project(&large, ray, b));
        assert_close(hypot(a[0] - b[0], a[1] - b[1]), 0.0, 1e-9);
        for (int k = 0; k < PSFM_CAMERA_MAX_PARAMS; ++k)
            sigma[k] = 1.0;
        psfm_sigmas_in_model(&large, sigma, small.model, out);
        int first = psfm_camera_first_coefficient(small.model);
        assert_true(model == PSFM_CAMERA_FOV || first == 0 || out[first] == 1.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ground_does_not_hold_a_focal_length),
        cmocka_unit_test(points_in_space_hold_it),
        cmocka_unit_test(poses_allow_for_held_intrinsics),
        cmocka_unit_test(large_models_keep_the_lens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
