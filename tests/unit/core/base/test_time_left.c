#include "test_util.h"

#include "core/base/time_left.h"

/* Three steps of 10, 20 and 30. */
static psfm_run_steps three(void) {
    psfm_run_steps run;
    psfm_run_steps_init(3, &run);
    for (int k = 0; k < 3; ++k)
        run.steps[k].weight = 10.0 * (k + 1);
    return run;
}

/* Ends the step before, which took so long, and begins another. */
static void enter(psfm_run_steps *run, int step, double seconds) {
    psfm_run_steps_leave(run, seconds);
    psfm_run_steps_enter(run, step);
}

static void assert_near(double a, double b) {
    assert_true(fabs(a - b) < 1e-9);
}

static void a_run_as_fast_as_expected_is_told_exactly(void **state) {
    (void)state;
    psfm_run_steps run = three();
    enter(&run, 0, 0.0);
    assert_near(psfm_time_left(&run, 0.5, 5.0), 55.0);
    enter(&run, 1, 10.0);
    assert_near(psfm_time_left(&run, 0.0, 0.0), 50.0);
    assert_near(psfm_time_left(&run, 0.25, 5.0), 45.0);
    enter(&run, 2, 20.0);
    assert_near(psfm_time_left(&run, -1.0, 12.0), 18.0);
}

static void a_slower_machine_is_learnt(void **state) {
    (void)state;
    psfm_run_steps run = three();
    enter(&run, 0, 0.0);
    enter(&run, 1, 40.0); /* four times as slow */
    assert_near(psfm_time_left(&run, 0.0, 0.0), 200.0);
    assert_near(psfm_time_left(&run, 0.5, 40.0), 40.0 + 120.0);
}

static void nothing_is_said_without_ground(void **state) {
    (void)state;
    psfm_run_steps run = three();
    assert_true(psfm_time_left(&run, 0.5, 5.0) < 0.0); /* not begun */
    enter(&run, 0, 0.0);
    assert_true(psfm_time_left(&run, 0.5, 1.0) < 0.0);  /* too short a time */
    assert_true(psfm_time_left(&run, 0.01, 9.0) < 0.0); /* too little of the run */
    assert_true(psfm_time_left(&run, -1.0, 9.0) < 0.0); /* nothing is over */
    run.steps[2].weight = -1.0;
    assert_true(psfm_time_left(&run, 0.5, 5.0) < 0.0); /* nobody knows the last step */
    run.steps[2].weight = 30.0;
    enter(&run, 1, 10.0);
    assert_true(psfm_time_left(&run, -1.0, 25.0) < 0.0); /* longer than expected, no end in sight */
}

static void steps_that_do_not_come_take_no_time(void **state) {
    (void)state;
    psfm_run_steps run = three();
    run.steps[2].weight = 0.0; /* not part of this run */
    enter(&run, 1, 0.0);       /* the first was done in an earlier run */
    assert_near(psfm_time_left(&run, 0.5, 10.0), 10.0);
    enter(&run, 2, 20.0);
    enter(&run, 1, 1.0); /* back again */
    run.steps[2].weight = 30.0;
    assert_near(psfm_time_left(&run, 0.5, 10.0), 10.0); /* the last had begun */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_as_fast_as_expected_is_told_exactly),
        cmocka_unit_test(a_slower_machine_is_learnt),
        cmocka_unit_test(nothing_is_said_without_ground),
        cmocka_unit_test(steps_that_do_not_come_take_no_time),
    };
    return cmocka_run_group_tests_name("base/time_left", tests, NULL, NULL);
}
