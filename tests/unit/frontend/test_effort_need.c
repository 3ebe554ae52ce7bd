/* Graphs of pairs whose weak places are known. */
#include "frontend/effort_need.h"

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

static void find_from(psfm_effort reached, unsigned causes, const psfm_tried_pair *pairs,
                      size_t num, psfm_image_effort *images) {
    psfm_context *ctx = psfm_context_create();
    for (int i = 0; i < NUM; ++i)
        images[i].given = (psfm_effort_given){reached, reached == PSFM_EFFORT_LOW ? 4.0 : 3.0};
    assert_ok(ctx, psfm_effort_need(ctx, NUM, pairs, num, causes, PSFM_EFFORT_HIGH, images));
    psfm_context_destroy(&ctx);
}

static void find_for(unsigned causes, const psfm_tried_pair *pairs, size_t num,
                     psfm_image_effort *images) {
    find_from(PSFM_EFFORT_NORMAL, causes, pairs, num, images);
}

#define JOINED_AND_EXACT (PSFM_NEED_CONNECTION | PSFM_NEED_SUPPORT | PSFM_NEED_EXACTNESS)

static void find(const psfm_tried_pair *pairs, size_t num, psfm_image_effort *images) {
    find_for(JOINED_AND_EXACT, pairs, num, images);
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
    psfm_image_effort images[NUM];
    find(pairs, make_ring(1000, pairs), images);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed, PSFM_EFFORT_NORMAL);
    find(pairs, make_ring(600, pairs), images); /* 600 + 600 + 300 are too few */
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed, PSFM_EFFORT_HIGH);
}

/* Connected all the same, by many matches or by few: nothing is asked for on other criteria. */
static void the_causes_are_apart(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_image_effort images[NUM];
    size_t n = make_ring(600, pairs);
    find_for(PSFM_NEED_CONNECTION | PSFM_NEED_SUPPORT, pairs, n, images);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed, PSFM_EFFORT_NORMAL);
    n = make_ring(200, pairs);
    find_for(PSFM_NEED_CONNECTION, pairs, n, images);
    for (int i = 0; i < NUM; ++i) {
        assert_int_equal(images[i].needed, PSFM_EFFORT_NORMAL);
        assert_true(images[i].is_joined && !images[i].is_certain);
    }
    find_for(PSFM_NEED_SUPPORT, pairs, n, images);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed, PSFM_EFFORT_HIGH);
    weaken(pairs, n, 3, 0);
    find_for(PSFM_NEED_EXACTNESS, pairs, make_ring(1000, pairs), images);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed, PSFM_EFFORT_NORMAL);
}

/* 1500 matches and patches that are num_matches p. From low effort, four times the features shrink
 * deviations by 10 % where 0.19 p = 2.24 * 1500; from normal effort, three times the features
 * shrink them by 30 % where 0.51 p = 0.47 * 1500. */
static void patches_hold_an_image_instead(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_image_effort images[NUM];
    const struct {
        psfm_effort reached;
        double patches;
        psfm_effort needed;
    } cases[] = {{PSFM_EFFORT_LOW, 5800.0, PSFM_EFFORT_NORMAL},
                 {PSFM_EFFORT_LOW, 6000.0, PSFM_EFFORT_LOW},
                 {PSFM_EFFORT_NORMAL, 450.0, PSFM_EFFORT_HIGH},
                 {PSFM_EFFORT_NORMAL, 475.0, PSFM_EFFORT_NORMAL}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        const size_t n = make_ring(600, pairs);
        for (size_t k = 0; k < n; ++k)
            pairs[k].patches = cases[c].patches;
        find_from(cases[c].reached, PSFM_NEED_EXACTNESS, pairs, n, images);
        for (int i = 0; i < NUM; ++i)
            assert_int_equal(images[i].needed, cases[c].needed);
    }
}

/* Image 3 is weak, and its neighbours are not: it stays as it is. Two weak images that hang on
 * each other are second_pass, with their best three neighbours. */
static void weak_images_that_hang_on_each_other_are_raised(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_image_effort images[NUM];
    size_t n = make_ring(4000, pairs);
    weaken(pairs, n, 3, 250);
    find(pairs, n, images);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed, PSFM_EFFORT_NORMAL);
    weaken(pairs, n, 4, 300);
    for (size_t k = 0; k < n; ++k)
        if ((pairs[k].image[0] == 1 && pairs[k].image[1] == 3) ||
            (pairs[k].image[0] == 4 && pairs[k].image[1] == 6))
            pairs[k].num_verified = 240;
    find(pairs, n, images);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed,
                         i >= 2 && i <= 5 ? PSFM_EFFORT_HIGH : PSFM_EFFORT_NORMAL);
}

/* Image 3 hangs on few matches, though its neighbours are held well: the best three of these are
 * second_pass with it. */
static void the_partners_of_a_lone_weak_image_are_raised(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_image_effort images[NUM];
    size_t n = make_ring(4000, pairs);
    for (size_t k = 0; k < n; ++k)
        for (int e = 0; e < 2; ++e)
            if (pairs[k].image[e] == 3)
                pairs[k].num_verified = pairs[k].image[1 - e] == 1 ? 120 : 160;
    find(pairs, n, images);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed,
                         i >= 2 && i <= 5 ? PSFM_EFFORT_HIGH : PSFM_EFFORT_NORMAL);
}

