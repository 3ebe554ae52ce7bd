#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/structure/tracks.h"
#include "synth/scene.h"

enum { NUM_VIEWS = 6, NUM_KEYPOINTS = 10 };

/* A set of views without geometry, pairs given as (view1, view2, keypoint1, keypoint2) sorted. */
typedef struct {
    psfm_match_set set;
    psfm_view views[NUM_VIEWS];
    psfm_match_pair pairs[NUM_VIEWS * NUM_VIEWS];
    uint32_t matches[64][2];
} small_set;

static void make_set(const uint32_t (*rows)[4], size_t num, small_set *s) {
    memset(s, 0, sizeof *s);
    for (uint32_t v = 0; v < NUM_VIEWS; ++v)
        s->views[v].num_keypoints = NUM_KEYPOINTS;
    s->set.views = s->views;
    s->set.num_views = NUM_VIEWS;
    s->set.pairs = s->pairs;
    for (size_t k = 0; k < num; ++k) {
        s->matches[k][0] = rows[k][2];
        s->matches[k][1] = rows[k][3];
        if (k > 0 && rows[k][0] == rows[k - 1][0] && rows[k][1] == rows[k - 1][1])
            ++s->pairs[s->set.num_pairs - 1].num_matches;
        else
            s->pairs[s->set.num_pairs++] =
                (psfm_match_pair){rows[k][0], rows[k][1], 1, &s->matches[k]};
    }
}

static void assert_track(const psfm_tracks *tracks, size_t t, size_t num,
                         const uint32_t (*elements)[2]) {
    assert_int_equal(tracks->begin[t + 1] - tracks->begin[t], num);
    for (size_t k = 0; k < num; ++k) {
        assert_int_equal(tracks->view[tracks->begin[t] + k], elements[k][0]);
        assert_int_equal(tracks->keypoint[tracks->begin[t] + k], elements[k][1]);
    }
}

static void matches_chain_into_tracks(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const uint32_t rows[][4] = {
        {0, 1, 3, 4}, {0, 1, 2, 2}, {1, 2, 4, 5}, {2, 4, 5, 0}, {3, 4, 9, 9}};
    small_set s;
    psfm_tracks tracks;
    psfm_track_stats stats;
    make_set(rows, 5, &s);
    assert_int_equal(psfm_match_set_total(&s.set), 5);
    assert_ok(ctx, psfm_tracks_build(ctx, &s.set, NULL, &tracks, &stats));
    assert_int_equal(tracks.num_tracks, 3);
    assert_track(&tracks, 0, 2, (const uint32_t[][2]){{0, 2}, {1, 2}});
    assert_track(&tracks, 1, 4, (const uint32_t[][2]){{0, 3}, {1, 4}, {2, 5}, {4, 0}});
    assert_track(&tracks, 2, 2, (const uint32_t[][2]){{3, 9}, {4, 9}});
    assert_int_equal(stats.longest, 4);
    assert_int_equal(stats.num_elements, 8);
    assert_int_equal(stats.num_components, 3);
    assert_int_equal(stats.num_conflicting, 0);
    psfm_tracks_free(&tracks);

    bool use[5] = {true, true, false, true, true};
    assert_ok(ctx, psfm_tracks_build(ctx, &s.set, use, &tracks, &stats));
    assert_int_equal(stats.num_matches, 4);
    assert_int_equal(stats.longest, 2);
    psfm_tracks_free(&tracks);
    psfm_context_destroy(&ctx);
}

/* Two points in views 0, 1, 2, all pairs matched; 3:7 is matched to both in different views. */
static void a_conflict_is_cut_where_no_triangle_closes(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const uint32_t rows[][4] = {{0, 1, 0, 0}, {0, 1, 1, 1}, {0, 2, 0, 0},
                                {0, 2, 1, 1}, {0, 3, 1, 7}, {1, 2, 0, 0},
                                {1, 2, 1, 1}, {1, 3, 0, 7}, {2, 3, 0, 7}};
    small_set s;
    psfm_tracks tracks;
    psfm_track_stats stats;
    make_set(rows, 9, &s);
    assert_ok(ctx, psfm_tracks_build(ctx, &s.set, NULL, &tracks, &stats));
    assert_int_equal(stats.num_components, 1);
    assert_int_equal(stats.num_conflicting, 1);
    assert_int_equal(stats.num_cut, 1);
    assert_int_equal(tracks.num_tracks, 2);
    assert_track(&tracks, 0, 4, (const uint32_t[][2]){{0, 0}, {1, 0}, {2, 0}, {3, 7}});
    assert_track(&tracks, 1, 3, (const uint32_t[][2]){{0, 1}, {1, 1}, {2, 1}});
    psfm_tracks_free(&tracks);
    psfm_context_destroy(&ctx);
}

/* Point A in views 0-2, its other half B and another point C in views 3-5. Two matches say A - B,
 * one says A - C, and it comes first. */
