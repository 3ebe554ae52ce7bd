#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/vec3.h"
#include "unit/core/camera/camera_samples.h"

/* Calls `visit` for a 33 x 33 grid of pixels that includes the corners and the exact centre of
 * projection of most samples. */
static void for_grid(const psfm_camera *camera,
                     void (*visit)(const psfm_camera *camera, const double xy[2])) {
    for (int row = 0; row <= 32; ++row) {
        for (int col = 0; col <= 32; ++col) {
            double xy[2] = {(double)camera->width * col / 32.0,
                            (double)camera->height * row / 32.0};
            visit(camera, xy);
        }
    }
}

static void check_round_trip(const psfm_camera *camera, const double xy[2]) {
    double ray[3], back[2], again[3], reference[2];
    if (!psfm_camera_unproject(camera, xy, ray))
        fail_msg("camera %u: no ray at %g, %g", camera->id, xy[0], xy[1]);
    assert_close(psfm_norm3(ray), 1.0, 1e-15);
    if (!psfm_camera_project(camera, ray, back))
        fail_msg("camera %u: the ray of %g, %g is refused", camera->id, xy[0], xy[1]);
    assert_close(hypot(back[0] - xy[0], back[1] - xy[1]), 0.0, 1e-9);
    reference_project(camera, ray, reference);
    assert_close(hypot(reference[0] - xy[0], reference[1] - xy[1]), 0.0, 2e-9);
    assert_true(psfm_camera_unproject(camera, back, again));
    assert_close(psfm_angle3(ray, again), 0.0, 1e-11);
}

static void round_trip_over_the_image(void **state) {
    (void)state;
    for (size_t k = 0; k < NUM_CAMERA_SAMPLES; ++k)
        for_grid(&camera_samples[k], check_round_trip);
}

static void check_jacobian(const psfm_camera *camera, const double xy[2]) {
    double ray[3], at[2], J[6];
    assert_true(psfm_camera_unproject(camera, xy, ray));
    psfm_scale3(2.5, ray, ray); /* rays may have any length */
    if (!psfm_camera_project_jacobian(camera, ray, at, J))
        fail_msg("camera %u: no derivative at %g, %g", camera->id, xy[0], xy[1]);
    assert_close(hypot(at[0] - xy[0], at[1] - xy[1]), 0.0, 1e-9);
    double norm = 0.0;
    for (int k = 0; k < 6; ++k)
        norm = fmax(norm, fabs(J[k]));
    for (int r = 0; r < 2; ++r)
        assert_close(psfm_dot3(J + 3 * r, ray) / norm, 0.0, 1e-14);
    /* Fourth-order central differences; the step stays in front of the camera. */
    double h = 2e-4 * ray[2];
    for (int k = 0; k < 3; ++k) {
        double p[4][2];
        const double steps[4] = {-2, -1, 1, 2};
        bool all = true;
        for (int m = 0; m < 4; ++m) {
            double shifted[3] = {ray[0], ray[1], ray[2]};
            shifted[k] += steps[m] * h;
            all = psfm_camera_project(camera, shifted, p[m]) && all;
        }
        assert_true(all);
        for (int r = 0; r < 2; ++r) {
            double numeric = (p[0][r] - 8 * p[1][r] + 8 * p[2][r] - p[3][r]) / (12 * h);
            if (fabs(numeric - J[3 * r + k]) > 1e-6 * norm)
                fail_msg("camera %u at %g, %g: d xy[%d] / d ray[%d] = %g, numerically %g",
                         camera->id, xy[0], xy[1], r, k, J[3 * r + k], numeric);
        }
    }
}

static void check_round_trip_of_panorama(const psfm_camera *camera, const double xy[2]) {
    bool is_border = xy[0] == 0.0 || xy[0] == (double)camera->width || xy[1] == 0.0 ||
                     xy[1] == (double)camera->height;
    double ray[3];
    check_round_trip(camera, xy);
    assert_true(psfm_camera_unproject(camera, xy, ray));
    if (!is_border &&
        fabs(ray[2]) > 1e-3) /* steps are shares of z, and must not cross the border */
        check_jacobian(camera, xy);
}

static void jacobian_is_the_derivative(void **state) {
    (void)state;
    for (size_t k = 0; k < NUM_CAMERA_SAMPLES; ++k)
        for_grid(&camera_samples[k], check_jacobian);
}

