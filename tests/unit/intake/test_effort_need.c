/* Graphs of pairs whose weak places are known. */
#include "intake/effort_need.h"

#include "test_util.h"

enum { NUM = 8 };

/* A ring in which every image has `num` verified matches with each of its two neighbours, and half
 * of that with the two beyond. */
static size_t make_ring(size_t num, psfm_tried_pair *pairs) {
    size_t n = 0;
    for (uint32_t i = 0; i < NUM; ++i)
        for (uint32_t step = 1; step <= 2; ++step)
            pairs[n++] = (psfm_tried_pair){{i, (i + step) % NUM}, num / step, 0.0};
    return n;
}

static void find_for(unsigned causes, const psfm_tried_pair *pairs, size_t num, psfm_need *needs) {
    psfm_context *ctx = psfm_context_create();
    assert_ok(ctx, psfm_effort_need(ctx, NUM, pairs, num, causes, needs));
    psfm_context_destroy(&ctx);
}

static void find(const psfm_tried_pair *pairs, size_t num, psfm_need *needs) {
    find_for(PSFM_NEED_CONNECTION | PSFM_NEED_EXACTNESS, pairs, num, needs);
}

/* Gives all pairs of an image so many verified matches. */
static void weaken(psfm_tried_pair *pairs, size_t num, uint32_t image, size_t num_verified) {
    for (size_t k = 0; k < num; ++k)
        if (pairs[k].image[0] == image || pairs[k].image[1] == image)
            pairs[k].num_verified = num_verified;
}

static void what_is_held_well_needs_nothing(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_need needs[NUM];
    find(pairs, make_ring(1000, pairs), needs);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(needs[i], PSFM_NEED_NOTHING);
    find(pairs, make_ring(600, pairs), needs); /* 600 + 600 + 300 are too few */
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(needs[i], PSFM_NEED_FEATURES);
}

/* Connected all the same: nothing is asked for on that ground. */
static void the_causes_are_apart(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_need needs[NUM];
    size_t n = make_ring(600, pairs);
    find_for(PSFM_NEED_CONNECTION, pairs, n, needs);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(needs[i], PSFM_NEED_NOTHING);
    weaken(pairs, n, 3, 0);
    find_for(PSFM_NEED_EXACTNESS, pairs, make_ring(1000, pairs), needs);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(needs[i], PSFM_NEED_NOTHING);
}

/* 1500 matches and patches that are worth p: three times the features shrink deviations by 10 %
 * where 1500 + p = 8.5 * 1500. */
static void patches_hold_an_image_instead(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_need needs[NUM];
    size_t n = make_ring(600, pairs);
    for (int held = 0; held < 2; ++held) {
        for (size_t k = 0; k < n; ++k)
            pairs[k].patches = held ? 4000.0 : 3500.0;
        find(pairs, n, needs);
        for (int i = 0; i < NUM; ++i)
            assert_int_equal(needs[i], held ? PSFM_NEED_NOTHING : PSFM_NEED_FEATURES);
    }
}

/* Image 3 is weak, and its neighbours are not: it stays as it is. Two weak images that hang on
 * each other are raised, with their best three neighbours. */
static void weak_images_that_hang_on_each_other_are_raised(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_need needs[NUM];
    size_t n = make_ring(4000, pairs);
    weaken(pairs, n, 3, 250);
    find(pairs, n, needs);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(needs[i], PSFM_NEED_NOTHING);
    weaken(pairs, n, 4, 300);
    for (size_t k = 0; k < n; ++k)
        if ((pairs[k].image[0] == 1 && pairs[k].image[1] == 3) ||
            (pairs[k].image[0] == 4 && pairs[k].image[1] == 6))
            pairs[k].num_verified = 240;
    find(pairs, n, needs);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(needs[i], i >= 2 && i <= 5 ? PSFM_NEED_FEATURES : PSFM_NEED_NOTHING);
}

/* Image 3 hangs on few matches, though its neighbours are held well: the best three of these are
 * raised with it. */
static void the_partners_of_a_lone_weak_image_are_raised(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_need needs[NUM];
    size_t n = make_ring(4000, pairs);
    for (size_t k = 0; k < n; ++k)
        for (int e = 0; e < 2; ++e)
            if (pairs[k].image[e] == 3)
                pairs[k].num_verified = pairs[k].image[1 - e] == 1 ? 120 : 160;
    find(pairs, n, needs);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(needs[i], i == 3 || i == 2 || i == 4 || i == 5 ? PSFM_NEED_FEATURES
                                                                        : PSFM_NEED_NOTHING);
}

/* Image 3 shares nothing with anybody: it may have to be sought everywhere. */
static void a_lone_image_raises_all_its_pairs(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_need needs[NUM];
    size_t n = make_ring(2000, pairs);
    for (size_t k = 0; k < n; ++k)
        if (pairs[k].image[0] == 3 || pairs[k].image[1] == 3)
            pairs[k].num_verified = 0;
    find(pairs, n, needs);
    for (int i = 0; i < NUM; ++i) {
        bool is_near = i == 1 || i == 2 || i == 4 || i == 5;
        assert_int_equal(needs[i], i == 3    ? PSFM_NEED_NEIGHBOURS
                                   : is_near ? PSFM_NEED_FEATURES
                                             : PSFM_NEED_NOTHING);
    }
}

/* Two groups that are strong in themselves, and hardly joined. */
static void what_is_not_connected_needs_more(void **state) {
    (void)state;
    psfm_tried_pair pairs[NUM * NUM];
    psfm_need needs[NUM];
    size_t n = 0;
    for (uint32_t i = 0; i < NUM; ++i)
        for (uint32_t j = i + 1; j < NUM; ++j)
            pairs[n++] = (psfm_tried_pair){{i, j}, (i < 5) == (j < 5) ? 3000 : 30, 0.0};
    find(pairs, n, needs);
    for (int i = 5; i < NUM; ++i)
        assert_int_equal(needs[i], PSFM_NEED_FEATURES);
    pairs[6].num_verified = 200; /* images 0 and 7 */
    find(pairs, n, needs);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(needs[i], PSFM_NEED_NOTHING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_well_needs_nothing),
        cmocka_unit_test(the_causes_are_apart),
        cmocka_unit_test(patches_hold_an_image_instead),
        cmocka_unit_test(weak_images_that_hang_on_each_other_are_raised),
        cmocka_unit_test(the_partners_of_a_lone_weak_image_are_raised),
        cmocka_unit_test(a_lone_image_raises_all_its_pairs),
        cmocka_unit_test(what_is_not_connected_needs_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
