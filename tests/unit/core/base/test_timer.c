#include "test_util.h"

#include "core/base/timer.h"

static void stages_that_run_twice_are_summed(void **state) {
    (void)state;
    psfm_timings t = {.num_stages = 0};
    const psfm_moment now = psfm_moment_now();
    psfm_timings_add(&t, "one", (psfm_moment){now.seconds - 1.0, now.cpu_seconds - 4.0});
    psfm_timings_add(&t, "two", now);
    psfm_timings_add(&t, "one", (psfm_moment){now.seconds - 2.0, now.cpu_seconds - 5.0});
    assert_int_equal(t.num_stages, 2);
    assert_string_equal(t.stages[0].name, "one");
    assert_true(t.stages[0].seconds >= 3.0);
    assert_true(t.stages[0].cpu_seconds >= 9.0);
    assert_true(t.stages[1].peak_mb > 0.0);
}

static void durations_read_well(void **state) {
    (void)state;
    static const struct {
        double seconds;
        const char *exact, *rough;
    } cases[] = {{0.0, "0.0 s", "0 s"},
                 {0.44, "0.4 s", "1 s"},
                 {9.96, "10 s", "10 s"},
                 {57.2, "57 s", "60 s"},
                 {119.4, "119 s", "2 min"},
                 {200.0, "3 min 20 s", "4 min"},
                 {7199.9, "2 h 0 min", "2 h 0 min"},
                 {7500.0, "2 h 5 min", "2 h 10 min"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[32];
        psfm_print_duration(cases[k].seconds, text);
        assert_string_equal(text, cases[k].exact);
        psfm_print_rough_duration(cases[k].seconds, text);
        assert_string_equal(text, cases[k].rough);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_that_run_twice_are_summed),
        cmocka_unit_test(durations_read_well),
    };
    return cmocka_run_group_tests_name("base/timer", tests, NULL, NULL);
}