static void the_centre_is_smooth(void **state) {
    (void)state;
    const double offsets[] = {0.0, 1e-310, 1e-200, 1e-16, 1e-12, 1e-8, 1e-5, 1e-3};
    for (size_t k = 0; k < NUM_CAMERA_SAMPLES; ++k) {
        const psfm_camera *camera = &camera_samples[k];
        double axis[3] = {0, 0, 3}, center[2], J0[6];
        assert_true(psfm_camera_project_jacobian(camera, axis, center, J0));
        for (size_t m = 0; m < sizeof offsets / sizeof *offsets; ++m) {
            double ray[3] = {offsets[m], -0.7 * offsets[m], 3}, xy[2], J[6], back[3];
            assert_true(psfm_camera_project_jacobian(camera, ray, xy, J));
            for (int c = 0; c < 6; ++c)
                assert_close(J[c], J0[c], 2.0 * fabs(J0[0]) * offsets[m] + 1e-12);
            for (int r = 0; r < 2; ++r)
                assert_close(xy[r], center[r] + J0[3 * r] * ray[0] + J0[3 * r + 1] * ray[1],
                             fabs(J0[0]) * offsets[m] * offsets[m] + 1e-12);
            assert_true(psfm_camera_unproject(camera, xy, back));
            assert_close(psfm_angle3(ray, back), 0.0, 1e-14);
        }
    }
}

static void fov_of_zero_is_the_pinhole(void **state) {
    (void)state;
    psfm_camera fov = camera_samples[20], pinhole = fov;
    fov.model = PSFM_CAMERA_FOV;
    pinhole.model = PSFM_CAMERA_PINHOLE;
    const double omegas[] = {0, 1e-300, 1e-9, 2e-8, 1e-6, -1e-6};
    const double ray[3] = {0.4, -0.3, 1};
    for (int k = 0; k < 6; ++k) {
        double a[2], b[2];
        fov.params[4] = omegas[k];
        assert_true(psfm_camera_project(&fov, ray, a));
        assert_true(psfm_camera_project(&pinhole, ray, b));
        assert_close(hypot(a[0] - b[0], a[1] - b[1]), 0.0, 1e-8);
    }
}

static void rays_without_an_image_are_refused(void **state) {
    (void)state;
    const double refused[][3] = {{0, 0, -1},   {0.1, 0.2, -1},    {1, 0, 0},
                                 {0, 0, 0},    {NAN, 0, 1},       {0, NAN, 1},
                                 {0, 0, NAN},  {INFINITY, 0, 1},  {0, -INFINITY, 1},
                                 {1, 1, -0.0}, {1e300, 0, 1e-300}};
    for (size_t k = 0; k < NUM_CAMERA_SAMPLES; ++k) {
        for (size_t m = 0; m < sizeof refused / sizeof *refused; ++m) {
            double xy[2] = {-1, -2}, J[6] = {7};
            bool projected = psfm_camera_project_jacobian(&camera_samples[k], refused[m], xy, J);
            if (projected) /* fisheyes do see the horizon from within */
                assert_true(m == 10 && isfinite(xy[0]) && isfinite(xy[1]));
            else
                assert_true(xy[0] == -1 && xy[1] == -2 && J[0] == 7);
        }
    }
}

/* SIMPLE_RADIAL with k = -0.3: r (1 - 0.3 r^2) grows up to r = 1 / sqrt(0.9). */
static void beyond_the_fold_is_refused(void **state) {
    (void)state;
    psfm_camera camera = camera_samples[4];
    camera.params[3] = -0.3;
    double fold = 1.0 / sqrt(0.9), top = fold * (1.0 - 0.3 * fold * fold);
    double xy[2], ray[3];
    const double inside[3] = {fold * (1 - 1e-9), 0, 1}, outside[3] = {fold * (1 + 1e-9), 0, 1};
    const double far[3] = {1.9, 0, 1};
    assert_true(psfm_camera_project(&camera, inside, xy));
    assert_false(psfm_camera_project(&camera, outside, xy));
    assert_false(psfm_camera_project(&camera, far, xy));
    double f = camera.params[0];
    const double below[2] = {camera.params[1] + f * top * (1 - 1e-9), camera.params[2]};
    const double above[2] = {camera.params[1] + f * top * (1 + 1e-9), camera.params[2]};
    assert_true(psfm_camera_unproject(&camera, below, ray));
    assert_true(ray[0] / ray[2] < fold);
    assert_true(psfm_camera_project(&camera, ray, xy));
    assert_close(xy[0], below[0], 1e-9);
    assert_false(psfm_camera_unproject(&camera, above, ray));
}

