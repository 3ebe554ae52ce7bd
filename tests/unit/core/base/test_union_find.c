#include "test_util.h"

#include "core/base/rng.h"
#include "core/base/union_find.h"

static void roots_are_smallest_elements(void **state) {
    (void)state;
    uint32_t parent[6];
    psfm_sets_init(parent, 6);
    assert_true(psfm_sets_unite(parent, 5, 3));
    assert_true(psfm_sets_unite(parent, 4, 5));
    assert_true(psfm_sets_unite(parent, 1, 4));
    assert_false(psfm_sets_unite(parent, 3, 1));
    const uint32_t expected[] = {0, 1, 2, 1, 1, 1};
    for (uint32_t v = 0; v < 6; ++v)
        assert_int_equal(psfm_sets_find(parent, v), expected[v]);
}

static void labels_go_by_size_then_by_smallest_element(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    uint32_t set[8], num;
    psfm_sets_init(set, 8);
    psfm_sets_unite(set, 2, 6);
    psfm_sets_unite(set, 1, 5);
    psfm_sets_unite(set, 7, 3);
    psfm_sets_unite(set, 4, 7);
    assert_ok(ctx, psfm_sets_label(ctx, set, 8, set, &num)); /* in place */
    const uint32_t expected[] = {3, 1, 2, 0, 0, 1, 2, 0};
    assert_int_equal(num, 4);
    assert_memory_equal(set, expected, sizeof expected);
    assert_ok(ctx, psfm_sets_label(ctx, set, 0, set, &num));
    assert_int_equal(num, 0);
    psfm_context_destroy(&ctx);
}

/* Against labels that are rewritten at every union. */
static void random_unions_agree_with_relabelling(void **state) {
    (void)state;
    enum { N = 200, UNIONS = 150 };
    uint32_t parent[N], plain[N];
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    psfm_sets_init(parent, N);
    psfm_sets_init(plain, N);
    for (int k = 0; k < UNIONS; ++k) {
        uint32_t u = (uint32_t)psfm_rng_below(&rng, N), v = (uint32_t)psfm_rng_below(&rng, N);
        uint32_t low = plain[u] < plain[v] ? plain[u] : plain[v];
        uint32_t high = plain[u] < plain[v] ? plain[v] : plain[u];
        assert_int_equal(psfm_sets_unite(parent, u, v), low != high);
        for (uint32_t i = 0; i < N; ++i)
            plain[i] = plain[i] == high ? low : plain[i];
    }
    for (uint32_t i = 0; i < N; ++i)
        assert_int_equal(psfm_sets_find(parent, i), plain[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_are_smallest_elements),
        cmocka_unit_test(labels_go_by_size_then_by_smallest_element),
        cmocka_unit_test(random_unions_agree_with_relabelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