static void two_links_outweigh_one(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const uint32_t rows[][4] = {{0, 1, 0, 0}, {0, 2, 0, 0}, {0, 3, 0, 1}, {1, 2, 0, 0},
                                {1, 3, 0, 0}, {2, 4, 0, 0}, {3, 4, 0, 0}, {3, 4, 1, 1},
                                {3, 5, 0, 0}, {3, 5, 1, 1}, {4, 5, 0, 0}, {4, 5, 1, 1}};
    small_set s;
    psfm_tracks tracks;
    make_set(rows, 12, &s);
    assert_ok(ctx, psfm_tracks_build(ctx, &s.set, NULL, &tracks, NULL));
    assert_int_equal(tracks.num_tracks, 2);
    assert_track(&tracks, 0, 6,
                 (const uint32_t[][2]){{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}});
    assert_track(&tracks, 1, 3, (const uint32_t[][2]){{3, 1}, {4, 1}, {5, 1}});
    psfm_tracks_free(&tracks);
    psfm_context_destroy(&ctx);
}

static void make_scene(psfm_context *ctx, double outliers, psfm_scene *scene) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 16;
    options.num_points = 300;
    options.neighbours = 4;
    options.outliers = outliers;
    options.miss = 0.2;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 3, &options, scene));
}

static uint64_t truth_of(const psfm_scene *scene, const psfm_tracks *tracks, size_t e) {
    return scene->truth.images[tracks->view[e]].point3D_ids[tracks->keypoint[e]];
}

static void true_matches_give_true_tracks(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene scene;
    psfm_tracks tracks;
    psfm_track_stats stats;
    make_scene(ctx, 0.0, &scene);
    assert_ok(ctx, psfm_tracks_build(ctx, &scene.matches, NULL, &tracks, &stats));
    assert_int_equal(stats.num_conflicting, 0);
    assert_true(tracks.num_tracks >= 290);
    for (size_t t = 0; t < tracks.num_tracks; ++t)
        for (size_t e = tracks.begin[t] + 1; e < tracks.begin[t + 1]; ++e)
            assert_int_equal(truth_of(&scene, &tracks, e), truth_of(&scene, &tracks, e - 1));
    psfm_tracks_free(&tracks);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

/* Share of neighbouring elements of the tracks that show one point. */
static double right_share(const psfm_scene *scene, const psfm_tracks *tracks) {
    size_t same = 0, all = 0;
    for (size_t t = 0; t < tracks->num_tracks; ++t)
        for (size_t e = tracks->begin[t] + 1; e < tracks->begin[t + 1]; ++e, ++all)
            same += truth_of(scene, tracks, e) == truth_of(scene, tracks, e - 1);
    return (double)same / (double)all;
}

/* With a fifth of the matches wrong everything hangs together, so that dropping leaves next to
 * nothing; splitting keeps nearly all and nearly pure. */
static void wrong_matches_are_mostly_cut(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene scene;
    psfm_tracks tracks, again;
    psfm_track_stats stats;
    size_t num_elements = 0;
    make_scene(ctx, 0.2, &scene);
    for (size_t v = 0; v < scene.matches.num_views; ++v)
        num_elements += scene.matches.views[v].num_keypoints;
    psfm_context_set_threads(ctx, 1);
    assert_ok(ctx, psfm_tracks_build(ctx, &scene.matches, NULL, &tracks, &stats));
    assert_true(right_share(&scene, &tracks) > 0.96);
    assert_true((double)stats.num_elements > 0.97 * (double)num_elements);
    psfm_context_set_threads(ctx, 4);
    assert_ok(ctx, psfm_tracks_build(ctx, &scene.matches, NULL, &again, NULL));
    assert_int_equal(tracks.num_tracks, again.num_tracks);
    assert_memory_equal(tracks.view, again.view, stats.num_elements * sizeof *tracks.view);
    assert_memory_equal(tracks.keypoint, again.keypoint,
                        stats.num_elements * sizeof *tracks.keypoint);
    psfm_tracks_free(&tracks);
    psfm_tracks_free(&again);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

static void nothing_and_nonsense(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_match_set empty = {0};
    psfm_tracks tracks;
    assert_ok(ctx, psfm_tracks_build(ctx, &empty, NULL, &tracks, NULL));
    assert_int_equal(tracks.num_tracks, 0);
    assert_int_equal(tracks.begin[0], 0);
    psfm_tracks_free(&tracks);
    const uint32_t rows[][4] = {{0, 1, 3, NUM_KEYPOINTS}};
    small_set s;
    make_set(rows, 1, &s);
    assert_int_equal(psfm_tracks_build(ctx, &s.set, NULL, &tracks, NULL), PSFM_ERR_DATA);
    assert_null(tracks.begin);
    psfm_context_destroy(&ctx);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    psfm_scene scene;
    psfm_tracks tracks;
    make_scene(ctx, 0.2, &scene);
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = psfm_tracks_build(ctx, &scene.matches, NULL, &tracks, NULL);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || (status == PSFM_ERR_MEMORY && tracks.begin == NULL));
        assert_true(n < 100);
    }
    psfm_tracks_free(&tracks);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_chain_into_tracks),
        cmocka_unit_test(a_conflict_is_cut_where_no_triangle_closes),
        cmocka_unit_test(two_links_outweigh_one),
        cmocka_unit_test(true_matches_give_true_tracks),
        cmocka_unit_test(wrong_matches_are_mostly_cut),
        cmocka_unit_test(nothing_and_nonsense),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests_name("structure/tracks", tests, NULL, NULL);
}
