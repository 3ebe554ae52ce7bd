#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/order_statistics.h"

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Values of several kinds: many ties, all equal, both signs, huge range, infinities. */
static void fill(psfm_rng *rng, int kind, double *values, size_t num) {
    for (size_t k = 0; k < num; ++k) {
        double u = psfm_rng_normal(rng);
        values[k] = kind == 0 ? u : kind == 1 ? floor(3 * u) : kind == 2 ? 7.0 : exp(50 * u);
        if (kind == 3 && k % 17 == 0)
            values[k] = k % 2 == 0 ? INFINITY : -INFINITY;
    }
}

static void sorts_and_selects_like_qsort(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    enum { MAX = 3000 };
    static double values[MAX], expected[MAX], work[MAX];
    for (int round = 0; round < 400; ++round) {
        size_t num = 1 + psfm_rng_below(&rng, round % 3 == 0 ? MAX : 50);
        fill(&rng, round % 4, values, num);
        memcpy(expected, values, sizeof values);
        qsort(expected, num, sizeof *expected, compare);
        memcpy(work, values, sizeof values);
        psfm_sort(work, num);
        assert_memory_equal(work, expected, num * sizeof *work);
        size_t k = psfm_rng_below(&rng, num);
        memcpy(work, values, sizeof values);
        assert_true(psfm_select(work, num, k) == expected[k]);
        memcpy(work, values, sizeof values);
        assert_true(psfm_median(work, num) == expected[(num - 1) / 2]);
    }
    psfm_sort(values, 0);
    assert_true(psfm_median(values, 0) == 0.0);
}

typedef struct {
    uint32_t id, second;
    double value;
} item;

static void finds_the_first_that_is_not_below(void **state) {
    (void)state;
    const uint32_t ids[] = {2, 3, 3, 3, 7, UINT32_MAX};
    const size_t places[] = {0, 0, 0, 1, 4, 4, 4, 4, 5};
    for (uint32_t id = 0; id < 9; ++id)
        assert_int_equal(psfm_lower_bound(&id, ids, 6, sizeof *ids, psfm_compare_u32), places[id]);
    const uint32_t last = UINT32_MAX;
    assert_int_equal(psfm_lower_bound(&last, ids, 5, sizeof *ids, psfm_compare_u32), 5);
    assert_int_equal(psfm_lower_bound(&last, NULL, 0, sizeof *ids, psfm_compare_u32), 0);
}

static void finds_items_by_what_they_begin_with(void **state) {
    (void)state;
    const item items[] = {{1, 5, 0.0}, {2, 1, 1.0}, {2, 9, 2.0}, {3, 0, 3.0}};
    const uint32_t id = 3, pair[2] = {2, 9}, none[2] = {2, 5};
    assert_ptr_equal(psfm_find(&id, items, 4, sizeof *items, psfm_compare_u32), &items[3]);
    assert_ptr_equal(psfm_find(pair, items, 4, sizeof *items, psfm_compare_u32_pair), &items[2]);
    assert_null(psfm_find(none, items, 4, sizeof *items, psfm_compare_u32_pair));
    assert_null(psfm_find(&id, NULL, 0, sizeof *items, psfm_compare_u32));
    const uint64_t large[] = {1, UINT64_C(1) << 32, UINT64_MAX};
    assert_ptr_equal(psfm_find(&large[1], large, 3, sizeof *large, psfm_compare_u64), &large[1]);
    assert_true(psfm_compare_u64(&large[2], &large[0]) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sorts_and_selects_like_qsort),
                                       cmocka_unit_test(finds_the_first_that_is_not_below),
                                       cmocka_unit_test(finds_items_by_what_they_begin_with)};
    return cmocka_run_group_tests_name("linalg/order_statistics", tests, NULL, NULL);
}
