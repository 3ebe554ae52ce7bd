#include "test_util.h"

#include "core/linalg/loss.h"

/* Weights are the derivatives of the losses, slopes those of weight times squared error. */
static void weights_and_slopes_are_derivatives(void **state) {
    (void)state;
    for (psfm_loss_kind kind = PSFM_LOSS_SQUARED; (int)kind < PSFM_NUM_LOSS_KINDS; ++kind)
        for (double s = 0.05; s < 40.0; s *= 1.7) {
            const double c2 = 2.5, h = 1e-6 * s;
            double weight = (psfm_rho(kind, s + h, c2) - psfm_rho(kind, s - h, c2)) / (2.0 * h);
            double slope = ((s + h) * psfm_rho_weight(kind, s + h, c2) -
                            (s - h) * psfm_rho_weight(kind, s - h, c2)) /
                           (2.0 * h);
            assert_close(psfm_rho_weight(kind, s, c2), weight, 1e-7);
            assert_close(psfm_rho_slope(kind, s, c2), slope, 1e-7);
        }
}

/* Below their scale they are squares, and what is far away counts for less and less. */
static void losses_bend_at_their_scale(void **state) {
    (void)state;
    static double (*const weights[])(double, double) = {
        psfm_huber_weight, psfm_cauchy_weight, psfm_geman_mcclure_weight, psfm_tukey_weight};
    for (size_t k = 0; k < 4; ++k) {
        assert_close(weights[k](1e-12, 4.0), 1.0, 1e-10);
        for (double s = 0.5; s < 1e3; s *= 2.0)
            assert_true(weights[k](2.0 * s, 4.0) <= weights[k](s, 4.0));
        assert_below(weights[k](400.0, 4.0), 0.11);
    }
    assert_close(psfm_cauchy_weight(4.0, 4.0), 0.5, 1e-15);
    assert_close(psfm_geman_mcclure_weight(4.0, 4.0), 0.25, 1e-15);
    assert_close(psfm_huber_weight(16.0, 4.0), 0.5, 1e-15);
    assert_true(psfm_tukey_weight(4.0, 4.0) == 0.0);
}

static void bounded_losses_end_at_their_bound(void **state) {
    (void)state;
    for (double graded = 0.0; graded < 2.0; graded += 1.0) {
        const psfm_loss loss = {9.0, graded};
        assert_true(psfm_loss_value(loss, 9.0) == 9.0 && psfm_loss_value(loss, 1e9) == 9.0);
        assert_true(psfm_loss_weight(loss, 9.5) == 0.0);
        for (double s = 0.1; s < 9.0; s *= 1.31) {
            double h = 1e-7;
            double weight =
                (psfm_loss_value(loss, s + h) - psfm_loss_value(loss, s - h)) / (2.0 * h);
            assert_close(psfm_loss_weight(loss, s), weight, 1e-5);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(weights_and_slopes_are_derivatives),
                                       cmocka_unit_test(losses_bend_at_their_scale),
                                       cmocka_unit_test(bounded_losses_end_at_their_bound)};
    return cmocka_run_group_tests_name("linalg/loss", tests, NULL, NULL);
}
