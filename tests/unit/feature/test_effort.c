#include "feature/effort.h"

#include "test_util.h"

static psfm_sift_options defaults(void) {
    psfm_sift_options sift;
    psfm_options_init(&psfm_sift_option_table, &sift);
    return sift;
}

static void efforts_limit_what_sift_may_do(void **state) {
    (void)state;
    psfm_sift_options low = defaults(), normal = defaults(), high = defaults();
    assert_true(psfm_effort_limit(PSFM_EFFORT_LOW, &low));
    assert_true(psfm_effort_limit(PSFM_EFFORT_NORMAL, &normal));
    assert_false(psfm_effort_limit(PSFM_EFFORT_HIGH, &high));
    assert_false(psfm_effort_limit(PSFM_EFFORT_AUTO, &high));
    assert_int_equal(low.first_octave, 0);
    assert_int_equal(low.max_num_features, 2000);
    assert_int_equal(normal.first_octave, 0);
    assert_int_equal(normal.max_num_features, defaults().max_num_features);
    assert_int_equal(high.first_octave, -1);
}

/* They never ask for more than the options do. */
static void options_below_an_effort_stay(void **state) {
    (void)state;
    psfm_sift_options sift = defaults();
    sift.first_octave = 1;
    sift.max_num_features = 500;
    assert_false(psfm_effort_limit(PSFM_EFFORT_LOW, &sift));
    assert_int_equal(sift.first_octave, 1);
    assert_int_equal(sift.max_num_features, 500);
}

static void efforts_have_names(void **state) {
    (void)state;
    assert_string_equal(psfm_effort_name(PSFM_EFFORT_AUTO), "auto");
    assert_string_equal(psfm_effort_name(PSFM_EFFORT_HIGH), "high");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(efforts_limit_what_sift_may_do),
        cmocka_unit_test(options_below_an_effort_stay),
        cmocka_unit_test(efforts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
