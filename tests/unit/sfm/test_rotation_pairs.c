/* Pairs without a baseline: cameras that turn where they stand, between others that move. */
#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "planarsfm/solve.h"

enum { MAX_CAMERAS = 160, NUM_POINTS = 600 };

/* A floor with things on it, and cameras round it. */
typedef struct {
    uint32_t num_cameras, reach; /* each is matched with so many after it */
    bool closed;                 /* the last ones with the first, too */
    double noise_px, outliers;
    double off_floor; /* share of the points */
    double R[MAX_CAMERAS][9], center[MAX_CAMERAS][3];
    double X[NUM_POINTS][3];
    double (*xy[MAX_CAMERAS])[2];
    uint32_t *keypoint[MAX_CAMERAS], num_keypoints[MAX_CAMERAS]; /* of each point, or NONE */
} scene;

#define NONE UINT32_MAX

static const psfm_camera camera = {.id = 1,
                                   .model = PSFM_CAMERA_PINHOLE,
                                   .width = 1280,
                                   .height = 720,
                                   .params = {1200, 1200, 640, 360},
                                   .has_prior_focal_length = true};

/* Looks from the centre to the target, the image upright. */
static void look_at(scene *s, uint32_t v, const double target[3]) {
    double *R = s->R[v], down[3] = {0, 0, -1};
    psfm_sub3(target, s->center[v], R + 6);
    psfm_normalize3(R + 6);
    psfm_cross3(down, R + 6, R);
    psfm_normalize3(R);
    psfm_cross3(R + 6, R, R + 3);
}

/* Places camera v at an angle (degrees) of an ellipse round the floor. */
static void place(scene *s, uint32_t v, double angle_deg, double height, psfm_rng *rng) {
    double a = psfm_radians(angle_deg);
    double center[3] = {22.0 * cos(a), 16.0 * sin(a), height};
    double target[3] = {psfm_rng_range(rng, -4.0, 4.0), psfm_rng_range(rng, -2.0, 2.0), 0.0};
    memcpy(s->center[v], center, sizeof center);
    look_at(s, v, target);
}

static void make_points(scene *s, psfm_rng *rng) {
    for (int p = 0; p < NUM_POINTS; ++p) {
        s->X[p][0] = psfm_rng_range(rng, -15.0, 15.0);
        s->X[p][1] = psfm_rng_range(rng, -8.5, 8.5);
        s->X[p][2] = p < s->off_floor * NUM_POINTS ? psfm_rng_range(rng, 0.0, 4.0) : 0.0;
    }
}

static void observe(scene *s, psfm_rng *rng) {
    for (uint32_t v = 0; v < s->num_cameras; ++v) {
        s->xy[v] = calloc(NUM_POINTS, sizeof *s->xy[v]);
        s->keypoint[v] = calloc(NUM_POINTS, sizeof *s->keypoint[v]);
        for (int p = 0; p < NUM_POINTS; ++p) {
            double d[3], ray[3], xy[2];
            psfm_sub3(s->X[p], s->center[v], d);
            psfm_mat3_mul_vec(s->R[v], d, ray);
            s->keypoint[v][p] = NONE;
            if (!psfm_camera_project(&camera, ray, xy) || xy[0] < 0 || xy[1] < 0 || xy[0] > 1280 ||
                xy[1] > 720)
                continue;
            uint32_t k = s->num_keypoints[v]++;
            s->keypoint[v][p] = k;
            s->xy[v][k][0] = xy[0] + s->noise_px * psfm_rng_normal(rng);
            s->xy[v][k][1] = xy[1] + s->noise_px * psfm_rng_normal(rng);
        }
    }
}

static void match(psfm_context *ctx, const scene *s, uint32_t a, uint32_t b, psfm_rng *rng,
                  psfm_problem *problem) {
    uint32_t matches[NUM_POINTS][2];
    size_t num = 0;
    for (int p = 0; p < NUM_POINTS; ++p) {
        if (s->keypoint[a][p] == NONE || s->keypoint[b][p] == NONE)
            continue;
        matches[num][0] = s->keypoint[a][p];
        matches[num][1] = s->keypoint[b][p];
        if (psfm_rng_uniform(rng) < s->outliers)
            matches[num][1] = (uint32_t)psfm_rng_below(rng, s->num_keypoints[b]);
        ++num;
    }
    assert_ok(ctx, psfm_problem_add_matches(ctx, problem, a + 1, b + 1, num, &matches[0][0]));
}

