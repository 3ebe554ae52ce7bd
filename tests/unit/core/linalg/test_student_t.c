#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/student_t.h"

enum { NUM = 40000 };

/* Squared lengths of points in the plane from t with n degrees of freedom (even n, or 1): normal
 * ones over the root of chi^2_n / n. n = 0: normal. */
static double *draw(int n, double scale) {
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, (uint64_t)n, 0);
    double *squares = malloc(NUM * sizeof *squares);
    for (int i = 0; i < NUM; ++i) {
        double x = psfm_rng_normal(&rng), y = psfm_rng_normal(&rng), chi2 = 0.0;
        for (int k = 0; k < n; ++k) {
            double z = psfm_rng_normal(&rng);
            chi2 += z * z;
        }
        squares[i] = scale * scale * (x * x + y * y) / (n == 0 ? 1.0 : chi2 / n);
    }
    return squares;
}

static void finds_freedom_and_scale(void **state) {
    (void)state;
    static const int freedom[] = {1, 2, 4, 8};
    for (size_t k = 0; k < sizeof freedom / sizeof *freedom; ++k) {
        double *squares = draw(freedom[k], 0.3);
        psfm_student fit = psfm_student_fit(squares, NUM);
        assert_true(fit.freedom == (double)freedom[k]);
        assert_below(fabs(fit.scale / 0.3 - 1.0), 0.02);
        free(squares);
    }
}

static void normal_values_are_recognised(void **state) {
    (void)state;
    double *squares = draw(0, 2.0);
    psfm_student fit = psfm_student_fit(squares, NUM);
    assert_true(fit.freedom >= 100.0);
    assert_below(fabs(fit.scale / 2.0 - 1.0), 0.02);
    free(squares);
}

/* Of values that are alike, and that lie far apart. */
static void the_scale_is_the_likeliest(void **state) {
    (void)state;
    enum { SOME = 1000 };
    double squares[SOME];
    for (int far = 0; far <= 12; far += 2)
        for (int share = 50; share < 1000; share += 150) {
            psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, (uint64_t)far, (uint64_t)share);
            for (int i = 0; i < SOME; ++i)
                squares[i] = (0.5 + psfm_rng_uniform(&rng)) * (i < share ? 1.0 : pow(10.0, -far));
            psfm_student fit = psfm_student_fit(squares, SOME);
            const double n = fit.freedom, ns2 = n * fit.scale * fit.scale;
            double sum = 0.0;
            for (int i = 0; i < SOME; ++i)
                sum += squares[i] / (ns2 + squares[i]);
            assert_close(0.5 * (n + 2.0) * sum / SOME, 1.0, 1e-3);
        }
}

static void degenerate_values(void **state) {
    (void)state;
    static const double zeros[4] = {0.0, 0.0, 0.0, 1.0}, one[1] = {4.0},
                        huge[3] = {1e300, 1e300, 1};
    assert_true(psfm_student_fit(NULL, 0).scale == 0.0);
    assert_true(psfm_student_fit(zeros, 4).scale == 0.0);
    assert_true(psfm_student_fit(one, 1).scale > 0.0);
    assert_true(isfinite(psfm_student_fit(huge, 3).scale));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_freedom_and_scale),
        cmocka_unit_test(normal_values_are_recognised),
        cmocka_unit_test(the_scale_is_the_likeliest),
        cmocka_unit_test(degenerate_values),
    };
    return cmocka_run_group_tests_name("linalg/student_t", tests, NULL, NULL);
}
