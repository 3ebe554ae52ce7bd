/* Photographs at known places: a row along a street, with gaps in what is known. */
#include <math.h>

#include "images/match/pair_select.h"
#include "test_util.h"

enum { NUM = 9 };
static const double metre = 1.0 / 111320.0; /* of latitude, in degrees */
static psfm_context *ctx;

static int make_context(void **state) {
    (void)state;
    ctx = psfm_context_create();
    return ctx == NULL;
}

static int free_context(void **state) {
    (void)state;
    psfm_context_destroy(&ctx);
    return 0;
}

/* Image k at 10 k metres north, all 10 m up. */
static void make_row(psfm_geodetic at[NUM]) {
    for (int k = 0; k < NUM; ++k)
        at[k] = (psfm_geodetic){50.0 + 10.0 * k * metre, 14.0, 10.0};
}

static void assert_nearest(const psfm_places *places, size_t image, uint32_t a, uint32_t b) {
    uint32_t nearest[NUM * 2];
    assert_ok(ctx, psfm_places_nearest(ctx, places, 2, nearest));
    assert_int_equal(nearest[2 * image], a);
    assert_int_equal(nearest[2 * image + 1], b);
}

static void metres_and_neighbours(void **state) {
    (void)state;
    psfm_geodetic at[NUM];
    psfm_places places;
    make_row(at);
    assert_ok(ctx, psfm_places_init(ctx, at, NUM, &places));
    assert_int_equal(places.num_known, NUM);
    assert_close(places.metres[8][1] - places.metres[0][1], 80.0, 0.5);
    assert_close(places.metres[8][0], 0.0, 1e-6);
    assert_nearest(&places, 0, 1, 2);
    assert_nearest(&places, 8, 7, 6);
    psfm_places_free(&places);
}

/* No fix is written as 0 north, 0 east; NAN is none at all. Neither is anybody's neighbour. */
static void unknown_places_have_no_neighbours(void **state) {
    (void)state;
    psfm_geodetic at[NUM];
    psfm_places places;
    make_row(at);
    at[1] = (psfm_geodetic){0.0, 0.0, 10.0};
    at[2].latitude_deg = (double)NAN;
    at[3].latitude_deg = 1e9;
    assert_ok(ctx, psfm_places_init(ctx, at, NUM, &places));
    assert_int_equal(places.num_known, NUM - 3);
    assert_nearest(&places, 0, 4, 5);
    for (size_t k = 1; k < 4; ++k)
        assert_nearest(&places, k, UINT32_MAX, UINT32_MAX);
    psfm_places_free(&places);
}

/* Image 7 is 100 m up: far from all, unless the altitude of one is not known. */
static void altitudes_count_if_all_are_known(void **state) {
    (void)state;
    psfm_geodetic at[NUM];
    psfm_places places;
    make_row(at);
    at[7].altitude_m = 110.0;
    assert_ok(ctx, psfm_places_init(ctx, at, NUM, &places));
    assert_nearest(&places, 8, 6, 5);
    psfm_places_free(&places);
    at[0].altitude_m = (double)NAN;
    assert_ok(ctx, psfm_places_init(ctx, at, NUM, &places));
    assert_nearest(&places, 8, 7, 6);
    psfm_places_free(&places);
}

/* An image without a place is paired with those that look like it; the others by their places. */
static void likeness_stands_in_for_places(void **state) {
    (void)state;
    psfm_geodetic at[NUM];
    float vector[NUM] = {0.0F};
    const psfm_image_vectors vectors = {.num = NUM, .size = 1, .vector = vector};
    psfm_places places;
    psfm_pair_list list;
    make_row(at);
    at[0].latitude_deg = (double)NAN;
    vector[0] = vector[7] = 1.0F;
    assert_ok(ctx, psfm_places_init(ctx, at, NUM, &places));
    const psfm_pair_hints hints = {.vectors = &vectors, .places = &places};
    assert_ok(ctx, psfm_pair_select(ctx, "gps:1", NULL, NUM, &hints, &list));
    assert_int_equal(list.pairs[0][0], 0);
    assert_int_equal(list.pairs[0][1], 7);
    for (size_t k = 1; k < list.num; ++k)
        assert_int_equal(list.pairs[k][1], list.pairs[k][0] + 1);
    psfm_pair_list_free(&list);
    psfm_places_free(&places);
}

static void defaults_go_by_what_is_known(void **state) {
    (void)state;
    assert_string_equal(psfm_pair_rule("auto", 200, 200), "exhaustive");
    assert_string_equal(psfm_pair_rule(NULL, 201, 100), PSFM_DEFAULT_PAIRS);
    assert_string_equal(psfm_pair_rule(NULL, 201, 101), PSFM_DEFAULT_PAIRS_PLACED);
    assert_string_equal(psfm_pair_rule("ring:2", 201, 201), "ring:2");
    assert_true(
        psfm_pair_rule_needs_retrieval(PSFM_DEFAULT_PAIRS_PLACED)); /* places may be wrong */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metres_and_neighbours),
        cmocka_unit_test(unknown_places_have_no_neighbours),
        cmocka_unit_test(altitudes_count_if_all_are_known),
        cmocka_unit_test(likeness_stands_in_for_places),
        cmocka_unit_test(defaults_go_by_what_is_known),
    };
    return cmocka_run_group_tests(tests, make_context, free_context);
}
