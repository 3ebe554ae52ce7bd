#include "court/manhattan_frames.h"

#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
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

/* The first frame; its angle to R. */
static double find_first(psfm_context *ctx, const double R[9], psfm_court_frame *first) {
    psfm_court_frame frames[5];
    size_t num;
    assert_ok(ctx, psfm_court_frames_find(ctx, &segments, &camera, false, 5, frames, &num));
    assert_true(num >= 1);
    *first = frames[0];
    return psfm_court_frame_angle(frames[0].R, R);
}

/* Without noise the frame is exact, a rotation with its third axis up, and supported by all
 * segments, 150 pixels of each at most. */
static void frames_are_exact_without_noise(void **state) {
    for (int k = 0; k < 4; ++k) {
        psfm_court_frame first;
        double R[9], support = 0.0, I[9];
        turn(-40.0 + 27.0 * k, 10.0 + 7.0 * k, R);
        draw(R, 0.0, 120, 0);
        assert_below(find_first(*state, R, &first), 1e-6);
        for (size_t i = 0; i < segments.num; ++i)
            support += fmin(segments.items[i].length, 150.0);
        assert_close(first.support, support, 1e-3 * support);
        psfm_mat3_mul_t(first.R, first.R, I);
        for (int d = 0; d < 9; ++d)
            assert_close(I[d], d % 4 == 0 ? 1.0 : 0.0, 1e-12);
        assert_close(psfm_mat3_det(first.R), 1.0, 1e-12);
        assert_close(first.R[5], R[5], 1e-6); /* up, in the image's y */
    }
}

/* Errors shrink with the noise: twice of it, about twice the error. */
static void errors_go_with_the_noise(void **state) {
    double R[9], sum[2] = {0.0};
    psfm_court_frame first;
    for (int k = 0; k < 5; ++k)
        for (int n = 0; n < 2; ++n) {
            turn(-40.0 + 15.0 * k, 25.0, R);
            draw(R, n == 0 ? 0.1 : 0.2, 150, 0);
            sum[n] += find_first(*state, R, &first);
        }
    assert_true(sum[0] > 0.0 && psfm_degrees(sum[0] / 5.0) < 0.03);
    assert_close(sum[1] / sum[0], 2.0, 0.5);
}

/* A camera with twice the pixels sees the same frames. */
static void scale_does_not_matter(void **state) {
    psfm_context *ctx = *state;
    psfm_camera twice = camera;
    psfm_court_frame frames[5], first;
    double R[9];
    size_t num;
    turn(20.0, 25.0, R);
    draw(R, 0.0, 120, 0);
    find_first(ctx, R, &first);
    for (int k = 0; k < 4; ++k)
        twice.params[k] *= 2.0;
    for (size_t k = 0; k < segments.num; ++k) {
        for (int d = 0; d < 2; ++d) {
            items[k].a[d] *= 2.0;
            items[k].b[d] *= 2.0;
        }
        items[k].length *= 2.0;
    }
    assert_ok(ctx, psfm_court_frames_find(ctx, &segments, &twice, false, 5, frames, &num));
    assert_below(psfm_court_frame_angle(frames[0].R, first.R), 1e-6);
}

/* Frames are a degree or more apart from each other, and repeated calls give the same bytes. */
static void frames_are_apart_and_the_same_again(void **state) {
    psfm_context *ctx = *state;
    psfm_court_frame frames[8], again[8];
    size_t num, num_again;
    double R[9];
    turn(20.0, 25.0, R);
    draw(R, 0.5, 60, 200);
    assert_ok(ctx, psfm_court_frames_find(ctx, &segments, &camera, false, 8, frames, &num));
    assert_ok(ctx, psfm_court_frames_find(ctx, &segments, &camera, false, 8, again, &num_again));
    assert_true(num > 3 && num == num_again);
    for (size_t j = 0; j < num; ++j) {
        assert_memory_equal(frames[j].R, again[j].R, sizeof frames[j].R);
        for (size_t k = 0; k < j; ++k)
            assert_true(psfm_court_frame_angle(frames[j].R, frames[k].R) > 0.0175);
        assert_true(fabs(frames[j].R[5]) >= 0.5); /* none lies on its side */
    }
}

/* Lines that are all parallel: what they show of a frame, their own direction, is right. */
static void parallel_lines_give_their_direction(void **state) {
    psfm_court_frame first;
    double R[9], best = 0.0;
    turn(20.0, 25.0, R);
    draw(R, 0.0, 40, 0);
    psfm_segments all = segments;
    size_t kept = 0;
    for (size_t k = 0; k < all.num; ++k) { /* those to the vanishing point of x */
        double v[2] = {camera.params[0] * R[0] / R[6] + camera.params[2],
                       camera.params[1] * R[3] / R[6] + camera.params[3]};
        const psfm_segment *g = &items[k];
        double dx = g->b[0] - g->a[0], dy = g->b[1] - g->a[1];
        if (fabs((v[0] - g->a[0]) * dy - (v[1] - g->a[1]) * dx) <
            1e-6 * g->length * hypot(v[0], v[1]))
            items[kept++] = *g;
    }
    assert_true(kept >= 5);
    segments.num = kept;
    find_first(*state, R, &first);
    for (int a = 0; a < 3; ++a)
        best = fmax(best, fabs(first.R[a] * R[0] + first.R[3 + a] * R[3] + first.R[6 + a] * R[6]));
    assert_close(best, 1.0, 1e-9);
}

/* Pieces of one line tell no direction. */
static void one_line_is_no_frame(void **state) {
    psfm_context *ctx = *state;
    psfm_court_frame frames[5];
    size_t num;
    segments = (psfm_segments){.items = items};
    for (int k = 0; k < 10; ++k)
        items[segments.num++] = (psfm_segment){.a = {100.0 + 60.0 * k, 400.0 - 20.0 * k},
                                               .b = {145.0 + 60.0 * k, 385.0 - 20.0 * k},
                                               .length = hypot(45.0, 15.0),
                                               .strength = 40.0};
    assert_ok(ctx, psfm_court_frames_find(ctx, &segments, &camera, false, 5, frames, &num));
    assert_int_equal(num, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_free_focal),
        cmocka_unit_test(test_angle),
        cmocka_unit_test(test_few),
        cmocka_unit_test(frames_are_exact_without_noise),
        cmocka_unit_test(errors_go_with_the_noise),
        cmocka_unit_test(scale_does_not_matter),
        cmocka_unit_test(frames_are_apart_and_the_same_again),
        cmocka_unit_test(parallel_lines_give_their_direction),
        cmocka_unit_test(one_line_is_no_frame),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