/* The same for a fisheye beyond half a turn, and for a FOV camera. */
static void beyond_half_a_turn_is_refused(void **state) {
    (void)state;
    psfm_camera camera = camera_samples[15];
    double f = camera.params[0], ray[3], back[2];
    const double below[2] = {640 + f * (M_PI_2 - 1e-9), 360};
    const double above[2] = {640 + f * (M_PI_2 + 1e-9), 360};
    assert_true(psfm_camera_unproject(&camera, below, ray));
    assert_true(psfm_camera_project(&camera, ray, back));
    assert_close(back[0], below[0], 1e-9);
    assert_false(psfm_camera_unproject(&camera, above, ray));
    camera = camera_samples[19];
    double omega = camera.params[4];
    const double fov_below[2] = {640, 360 + camera.params[1] * (M_PI_2 - 1e-7) / omega};
    const double fov_above[2] = {640, 360 + camera.params[1] * (M_PI_2 + 1e-7) / omega};
    assert_true(psfm_camera_unproject(&camera, fov_below, ray));
    assert_true(psfm_camera_project(&camera, ray, back));
    assert_close(back[1], fov_below[1], 1e-9);
    assert_false(psfm_camera_unproject(&camera, fov_above, ray));
}

/* Whatever the parameters, the functions end, and what they return is finite and consistent. */
static void wild_parameters_never_give_nan(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    const double odd[] = {0, -0.0, NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e-300, -1, 3.2};
    for (int round = 0; round < 40000; ++round) {
        psfm_camera camera = camera_samples[psfm_rng_below(&rng, NUM_CAMERA_SAMPLES)];
        int n = psfm_camera_num_params(camera.model);
        for (int k = 0; k < n; ++k) {
            double u = psfm_rng_uniform(&rng);
            if (u < 0.05)
                camera.params[k] = odd[psfm_rng_below(&rng, 10)];
            else if (u < 0.5 && k >= 3)
                camera.params[k] = psfm_rng_normal(&rng) * pow(10, psfm_rng_range(&rng, -3, 2));
        }
        double xy[2] = {psfm_rng_range(&rng, -5000, 5000), psfm_rng_range(&rng, -5000, 5000)};
        double ray[3], back[2], J[6];
        if (round % 100 == 0)
            xy[round / 100 % 2] = odd[psfm_rng_below(&rng, 10)];
        if (!psfm_camera_unproject(&camera, xy, ray))
            continue;
        assert_close(psfm_norm3(ray), 1.0, 1e-12);
        if (!psfm_camera_project_jacobian(&camera, ray, back, J))
            continue;
        for (int k = 0; k < 6; ++k)
            assert_true(isfinite(J[k]));
        double scale = 1.0 + hypot(xy[0], xy[1]) + fabs(camera.params[0]) + fabs(camera.params[1]) +
                       fabs(camera.params[2]) + fabs(camera.params[3]);
        assert_close(hypot(back[0] - xy[0], back[1] - xy[1]) / scale, 0.0, 1e-9);
    }
}

static const psfm_camera panorama = {1,    PSFM_CAMERA_EQUIRECTANGULAR, 2048, 1024, {2048, 1024},
                                     false};

/* Every pixel has a ray, also behind the camera. */
static void panoramas_see_everything(void **state) {
    (void)state;
    for_grid(&panorama, check_round_trip_of_panorama);
    const double ahead[3] = {0, 0, 2}, right[3] = {1, 0, 0}, up[3] = {0, -1, 1},
                 behind[3] = {1e-9, 0, -1};
    double xy[2];
    assert_true(psfm_camera_project(&panorama, ahead, xy));
    assert_true(xy[0] == 1024 && xy[1] == 512);
    assert_true(psfm_camera_project(&panorama, right, xy));
    assert_close(xy[0], 1536, 1e-9);
    assert_true(psfm_camera_project(&panorama, up, xy));
    assert_close(xy[1], 256, 1e-9);
    assert_true(psfm_camera_project(&panorama, behind, xy));
    assert_close(xy[0], 2048, 1e-6);
}

