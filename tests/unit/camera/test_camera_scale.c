#include "test_util.h"

#include "base/rng.h"
#include "camera/camera_scale.h"

/* Projecting with the scaled camera gives the scaled pixel, for every model. */
static void pixels_scale_with_the_camera(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int model = 0; model < PSFM_NUM_CAMERA_MODELS; ++model) {
        psfm_camera camera = {
            .id = 1, .model = (psfm_camera_model)model, .width = 1600, .height = 1200};
        bool one_focal = model == PSFM_CAMERA_SIMPLE_PINHOLE ||
                         model == PSFM_CAMERA_SIMPLE_RADIAL || model == PSFM_CAMERA_RADIAL ||
                         model == PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE ||
                         model == PSFM_CAMERA_RADIAL_FISHEYE;
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
        cmocka_unit_test(pixels_scale_with_the_camera),
    };
    return cmocka_run_group_tests_name("camera/camera_scale", tests, NULL, NULL);
}
