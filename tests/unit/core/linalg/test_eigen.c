#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/eigen.h"

static void dense_decomposition_is_exact(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 30 };
    double A[N * N], V[N * N], w[N];
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int r = 0; r < N; ++r)
        for (int c = 0; c <= r; ++c)
            A[r * N + c] = A[c * N + r] = psfm_rng_normal(&rng);
    memcpy(V, A, sizeof A);
    assert_ok(ctx, psfm_eigen_symmetric(ctx, N, V, w));
    for (int k = 0; k < N; ++k) {
        assert_true(k == 0 || w[k - 1] <= w[k]);
        for (int r = 0; r < N; ++r) {
            double sum = 0.0;
            for (int c = 0; c < N; ++c)
                sum += A[r * N + c] * V[k * N + c];
            assert_close(sum, w[k] * V[k * N + r], 1e-12);
        }
        for (int j = 0; j < N; ++j) {
            double dot = 0.0;
            for (int r = 0; r < N; ++r)
                dot += V[k * N + r] * V[j * N + r];
            assert_close(dot, j == k, 1e-13);
        }
    }
    psfm_context_destroy(&ctx);
}

static void dense_reads_one_triangle_and_refuses_nan(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double A[4] = {2.0, NAN, 1.0, 2.0}, w[2]; /* by columns: entry (1, 0) is not read */
    assert_ok(ctx, psfm_eigen_symmetric(ctx, 2, A, w));
    assert_close(w[0], 1.0, 1e-14);
    assert_close(w[1], 3.0, 1e-14);
    double B[4] = {2.0, 1.0, NAN, 2.0};
    assert_int_equal(psfm_eigen_symmetric(ctx, 2, B, w), PSFM_ERR_ARGUMENT);
    assert_ok(ctx, psfm_eigen_symmetric(ctx, 0, NULL, NULL));
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_decomposition_is_exact),
        cmocka_unit_test(dense_reads_one_triangle_and_refuses_nan),
    };
    return cmocka_run_group_tests_name("linalg/eigen", tests, NULL, NULL);
}
