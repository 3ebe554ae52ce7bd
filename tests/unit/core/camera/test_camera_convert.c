#include "core/camera/camera_convert.h"
#include "core/camera/camera_model.h"

#include "unit/core/bundle/bundle_scene.h"

static void a_larger_model_says_the_same(void **state) {
    (void)state;
    static const psfm_camera_model pairs[][2] = {
        {PSFM_CAMERA_SIMPLE_PINHOLE, PSFM_CAMERA_PINHOLE},
        {PSFM_CAMERA_SIMPLE_RADIAL, PSFM_CAMERA_RADIAL},
        {PSFM_CAMERA_RADIAL, PSFM_CAMERA_OPENCV},
        {PSFM_CAMERA_OPENCV, PSFM_CAMERA_FULL_OPENCV},
        {PSFM_CAMERA_RADIAL_FISHEYE, PSFM_CAMERA_OPENCV_FISHEYE},
        {PSFM_CAMERA_OPENCV_FISHEYE, PSFM_CAMERA_THIN_PRISM_FISHEYE},
        {PSFM_CAMERA_OPENCV_FISHEYE, PSFM_CAMERA_RAD_TAN_THIN_PRISM_FISHEYE},
        {PSFM_CAMERA_SIMPLE_FISHEYE, PSFM_CAMERA_FISHEYE},
        {PSFM_CAMERA_FISHEYE, PSFM_CAMERA_OPENCV_FISHEYE},
        {PSFM_CAMERA_SIMPLE_DIVISION, PSFM_CAMERA_DIVISION},
        {PSFM_CAMERA_PINHOLE, PSFM_CAMERA_EUCM},
    };
    const double ray[3] = {0.3, -0.2, 1.0};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k) {
        psfm_camera small = scene_camera(pairs[k][0]);
        psfm_camera large = psfm_camera_convert(&small, pairs[k][1]), back;
        double a[2], b[2];
        assert_int_equal(large.model, pairs[k][1]);
        assert_true(psfm_camera_project(&small, ray, a) && psfm_camera_project(&large, ray, b));
        assert_close(a[0], b[0], 1e-9);
        assert_close(a[1], b[1], 1e-9);
        back = psfm_camera_convert(&large, pairs[k][0]);
        for (int i = 0; i < psfm_camera_num_params(small.model); ++i)
            assert_close(back.params[i], small.params[i], 1e-9);
    }
}

static void one_focal_length_is_the_mean_of_two(void **state) {
    (void)state;
    psfm_camera camera = {.model = PSFM_CAMERA_PINHOLE,
                          .width = 10,
                          .height = 10,
                          .params = {100.0, 400.0, 5.0, 6.0}};
    psfm_camera single = psfm_camera_convert(&camera, PSFM_CAMERA_SIMPLE_RADIAL);
    assert_close(single.params[0], 200.0, 1e-9);
    assert_close(single.params[2], 6.0, 0.0);
    assert_close(single.params[3], 0.0, 0.0);
}

/* Projecting with the scaled camera gives the scaled pixel, for every model. */
static void pixels_scale_with_the_camera(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int model = 0; model < PSFM_CAMERA_EQUIRECTANGULAR; ++model) {
        psfm_camera camera = {
            .id = 1, .model = (psfm_camera_model)model, .width = 1600, .height = 1200};
        const int *focal = psfm_camera_model_get(camera.model)->focal;
        bool one_focal = focal[0] == focal[1];
        double pinhole[4] = {1300, 1310, 790, 610}, simple[3] = {1300, 790, 610};
        memcpy(camera.params, one_focal ? simple : pinhole,
               one_focal ? sizeof simple : sizeof pinhole);
        for (int k = one_focal ? 3 : 4; k < psfm_camera_num_params(camera.model); ++k)
            camera.params[k] = model == PSFM_CAMERA_FOV ? 0.3 : 0.01;
        psfm_camera scaled = camera;
        psfm_camera_scale(&scaled, 800, one_focal ? 600 : 900);
        assert_int_equal(scaled.width, 800);
        double sy = one_focal ? 0.5 : 0.75;
        for (int k = 0; k < 20; ++k) {
            double ray[3] = {psfm_rng_range(&rng, -0.4, 0.4), psfm_rng_range(&rng, -0.4, 0.4), 1};
            double xy[2], small[2];
            assert_true(psfm_camera_project(&camera, ray, xy));
            assert_true(psfm_camera_project(&scaled, ray, small));
            assert_close(small[0], 0.5 * xy[0], 1e-9);
            assert_close(small[1], sy * xy[1], 1e-9);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_larger_model_says_the_same),
        cmocka_unit_test(one_focal_length_is_the_mean_of_two),
        cmocka_unit_test(pixels_scale_with_the_camera),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
