/* Peaks: which, in which order, and their tops between pixels. */
#include "images/feature/score_peaks.h"
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

static bool is_peak(const psfm_map *map, size_t index, const psfm_peak_rule *rule) {
    ptrdiff_t w = (ptrdiff_t)map->width, h = (ptrdiff_t)map->height, r = (ptrdiff_t)rule->radius;
    ptrdiff_t x = (ptrdiff_t)index % w, y = (ptrdiff_t)index / w, b = (ptrdiff_t)rule->border;
    if (x < b || y < b || x + b >= w || y + b >= h || !(map->data[index] > rule->threshold))
        return false;
    for (ptrdiff_t v = y - r; v <= y + r; ++v)
        for (ptrdiff_t u = x - r; u <= x + r; ++u)
            if (u >= 0 && v >= 0 && u < w && v < h && map->data[v * w + u] > map->data[index])
                return false;
    return true;
}

static void free_peaks(psfm_peak_list *list) {
    free(list->peaks);
    free(list->sorted);
    free(list->columns);
    free(list->counts);
}

/* Few different values, so that many are equal. */
static void peaks_are_found_by_any_number_of_threads(void **state) {
    (void)state;
    const psfm_peak_rule rules[] = {{2, 0, 0.2f}, {0, 3, 0.5f}, {4, 1, -1}, {1, 40, 0}};
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    psfm_map map = {0};
    psfm_peak_list list = {0};
    assert_ok(ctx, psfm_map_resize(ctx, &map, 70, 75, 1));
    for (size_t k = 0; k < 70 * 75; ++k)
        map.data[k] = (float)psfm_rng_below(&rng, 200) / 200;
    for (int threads = 1; threads <= 3; ++threads) {
        psfm_engine *nn;
        psfm_context_set_threads(ctx, threads);
        assert_ok(ctx, psfm_engine_create(ctx, &nn));
        for (size_t r = 0; r < 4; ++r) {
            assert_ok(ctx, psfm_peaks_find(ctx, nn, &map, &rules[r], &list));
            size_t at = 0;
            for (size_t k = 0; k < 70 * 75; ++k)
                if (is_peak(&map, k, &rules[r])) {
                    assert_true(at < list.num);
                    assert_int_equal(list.peaks[at].index, k);
                    assert_true(list.peaks[at++].score == map.data[k]);
                }
            assert_int_equal(at, list.num);
        }
        psfm_engine_destroy(&nn);
    }
    free_peaks(&list);
    psfm_map_free(&map);
}

static void the_best_come_first(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    const float odd[] = {0, -0.0f, INFINITY, -INFINITY, 1e-42f, -1e-42f, 1e38f, -1e38f};
    psfm_peak_list list = {0};
    for (size_t max = 0; max < 400; max += 57) {
        list.num = 0;
        for (size_t k = 0; k < 300; ++k) {
            float score = (float)(psfm_rng_below(&rng, 60)) - 30;
            assert_ok(ctx, psfm_peaks_add(ctx, &list, k < 8 ? odd[k] : score * 0.37f, k));
        }
        assert_ok(ctx, psfm_peaks_keep_best(ctx, &list, max));
        assert_int_equal(list.num, max < 300 ? max : 300);
        if (max > 0)
            assert_int_equal(list.peaks[0].index, 2);
        for (size_t k = 1; k < list.num; ++k) {
            const psfm_peak *a = &list.peaks[k - 1], *b = &list.peaks[k];
            assert_true(a->score > b->score || (a->score == b->score && a->index < b->index));
        }
    }
    free_peaks(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_are_found_by_any_number_of_threads),
        cmocka_unit_test(the_best_come_first),
        cmocka_unit_test(bells_are_found_exactly),
        cmocka_unit_test(odd_surroundings_move_nothing_far),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
