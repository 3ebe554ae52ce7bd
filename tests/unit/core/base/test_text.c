#include "test_util.h"

#include <stdlib.h>

#include "core/base/text.h"

static void blanks_are_white_space_within_a_line(void **state) {
    (void)state;
    for (const char *c = " \t\r\v\f"; *c != '\0'; ++c)
        assert_true(psfm_is_blank(*c));
    for (const char *c = "\nx,0_"; *c != '\0'; ++c)
        assert_false(psfm_is_blank(*c));
    assert_false(psfm_is_blank('\0'));
}

static void trimming_leaves_inner_blanks(void **state) {
    (void)state;
    const char text[] = " \ta b\r ", blank[] = "  \t ";
    size_t begin = 0, end = strlen(text);
    psfm_trim(text, &begin, &end);
    assert_int_equal(begin, 2);
    assert_int_equal(end, 5);
    begin = 0;
    end = strlen(blank);
    psfm_trim(blank, &begin, &end);
    assert_int_equal(begin, end);
}

/* Capitals first, as bytes have it, whatever a locale would say. */
static void strings_are_ordered_by_bytes(void **state) {
    (void)state;
    const char *names[] = {"b", "a10", "B", "a2", ""};
    const char *expected[] = {"", "B", "a10", "a2", "b"};
    qsort(names, 5, sizeof *names, psfm_compare_strings);
    for (int k = 0; k < 5; ++k)
        assert_string_equal(names[k], expected[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_are_white_space_within_a_line),
        cmocka_unit_test(trimming_leaves_inner_blanks),
        cmocka_unit_test(strings_are_ordered_by_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
