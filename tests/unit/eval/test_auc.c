#include "test_util.h"

#include "core/base/rng.h"
#include "eval/evaluate.h"

/* Expected values from a separate transcription of the definition. */
static void known_lists(void **state) {
    (void)state;
    double mixed[] = {0.2, 7.5, 1.0, INFINITY, 0.0, 3.0, 2.25, 12.0, 0.9, NAN};
    const double expected[] = {18.0, 23.5, 39.25, 48.3, 58.9};
    double auc[PSFM_NUM_AUC];
    psfm_auc(mixed, 10, psfm_auc_thresholds_deg, PSFM_NUM_AUC, auc);
    for (int k = 0; k < PSFM_NUM_AUC; ++k)
        assert_close(auc[k], expected[k], 1e-12);
    for (int k = 1; k < 10; ++k)
        assert_true(mixed[k - 1] <= mixed[k]);
    double one[] = {0.25};
    psfm_auc(one, 1, psfm_auc_thresholds_deg, PSFM_NUM_AUC, auc);
    assert_close(auc[0], 75.0, 1e-12);
    assert_close(auc[4], 98.75, 1e-12);
}

static void extremes(void **state) {
    (void)state;
    double auc[PSFM_NUM_AUC];
    double perfect[] = {0, 0, 0}, failed[] = {INFINITY, INFINITY}, at[] = {5.0};
    psfm_auc(perfect, 3, psfm_auc_thresholds_deg, PSFM_NUM_AUC, auc);
    for (int k = 0; k < PSFM_NUM_AUC; ++k)
        assert_close(auc[k], 100.0, 1e-12);
    psfm_auc(failed, 2, psfm_auc_thresholds_deg, PSFM_NUM_AUC, auc);
    for (int k = 0; k < PSFM_NUM_AUC; ++k)
        assert_true(auc[k] == 0.0);
    psfm_auc(at, 1, psfm_auc_thresholds_deg, PSFM_NUM_AUC, auc); /* an error at 5 is not below 5 */
    assert_true(auc[3] == 0.0);
    assert_close(auc[4], 75.0, 1e-12);
    psfm_auc(NULL, 0, psfm_auc_thresholds_deg, PSFM_NUM_AUC, auc);
    assert_true(auc[0] == 0.0);
}

/* Errors uniform over [0, 20): recall(e) = e / 20, so the area up to T is T / 40. */
static void uniform_errors(void **state) {
    (void)state;
    enum { NUM = 200000 };
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    double *errors = calloc(NUM, sizeof *errors), auc[PSFM_NUM_AUC];
    for (size_t k = 0; k < NUM; ++k)
        errors[k] = psfm_rng_range(&rng, 0, 20);
    psfm_auc(errors, NUM, psfm_auc_thresholds_deg, PSFM_NUM_AUC, auc);
    for (int k = 0; k < PSFM_NUM_AUC; ++k)
        assert_close(auc[k], 100 * psfm_auc_thresholds_deg[k] / 40, 0.1);
    free(errors);
}

static void recall_counts_errors_below(void **state) {
    (void)state;
    const double errors[] = {0.2, 0.9, 1.0, 2.0, 2.9, 4.0, 20.0, INFINITY}, at[] = {1.0, 3.0, 5.0};
    const double expected[] = {25.0, 62.5, 75.0};
    double recall[3];
    psfm_recall(errors, 8, at, 3, recall);
    for (int k = 0; k < 3; ++k)
        assert_close(recall[k], expected[k], 1e-12);
    psfm_recall(NULL, 0, at, 3, recall);
    assert_true(recall[0] == 0.0 && recall[2] == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_lists),
        cmocka_unit_test(extremes),
        cmocka_unit_test(uniform_errors),
        cmocka_unit_test(recall_counts_errors_below),
    };
    return cmocka_run_group_tests_name("eval/auc", tests, NULL, NULL);
}
