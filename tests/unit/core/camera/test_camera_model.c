#include "test_util.h"

#include "core/camera/camera_model.h"

/* Names, numbers and parameter counts as COLMAP's documentation lists them. */
static const struct {
    int id;
    const char *name;
    int num_params;
} expected[] = {
    {0, "SIMPLE_PINHOLE", 3},
    {1, "PINHOLE", 4},
    {2, "SIMPLE_RADIAL", 4},
    {3, "RADIAL", 5},
    {4, "OPENCV", 8},
    {5, "OPENCV_FISHEYE", 8},
    {6, "FULL_OPENCV", 12},
    {7, "FOV", 5},
    {8, "SIMPLE_RADIAL_FISHEYE", 4},
    {9, "RADIAL_FISHEYE", 5},
    {10, "THIN_PRISM_FISHEYE", 12},
    {11, "RAD_TAN_THIN_PRISM_FISHEYE", 16},
    {12, "SIMPLE_DIVISION", 4},
    {13, "DIVISION", 5},
    {14, "SIMPLE_FISHEYE", 3},
    {15, "FISHEYE", 4},
    {16, "EUCM", 6},
    {17, "EQUIRECTANGULAR", 2},
};

static void names_and_ids_are_colmaps(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof expected / sizeof *expected; ++k) {
        psfm_camera_model id = (psfm_camera_model)expected[k].id, found;
        assert_string_equal(psfm_camera_model_name(id), expected[k].name);
        assert_int_equal(psfm_camera_num_params(id), expected[k].num_params);
        assert_true(psfm_camera_model_from_name(expected[k].name, &found));
        assert_int_equal(found, id);
    }
}

static void unknown_models_are_told(void **state) {
    (void)state;
    const int ids[] = {-1, PSFM_NUM_CAMERA_MODELS, 1000000};
    for (int k = 0; k < 3; ++k) {
        assert_null(psfm_camera_model_name((psfm_camera_model)ids[k]));
        assert_int_equal(psfm_camera_num_params((psfm_camera_model)ids[k]), 0);
    }
    psfm_camera_model found = PSFM_CAMERA_FOV;
    const char *const names[] = {"", "pinhole", "PINHOLE ", "OPENCV_", NULL};
    for (int k = 0; k < 5; ++k)
        assert_false(psfm_camera_model_from_name(names[k], &found));
    assert_int_equal(found, PSFM_CAMERA_FOV);
}

static psfm_camera good_camera(void) {
    psfm_camera camera = {.id = 7, .model = PSFM_CAMERA_OPENCV, .width = 1280, .height = 720};
    const double params[8] = {1200, 1210, 640, 360, -0.1, 0.01, 1e-3, -1e-3};
    memcpy(camera.params, params, sizeof params);
    return camera;
}

/* Checks that the camera is refused with a sentence that names it and contains `words`. */
static void assert_refused(psfm_context *ctx, const psfm_camera *camera, const char *words) {
    assert_int_equal(psfm_camera_check(ctx, camera), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "camera 7"));
    if (strstr(psfm_context_message(ctx), words) == NULL)
        fail_msg("'%s' lacks '%s'", psfm_context_message(ctx), words);
}

static void check_names_what_is_wrong(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_camera camera = good_camera();
    assert_ok(ctx, psfm_camera_check(ctx, &camera));
    camera.model = (psfm_camera_model)99;
    assert_refused(ctx, &camera, "99 is not a camera model");
    camera = good_camera();
    camera.width = 0;
    assert_refused(ctx, &camera, "0 x 720");
    camera = good_camera();
    camera.height = UINT64_MAX;
    assert_refused(ctx, &camera, "1280 x 18446744073709551615");
    camera = good_camera();
    camera.params[7] = NAN;
    assert_refused(ctx, &camera, "parameter 8 of OPENCV");
    camera.params[7] = INFINITY;
    assert_refused(ctx, &camera, "parameter 8 of OPENCV");
    camera = good_camera();
    camera.params[1] = 0.0;
    assert_refused(ctx, &camera, "focal length 0");
    camera.params[1] = -3.5;
    assert_refused(ctx, &camera, "focal length -3.5");
    camera = good_camera();
    camera.params[9] = NAN; /* not a parameter of this model */
    assert_ok(ctx, psfm_camera_check(ctx, &camera));
    camera.model = PSFM_CAMERA_FOV;
    camera.params[4] = 3.2;
    assert_refused(ctx, &camera, "omega 3.2");
    camera = (psfm_camera){7, PSFM_CAMERA_EUCM, 1280, 720, {600, 600, 640, 360, 0.5, 1}, true};
    assert_ok(ctx, psfm_camera_check(ctx, &camera));
    camera.params[4] = 1.5;
    assert_refused(ctx, &camera, "alpha 1.5");
    camera.params[4] = 1.0;
    camera.params[5] = 0.0;
    assert_refused(ctx, &camera, "beta 0");
    psfm_context_destroy(&ctx);
}

static void panoramas_are_cameras_without_a_lens(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_camera camera = {7, PSFM_CAMERA_EQUIRECTANGULAR, 2048, 1024, {2048, 1024}, false};
    assert_ok(ctx, psfm_camera_check(ctx, &camera));
    assert_int_equal(psfm_camera_check_lens(ctx, &camera), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(ctx), "camera 7 is EQUIRECTANGULAR"));
    assert_close(psfm_camera_mean_focal(&camera), 2048 / (2 * M_PI), 1e-9);
    camera.params[1] = 0.0;
    assert_refused(ctx, &camera, "side 0");
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_ids_are_colmaps),
        cmocka_unit_test(unknown_models_are_told),
        cmocka_unit_test(check_names_what_is_wrong),
        cmocka_unit_test(panoramas_are_cameras_without_a_lens),
    };
    return cmocka_run_group_tests_name("camera/camera_model", tests, NULL, NULL);
}
