#include "images/feature/effort.h"

#include "test_util.h"

static psfm_sift_options defaults(void) {
    psfm_sift_options sift;
    psfm_options_init(&psfm_sift_option_table, &sift);
    return sift;
}

static void efforts_limit_what_sift_may_do(void **state) {
    (void)state;
    psfm_sift_options low = defaults(), normal = defaults(), high = defaults();
    assert_true(psfm_effort_limit(PSFM_EFFORT_LOW, 0, &low));
    assert_true(psfm_effort_limit(PSFM_EFFORT_NORMAL, 0, &normal));
    assert_false(psfm_effort_limit(PSFM_EFFORT_HIGH, 0, &high));
    assert_false(psfm_effort_limit(PSFM_EFFORT_AUTO, 0, &high));
    assert_int_equal(low.first_octave, 0);
    assert_int_equal(low.max_num_features, 2000);
    assert_int_equal(normal.first_octave, 0);
    assert_int_equal(normal.max_num_features, defaults().max_num_features);
    assert_true(low.reduced_decoding && !normal.reduced_decoding);
    assert_int_equal(high.first_octave, -1);
    assert_int_equal(low.max_image_size, 800);
    assert_int_equal(normal.max_image_size, 2000);
    assert_int_equal(high.max_image_size, 0);
}

/* A size that the user chose is left alone. */
static void chosen_sizes_stay(void **state) {
    (void)state;
    psfm_sift_options of_all = defaults(), own = defaults();
    own.max_image_size = 2500;
    assert_true(psfm_effort_limit(PSFM_EFFORT_NORMAL, 4000, &of_all));
    assert_true(psfm_effort_limit(PSFM_EFFORT_NORMAL, 0, &own));
    assert_int_equal(of_all.max_image_size, 0);
    assert_int_equal(own.max_image_size, 2500);
}

/* They never ask for more than the options do. */
static void options_below_an_effort_stay(void **state) {
    (void)state;
    psfm_sift_options sift = defaults();
    sift.first_octave = 1;
    sift.max_num_features = 500;
    assert_false(psfm_effort_limit(PSFM_EFFORT_LOW, 0, &sift));
    assert_int_equal(sift.first_octave, 1);
    assert_int_equal(sift.max_num_features, 500);
}

static psfm_effort_given give(psfm_effort spent, int side, size_t num_features) {
    const psfm_sift_options sift = defaults();
    return psfm_effort_give(spent, 0, &sift, side / 2, side, num_features);
}

/* A small photograph has with low effort what normal effort gives. */
static void little_may_be_as_much(void **state) {
    (void)state;
    assert_int_equal(give(PSFM_EFFORT_LOW, 640, 900).reached, PSFM_EFFORT_NORMAL);
    assert_int_equal(give(PSFM_EFFORT_LOW, 640, 2000).reached, PSFM_EFFORT_LOW);
    assert_int_equal(give(PSFM_EFFORT_LOW, 1600, 900).reached, PSFM_EFFORT_LOW);
    assert_true(give(PSFM_EFFORT_LOW, 1600, 900).growth == 4.0);
    assert_true(give(PSFM_EFFORT_LOW, 8000, 900).growth == 6.25);
    assert_true(give(PSFM_EFFORT_NORMAL, 1600, 900).growth == 3.0);
    assert_true(give(PSFM_EFFORT_HIGH, 1600, 900).growth == 1.0);
}

static void efforts_have_names(void **state) {
    (void)state;
    assert_string_equal(psfm_effort_name(PSFM_EFFORT_AUTO), "auto");
    assert_string_equal(psfm_effort_name(PSFM_EFFORT_HIGH), "high");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(efforts_limit_what_sift_may_do),
        cmocka_unit_test(chosen_sizes_stay),
        cmocka_unit_test(options_below_an_effort_stay),
        cmocka_unit_test(little_may_be_as_much),
        cmocka_unit_test(efforts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
