/* Pieces of points, made by cutting true tracks. */
#include "test_util.h"

#include "core/linalg/mat3.h"
#include "core/structure/track_merging.h"
#include "synth/scene.h"

enum { NUM_VIEWS = 12, PIECE = 3 };

typedef struct {
    psfm_scene scene;
    psfm_tracks whole;  /* what the true matches chain */
    psfm_tracks pieces; /* the same, cut after every PIECE elements; single ones are left out */
    double R[NUM_VIEWS][9], c[NUM_VIEWS][3];
    uint32_t component[NUM_VIEWS];
} fixture;

static void cut_tracks(fixture *f) {
    size_t num = f->whole.begin[f->whole.num_tracks], to = 0;
    psfm_tracks *p = &f->pieces;
    p->begin = calloc(num + 1, sizeof *p->begin);
    p->view = calloc(num, sizeof *p->view);
    p->keypoint = calloc(num, sizeof *p->keypoint);
    for (size_t t = 0; t < f->whole.num_tracks; ++t) {
        for (size_t e = f->whole.begin[t]; e < f->whole.begin[t + 1]; e += PIECE) {
            size_t last = e + PIECE < f->whole.begin[t + 1] ? e + PIECE : f->whole.begin[t + 1];
            for (size_t k = e; last - e >= 2 && k < last; ++k) {
                p->view[to] = f->whole.view[k];
                p->keypoint[to++] = f->whole.keypoint[k];
            }
            if (last - e >= 2)
                p->begin[++p->num_tracks] = to;
        }
    }
}

static void make(psfm_context *ctx, double noise_px, double outliers, fixture *f) {
    psfm_scene_options options;
    *f = (fixture){0};
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = NUM_VIEWS;
    options.num_points = 150;
    options.noise_px = noise_px;
    options.outliers = 0.0;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 5, &options, &f->scene));
    assert_ok(ctx, psfm_tracks_build(ctx, &f->scene.matches, NULL, &f->whole, NULL));
    cut_tracks(f);
    options.outliers = outliers; /* the same points and keypoints, some matches wrong */
    psfm_scene_free(&f->scene);
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 5, &options, &f->scene));
    for (size_t v = 0; v < NUM_VIEWS; ++v) {
        psfm_rotation_from_quat(f->scene.truth.images[v].cam_from_world_q, f->R[v]);
        psfm_model_image_center(&f->scene.truth.images[v], f->c[v]);
    }
}

static void drop(fixture *f) {
    psfm_tracks_free(&f->whole);
    psfm_tracks_free(&f->pieces);
    psfm_scene_free(&f->scene);
}

static psfm_tracks merge(psfm_context *ctx, fixture *f, double max_error_px,
                         psfm_merge_stats *stats) {
    psfm_poses poses = {NUM_VIEWS, f->R, f->c, f->component};
    psfm_structure s;
    psfm_tracks tracks;
    psfm_triangulate_options options;
    psfm_options_init(&psfm_triangulate_option_table, &options);
    options.max_error_px = max_error_px;
    options.min_angle_deg = 0.0;
    assert_ok(ctx,
              psfm_triangulate(ctx, &f->scene.matches, &f->pieces, &poses, &options, &s, NULL));
    assert_ok(ctx,
              psfm_points_merge(ctx, &f->scene.matches, &s, &poses, max_error_px, &tracks, stats));
    psfm_structure_free(&s);
    return tracks;
}

static uint64_t true_point(const fixture *f, const psfm_tracks *tracks, size_t e) {
    return f->scene.truth.images[tracks->view[e]].point3D_ids[tracks->keypoint[e]];
}

/* Elements whose true point is not that of their track's first element. */
static size_t num_wrong(const fixture *f, const psfm_tracks *tracks) {
    size_t wrong = 0;
    for (size_t t = 0; t < tracks->num_tracks; ++t)
        for (size_t e = tracks->begin[t]; e < tracks->begin[t + 1]; ++e)
            wrong += true_point(f, tracks, e) != true_point(f, tracks, tracks->begin[t]);
    return wrong;
}

static void pieces_become_whole_tracks(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_merge_stats stats;
    make(ctx, 0.0, 0.0, &f);
    assert_true(f.pieces.num_tracks > f.whole.num_tracks);
    psfm_tracks merged = merge(ctx, &f, 0.1, &stats);
    assert_int_equal(merged.num_tracks, f.whole.num_tracks);
    size_t num = f.whole.begin[f.whole.num_tracks];
    assert_memory_equal(merged.begin, f.whole.begin, (merged.num_tracks + 1) * sizeof(size_t));
    assert_memory_equal(merged.view, f.whole.view, num * sizeof *merged.view);
    assert_memory_equal(merged.keypoint, f.whole.keypoint, num * sizeof *merged.keypoint);
    assert_int_equal(stats.num_merged, f.pieces.num_tracks - f.whole.num_tracks);
    assert_int_equal(stats.num_added, num - f.pieces.begin[f.pieces.num_tracks]);
    assert_int_equal(stats.num_refused, 0);
    psfm_tracks_free(&merged);
    drop(&f);
    psfm_context_destroy(&ctx);
}

static void wrong_matches_join_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_merge_stats stats;
    make(ctx, 0.5, 0.3, &f);
    psfm_tracks merged = merge(ctx, &f, 4.0, &stats);
    size_t num = merged.begin[merged.num_tracks];
    assert_true(stats.num_refused > 100);
    assert_true(merged.num_tracks < f.pieces.num_tracks);
    assert_true(num_wrong(&f, &merged) * 200 < num); /* chance: another point within 4 px */
    for (size_t t = 0; t < merged.num_tracks; ++t)
        for (size_t e = merged.begin[t] + 1; e < merged.begin[t + 1]; ++e)
            assert_true(merged.view[e - 1] < merged.view[e]);
    psfm_tracks_free(&merged);
    drop(&f);
    psfm_context_destroy(&ctx);
}

static void images_without_pose_stay_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    make(ctx, 0.5, 0.1, &f);
    f.component[3] = f.component[7] = PSFM_NO_COMPONENT;
    psfm_tracks merged = merge(ctx, &f, 4.0, NULL);
    for (size_t e = 0; e < merged.begin[merged.num_tracks]; ++e)
        assert_int_equal(f.component[merged.view[e]], 0);
    psfm_tracks_free(&merged);
    drop(&f);
    psfm_context_destroy(&ctx);
}

/* The same poses, but half of them in a world of their own: no track holds images of both. */
static void components_are_not_joined(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    make(ctx, 0.5, 0.1, &f);
    for (size_t v = 0; v < NUM_VIEWS; v += 2)
        f.component[v] = 1;
    psfm_tracks merged = merge(ctx, &f, 4.0, NULL);
    assert_true(merged.num_tracks > 100);
    for (size_t t = 0; t < merged.num_tracks; ++t)
        for (size_t e = merged.begin[t]; e < merged.begin[t + 1]; ++e)
            assert_int_equal(f.component[merged.view[e]],
                             f.component[merged.view[merged.begin[t]]]);
    psfm_tracks_free(&merged);
    drop(&f);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_become_whole_tracks),
        cmocka_unit_test(wrong_matches_join_nothing),
        cmocka_unit_test(images_without_pose_stay_out),
        cmocka_unit_test(components_are_not_joined),
    };
    return cmocka_run_group_tests_name("structure/track_merging", tests, NULL, NULL);
}
