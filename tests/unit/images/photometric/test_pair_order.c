/* Stars of pairs whose matches on planes are counted. */
#include "images/photometric/pair_order.h"

#include <string.h>

#include "test_util.h"

#define NUM_VIEWS 20

/* Pairs of one image with all later ones, and one pair apart from it. */
typedef struct {
    psfm_view views[NUM_VIEWS];
    psfm_match_pair pairs[NUM_VIEWS];
    psfm_homography planes[NUM_VIEWS][2];
    psfm_two_view two_views[NUM_VIEWS];
    bool can_align[NUM_VIEWS], first[NUM_VIEWS];
    psfm_match_set set;
} star;

/* Pair k of image 0 has 100 + k matches on two planes. */
static void make_star(star *s) {
    memset(s, 0, sizeof *s);
    for (size_t k = 0; k < NUM_VIEWS; ++k) {
        s->pairs[k] = (psfm_match_pair){.view1 = 0, .view2 = (uint32_t)k + 1};
        s->planes[k][0].num_inliers = 60;
        s->planes[k][1].num_inliers = 40 + k;
        s->two_views[k].homographies = s->planes[k];
        s->two_views[k].num_homographies = 2;
        s->can_align[k] = true;
    }
    s->pairs[NUM_VIEWS - 1] = (psfm_match_pair){.view1 = 18, .view2 = 19};
    s->set = (psfm_match_set){
        .views = s->views, .num_views = NUM_VIEWS, .pairs = s->pairs, .num_pairs = NUM_VIEWS};
}

/* Each image beside the centre has one pair or two: all are among its best. */
static void the_best_of_either_image_are_first(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    star s;
    make_star(&s);
    assert_ok(ctx, psfm_pairs_first(ctx, &s.set, s.two_views, s.can_align, s.first));
    for (size_t k = 0; k < NUM_VIEWS; ++k)
        assert_true(s.first[k]);
    psfm_context_destroy(&ctx);
}

/* The pairs of sixteen of the twenty images with the centre; that of images 18 and 19 is their
 * best. */
static void the_best_of_some_images_are_tried(void **state) {
    (void)state;
    star s;
    size_t num = 0;
    make_star(&s);
    s.can_align[3] = false;
    psfm_pairs_trial(&s.set, s.two_views, s.can_align, s.first);
    for (size_t k = 0; k < NUM_VIEWS; ++k)
        num += s.first[k];
    assert_false(s.first[3]);
    assert_true(s.first[NUM_VIEWS - 1]);
    assert_in_range(num, 13, 16);
}

/* All pairs of 20 images among themselves, those of near ones with more matches. */
static void far_pairs_wait(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { NUM_PAIRS = NUM_VIEWS * (NUM_VIEWS - 1) / 2 };
    static psfm_match_pair pairs[NUM_PAIRS];
    static psfm_homography planes[NUM_PAIRS];
    static psfm_two_view two_views[NUM_PAIRS];
    bool can_align[NUM_PAIRS], first[NUM_PAIRS];
    size_t num = 0;
    for (uint32_t i = 0; i < NUM_VIEWS; ++i)
        for (uint32_t j = i + 1; j < NUM_VIEWS; ++j, ++num) {
            pairs[num] = (psfm_match_pair){.view1 = i, .view2 = j};
            planes[num].num_inliers = 1000 - 10 * (j - i);
            two_views[num] = (psfm_two_view){.homographies = &planes[num], .num_homographies = 1};
            can_align[num] = i != 0 || j != 1;
        }
    const psfm_match_set set = {.num_views = NUM_VIEWS, .pairs = pairs, .num_pairs = NUM_PAIRS};
    assert_ok(ctx, psfm_pairs_first(ctx, &set, two_views, can_align, first));
    for (size_t p = 0; p < NUM_PAIRS; ++p) {
        uint32_t i = pairs[p].view1, j = pairs[p].view2;
        if (!can_align[p])
            assert_false(first[p]);
        else if (j - i <= 3) /* three on either side */
            assert_true(first[p]);
        else if (i >= 6 && j < NUM_VIEWS - 6)
            assert_false(first[p]);
        else if (i == 0 && j <= 7) /* an end has all six on one side, the second not counted */
            assert_true(first[p]);
        else if (i == 0 && j < NUM_VIEWS - 7)
            assert_false(first[p]);
    }
    psfm_context_destroy(&ctx);
}

static void nothing_to_align_is_no_pair(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    star s;
    make_star(&s);
    memset(s.can_align, 0, sizeof s.can_align);
    memset(s.first, 1, sizeof s.first);
    assert_ok(ctx, psfm_pairs_first(ctx, &s.set, s.two_views, s.can_align, s.first));
    for (size_t k = 0; k < NUM_VIEWS; ++k)
        assert_false(s.first[k]);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_of_either_image_are_first),
        cmocka_unit_test(the_best_of_some_images_are_tried),
        cmocka_unit_test(far_pairs_wait),
        cmocka_unit_test(nothing_to_align_is_no_pair),
    };
    return cmocka_run_group_tests_name("photometric/pair_order", tests, NULL, NULL);
}
