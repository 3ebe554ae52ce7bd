#include "bundle_scene.h"

#include "core/bundle/covariance.h"
#include "planarsfm/bundle.h"

static const scene_options flat_scene = {.num_images = 8,
                                         .num_points = 150,
                                         .num_cameras = 2,
                                         .model = PSFM_CAMERA_PINHOLE,
                                         .noise_px = 0.0,
                                         .visible = 0.9,
                                         .num_planes = 2,
                                         .seed = 3};

/* The scene as the public header takes it; `planes` has room for 2 x 4. */
static psfm_bundle_scene make_public(scene *s, double *planes) {
    for (size_t k = 0; k < s->problem.num_planes; ++k) {
        memcpy(planes + 4 * k, s->planes[k].normal, sizeof s->planes[k].normal);
        planes[4 * k + 3] = s->planes[k].distance;
    }
    return (psfm_bundle_scene){.struct_size = sizeof(psfm_bundle_scene),
                               .num_cameras = s->problem.num_cameras,
                               .cameras = s->cameras,
                               .num_images = s->problem.num_images,
                               .image_camera = s->image_camera,
                               .cam_from_world = *s->R,
                               .centers = *s->c,
                               .num_points = s->problem.num_points,
                               .points = *s->points,
                               .point_plane = s->point_plane,
                               .num_planes = s->problem.num_planes,
                               .planes = planes,
                               .num_observations = s->problem.num_observations,
                               .obs_image = s->obs_image,
                               .obs_point = s->obs_point,
                               .obs_xy = *s->obs_xy};
}

/* Without noise the perturbed scene explains its pixels exactly again. */
static void test_exact(void **state) {
    psfm_context *ctx = *state;
    scene *s = calloc(1, sizeof *s);
    double planes[8], *error = calloc(SCENE_MAX_IMAGES * SCENE_MAX_POINTS, sizeof *error);
    int32_t image_state[SCENE_MAX_IMAGES], datum = 0;
    for (int mode = PSFM_ADJUST_PLANES_SOFT; mode <= PSFM_ADJUST_PLANES_FREE; ++mode) {
        scene_make(&flat_scene, s);
        scene_perturb(s, 5, 0.01, 0.02, NULL);
        psfm_bundle_scene bundle = make_public(s, planes);
        psfm_adjust_options options = {
            .struct_size = sizeof options, .planes = mode, .tolerance = 1e-15, .converged = -1.0};
        psfm_adjust_result result = {.struct_size = sizeof result};
        assert_ok(ctx, psfm_adjust_bundle(ctx, &bundle, &options, image_state, &result));
        assert_true(result.initial_mean_px > 1.0);
        assert_ok(ctx, psfm_reprojection_errors(ctx, &bundle, error));
        for (size_t k = 0; k < bundle.num_observations; ++k)
            assert_below(error[k], 1e-6);
        for (size_t k = 0; k < bundle.num_images; ++k)
            datum += image_state[k] == PSFM_ADJUST_DATUM;
    }
    assert_int_equal(datum, 3);
    free(error);
    free(s);
}

