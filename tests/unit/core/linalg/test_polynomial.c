#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/polynomial.h"

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* c := c (x - root) */
static void multiply_root(double *c, int degree, double root) {
    c[degree + 1] = 0.0;
    for (int k = degree + 1; k > 0; --k)
        c[k] = c[k - 1] - root * c[k];
    c[0] *= -root;
}

static void finds_all_separate_roots(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 2000; ++round) {
        int degree = 1 + (int)psfm_rng_below(&rng, 6);
        double c[12] = {1.0}, truth[10], roots[10];
        for (int k = 0; k < degree; ++k) {
            /* at least 0.1 apart, some far out */
            truth[k] = (k - 3) * 0.7 + psfm_rng_range(&rng, 0.0, 0.6);
            if (k == 5)
                truth[k] = psfm_rng_range(&rng, 10.0, 100.0);
            multiply_root(c, k, truth[k]);
        }
        assert_int_equal(psfm_polynomial_roots(c, degree, roots), degree);
        qsort(roots, (size_t)degree, sizeof *roots, compare);
        qsort(truth, (size_t)degree, sizeof *truth, compare);
        for (int k = 0; k < degree; ++k)
            assert_close(roots[k], truth[k], 1e-8 * fmax(1.0, fabs(truth[k])));
    }
}

static void complex_roots_are_no_roots(void **state) {
    (void)state;
    const double none[5] = {2, 0, 3, 0, 1}; /* (x^2 + 1)(x^2 + 2) */
    const double one[4] = {-2, 1, -2, 1};   /* (x - 2)(x^2 + 1) */
    double roots[10];
    assert_int_equal(psfm_polynomial_roots(none, 4, roots), 0);
    assert_int_equal(psfm_polynomial_roots(one, 3, roots), 1);
    assert_close(roots[0], 2.0, 1e-12);
}

static void lower_degree_than_declared(void **state) {
    (void)state;
    const double line[11] = {-3, 2};
    double roots[10];
    int num = psfm_polynomial_roots(line, 10, roots);
    assert_int_equal(num, 1);
    assert_close(roots[0], 1.5, 1e-12);
    const double zero[11] = {0}, bad[11] = {NAN, NAN, 1};
    assert_int_equal(psfm_polynomial_roots(zero, 10, roots), 0);
    num = psfm_polynomial_roots(bad, 10, roots);
    assert_true(num >= 0 && num <= 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_all_separate_roots),
        cmocka_unit_test(complex_roots_are_no_roots),
        cmocka_unit_test(lower_degree_than_declared),
    };
    return cmocka_run_group_tests_name("linalg/polynomial", tests, NULL, NULL);
}
