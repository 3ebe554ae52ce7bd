#include "test_util.h"

#include <stdlib.h>

#include "core/base/rng.h"
#include "core/linalg/convex_hull.h"

static void hull_of_a_square(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double xy[][2] = {{0, 0}, {2, 0}, {1, 0}, {2, 2}, {1, 1}, {0, 2}, {0, 0}, {0.5, 1.5}};
    uint32_t *corners = NULL, num = 0;
    assert_ok(ctx, psfm_convex_hull(ctx, 8, (const double(*)[2])xy, &corners, &num));
    assert_int_equal(num, 4);
    assert_close(psfm_polygon_area((const double(*)[2])xy, corners, num), 4.0, 1e-15);
    free(corners);
    assert_ok(ctx, psfm_convex_hull(ctx, 3, (const double(*)[2])xy, &corners, &num));
    assert_true(num < 3);
    free(corners);
    assert_ok(ctx, psfm_convex_hull(ctx, 0, (const double(*)[2])xy, &corners, &num));
    assert_int_equal(num, 0);
    free(corners);
    psfm_context_destroy(&ctx);
}

static void hull_holds_all_points(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 50; ++round) {
        double xy[100][2];
        uint32_t *c = NULL, num = 0;
        for (int k = 0; k < 100; ++k)
            xy[k][0] = psfm_rng_normal(&rng), xy[k][1] = psfm_rng_normal(&rng);
        assert_ok(ctx, psfm_convex_hull(ctx, 100, (const double(*)[2])xy, &c, &num));
        for (uint32_t k = 0; k < num; ++k) {
            const double *a = xy[c[k]], *b = xy[c[(k + 1) % num]];
            for (int p = 0; p < 100; ++p)
                assert_true((b[0] - a[0]) * (xy[p][1] - a[1]) - (b[1] - a[1]) * (xy[p][0] - a[0]) >=
                            -1e-12);
        }
        free(c);
    }
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hull_of_a_square),
        cmocka_unit_test(hull_holds_all_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