/* Reconstructs the scene and frees what it made of it. */
static psfm_result *solve(psfm_context *ctx, scene *s, psfm_rng *rng) {
    psfm_problem *problem = psfm_problem_create();
    psfm_result *result = NULL;
    make_points(s, rng);
    observe(s, rng);
    assert_ok(ctx, psfm_problem_add_camera(ctx, problem, &camera));
    for (uint32_t v = 0; v < s->num_cameras; ++v) {
        char name[16];
        snprintf(name, sizeof name, "image_%03u", v);
        assert_ok(ctx, psfm_problem_add_image(ctx, problem, v + 1, 1, name, s->num_keypoints[v],
                                              &s->xy[v][0][0]));
    }
    for (uint32_t a = 0; a < s->num_cameras; ++a)
        for (uint32_t step = 1; step <= s->reach; ++step)
            if (s->closed || a + step < s->num_cameras)
                match(ctx, s, a, (a + step) % s->num_cameras, rng, problem);
    assert_ok(ctx, psfm_solve(ctx, problem, NULL, &result));
    psfm_problem_destroy(&problem);
    for (uint32_t v = 0; v < s->num_cameras; ++v) {
        free(s->xy[v]);
        free(s->keypoint[v]);
    }
    return result;
}

static psfm_image_result image_of(const psfm_result *result, uint32_t v) {
    psfm_image_result image = {.struct_size = sizeof image};
    assert_true(psfm_result_image(result, v, &image));
    return image;
}

/* Rotations of all pairs of images to `deg`, distances to `share` of the largest. */
static void check_poses(const scene *s, const psfm_result *result, double deg, double share) {
    double worst = 0.0, longest = 0.0, scale = 0.0, off = 0.0;
    assert_int_equal(psfm_result_num_models(result), 1);
    for (int pass = 0; pass < 2; ++pass) {
        for (uint32_t a = 0; a < s->num_cameras; ++a) {
            psfm_image_result A = image_of(result, a);
            assert_string_equal(A.state, "posed");
            for (uint32_t b = 0; b < a; ++b) {
                psfm_image_result B = image_of(result, b);
                double Ra[9], Rb[9], R[9], exact[9], d[3];
                psfm_rotation_from_quat(A.cam_from_world_q, Ra);
                psfm_rotation_from_quat(B.cam_from_world_q, Rb);
                psfm_mat3_mul_t(Ra, Rb, R);
                psfm_mat3_mul_t(s->R[a], s->R[b], exact);
                worst = fmax(worst, psfm_degrees(psfm_rotation_angle(R, exact)));
                psfm_sub3(s->center[a], s->center[b], d);
                double wanted = psfm_norm3(d);
                psfm_sub3(A.center, B.center, d);
                if (pass == 0 && wanted > longest) {
                    longest = wanted;
                    scale = wanted / psfm_norm3(d);
                }
                if (pass == 1)
                    off = fmax(off, fabs(scale * psfm_norm3(d) - wanted));
            }
        }
    }
    assert_below(worst, deg);
    assert_below(off, share * longest);
}

static uint32_t count_rotations(const psfm_result *result) {
    uint32_t num = 0;
    for (size_t k = 0; k < psfm_result_num_edges(result); ++k) {
        psfm_edge_result e = {.struct_size = sizeof e};
        assert_true(psfm_result_edge(result, k, &e));
        num += e.num_planes == 0 && psfm_norm3(e.cam2_from_cam1_t) == 0.0;
    }
    return num;
}

/* A walk on which four in a row stand in one place, to within `apart`: the three pairs across the
 * middle have no baseline. */
