#include "test_util.h"

#include "core/base/public_input.h"

typedef struct {
    size_t struct_size;
    double first, second;
} known_options;

/* As a later version has it. */
typedef struct {
    size_t struct_size;
    double first, second, third;
} later_options;

static void test_sizes(void **state) {
    psfm_context *ctx = *state;
    known_options known;
    later_options later = {sizeof later, 1.0, 2.0, 0.0};
    assert_ok(ctx, psfm_take_input(ctx, NULL, &known, sizeof known));
    assert_true(known.first == 0.0 && known.second == 0.0);
    assert_ok(ctx, psfm_take_input(ctx, &later, &known, sizeof known));
    assert_true(known.first == 1.0 && known.second == 2.0);
    later.third = 3.0; /* not known yet */
    assert_int_equal(psfm_take_input(ctx, &later, &known, sizeof known), PSFM_ERR_ARGUMENT);
    later.struct_size = offsetof(later_options, second); /* an older caller */
    assert_ok(ctx, psfm_take_input(ctx, &later, &known, sizeof known));
    assert_true(known.first == 1.0 && known.second == 0.0);
    later.struct_size = 0;
    assert_int_equal(psfm_take_input(ctx, &later, &known, sizeof known), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "struct_size"));
}

static void test_output(void **state) {
    (void)state;
    known_options made = {sizeof made, 1.0, 2.0};
    known_options older = {offsetof(known_options, second), 0.0, -1.0}, unset = {0, -1.0, -1.0};
    later_options later = {sizeof later, 0.0, 0.0, -1.0};
    psfm_give_output(&made, NULL);
    psfm_give_output(&made, &older);
    assert_true(older.first == 1.0 && older.second == -1.0);
    psfm_give_output(&made, &later);
    assert_true(later.struct_size == sizeof later && later.second == 2.0 && later.third == -1.0);
    psfm_give_output(&made, &unset);
    assert_true(unset.first == -1.0);
}

static void test_pointers(void **state) {
    psfm_context *ctx = *state;
    const double numbers[3] = {1.0, NAN, 2.0}, *rays = NULL;
    assert_ok(ctx, PSFM_REQUIRE(ctx, ctx));
    assert_int_equal(PSFM_REQUIRE(ctx, rays), PSFM_ERR_ARGUMENT);
    assert_string_equal(psfm_context_message(ctx), "rays is NULL");
    assert_ok(ctx, PSFM_REQUIRE_ARRAY(ctx, rays, 0));
    assert_int_equal(PSFM_REQUIRE_ARRAY(ctx, rays, 1), PSFM_ERR_ARGUMENT);
    assert_ok(ctx, psfm_require_finite(ctx, numbers, 1, "numbers"));
    assert_int_equal(psfm_require_finite(ctx, numbers, 3, "numbers"), PSFM_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_output),
        cmocka_unit_test(test_pointers),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
