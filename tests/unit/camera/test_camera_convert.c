#include "camera/camera_convert.h"

#include "unit/pose/bundle_scene.h"

static void a_larger_model_says_the_same(void **state) {
    (void)state;
    static const psfm_camera_model pairs[][2] = {
        {PSFM_CAMERA_SIMPLE_PINHOLE, PSFM_CAMERA_PINHOLE},
        {PSFM_CAMERA_SIMPLE_RADIAL, PSFM_CAMERA_RADIAL},
        {PSFM_CAMERA_RADIAL, PSFM_CAMERA_OPENCV},
        {PSFM_CAMERA_OPENCV, PSFM_CAMERA_FULL_OPENCV},
        {PSFM_CAMERA_RADIAL_FISHEYE, PSFM_CAMERA_OPENCV_FISHEYE},
        {PSFM_CAMERA_OPENCV_FISHEYE, PSFM_CAMERA_THIN_PRISM_FISHEYE},
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_larger_model_says_the_same),
        cmocka_unit_test(one_focal_length_is_the_mean_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
