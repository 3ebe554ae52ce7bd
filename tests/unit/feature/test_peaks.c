/* The top of a peak between pixels. */
#include "feature/peaks.h"
#include "nn_util.h"

enum { SIZE = 9, MIDDLE = SIZE / 2 * SIZE + SIZE / 2 };

static psfm_context *ctx;

/* A bell (or its logarithm) of deviations 1.2 and 0.9 around the middle pixel plus (dx, dy). */
static void make_bell(psfm_map *map, double dx, double dy, bool logarithm) {
    assert_ok(ctx, psfm_map_resize(ctx, map, SIZE, SIZE, 1));
    for (size_t k = 0; k < SIZE * SIZE; ++k) {
        double x = ((double)(k % SIZE) - SIZE / 2 - dx) / 1.2;
        double y = ((double)(k / SIZE) - SIZE / 2 - dy) / 0.9;
        double value = 0.3 - 0.5 * (x * x + y * y);
        map->data[k] = (float)(logarithm ? value : exp(value));
    }
}

static void bells_are_found_exactly(void **state) {
    (void)state;
    psfm_map map = {0};
    float offset[2];
    for (int logarithm = 0; logarithm < 2; ++logarithm)
        for (double dx = -0.4; dx < 0.5; dx += 0.2) {
            make_bell(&map, dx, 0.1 - dx, logarithm);
            psfm_peak_offset(&map, MIDDLE, !logarithm, offset);
            assert_close(offset[0], dx, 1e-5);
            assert_close(offset[1], 0.1 - dx, 1e-5);
        }
    psfm_map_free(&map);
}

static void odd_surroundings_move_nothing_far(void **state) {
    (void)state;
    psfm_map map = {0};
    float offset[2];
    make_bell(&map, 3, -3, false); /* its top is elsewhere: a slope */
    psfm_peak_offset(&map, MIDDLE, true, offset);
    assert_close(offset[0], 0.5, 0);
    assert_close(offset[1], -0.5, 0);
    make_bell(&map, 0.2, 0.2, false);
    psfm_peak_offset(&map, SIZE, true, offset); /* at the border */
    assert_close(offset[0], 0, 0);
    assert_close(offset[1], 0, 0);
    map.data[MIDDLE - 1] = map.data[MIDDLE + 1] = map.data[MIDDLE]; /* flat in x */
    map.data[MIDDLE - SIZE] = 0;                                    /* its logarithm is infinite */
    psfm_peak_offset(&map, MIDDLE, true, offset);
    assert_close(offset[0], 0, 0);
    assert_close(offset[1], 0, 0);
    map.data[MIDDLE] = NAN;
    psfm_peak_offset(&map, MIDDLE, false, offset);
    assert_close(offset[0], 0, 0);
    psfm_map_free(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bells_are_found_exactly),
        cmocka_unit_test(odd_surroundings_move_nothing_far),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