/* Image 3 shares nothing with anybody: it may have to be sought everywhere. */
static void a_lone_image_raises_all_its_pairs(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_image_effort images[NUM];
    size_t n = make_ring(2000, pairs);
    for (size_t k = 0; k < n; ++k)
        if (pairs[k].image[0] == 3 || pairs[k].image[1] == 3)
            pairs[k].num_verified = 0;
    find(pairs, n, images);
    for (int i = 0; i < NUM; ++i) {
        const bool is_near = i >= 1 && i <= 5;
        assert_int_equal(images[i].needed, is_near ? PSFM_EFFORT_HIGH : PSFM_EFFORT_NORMAL);
        assert_int_equal(images[i].is_certain, i != 3);
    }
}

/* Two groups that are strong in themselves, and hardly joined. */
static void what_is_not_connected_needs_more(void **state) {
    (void)state;
    psfm_tried_pair pairs[NUM * NUM];
    psfm_image_effort images[NUM];
    size_t n = 0;
    for (uint32_t i = 0; i < NUM; ++i)
        for (uint32_t j = i + 1; j < NUM; ++j)
            pairs[n++] = (psfm_tried_pair){{i, j}, (i < 5) == (j < 5) ? 3000 : 30, 0.0};
    find(pairs, n, images);
    for (int i = 5; i < NUM; ++i)
        assert_int_equal(images[i].needed, PSFM_EFFORT_HIGH);
    pairs[6].num_verified = 200; /* images 0 and 7 */
    find(pairs, n, images);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed, PSFM_EFFORT_NORMAL);
}

/* However few the matches are. */
static void efforts_are_raised_one_step_at_a_time(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_image_effort images[NUM];
    const struct {
        size_t num;
        double patches;
        psfm_effort needed;
    } cases[] = {{250, 0.0, PSFM_EFFORT_NORMAL},
                 {250, 20000.0, PSFM_EFFORT_LOW},
                 {900, 0.0, PSFM_EFFORT_LOW},
                 {10, 0.0, PSFM_EFFORT_NORMAL}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        const size_t n = make_ring(cases[c].num, pairs);
        for (size_t k = 0; k < n; ++k)
            pairs[k].patches = cases[c].patches;
        find_from(PSFM_EFFORT_LOW, JOINED_AND_EXACT, pairs, n, images);
        for (int i = 0; i < NUM; ++i)
            assert_int_equal(images[i].needed, cases[c].needed);
    }
}

/* What has more than the most that is to be given keeps it. */
static void there_is_a_most(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_tried_pair pairs[2 * NUM];
    psfm_image_effort images[NUM];
    const size_t n = make_ring(10, pairs);
    for (int i = 0; i < NUM; ++i)
        images[i].given = (psfm_effort_given){i < 3   ? PSFM_EFFORT_LOW
                                              : i < 6 ? PSFM_EFFORT_NORMAL
                                                      : PSFM_EFFORT_HIGH,
                                              3.0};
    assert_ok(ctx,
              psfm_effort_need(ctx, NUM, pairs, n, JOINED_AND_EXACT, PSFM_EFFORT_NORMAL, images));
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed, i < 6 ? PSFM_EFFORT_NORMAL : PSFM_EFFORT_HIGH);
    psfm_context_destroy(&ctx);
}

/* All get normal effort; high effort only if few matches join a quarter of them or more. */
static void a_doubtful_set_gets_more(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_image_effort images[NUM];
    size_t n = make_ring(4000, pairs);
    find_from(PSFM_EFFORT_LOW, PSFM_NEED_CERTAINTY, pairs, n, images);
    for (int i = 0; i < NUM; ++i)
        assert_true(images[i].needed == PSFM_EFFORT_NORMAL && !images[i].is_certain);
    weaken(pairs, n, 3, 150); /* one of eight */
    find_for(PSFM_NEED_CERTAINTY, pairs, n, images);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed, PSFM_EFFORT_NORMAL);
    weaken(pairs, n, 4, 150); /* two of eight */
    find_for(PSFM_NEED_CERTAINTY, pairs, n, images);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed, PSFM_EFFORT_HIGH);
}

/* There is nothing beyond. */
static void high_effort_stays(void **state) {
    (void)state;
    psfm_tried_pair pairs[2 * NUM];
    psfm_image_effort images[NUM];
    find_from(PSFM_EFFORT_HIGH, JOINED_AND_EXACT | PSFM_NEED_CERTAINTY, pairs, make_ring(10, pairs),
              images);
    for (int i = 0; i < NUM; ++i)
        assert_int_equal(images[i].needed, PSFM_EFFORT_HIGH);
}

/* Of thirty images one that normal effort does not connect is a stray, two are not. Those that have
 * had low effort yet say nothing. */
static void a_stray_makes_nothing_hard(void **state) {
    (void)state;
    psfm_image_effort images[30];
    for (int i = 0; i < 30; ++i)
        images[i] = (psfm_image_effort){.given = {PSFM_EFFORT_NORMAL, 3.0}, .is_certain = true};
    images[3].is_certain = false;
    assert_false(psfm_effort_is_hard(images, 30));
    assert_true(psfm_effort_is_hard(images, 20));
    images[4].given.reached = PSFM_EFFORT_LOW;
    images[4].is_certain = false;
    assert_false(psfm_effort_is_hard(images, 30));
    images[5].given.reached = PSFM_EFFORT_HIGH;
    assert_true(psfm_effort_is_hard(images, 30));
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
        cmocka_unit_test(efforts_are_raised_one_step_at_a_time),
        cmocka_unit_test(there_is_a_most),
        cmocka_unit_test(a_doubtful_set_gets_more),
        cmocka_unit_test(high_effort_stays),
        cmocka_unit_test(a_stray_makes_nothing_hard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
