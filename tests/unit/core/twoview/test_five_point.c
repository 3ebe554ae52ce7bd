#include "test_util.h"

#include "core/twoview/five_point.h"
#include "unit/core/twoview/twoview_util.h"

static void random_matches(psfm_rng *rng, double R[9], double t[3], double ray1[5][3],
                           double ray2[5][3]) {
    double w[3];
    psfm_rng_direction(rng, w);
    psfm_scale3(psfm_rng_range(rng, 0.0, 1.0), w, w);
    psfm_rotation_exp(w, R);
    psfm_rng_direction(rng, t);
    for (int i = 0; i < 5; ++i) {
        double X[3] = {psfm_rng_range(rng, -1, 1), psfm_rng_range(rng, -1, 1),
                       psfm_rng_range(rng, 2, 6)};
        psfm_mat3_mul_vec(R, X, ray2[i]);
        psfm_axpy3(ray2[i], 1.0, t, ray2[i]);
        psfm_normalize3(ray2[i]);
        psfm_normalize3(X);
        memcpy(ray1[i], X, sizeof X);
    }
}

static double distance(const double A[9], const double B[9]) {
    double plus = 0.0, minus = 0.0;
    for (int k = 0; k < 9; ++k) {
        plus += (A[k] - B[k]) * (A[k] - B[k]);
        minus += (A[k] + B[k]) * (A[k] + B[k]);
    }
    return sqrt(fmin(plus, minus));
}

static void truth_is_among_the_solutions(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    int precise = 0, lost = 0, rounds = 3000;
    for (int round = 0; round < rounds; ++round) {
        double R[9], t[3], ray1[5][3], ray2[5][3], E[10][9], truth[9], best = INFINITY;
        random_matches(&rng, R, t, ray1, ray2);
        const double cross[9] = {0, -t[2], t[1], t[2], 0, -t[0], -t[1], t[0], 0};
        psfm_mat3_mul(cross, R, truth);
        for (int k = 0; k < 9; ++k)
            truth[k] /= sqrt(2.0);
        int num = psfm_five_point((const double(*)[3])ray1, (const double(*)[3])ray2, E);
        assert_true(num <= 10);
        for (int k = 0; k < num; ++k)
            best = fmin(best, distance(E[k], truth));
        precise += best < 1e-8;
        lost += best > 1e-4;
    }
    /* some samples are ill-conditioned (nearly double roots) */
    assert_true(precise > rounds * 98 / 100);
    assert_true(lost <= rounds / 200);
}

static void solutions_are_essential_matrices(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    int good = 0, all = 0;
    for (int round = 0; round < 500; ++round) {
        double R[9], t[3], ray1[5][3], ray2[5][3], E[10][9];
        random_matches(&rng, R, t, ray1, ray2);
        int num = psfm_five_point((const double(*)[3])ray1, (const double(*)[3])ray2, E);
        for (int k = 0; k < num; ++k, ++all) {
            double U[9], s[3], V[9];
            psfm_mat3_svd(E[k], U, s, V);
            good += fabs(s[0] - s[1]) < 1e-6 && s[2] < 1e-6;
            for (int i = 0; i < 5; ++i) {
                double line[3];
                psfm_mat3_mul_vec(E[k], ray1[i], line);
                assert_below(fabs(psfm_dot3(line, ray2[i])), 1e-10);
            }
        }
    }
    assert_true(all > 1000);
    assert_true(good > all * 98 / 100);
}

static void degenerate_samples_do_no_harm(void **state) {
    (void)state;
    double same[5][3], E[10][9];
    for (int i = 0; i < 5; ++i) {
        const double z[3] = {0, 0, 1};
        memcpy(same[i], z, sizeof z);
    }
    assert_int_equal(psfm_five_point((const double(*)[3])same, (const double(*)[3])same, E), 0);
    double bad[5][3];
    memcpy(bad, same, sizeof bad);
    bad[2][1] = NAN;
    int num = psfm_five_point((const double(*)[3])bad, (const double(*)[3])bad, E);
    assert_true(num >= 0 && num <= 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_is_among_the_solutions),
        cmocka_unit_test(solutions_are_essential_matrices),
        cmocka_unit_test(degenerate_samples_do_no_harm),
    };
    return cmocka_run_group_tests_name("twoview/five_point", tests, NULL, NULL);
}