static scene make_stop(uint64_t seed, double apart, psfm_rng *rng) {
    scene s = {.num_cameras = 16, .reach = 2};
    *rng = psfm_rng_make(seed, PSFM_RNG_TEST, 7, 0);
    for (uint32_t v = 0; v < s.num_cameras; ++v) {
        bool stands = v >= 6 && v < 10;
        place(&s, v, stands ? 100.0 : 15.0 * v, stands ? 7.0 : psfm_rng_range(rng, 5.0, 9.0), rng);
        for (int k = 0; stands && k < 3; ++k)
            s.center[v][k] += apart * psfm_rng_range(rng, -0.5, 0.5);
    }
    return s;
}

static void a_stop_is_passed(void **state) {
    psfm_rng rng;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        for (int on = 0; on < 2; ++on) {
            scene s = make_stop(seed, 0.0, &rng);
            s.off_floor = 0.2 * on;
            psfm_result *result = solve(*state, &s, &rng);
            assert_true(count_rotations(result) >= 3);
            check_poses(&s, result, 1e-9, 1e-9);
            psfm_result_destroy(&result);
        }
    }
}

static void a_stop_is_passed_with_noise(void **state) {
    psfm_rng rng;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        for (int near = 0; near < 2; ++near) {
            scene s = make_stop(seed, 0.02 * near, &rng);
            s.noise_px = 0.7;
            s.outliers = 0.2;
            s.off_floor = 0.2;
            psfm_result *result = solve(*state, &s, &rng);
            assert_true(count_rotations(result) >= 3);
            check_poses(&s, result, 0.2, 0.002);
            psfm_result_destroy(&result);
        }
    }
}

/* A ring all of whose neighbours at even places stand where the one before stands. */
static void twos_in_a_ring(void **state) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 8, 0);
    scene s = {.num_cameras = 24, .reach = 2, .closed = true, .noise_px = 0.7, .outliers = 0.2};
    for (uint32_t v = 0; v < s.num_cameras; ++v)
        place(&s, v, 15.0 * (v / 2 * 2),
              v % 2 == 0 ? psfm_rng_range(&rng, 5.0, 9.0) : s.center[v - 1][2], &rng);
    psfm_result *result = solve(*state, &s, &rng);
    assert_true(count_rotations(result) >= 8);
    check_poses(&s, result, 0.2, 0.002);
    psfm_result_destroy(&result);
}

/* A slow walk: neighbours show no baseline, those further apart do. In the slower one nine pairs of
 * ten are rotations. Each of these is off to the same side, which must not add up. */
static void slow_walks(void **state) {
    static const double step_deg[] = {0.02, 0.12};
    static const uint32_t fewest[] = {800, 100};
    for (int k = 0; k < 2; ++k) {
        psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 9, 0);
        const double target[3] = {1.0, 0.5, 0.0};
        scene s = {
            .num_cameras = 120, .reach = 8, .noise_px = 0.7, .outliers = 0.2, .off_floor = 0.2};
        for (uint32_t v = 0; v < s.num_cameras; ++v) {
            place(&s, v, step_deg[k] * v, 7.0, &rng);
            look_at(&s, v, target);
        }
        psfm_result *result = solve(*state, &s, &rng);
        assert_true(count_rotations(result) >= fewest[k]);
        check_poses(&s, result, 0.2, 0.03);
        psfm_result_destroy(&result);
    }
}

/* From one place nothing has a size: no image has a pose, and all say why. */
static void a_panorama_has_no_model(void **state) {
    for (int noise = 0; noise < 2; ++noise) {
        psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 10, 0);
        scene s = {.num_cameras = 8, .reach = 3, .noise_px = 0.7 * noise, .off_floor = 0.2};
        for (uint32_t v = 0; v < s.num_cameras; ++v)
            place(&s, v, 100.0, 7.0, &rng);
        psfm_result *result = solve(*state, &s, &rng);
        assert_int_equal(psfm_result_num_models(result), 0);
        for (uint32_t v = 0; v < s.num_cameras; ++v)
            assert_string_equal(image_of(result, v).state, "rotation");
        psfm_result_destroy(&result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_is_passed),        cmocka_unit_test(a_stop_is_passed_with_noise),
        cmocka_unit_test(twos_in_a_ring),          cmocka_unit_test(slow_walks),
        cmocka_unit_test(a_panorama_has_no_model),
    };
    return cmocka_run_group_tests_name("sfm/rotation_pairs", tests, open_context, close_context);
}
