/* Photographs of a few spots, which normal effort cannot connect: all get high effort. */
#include "frontend/extract_and_match.h"

#include "photo_folder.h"
#include "run_defaults.h"
#include "store/colmap_database.h"

enum { NUM_PHOTOS = 3 };

typedef struct {
    photo_folder folder;
    psfm_folder_options extract;
    psfm_match_options match;
} fixture;

static void make_fixture(fixture *f) {
    *f = (fixture){.extract.intrinsics.camera_text = "SIMPLE_PINHOLE,240,180,200,120,90"};
    make_photo_folder(&f->folder);
    put_photo(&f->folder, "a.png", 0);
    put_photo(&f->folder, "b.png", 1);
    put_photo(&f->folder, "c.png", 2);
    psfm_options_init(&psfm_effort_option_table, &f->extract.effort);
    psfm_options_init(&psfm_extract_option_table, &f->extract.extract);
    psfm_options_init(&psfm_sift_option_table, &f->extract.sift);
    f->extract.detector = default_detector();
    psfm_options_init(&psfm_nearest_option_table, &f->match.nearest);
    psfm_options_init(&psfm_guided_option_table, &f->match.guided);
    psfm_options_init(&psfm_two_view_option_table, &f->match.two_view);
    f->match.matcher = default_matcher();
}

/* The set of the database after the photographs were taken with the fixture's options. */
static psfm_match_set take(const fixture *f, psfm_taken_photos *taken) {
    psfm_timings timings = {.num_stages = 0};
    psfm_match_set set;
    psfm_context *ctx = f->folder.ctx;
    const psfm_photos_to_take what = {f->folder.photos, f->folder.database, &f->extract, &f->match,
                                      0};
    assert_ok(ctx, psfm_take_photos(ctx, &what, &timings, taken));
    assert_int_equal(taken->state, PSFM_TAKEN_ALL);
    assert_int_equal(timings.num_stages, 2);
    assert_ok(ctx, psfm_database_read(ctx, f->folder.database, &set, NULL));
    return set;
}

static void assert_same_views(const psfm_match_set *a, const psfm_match_set *b) {
    assert_true(a->num_views == NUM_PHOTOS && b->num_views == NUM_PHOTOS);
    assert_int_equal(a->num_pairs, b->num_pairs);
    for (size_t v = 0; v < NUM_PHOTOS; ++v) {
        assert_int_equal(a->views[v].num_keypoints, b->views[v].num_keypoints);
        assert_memory_equal(a->views[v].keypoints, b->views[v].keypoints,
                            a->views[v].num_keypoints * sizeof *a->views[v].keypoints);
    }
    for (size_t k = 0; k < a->num_pairs; ++k)
        assert_int_equal(a->pairs[k].num_matches, b->pairs[k].num_matches);
}

static void weak_photographs_end_as_with_high_effort(void **state) {
    (void)state;
    fixture f, g;
    psfm_taken_photos taken, all;
    make_fixture(&f);
    make_fixture(&g);
    g.extract.effort.level = PSFM_EFFORT_HIGH;
    psfm_match_set set = take(&f, &taken), high = take(&g, &all);
    assert_int_equal(taken.effort, PSFM_EFFORT_NORMAL);
    assert_int_equal(taken.second_pass.num, NUM_PHOTOS);
    assert_string_equal(taken.second_pass.photos[1].name, "b.png");
    assert_int_equal(taken.second_pass.photos[1].effort, PSFM_EFFORT_HIGH);
    assert_int_equal(taken.extracted.num_extracted, NUM_PHOTOS);
    assert_int_equal(taken.matched.num_matched, 3);
    assert_int_equal(all.effort, PSFM_EFFORT_HIGH);
    assert_int_equal(all.second_pass.num, 0);
    assert_same_views(&set, &high);
    psfm_match_set_free(&set);
    psfm_match_set_free(&high);
    psfm_taken_photos_free(&taken);
    psfm_taken_photos_free(&all);
    drop_photo_folder(&f.folder);
    drop_photo_folder(&g.folder);
}

static void nothing_is_done_twice(void **state) {
    (void)state;
    fixture f;
    psfm_taken_photos taken;
    make_fixture(&f);
    psfm_match_set set = take(&f, &taken), again;
    psfm_taken_photos_free(&taken);
    again = take(&f, &taken);
    assert_int_equal(taken.second_pass.num, NUM_PHOTOS);
    assert_int_equal(taken.extracted.num_extracted, 0);
    assert_int_equal(taken.extracted.num_unchanged, NUM_PHOTOS);
    assert_int_equal(taken.matched.num_matched, 0);
    assert_int_equal(taken.matched.num_kept, 3);
    assert_same_views(&set, &again);
    psfm_match_set_free(&set);
    psfm_match_set_free(&again);
    psfm_taken_photos_free(&taken);
    drop_photo_folder(&f.folder);
}

