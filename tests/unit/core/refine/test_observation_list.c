#include "test_util.h"

#include "core/base/rng.h"
#include "core/refine/observation_list.h"

enum { IMAGES = 9, TRACKS = 3000 };

typedef struct {
    size_t begin[TRACKS + 1];
    uint32_t view[TRACKS * IMAGES], keypoint[TRACKS * IMAGES];
    double xy[TRACKS * IMAGES][2];
    psfm_tracks tracks;
} fixture;

/* Tracks in random images; the last image is in few of them. */
static void make_tracks(fixture *f) {
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    size_t num = 0;
    for (size_t t = 0; t < TRACKS; ++t) {
        f->begin[t] = num;
        const size_t length = 2 + psfm_rng_below(&rng, 5), start = psfm_rng_below(&rng, IMAGES - 1);
        for (size_t k = 0; k < length; ++k)
            f->view[num++] = (uint32_t)((start + k) % (IMAGES - 1));
        if (t % 500 == 7)
            f->view[num++] = IMAGES - 1;
    }
    f->begin[TRACKS] = num;
    f->tracks = (psfm_tracks){TRACKS, f->begin, f->view, f->keypoint};
}

/* Tracks that every two images have in common; of all, or of the chosen. */
static void count_pairs(const psfm_tracks *tracks, const bool *chosen,
                        size_t counts[IMAGES][IMAGES]) {
    memset(counts, 0, sizeof(size_t[IMAGES][IMAGES]));
    for (size_t t = 0; t < tracks->num_tracks; ++t)
        for (size_t i = tracks->begin[t]; i < tracks->begin[t + 1]; ++i)
            for (size_t j = tracks->begin[t]; j < tracks->begin[t + 1]; ++j)
                counts[tracks->view[i]][tracks->view[j]] += chosen == NULL || chosen[t];
}

static void every_pair_keeps_its_share(void **state) {
    (void)state;
    static fixture f;
    static bool chosen[TRACKS];
    size_t all[IMAGES][IMAGES], kept[IMAGES][IMAGES], num = 0, length = 0;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_memory(ctx, 1000); /* is no reason to choose others */
    make_tracks(&f);
    count_pairs(&f.tracks, NULL, all);
    for (int per_pair = 1; per_pair <= 255; per_pair += 127) {
        assert_ok(ctx, psfm_long_tracks_choose(ctx, &f.tracks, (const double(*)[2])f.xy, IMAGES,
                                               per_pair, chosen, &num));
        count_pairs(&f.tracks, chosen, kept);
        for (int i = 0; i < IMAGES; ++i)
            for (int j = 0; j < IMAGES; ++j) {
                size_t least = all[i][j] < (size_t)per_pair ? all[i][j] : (size_t)per_pair;
                assert_true(kept[i][j] >= least);
            }
        length = 0;
        for (size_t t = 0; t < TRACKS; ++t)
            length += chosen[t] ? f.begin[t + 1] - f.begin[t] : 0;
        assert_int_equal(num, length);
        assert_true(per_pair > 1 || num < f.begin[TRACKS] / 50);
    }
    psfm_context_destroy(&ctx);
}

/* Which of equally long ones are chosen does not depend on their order. */
static void the_order_does_not_matter(void **state) {
    (void)state;
    enum { NUM = 40 };
    size_t begin[NUM + 1], num = 0;
    uint32_t view[2 * NUM], keypoint[2 * NUM] = {0};
    double xy[2][2 * NUM][2];
    bool chosen[2][NUM];
    psfm_context *ctx = psfm_context_create();
    for (size_t t = 0; t <= NUM; ++t)
        begin[t] = 2 * t;
    for (size_t k = 0; k < NUM; ++k)
        for (size_t i = 0; i < 2; ++i) {
            view[2 * k + i] = (uint32_t)i;
            for (size_t c = 0; c < 2; ++c) /* the second time backwards */
                xy[0][2 * k + i][c] = xy[1][2 * (NUM - 1 - k) + i][c] =
                    (double)((7 * k + 3 * c) % NUM);
        }
    const psfm_tracks tracks = {NUM, begin, view, keypoint};
    for (int k = 0; k < 2; ++k)
        assert_ok(ctx, psfm_long_tracks_choose(ctx, &tracks, (const double(*)[2])xy[k], 2, 10,
                                               chosen[k], &num));
    assert_int_equal(num, 20);
    for (size_t t = 0; t < NUM; ++t)
        assert_int_equal(chosen[0][t], chosen[1][NUM - 1 - t]);
    psfm_context_destroy(&ctx);
}

/* No track is left for a shorter one that the same pairs need. */
static void the_longest_come_first(void **state) {
    (void)state;
    const size_t begin[] = {0, 2, 5, 7, 10};
    const uint32_t view[] = {0, 1, 0, 1, 2, 1, 2, 0, 2, 3}, keypoint[10] = {0};
    const double xy[10][2] = {{0}};
    const psfm_tracks tracks = {4, (size_t *)begin, (uint32_t *)view, (uint32_t *)keypoint};
    const bool expected[] = {false, true, false, true};
    bool chosen[4];
    size_t num = 0;
    psfm_context *ctx = psfm_context_create();
    assert_ok(ctx, psfm_long_tracks_choose(ctx, &tracks, xy, 4, 1, chosen, &num));
    assert_memory_equal(chosen, expected, sizeof chosen);
    assert_int_equal(num, 6);
    psfm_context_destroy(&ctx);
}

/* Where there would be too many counts of pairs all tracks are taken. */
static void too_many_images_keep_all(void **state) {
    (void)state;
    static fixture f;
    static bool chosen[TRACKS];
    size_t num = 0;
    psfm_context *ctx = psfm_context_create();
    make_tracks(&f);
    assert_ok(ctx, psfm_long_tracks_choose(ctx, &f.tracks, (const double(*)[2])f.xy, 50000, 1,
                                           chosen, &num));
    assert_int_equal(num, f.begin[TRACKS]);
    psfm_context_destroy(&ctx);
}

static void a_list_keeps_the_chosen(void **state) {
    (void)state;
    uint32_t image[] = {0, 1, 0, 1, 2}, point[] = {0, 0, 1, 1, 1};
    double xy[][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}};
    const psfm_observation_list all = {5, image, point, xy, NULL};
    const bool chosen[] = {false, true};
    psfm_observation_list some;
    psfm_context *ctx = psfm_context_create();
    assert_ok(ctx, psfm_observation_list_choose(ctx, &all, chosen, 3, &some));
    assert_int_equal(some.num, 3);
    assert_memory_equal(some.image, image + 2, sizeof image - 2 * sizeof *image);
    assert_memory_equal(some.point, point + 2, sizeof point - 2 * sizeof *point);
    assert_memory_equal(some.xy, xy + 2, sizeof xy - 2 * sizeof *xy);
    psfm_observation_list_free(&some);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_keeps_its_share), cmocka_unit_test(the_order_does_not_matter),
        cmocka_unit_test(the_longest_come_first),     cmocka_unit_test(too_many_images_keep_all),
        cmocka_unit_test(a_list_keeps_the_chosen),
    };
    return cmocka_run_group_tests_name("refine/observation_list", tests, NULL, NULL);
}
