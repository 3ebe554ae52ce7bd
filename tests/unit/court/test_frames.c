#include "court/frames.h"

#include "base/rng.h"
#include "linalg/angle.h"
#include "linalg/mat3.h"
#include "test_util.h"

enum { W = 1280, H = 720, MAX = 400 };

static const psfm_camera camera = {.model = PSFM_CAMERA_PINHOLE,
                                   .width = W,
                                   .height = H,
                                   .params = {1100.0, 1100.0, 640.0, 360.0}};
static psfm_segment items[MAX];
static psfm_segments segments;

/* A camera that looks down by `tilt` and to the side by `pan` degrees: cam_from_world, z up. */
static void turn(double pan_deg, double tilt_deg, double R[9]) {
    double p = psfm_radians(pan_deg), t = psfm_radians(tilt_deg);
    const double ahead[3] = {cos(t) * cos(p), cos(t) * sin(p), -sin(t)};
    const double right[3] = {sin(p), -cos(p), 0.0};
    double down[3];
    psfm_cross3(ahead, right, down);
    for (int d = 0; d < 3; ++d) {
        R[d] = right[d];
        R[3 + d] = down[d];
        R[6 + d] = ahead[d];
    }
}

/* Segments along the three axes of the world, with noise in pixels, and some anyhow. */
static void draw(const double R[9], double noise, int num_true, int num_false) {
    psfm_rng rng = psfm_rng_make(11, PSFM_RNG_TEST, 4, 0);
    segments = (psfm_segments){.items = items};
    while ((int)segments.num < num_true + num_false) {
        double a[2] = {psfm_rng_range(&rng, 0.0, W), psfm_rng_range(&rng, 0.0, H)}, b[2];
        double length = psfm_rng_range(&rng, 25.0, 160.0), way = psfm_rng_range(&rng, 0.0, M_PI);
        if ((int)segments.num < num_true) {
            int axis = (int)psfm_rng_below(&rng, 3);
            double v[3] = {R[axis], R[3 + axis], R[6 + axis]};
            double vx = camera.params[0] * v[0] + (camera.params[2] - a[0]) * v[2];
            double vy = camera.params[1] * v[1] + (camera.params[3] - a[1]) * v[2];
            way = atan2(vy, vx);
        }
        for (int d = 0; d < 2; ++d) {
            b[d] = a[d] + length * (d == 0 ? cos(way) : sin(way)) + noise * psfm_rng_normal(&rng);
            a[d] += noise * psfm_rng_normal(&rng);
        }
        psfm_segment *g = &items[segments.num++];
        *g = (psfm_segment){.a = {a[0], a[1]}, .b = {b[0], b[1]}, .strength = 40.0};
        g->length = hypot(b[0] - a[0], b[1] - a[1]);
    }
}

static void test_known(void **state) {
    psfm_context *ctx = *state;
    for (int k = 0; k < 6; ++k) {
        double R[9];
        psfm_court_frame frames[5];
        size_t num;
        turn(-20.0 + 17.0 * k, 8.0 + 6.0 * k, R);
        draw(R, 0.5, 150, 150);
        assert_ok(ctx, psfm_court_frames_find(ctx, &segments, &camera, false, 5, frames, &num));
        assert_true(num >= 1);
        assert_below(psfm_degrees(psfm_court_frame_angle(frames[0].R, R)), 0.25);
        assert_true(frames[0].focal == 1.0);
        for (size_t j = 1; j < num; ++j)
            assert_true(frames[j].support <= frames[j - 1].support);
    }
}

/* Of an unknown focal length one of the first frames is near the true one. */
static void test_free_focal(void **state) {
    psfm_context *ctx = *state;
    psfm_camera start = camera;
    start.params[0] = start.params[1] = W;
    for (int k = 0; k < 4; ++k) {
        double R[9], best = INFINITY, best_focal = INFINITY;
        psfm_court_frame frames[12];
        size_t num;
        turn(20.0 + 12.0 * k, 15.0 + 5.0 * k, R);
        draw(R, 0.3, 200, 60);
        assert_ok(ctx, psfm_court_frames_find(ctx, &segments, &start, true, 12, frames, &num));
        for (size_t j = 0; j < num; ++j) {
            double away = psfm_degrees(psfm_court_frame_angle(frames[j].R, R));
            if (away < best) {
                best = away;
                best_focal = frames[j].focal * W / camera.params[0];
            }
        }
        assert_below(best, 0.3);
        assert_close(best_focal, 1.0, 0.02);
    }
}

/* Quarter turns about the vertical are the same frame, others are not. */
static void test_angle(void **state) {
    (void)state;
    double R1[9], R2[9];
    turn(10.0, 20.0, R1);
    turn(190.0, 20.0, R2);
    assert_close(psfm_court_frame_angle(R1, R1), 0.0, 1e-9);
    turn(10.0, 23.0, R2);
    assert_close(psfm_degrees(psfm_court_frame_angle(R1, R2)), 3.0, 1e-6);
    const double quarter[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
    psfm_mat3_mul(R1, quarter, R2);
    assert_close(psfm_court_frame_angle(R1, R2), 0.0, 1e-7);
}

/* Nothing to see, or two segments: no frame, no failure. */
static void test_few(void **state) {
    psfm_context *ctx = *state;
    psfm_court_frame frames[5];
    size_t num = 7;
    double R[9];
    turn(30.0, 20.0, R);
    draw(R, 0.5, 2, 0);
    assert_ok(ctx, psfm_court_frames_find(ctx, &segments, &camera, false, 5, frames, &num));
    assert_int_equal(num, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_free_focal),
        cmocka_unit_test(test_angle),
        cmocka_unit_test(test_few),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
