#include "twoview_util.h"

#include "planarsfm/homography.h"

enum { POINTS = 200 };

static const psfm_camera camera = {
    .model = PSFM_CAMERA_PINHOLE, .width = 1000, .height = 800, .params = {800, 800, 500, 400}};

/* Points of two planes, every seventh match wrong; labels the truth. */
static void draw_points(psfm_rng *rng, const motion_case m[2], double (*xy1)[2], double (*xy2)[2],
                        int32_t *label) {
    for (int k = 0; k < POINTS;) {
        double ray1[1][3], ray2[1][3];
        draw_rays(rng, &m[k % 2], 1, ray1, ray2);
        if (!psfm_camera_project(&camera, ray1[0], xy1[k]) ||
            !psfm_camera_project(&camera, ray2[0], xy2[k]))
            continue;
        label[k] = k % 2;
        if (k % 7 == 0) {
            xy2[k][0] = psfm_rng_range(rng, 0, 1000);
            xy2[k][1] = psfm_rng_range(rng, 0, 800);
            label[k] = -1;
        }
        ++k;
    }
}

static double compare_matrices(const double A[9], const double B[9]) {
    double a = sqrt(psfm_dot(A, A, 9)), b = sqrt(psfm_dot(B, B, 9)), worst = 0.0;
    for (int k = 0; k < 9; ++k)
        worst = fmax(worst, fabs(A[k] / a - B[k] / b));
    return worst;
}

static void make_planes(motion_case m[2]) {
    const double w[3] = {0.05, 0.1, -0.1}, t[3] = {0.3, 0.05, 0.1}, floor[3] = {0.0, 0.6, 0.8},
                 wall[3] = {0.6, 0.0, 0.8};
    double R[9];
    psfm_rotation_exp(w, R);
    m[0] = make_motion_case(R, t, floor);
    m[1] = make_motion_case(R, t, wall);
}

/* Finds both planes exactly, with cameras and without. */
static void test_two_planes(void **state) {
    psfm_context *ctx = *state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    const double K[9] = {800, 0, 500, 0, 800, 400, 0, 0, 1};
    motion_case m[2];
    double xy1[POINTS][2], xy2[POINTS][2], H[3][9], K_inverse[9], half[9], pixels[9];
    int32_t label[POINTS], plane[POINTS];
    make_planes(m);
    draw_points(&rng, m, xy1, xy2, label);
    psfm_mat3_inverse(K, K_inverse);
    for (int calibrated = 0; calibrated < 2; ++calibrated) {
        psfm_matched_points points = {sizeof points, POINTS, *xy1, *xy2, NULL, NULL};
        points.camera1 = points.camera2 = calibrated ? &camera : NULL;
        psfm_homography_options options = {.struct_size = sizeof options, .max_error_px = 1.0};
        size_t num = 0;
        assert_ok(ctx, psfm_find_homographies(ctx, &points, &options, 3, *H, plane, &num));
        assert_int_equal(num, 2);
        int first = plane[1] == 0 ? 1 : 0, wrong = 0; /* the truth's number of homography 0 */
        for (int k = 0; k < POINTS; ++k)
            wrong += label[k] >= 0 && (plane[k] < 0 || (plane[k] == 0) != (label[k] == first));
        assert_true(wrong <= 2);
        for (int p = 0; p < 2; ++p) {
            const motion_case *truth = &m[p == 0 ? first : 1 - first];
            psfm_mat3_mul(truth->H_21, K_inverse, half);
            psfm_mat3_mul(K, half, pixels);
            assert_below(compare_matrices(H[p], calibrated ? truth->H_21 : pixels), 1e-9);
        }
    }
}