/* As if interrupted between the decision and the first photograph that is extracted again. */
static void a_decision_survives_an_interruption(void **state) {
    (void)state;
    fixture f;
    psfm_taken_photos taken;
    psfm_extract_stats stats;
    make_fixture(&f);
    psfm_match_set set = take(&f, &taken);
    psfm_taken_photos_free(&taken);
    f.extract.effort.level = PSFM_EFFORT_NORMAL;
    assert_ok(f.folder.ctx, psfm_extract_folder(f.folder.ctx, f.folder.photos, f.folder.database,
                                                &f.extract, &stats));
    assert_int_equal(stats.num_extracted, NUM_PHOTOS);
    psfm_extract_stats_free(&stats);
    f.extract.effort.level = PSFM_EFFORT_AUTO;
    psfm_match_set again = take(&f, &taken);
    assert_int_equal(taken.second_pass.num, NUM_PHOTOS);
    assert_int_equal(taken.matched.num_matched, 3); /* once: the decision was there */
    assert_same_views(&set, &again);
    psfm_match_set_free(&set);
    psfm_match_set_free(&again);
    psfm_taken_photos_free(&taken);
    drop_photo_folder(&f.folder);
}

/* A photograph that changed, or another way of matching, makes the decision void. */
static void a_decision_about_something_else_is_not_used(void **state) {
    (void)state;
    fixture f, g;
    psfm_taken_photos taken;
    make_fixture(&f);
    make_fixture(&g);
    psfm_match_set set = take(&f, &taken);
    psfm_match_set_free(&set);
    psfm_taken_photos_free(&taken);
    put_photo(&f.folder, "c.png", 7);
    put_photo(&g.folder, "c.png", 7);
    f.match.nearest.max_ratio = g.match.nearest.max_ratio = 0.9;
    set = take(&f, &taken);
    assert_int_equal(taken.extracted.num_extracted, NUM_PHOTOS);
    psfm_taken_photos_free(&taken);
    psfm_match_set fresh = take(&g, &taken);
    assert_same_views(&set, &fresh);
    psfm_match_set_free(&set);
    psfm_match_set_free(&fresh);
    psfm_taken_photos_free(&taken);
    drop_photo_folder(&f.folder);
    drop_photo_folder(&g.folder);
}

/* First connections, then patches, then the verdict, also after an interruption. Low effort is as
 * much as normal effort for photographs this small, and nothing connects them: all have high effort
 * when the doubt comes. */
static void decisions_come_in_their_order(void **state) {
    (void)state;
    fixture f;
    psfm_taken_photos taken;
    psfm_timings timings = {.num_stages = 0};
    bool more = true;
    make_fixture(&f);
    psfm_context *ctx = f.folder.ctx;
    const psfm_photos_to_take what = {f.folder.photos, f.folder.database, &f.extract, &f.match, 9};
    assert_ok(ctx, psfm_take_photos(ctx, &what, &timings, &taken));
    assert_int_equal(taken.state, PSFM_TAKEN_TO_ALIGN);
    assert_int_equal(taken.second_pass.num, NUM_PHOTOS);
    assert_ok(ctx, psfm_take_doubt(ctx, &what, &taken, &more));
    assert_true(!more && taken.state == PSFM_TAKEN_TO_ALIGN);
    assert_ok(ctx, psfm_take_judge(ctx, &what, NULL, 0, &taken, &more));
    assert_true(!more && taken.state == PSFM_TAKEN_TO_SOLVE);
    psfm_taken_photos_free(&taken);
    assert_ok(ctx, psfm_take_photos(ctx, &what, &timings, &taken));
    assert_int_equal(taken.state, PSFM_TAKEN_TO_SOLVE);
    assert_int_equal(taken.matched.num_matched, 0);
    assert_ok(ctx, psfm_take_doubt(ctx, &what, &taken, &more));
    assert_true(!more && taken.state == PSFM_TAKEN_ALL);
    assert_int_equal(taken.second_pass.num, NUM_PHOTOS);
    psfm_taken_photos_free(&taken);
    drop_photo_folder(&f.folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weak_photographs_end_as_with_high_effort),
        cmocka_unit_test(nothing_is_done_twice),
        cmocka_unit_test(a_decision_survives_an_interruption),
        cmocka_unit_test(a_decision_about_something_else_is_not_used),
        cmocka_unit_test(decisions_come_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
