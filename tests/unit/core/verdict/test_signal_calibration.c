/* Penalties against their formula; probabilities against the clues. */

#include "core/verdict/model_features.h"
#include "core/verdict/signal_calibration.h"
#include "test_util.h"

typedef struct {
    double bad, good;
} features;

static const psfm_signal rows[] = {
    {.offset = offsetof(features, bad),
     .origin = 1.0,
     .scale = 0.5,
     .most = 9.0,
     .coefficient = 2.0},
    {.offset = offsetof(features, good), .scale = -20.0, .most = INFINITY, .coefficient = 0.5},
};
static const psfm_signal_table table = {3.0, rows, 2};

static void test_penalties(void **state) {
    features f = {2.5, 40.0}, none = {0.3, 0.0}, beyond = {1e6, 1e6};
    (void)state;
    assert_close(psfm_signal_penalty(&rows[0], &f), 2.0 * log(4.0), 1e-12);
    assert_close(psfm_signal_penalty(&rows[1], &f), 0.5 * log(1.5), 1e-12);
    assert_close(psfm_signal_penalty(&rows[0], &none), 0.0, 0.0); /* better than the origin */
    assert_close(psfm_signal_penalty(&rows[1], &none), 0.5 * log(41.0), 1e-12);
    assert_close(psfm_signal_penalty(&rows[0], &beyond), 2.0 * log(17.0), 1e-12);
    assert_close(psfm_signals_log_odds(&table, &f), 3.0 - 2.0 * log(4.0) - 0.5 * log(1.5), 1e-12);
    assert_close(psfm_probability_of(0.0), 0.5, 1e-15);
    assert_close(psfm_probability_of(-1000.0), 0.0, 1e-15);
}

static void check_monotone(const psfm_signal_table *calibration) {
    for (int k = 0; k < calibration->num_rows; ++k) {
        const psfm_signal *signal = &calibration->rows[k];
        assert_true(signal->coefficient > 0.0 && signal->scale != 0.0);
    }
}

static void test_calibrated_clues_only_lower_the_odds(void **state) {
    (void)state;
    check_monotone(&psfm_model_calibration);
    check_monotone(&psfm_image_calibration);
    assert_true(psfm_probability_of(psfm_model_calibration.bias) > PSFM_CALLED_RIGHT);
    assert_true(psfm_probability_of(psfm_image_calibration.bias) > PSFM_CALLED_RIGHT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_penalties),
        cmocka_unit_test(test_calibrated_clues_only_lower_the_odds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
