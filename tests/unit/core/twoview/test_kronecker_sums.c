#include "test_util.h"

#include "core/base/rng.h"
#include "core/twoview/kronecker_sums.h"

/* The Kronecker sums are the ordinary normal equations. */
static void kronecker_sums_are_normal_equations(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    static const int upper[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    psfm_kronecker_sums sums;
    memset(&sums, 0, sizeof sums);
    double expected_N[81] = {0}, expected_g[9] = {0};
    psfm_normal9 at;
    for (int block = 0; block < 3; ++block) {
        psfm_kronecker_terms t;
        memset(&t, 0, sizeof t);
        for (int l = 0; l < PSFM_LANES; ++l) {
            double left[3], right[3], residual = psfm_rng_normal(&rng), row[9];
            for (int k = 0; k < 3; ++k) {
                left[k] = psfm_rng_normal(&rng);
                right[k] = psfm_rng_normal(&rng);
                t.gradient_left[k][l] = residual * left[k];
                t.gradient_right[k][l] = right[k];
            }
            for (int k = 0; k < 6; ++k) {
                t.left[k][l] = left[upper[k][0]] * left[upper[k][1]];
                t.right[k][l] = right[upper[k][0]] * right[upper[k][1]];
            }
            t.used[l] = l < 6;
            for (int k = 0; k < 9; ++k)
                row[k] = left[k / 3] * right[k % 3];
            for (int i = 0; i < 9; ++i) {
                expected_g[i] += row[i] * residual;
                for (int j = 0; j < 9; ++j)
                    expected_N[9 * i + j] += row[i] * row[j];
            }
        }
        psfm_kronecker_add(&t, &sums);
    }
    psfm_kronecker_finish(&sums, 24, 10.0, &at);
    assert_close(at.cost, 60.0, 1e-12);
    assert_close(at.inlier_cost, 0.0, 0.0);
    for (int k = 0; k < 81; ++k)
        assert_close(at.N[k], expected_N[k], 1e-10);
    for (int k = 0; k < 9; ++k)
        assert_close(at.g[k], expected_g[k], 1e-10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kronecker_sums_are_normal_equations)};
    return cmocka_run_group_tests_name("twoview/kronecker_sums", tests, NULL, NULL);
}
