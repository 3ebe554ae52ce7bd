#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"

static void random_matrix(psfm_rng *rng, double A[9]) {
    for (int k = 0; k < 9; ++k)
        A[k] = psfm_rng_normal(rng);
}

static void random_rotation(psfm_rng *rng, double R[9], double max_angle) {
    double w[3];
    psfm_rng_direction(rng, w);
    psfm_scale3(psfm_rng_range(rng, 0, max_angle), w, w);
    psfm_rotation_exp(w, R);
}

static void assert_mat_close(const double A[9], const double B[9], double tolerance) {
    for (int k = 0; k < 9; ++k)
        assert_close(A[k], B[k], tolerance);
}

static void svd_recomposes(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 1000; ++round) {
        double A[9], U[9], s[3], V[9], US[9], B[9], I[9], eye[9];
        random_matrix(&rng, A);
        if (round % 4 == 1) /* rank two */
            for (int c = 0; c < 3; ++c)
                A[6 + c] = 2 * A[c] - A[3 + c];
        if (round % 4 == 2) /* rank one */
            for (int c = 0; c < 3; ++c)
                A[6 + c] = 2 * A[c], A[3 + c] = -A[c];
        psfm_mat3_svd(A, U, s, V);
        for (int k = 0; k < 9; ++k)
            US[k] = U[k] * s[k % 3];
        psfm_mat3_mul_t(US, V, B);
        assert_mat_close(A, B, 1e-13);
        psfm_mat3_identity(eye);
        psfm_mat3_t_mul(U, U, I);
        assert_mat_close(I, eye, 1e-12);
        psfm_mat3_t_mul(V, V, I);
        assert_mat_close(I, eye, 1e-12);
        assert_true(s[0] >= s[1] && s[1] >= s[2] && s[2] >= 0);
    }
}

static void eigen_recomposes(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 1000; ++round) {
        double A[9], S[9], w[3], V[9], VW[9], B[9];
        random_matrix(&rng, A);
        psfm_mat3_mul_t(A, A, S);
        psfm_mat3_eigen_symmetric(S, w, V);
        for (int k = 0; k < 9; ++k)
            VW[k] = V[k] * w[k % 3];
        psfm_mat3_mul_t(VW, V, B);
        assert_mat_close(S, B, 1e-12);
        assert_true(w[0] <= w[1] && w[1] <= w[2]);
    }
}

static void inverse_and_det(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    double A[9], B[9], C[9], eye[9];
    psfm_mat3_identity(eye);
    for (int round = 0; round < 100; ++round) {
        random_rotation(&rng, A, 3.0);
        A[0] += 0.3;
        assert_true(psfm_mat3_inverse(A, B));
        double x[3], b[3] = {1, -2, 3}, again[3];
        assert_true(psfm_mat3_solve(A, b, x));
        psfm_mat3_mul_vec(A, x, again);
        for (int k = 0; k < 3; ++k)
            assert_close(again[k], b[k], 1e-9 * (1.0 + psfm_norm3(x)));
        psfm_mat3_mul(A, B, C);
        assert_mat_close(C, eye, 1e-12);
        assert_close(psfm_mat3_det(A) * psfm_mat3_det(B), 1.0, 1e-12);
    }
    double singular[9] = {1, 2, 3, 2, 4, 6, 0, 1, 0};
    assert_false(psfm_mat3_inverse(singular, B));
    assert_false(psfm_mat3_solve(singular, B, B));
}

static void rotation_log_inverts_exp(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    const double angles[] = {0, 1e-12, 1e-7, 1e-4, 0.1, 1, 3, 3.1415, 3.14159265};
    for (int round = 0; round < 900; ++round) {
        double w[3], R[9], back[3], q[4], Rq[9];
        psfm_rng_direction(&rng, w);
        psfm_scale3(angles[round % 9], w, w);
        psfm_rotation_exp(w, R);
        psfm_rotation_log(R, back);
        for (int k = 0; k < 3; ++k)
            assert_close(back[k], w[k], 1e-7 * angles[round % 9] / 3 + 1e-15);
        psfm_rotation_to_quat(R, q);
        psfm_rotation_from_quat(q, Rq);
        assert_mat_close(R, Rq, 1e-14);
        assert_true(q[0] >= 0);
    }
}

static void angle_is_geodesic(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 100; ++round) {
        double A[9], R[9], B[9], w[3], angle = psfm_rng_range(&rng, 0, 3.14);
        random_rotation(&rng, A, 3.0);
        psfm_rng_direction(&rng, w);
        psfm_scale3(angle, w, w);
        psfm_rotation_exp(w, R);
        psfm_mat3_mul(A, R, B);
        assert_close(psfm_rotation_angle(A, B), angle, 1e-12);
    }
}

static void nearest_rotation_projects(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 100; ++round) {
        double R[9], A[9], P[9];
        random_rotation(&rng, R, 3.0);
        for (int k = 0; k < 9; ++k)
            A[k] = 2.5 * R[k];
        assert_true(psfm_mat3_nearest_rotation(A, P));
        assert_mat_close(P, R, 1e-14);
        random_matrix(&rng, A);
        assert_true(psfm_mat3_nearest_rotation(A, P));
        assert_close(psfm_mat3_det(P), 1.0, 1e-13);
    }
    double zero[9] = {0}, P[9];
    assert_false(psfm_mat3_nearest_rotation(zero, P));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svd_recomposes),    cmocka_unit_test(eigen_recomposes),
        cmocka_unit_test(inverse_and_det),   cmocka_unit_test(rotation_log_inverts_exp),
        cmocka_unit_test(angle_is_geodesic), cmocka_unit_test(nearest_rotation_projects),
    };
    return cmocka_run_group_tests_name("linalg/mat3", tests, NULL, NULL);
}
