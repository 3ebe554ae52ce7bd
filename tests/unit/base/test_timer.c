#include "test_util.h"

#include "base/timer.h"

static void stages_that_run_twice_are_summed(void **state) {
    (void)state;
    psfm_timings t = {.num_stages = 0};
    double now = psfm_now();
    psfm_timings_add(&t, "one", now - 1.0);
    psfm_timings_add(&t, "two", now);
    psfm_timings_add(&t, "one", now - 2.0);
    assert_int_equal(t.num_stages, 2);
    assert_string_equal(t.stages[0].name, "one");
    assert_true(t.stages[0].seconds >= 3.0);
    assert_true(t.stages[1].peak_mb > 0.0);
}

/* An inner stage does not move the start of the one around it. */
static void a_stage_starts_when_nothing_is_done(void **state) {
    (void)state;
    psfm_stage_clock clock = {0};
    assert_true(psfm_stage_started(&clock, "refinement", 0, 1.0) == 1.0);
    assert_true(psfm_stage_started(&clock, "bundle", 0, 2.0) == 2.0);
    assert_true(psfm_stage_started(&clock, "bundle", 5, 3.0) == 2.0);
    assert_true(psfm_stage_started(&clock, "refinement", 1, 4.0) == 1.0);
    assert_true(psfm_stage_started(&clock, "bundle", 0, 5.0) == 5.0); /* begins again */
    assert_true(psfm_stage_started(&clock, "refinement", 2, 6.0) == 1.0);
    assert_true(psfm_stage_started(&clock, "unannounced", 3, 7.0) == 7.0);
    assert_true(psfm_stage_started(&clock, "unannounced", 4, 8.0) == 7.0);
}

static void any_number_and_length_of_names_is_fine(void **state) {
    (void)state;
    psfm_stage_clock clock = {0};
    char name[3 * PSFM_STAGE_NAME];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_true(psfm_stage_started(&clock, name, 1, 1.0) == 1.0);
    assert_true(psfm_stage_started(&clock, name, 2, 2.0) == 1.0);
    for (int k = 0; k < 3 * PSFM_MAX_STAGES; ++k) {
        snprintf(name, sizeof name, "stage %d", k);
        assert_true(psfm_stage_started(&clock, name, 1, k) == k);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_that_run_twice_are_summed),
        cmocka_unit_test(a_stage_starts_when_nothing_is_done),
        cmocka_unit_test(any_number_and_length_of_names_is_fine),
    };
    return cmocka_run_group_tests_name("base/timer", tests, NULL, NULL);
}