/* The front changes nothing: the same bytes as from the room itself. */
static void test_same_bytes(void **state) {
    psfm_context *ctx = *state;
    scene_options noisy = scene_of_two_cameras;
    scene *s = calloc(2, sizeof *s);
    double planes[8], covariance[2][SCENE_MAX_IMAGES][36], sigma,
        own[SCENE_MAX_IMAGES][PSFM_CAMERA_MAX_PARAMS],
        theirs[SCENE_MAX_IMAGES][PSFM_CAMERA_MAX_PARAMS];
    psfm_adjust_options options = {.struct_size = sizeof options,
                                   .refine = PSFM_ADJUST_FOCAL,
                                   .planes = PSFM_ADJUST_PLANES_FREE};
    psfm_bundle_options inner;
    psfm_covariance_stats stats;
    psfm_options_init(&psfm_bundle_option_table, &inner);
    inner.refine = PSFM_REFINE_FOCAL;
    inner.planes = PSFM_PLANES_FREE;
    for (int k = 0; k < 2; ++k) {
        scene_make(&noisy, &s[k]);
        scene_perturb(&s[k], 5, 0.002, 0.01, NULL);
    }
    psfm_bundle_scene bundle = make_public(&s[0], planes);
    assert_ok(ctx, psfm_adjust_bundle(ctx, &bundle, &options, NULL, NULL));
    assert_ok(ctx, psfm_bundle_adjust(ctx, &s[1].problem, &inner, NULL));
    assert_memory_equal(s[0].R, s[1].R, sizeof s[0].R);
    assert_memory_equal(s[0].points, s[1].points, sizeof s[0].points);
    assert_memory_equal(s[0].cameras, s[1].cameras, sizeof s[0].cameras);
    assert_ok(ctx, psfm_bundle_covariance(ctx, &bundle, &options, false, **covariance, &sigma));
    assert_ok(ctx, psfm_pose_covariance(ctx, &s[1].problem, &inner, false, covariance[1], &stats));
    assert_memory_equal(covariance[0], covariance[1], bundle.num_images * sizeof **covariance);
    assert_true(sigma == stats.sigma && sigma > 0.3 && sigma < 0.8);
    assert_ok(ctx, psfm_intrinsics_sigmas(ctx, &bundle, &options, *own));
    assert_ok(ctx, psfm_camera_sigmas(ctx, &s[1].problem, &inner, theirs));
    assert_memory_equal(own, theirs, bundle.num_cameras * sizeof *own);
    assert_true(own[0][0] > 0.0 && isnan(own[0][2]));
    free(s);
}

static void test_refusals(void **state) {
    psfm_context *ctx = *state;
    scene *s = calloc(1, sizeof *s);
    double planes[8], numbers[1] = {0};
    scene_make(&flat_scene, s);
    psfm_bundle_scene bundle = make_public(s, planes);
    psfm_adjust_options odd = {.struct_size = sizeof odd, .loss = 7};
    psfm_adjust_options negative = {.struct_size = sizeof negative, .tolerance = -1.0};
    const psfm_status refused[] = {
        psfm_adjust_bundle(NULL, &bundle, NULL, NULL, NULL),
        psfm_adjust_bundle(ctx, NULL, NULL, NULL, NULL),
        psfm_adjust_bundle(ctx, &bundle, &odd, NULL, NULL),
        psfm_adjust_bundle(ctx, &bundle, &negative, NULL, NULL),
        psfm_reprojection_errors(ctx, &bundle, NULL),
        psfm_reprojection_errors(ctx, NULL, numbers),
        psfm_bundle_covariance(ctx, &bundle, NULL, true, NULL, NULL),
        psfm_bundle_covariance(ctx, NULL, NULL, true, numbers, NULL),
        psfm_intrinsics_sigmas(ctx, &bundle, NULL, NULL),
        psfm_intrinsics_sigmas(ctx, NULL, NULL, numbers),
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; ++k)
        if (refused[k] != PSFM_ERR_ARGUMENT)
            fail_msg("call %zu gave %s", k, psfm_status_name(refused[k]));
    const size_t needed[] = {
        offsetof(psfm_bundle_scene, cameras),   offsetof(psfm_bundle_scene, image_camera),
        offsetof(psfm_bundle_scene, centers),   offsetof(psfm_bundle_scene, cam_from_world),
        offsetof(psfm_bundle_scene, points),    offsetof(psfm_bundle_scene, planes),
        offsetof(psfm_bundle_scene, obs_image), offsetof(psfm_bundle_scene, obs_point),
        offsetof(psfm_bundle_scene, obs_xy)};
    for (size_t k = 0; k < sizeof needed / sizeof *needed; ++k) {
        psfm_bundle_scene without = bundle;
        memset((char *)&without + needed[k], 0, sizeof(void *));
        assert_int_equal(psfm_adjust_bundle(ctx, &without, NULL, NULL, NULL), PSFM_ERR_ARGUMENT);
    }
    s->obs_point[3] = 100000;
    assert_int_equal(psfm_adjust_bundle(ctx, &bundle, NULL, NULL, NULL), PSFM_ERR_ARGUMENT);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
