#include "test_util.h"

#include "base/rng.h"
#include "linalg/order.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sorts_and_selects_like_qsort)};
    return cmocka_run_group_tests_name("linalg/order", tests, NULL, NULL);
}