static void test_decomposition(void **state) {
    psfm_context *ctx = *state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 1, 0);
    for (int trial = 0; trial < 200; ++trial) {
        motion_case m = random_motion_case(&rng, 0.5, 0.4);
        double ray1[40][3], ray2[40][3], H[9], best = INFINITY;
        psfm_plane_motion motions[2];
        size_t num;
        draw_rays(&rng, &m, 40, ray1, ray2);
        for (int k = 0; k < 9; ++k)
            H[k] = -3.7 * m.H_21[k]; /* of any scale and sign */
        assert_ok(ctx, psfm_decompose_homography(ctx, H, 40, *ray1, *ray2, motions, &num));
        for (size_t k = 0; k < num; ++k) {
            double off = 0.0;
            for (int i = 0; i < 9; ++i)
                off = fmax(off, fabs(motions[k].R_21[i] - m.R_21[i]));
            for (int i = 0; i < 3; ++i)
                off = fmax(off, fmax(fabs(motions[k].t_21[i] - m.t_21[i]),
                                     fabs(motions[k].n1[i] - m.n1[i])));
            best = fmin(best, off);
        }
        assert_below(best, 1e-9);
    }
}

static void test_rotation(void **state) {
    psfm_context *ctx = *state;
    const double w[3] = {0.1, -0.2, 0.05}, zero[3] = {0};
    double R[9];
    psfm_plane_motion motions[2];
    size_t num;
    psfm_rotation_exp(w, R);
    assert_ok(ctx, psfm_decompose_homography(ctx, R, 0, NULL, NULL, motions, &num));
    assert_int_equal(num, 1);
    assert_memory_equal(motions[0].t_21, zero, sizeof zero);
    assert_below(psfm_rotation_angle(motions[0].R_21, R), 1e-9);
}

static void test_refusals(void **state) {
    psfm_context *ctx = *state;
    const double xy[8] = {0, 0, 1, 0, 0, 1, 1, 1}, singular[9] = {1, 0, 0, 0, 1, 0, 0, 0, 0};
    const double nan[9] = {NAN, 0, 0, 0, 1, 0, 0, 0, 1}, eye[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    psfm_matched_points points = {sizeof points, 4, xy, xy, NULL, NULL};
    psfm_homography_options options = {.struct_size = sizeof options, .max_error_px = -1.0};
    psfm_plane_motion motions[2];
    double H[9];
    size_t num = 9;
    assert_int_equal(psfm_find_homographies(NULL, &points, NULL, 1, H, NULL, &num),
                     PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_find_homographies(ctx, NULL, NULL, 1, H, NULL, &num), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_find_homographies(ctx, &points, NULL, 1, NULL, NULL, &num),
                     PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_find_homographies(ctx, &points, NULL, 1, H, NULL, NULL),
                     PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_find_homographies(ctx, &points, &options, 1, H, NULL, &num),
                     PSFM_ERR_ARGUMENT);
    points.camera1 = &camera;
    assert_int_equal(psfm_find_homographies(ctx, &points, NULL, 1, H, NULL, &num),
                     PSFM_ERR_ARGUMENT);
    points.camera1 = NULL;
    points.xy2 = NULL;
    assert_int_equal(psfm_find_homographies(ctx, &points, NULL, 1, H, NULL, &num),
                     PSFM_ERR_ARGUMENT);
    points.num = 0;
    assert_ok(ctx, psfm_find_homographies(ctx, &points, NULL, 1, H, NULL, &num));
    assert_int_equal(num, 0);
    assert_int_equal(psfm_decompose_homography(ctx, NULL, 0, NULL, NULL, motions, &num),
                     PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_decompose_homography(ctx, eye, 2, NULL, NULL, motions, &num),
                     PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_decompose_homography(ctx, eye, 0, NULL, NULL, NULL, &num),
                     PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_decompose_homography(ctx, eye, 0, NULL, NULL, motions, NULL),
                     PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_decompose_homography(ctx, nan, 0, NULL, NULL, motions, &num),
                     PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_decompose_homography(ctx, singular, 0, NULL, NULL, motions, &num),
                     PSFM_ERR_DATA);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_planes),
        cmocka_unit_test(test_decomposition),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
