#include <math.h>

#include "planarsfm/camera.h"
#include "test_util.h"

static void rows_are_what_single_calls_say(void **state) {
    (void)state;
    const psfm_camera camera = {.model = PSFM_CAMERA_RADIAL,
                                .width = 640,
                                .height = 480,
                                .params = {500.0, 320.0, 240.0, -0.2, 0.05}};
    const double rays[9] = {0.1, -0.2, 1.0, 0.3, 0.1, -1.0, -0.2, 0.3, 2.0};
    double xy[6], back[9], one[2];
    psfm_camera_project_points(&camera, 3, rays, xy);
    psfm_camera_unproject_points(&camera, 3, xy, back);
    for (int k = 0; k < 3; k += 2) {
        assert_true(psfm_camera_project(&camera, &rays[3 * k], one));
        assert_true(xy[2 * k] == one[0] && xy[2 * k + 1] == one[1]);
        for (int i = 0; i < 2; ++i)
            assert_close(back[3 * k + i] / back[3 * k + 2], rays[3 * k + i] / rays[3 * k + 2],
                         1e-9);
    }
    assert_true(isnan(xy[2]) && isnan(xy[3])); /* behind the camera */
    assert_true(isnan(back[3]) && isnan(back[4]) && isnan(back[5]));
}

static void the_matrix_has_both_focal_lengths(void **state) {
    (void)state;
    psfm_camera camera = {.model = PSFM_CAMERA_OPENCV, .params = {500.0, 510.0, 320.0, 240.0, 0.1}};
    const double two[9] = {500.0, 0.0, 320.0, 0.0, 510.0, 240.0, 0.0, 0.0, 1.0};
    const double one[9] = {500.0, 0.0, 510.0, 0.0, 500.0, 320.0, 0.0, 0.0, 1.0};
    double K[9];
    assert_true(psfm_camera_matrix(&camera, K));
    assert_memory_equal(K, two, sizeof two);
    camera.model = PSFM_CAMERA_SIMPLE_RADIAL;
    assert_true(psfm_camera_matrix(&camera, K));
    assert_memory_equal(K, one, sizeof one);
    camera.model = (psfm_camera_model)1000;
    assert_false(psfm_camera_matrix(&camera, K));
    camera.model = PSFM_CAMERA_EQUIRECTANGULAR;
    assert_false(psfm_camera_matrix(&camera, K));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_what_single_calls_say),
        cmocka_unit_test(the_matrix_has_both_focal_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