static void panoramas_end_at_their_poles_and_sides(void **state) {
    (void)state;
    const double refused[][3] = {{0, 0, 0}, {0, 1, 0}, {0, -2, 0}, {NAN, 0, 1}, {0, INFINITY, 1}};
    const double outside[][2] = {{-1, 500}, {2049, 500}, {500, -1}, {500, 1025}, {NAN, 500}};
    double xy[2] = {-1, -2}, J[6] = {7}, ray[3];
    for (int k = 0; k < 5; ++k) {
        assert_false(psfm_camera_project_jacobian(&panorama, refused[k], xy, J));
        assert_true(xy[0] == -1 && xy[1] == -2 && J[0] == 7);
        assert_false(psfm_camera_unproject(&panorama, outside[k], ray));
    }
}

/* SIMPLE_DIVISION with k = 0.25 turns back where slopes reach 1; with k = -0.25 at half a turn. */
static void divisions_end_where_they_turn(void **state) {
    (void)state;
    psfm_camera camera = {1,    PSFM_CAMERA_SIMPLE_DIVISION, 4000,
                          4000, {1000, 2000, 2000, 0.25},    true};
    const double inside[3] = {1 - 1e-9, 0, 1}, outside[3] = {1 + 1e-9, 0, 1};
    const double below[2] = {2000 + 2000 * (1 - 1e-7), 2000},
                 above[2] = {2000 + 2000 * (1 + 1e-7), 2000};
    double xy[2], ray[3];
    assert_true(psfm_camera_project(&camera, inside, xy));
    assert_close(xy[0], 4000, 0.1);
    assert_false(psfm_camera_project(&camera, outside, xy));
    assert_true(psfm_camera_unproject(&camera, below, ray));
    assert_false(psfm_camera_unproject(&camera, above, ray));
    camera.params[3] = -0.25;
    assert_true(psfm_camera_unproject(&camera, below, ray));
    assert_true(psfm_camera_project(&camera, ray, xy));
    assert_close(xy[0], below[0], 1e-9);
    assert_false(psfm_camera_unproject(&camera, above, ray));
}

/* EUCM with alpha = 1 shows half a turn within 1 / sqrt(beta) focal lengths. */
static void unified_cameras_end_at_half_a_turn(void **state) {
    (void)state;
    psfm_camera camera = {1, PSFM_CAMERA_EUCM, 4000, 4000, {1000, 1000, 2000, 2000, 1, 1.21}, true};
    const double below[2] = {2000, 2000 + 1000 / 1.1 * (1 - 1e-9)};
    const double above[2] = {2000, 2000 + 1000 / 1.1 * (1 + 1e-9)};
    double xy[2], ray[3];
    assert_true(psfm_camera_unproject(&camera, below, ray));
    assert_true(ray[2] > 0 && ray[2] < 1e-4);
    assert_true(psfm_camera_project(&camera, ray, xy));
    assert_close(xy[1], below[1], 1e-9);
    assert_false(psfm_camera_unproject(&camera, above, ray));
    camera.params[4] = 1.5;
    assert_false(psfm_camera_unproject(&camera, below, ray));
}

static void unknown_models_project_nothing(void **state) {
    (void)state;
    psfm_camera camera = camera_samples[0];
    camera.model = (psfm_camera_model)99;
    const double ray[3] = {0, 0, 1}, at[2] = {640, 360};
    double xy[2], out[3];
    assert_false(psfm_camera_project(&camera, ray, xy));
    assert_false(psfm_camera_unproject(&camera, at, out));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_over_the_image),
        cmocka_unit_test(jacobian_is_the_derivative),
        cmocka_unit_test(the_centre_is_smooth),
        cmocka_unit_test(fov_of_zero_is_the_pinhole),
        cmocka_unit_test(rays_without_an_image_are_refused),
        cmocka_unit_test(beyond_the_fold_is_refused),
        cmocka_unit_test(beyond_half_a_turn_is_refused),
        cmocka_unit_test(wild_parameters_never_give_nan),
        cmocka_unit_test(panoramas_see_everything),
        cmocka_unit_test(panoramas_end_at_their_poles_and_sides),
        cmocka_unit_test(divisions_end_where_they_turn),
        cmocka_unit_test(unified_cameras_end_at_half_a_turn),
        cmocka_unit_test(unknown_models_project_nothing),
    };
    return cmocka_run_group_tests_name("camera/project", tests, NULL, NULL);
}
