/* Closed forms between poses against a plane, focal lengths and maps. */
#include "test_util.h"

#include "core/base/rng.h"
#include "core/calibration/plane_adjust.h"
#include "core/linalg/mat3.h"

/* A view of a plane at some angle, in front of it. */
static psfm_plane_pose make_sight(psfm_rng *rng) {
    psfm_plane_pose s = {0};
    double w[3];
    psfm_rng_direction(rng, w);
    psfm_scale3(psfm_rng_range(rng, 0.1, 1.2), w, w);
    psfm_rotation_exp(w, s.R);
    s.t[0] = psfm_rng_range(rng, -1.0, 1.0);
    s.t[1] = psfm_rng_range(rng, -1.0, 1.0);
    s.t[2] = psfm_rng_range(rng, 3.0, 8.0);
    return s;
}

static void assert_same_pose(const psfm_plane_pose *a, const psfm_plane_pose *b, double most) {
    for (int k = 0; k < 9; ++k)
        assert_close(a->R[k], b->R[k], most);
    for (int k = 0; k < 3; ++k)
        assert_close(a->t[k], b->t[k], most);
}

static void a_map_shows_points_where_the_camera_does(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 30, 0);
    for (int trial = 0; trial < 10; ++trial) {
        psfm_plane_pose s = make_sight(&rng);
        const double f = 1.3, X[3] = {0.3, -0.7, 0.0}, at[3] = {0.3, -0.7, 1.0};
        double G[9], y[3], Y[3];
        psfm_plane_map(&s, f, G);
        psfm_mat3_mul_vec(G, at, y);
        psfm_mat3_mul_vec(s.R, X, Y);
        psfm_axpy3(Y, 1.0, s.t, Y);
        assert_close(y[0] / y[2], f * Y[0] / Y[2], 1e-12);
        assert_close(y[1] / y[2], f * Y[1] / Y[2], 1e-12);
    }
}

/* Whatever the common scale of the columns, which homographies leave open. */
static void a_pose_comes_back_from_its_map(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 30, 0);
    for (int trial = 0; trial < 20; ++trial) {
        psfm_plane_pose s = make_sight(&rng), back = {.group = 3, .plane = 5};
        double M[9], scale = exp(psfm_rng_range(&rng, -5.0, 5.0));
        psfm_plane_map(&s, 1.0, M);
        for (int k = 0; k < 9; ++k)
            M[k] *= scale;
        psfm_plane_pose_from_map(M, &back);
        assert_same_pose(&s, &back, 1e-12);
        assert_true(back.group == 3 && back.plane == 5);
    }
}

/* M = [r1 r2] S with S symmetric and positive has [r1 r2] as its polar factor. */
static void columns_that_are_not_orthonormal_go_to_the_nearest_that_are(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 30, 0);
    for (int trial = 0; trial < 20; ++trial) {
        psfm_plane_pose s = make_sight(&rng), back = {0};
        const double S[3] = {1.2, psfm_rng_range(&rng, -0.4, 0.4), 0.9}; /* xx, xy, yy */
        double M[9], first = 0.0, second = 0.0;
        for (int r = 0; r < 3; ++r) {
            M[3 * r] = s.R[3 * r] * S[0] + s.R[3 * r + 1] * S[1];
            M[3 * r + 1] = s.R[3 * r] * S[1] + s.R[3 * r + 1] * S[2];
            M[3 * r + 2] = s.t[r];
            first += M[3 * r] * M[3 * r];
            second += M[3 * r + 1] * M[3 * r + 1];
        }
        psfm_scale3(2.0 / (sqrt(first) + sqrt(second)), s.t, s.t);
        psfm_plane_pose_from_map(M, &back);
        assert_same_pose(&s, &back, 1e-12);
        assert_close(psfm_mat3_det(back.R), 1.0, 1e-12);
    }
}

/* An edge-on view has columns in one line; what comes out is finite. */
static void an_edge_on_view_has_a_finite_pose(void **state) {
    (void)state;
    const double M[9] = {1.0, 2.0, 0.0, 0.5, 1.0, 0.0, 0.2, 0.4, 3.0};
    psfm_plane_pose s = {0};
    psfm_plane_pose_from_map(M, &s);
    assert_true(psfm_all_finite(s.R, 9) && psfm_all_finite(s.t, 3));
}

/* The image v = G (1, i, 0) of a circular point has (v1^2 + v2^2) / f^2 + v3^2 = 0. */
static void circular_points_tell_the_focal_length(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 30, 0);
    for (int trial = 0; trial < 20; ++trial) {
        psfm_plane_pose s = make_sight(&rng);
        double f = psfm_rng_range(&rng, 0.5, 3.0), G[9], v[6], w[2], z[2];
        psfm_plane_map(&s, f, G);
        for (int k = 0; k < 3; ++k) {
            v[k] = G[3 * k];
            v[3 + k] = G[3 * k + 1];
        }
        psfm_circular_split(v, w, z);
        for (int part = 0; part < 2; ++part)
            assert_close(w[part] / (f * f) + z[part], 0.0, 1e-12);
        double focal2 = -(w[0] * z[0] + w[1] * z[1]) / (z[0] * z[0] + z[1] * z[1]);
        assert_close(focal2, f * f, 1e-9);
    }
}

static void focal_lengths_are_kept_within_what_is_usual(void **state) {
    (void)state;
    const double least = PSFM_MIN_FOCAL * PSFM_MIN_FOCAL, most = PSFM_MAX_FOCAL * PSFM_MAX_FOCAL;
    assert_close(psfm_clip_focal2(1.44), 1.44, 0.0);
    assert_close(psfm_clip_focal2(-3.0), least, 0.0);
    assert_close(psfm_clip_focal2(NAN), least, 0.0);
    assert_close(psfm_clip_focal2(-INFINITY), least, 0.0);
    assert_close(psfm_clip_focal2(INFINITY), most, 0.0);
    assert_close(psfm_clip_focal2(26.0), most, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_shows_points_where_the_camera_does),
        cmocka_unit_test(a_pose_comes_back_from_its_map),
        cmocka_unit_test(columns_that_are_not_orthonormal_go_to_the_nearest_that_are),
        cmocka_unit_test(an_edge_on_view_has_a_finite_pose),
        cmocka_unit_test(circular_points_tell_the_focal_length),
        cmocka_unit_test(focal_lengths_are_kept_within_what_is_usual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
