/* A turned camera sees a turned ray at the turned pixel. */
#include "core/camera/camera_turn.h"

#include "core/linalg/mat3.h"
#include "test_util.h"
#include "unit/core/camera/camera_samples.h"

static void check_ray(const psfm_camera *camera, int quarters, const double ray[3]) {
    const psfm_camera turned = psfm_camera_turn(camera, quarters);
    double xy[2], moved[3] = {ray[0], ray[1], ray[2]}, seen[2];
    if (camera->model == PSFM_CAMERA_EQUIRECTANGULAR)
        return;
    if (!psfm_camera_project(camera, ray, xy))
        return;
    psfm_pixel_turn(quarters, (double)camera->width, (double)camera->height, xy);
    psfm_vector_turn(quarters, moved);
    assert_true(psfm_camera_project(&turned, moved, seen));
    for (int e = 0; e < 2; ++e)
        assert_close(seen[e], xy[e], 1e-8);
}

static void test_rays(void **state) {
    (void)state;
    for (size_t m = 0; m < NUM_CAMERA_SAMPLES; ++m) {
        const psfm_camera camera = camera_samples[m];
        for (int quarters = 0; quarters < 4; ++quarters)
            for (int k = 0; k < 9; ++k) {
                const double ray[3] = {0.15 * (k % 3 - 1) + 0.02, 0.2 * (k / 3 - 1) - 0.01, 1.0};
                check_ray(&camera, quarters, ray);
            }
    }
}

/* Four quarters are none, and there and back is where it was. */
static void test_back(void **state) {
    (void)state;
    for (size_t m = 0; m < NUM_CAMERA_SAMPLES; ++m)
        for (int quarters = 0; quarters < 4; ++quarters) {
            const psfm_camera camera = camera_samples[m];
            const psfm_camera once = psfm_camera_turn(&camera, quarters);
            const psfm_camera back = psfm_camera_turn(&once, 4 - quarters);
            assert_int_equal(back.width, camera.width);
            for (int p = 0; p < PSFM_CAMERA_MAX_PARAMS; ++p)
                assert_close(back.params[p], camera.params[p], 1e-9);
        }
}

static void test_pose(void **state) {
    (void)state;
    double R[9], t[3] = {1, 2, 3}, X[3] = {0.3, -0.4, 5.0}, before[3], after[3];
    psfm_rotation_exp((const double[3]){0.2, -0.5, 1.1}, R);
    psfm_mat3_mul_vec(R, X, before);
    psfm_axpy3(before, 1.0, t, before);
    psfm_pose_turn(3, R, t);
    psfm_mat3_mul_vec(R, X, after);
    psfm_axpy3(after, 1.0, t, after);
    psfm_vector_turn(3, before);
    for (int e = 0; e < 3; ++e)
        assert_close(after[e], before[e], 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rays),
        cmocka_unit_test(test_back),
        cmocka_unit_test(test_pose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
