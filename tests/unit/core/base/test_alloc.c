#include "test_util.h"

#include "core/base/alloc.h"

static void zeroes_and_refuses_overflow(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    unsigned char *bytes = NULL;
    assert_ok(ctx, psfm_alloc(ctx, 100, 7, &bytes));
    for (int k = 0; k < 700; ++k)
        assert_int_equal(bytes[k], 0);
    free(bytes);
    assert_int_equal(psfm_alloc(ctx, SIZE_MAX / 2, 3, &bytes), PSFM_ERR_MEMORY);
    assert_null(bytes);
    assert_non_null(strstr(psfm_context_message(ctx), "out of memory"));
    assert_ok(ctx, psfm_alloc(ctx, 0, 8, &bytes));
    assert_non_null(bytes);
    free(bytes);
    psfm_context_destroy(&ctx);
}

static void grows_and_keeps(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    int *values = NULL;
    size_t capacity = 0;
    for (size_t n = 0; n < 1000; ++n) {
        assert_ok(ctx, PSFM_RESERVE(ctx, &values, &capacity, n + 1));
        assert_int_equal(values[n], 0);
        values[n] = (int)n;
    }
    for (int n = 0; n < 1000; ++n)
        assert_int_equal(values[n], n);
    int *before = values;
    size_t capacity_before = capacity;
    assert_int_equal(PSFM_RESERVE(ctx, &values, &capacity, SIZE_MAX / 2), PSFM_ERR_MEMORY);
    assert_ptr_equal(values, before);
    assert_int_equal(capacity, capacity_before);
    free(values);
    psfm_context_destroy(&ctx);
}

static void fails_on_demand(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    void *first = NULL, *second = NULL;
    psfm_alloc_fail_after(2);
    assert_ok(ctx, psfm_alloc(ctx, 1, 1, &first));
    assert_int_equal(psfm_alloc(ctx, 1, 1, &second), PSFM_ERR_MEMORY);
    assert_ok(ctx, psfm_alloc(ctx, 1, 1, &second));
    free(first);
    free(second);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroes_and_refuses_overflow),
        cmocka_unit_test(grows_and_keeps),
        cmocka_unit_test(fails_on_demand),
    };
    return cmocka_run_group_tests_name("base/alloc", tests, NULL, NULL);
}
