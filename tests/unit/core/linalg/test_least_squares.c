#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/least_squares.h"

static void solves_positive_definite_systems(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int n = 1; n <= 20; ++n) {
        double B[400], A[400], x[20], b[20];
        for (int k = 0; k < n * n; ++k)
            B[k] = psfm_rng_normal(&rng);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                A[n * i + j] = i == j ? 0.1 : 0.0;
                for (int k = 0; k < n; ++k)
                    A[n * i + j] += B[n * i + k] * B[n * j + k];
            }
            x[i] = psfm_rng_normal(&rng);
        }
        for (int i = 0; i < n; ++i) {
            b[i] = 0.0;
            for (int j = 0; j < n; ++j)
                b[i] += A[n * i + j] * x[j];
        }
        assert_true(psfm_solve_spd(A, n, b));
        for (int i = 0; i < n; ++i)
            assert_close(b[i], x[i], 1e-9);
    }
}

static void refuses_singular_systems(void **state) {
    (void)state;
    double singular[4] = {1, 1, 1, 1}, indefinite[4] = {1, 2, 2, 1}, nan[1] = {NAN};
    double b[2] = {1, 1};
    assert_false(psfm_solve_spd(singular, 2, b));
    assert_false(psfm_solve_spd(indefinite, 2, b));
    assert_false(psfm_solve_spd(nan, 1, b));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_positive_definite_systems),
        cmocka_unit_test(refuses_singular_systems),
    };
    return cmocka_run_group_tests_name("linalg/least_squares", tests, NULL, NULL);
}
