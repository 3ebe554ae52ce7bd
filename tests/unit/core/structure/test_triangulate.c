#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/structure/triangulate.h"
#include "synth/scene.h"

enum { MAX_VIEWS = 20 };

typedef struct {
    psfm_scene scene;
    psfm_tracks tracks; /* the true ones of two images or more */
    double R[MAX_VIEWS][9], c[MAX_VIEWS][3];
    uint32_t component[MAX_VIEWS];
} fixture;

static void make(psfm_context *ctx, psfm_scene_kind kind, psfm_camera_model model, double noise_px,
                 fixture *f) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = MAX_VIEWS;
    options.num_points = 200;
    options.noise_px = noise_px;
    options.neighbours = MAX_VIEWS / 2;
    options.miss = 0.0;
    options.outliers = 0.0;
    options.camera_model = (int)model;
    assert_ok(ctx, psfm_scene_make(ctx, kind, 5, &options, &f->scene));
    assert_ok(ctx, psfm_tracks_build(ctx, &f->scene.matches, NULL, &f->tracks, NULL));
    for (size_t v = 0; v < MAX_VIEWS; ++v) {
        psfm_rotation_from_quat(f->scene.truth.images[v].cam_from_world_q, f->R[v]);
        psfm_model_image_center(&f->scene.truth.images[v], f->c[v]);
        f->component[v] = 0;
    }
}

/* Only the first two views keep their poses. */
static void leave_two(fixture *f) {
    for (size_t v = 2; v < MAX_VIEWS; ++v)
        f->component[v] = PSFM_NO_COMPONENT;
}

static void drop(fixture *f) {
    psfm_tracks_free(&f->tracks);
    psfm_scene_free(&f->scene);
}

static psfm_poses poses_of(fixture *f) {
    return (psfm_poses){MAX_VIEWS, f->R, f->c, f->component};
}

static psfm_triangulate_stats run(psfm_context *ctx, fixture *f,
                                  const psfm_triangulate_options *options, psfm_structure *out) {
    psfm_triangulate_stats stats;
    psfm_poses poses = poses_of(f);
    assert_ok(ctx,
              psfm_triangulate(ctx, &f->scene.matches, &f->tracks, &poses, options, out, &stats));
    return stats;
}

static const psfm_model_point *truth_of(const fixture *f, const psfm_tracks *tracks, size_t e) {
    uint64_t id = f->scene.truth.images[tracks->view[e]].point3D_ids[tracks->keypoint[e]];
    for (size_t k = 0; k < f->scene.truth.num_points; ++k)
        if (f->scene.truth.points[k].id == id)
            return &f->scene.truth.points[k];
    return NULL;
}

/* Largest distance of a point from the truth of its first observation. */
static double worst(const fixture *f, const psfm_structure *s) {
    double largest = 0.0;
    for (size_t k = 0; k < s->num_points; ++k) {
        double D[3];
        psfm_sub3(s->points[k], truth_of(f, &s->tracks, s->tracks.begin[k])->xyz, D);
        largest = fmax(largest, psfm_norm3(D));
    }
    return largest;
}

static void exact_rays_meet_in_the_point(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int model = 0; model < PSFM_CAMERA_EQUIRECTANGULAR; ++model) {
        fixture f;
        psfm_structure s;
        make(ctx, PSFM_SCENE_ROOM, (psfm_camera_model)model, 0.0, &f);
        psfm_triangulate_options options;
        psfm_options_init(&psfm_triangulate_option_table, &options);
        options.max_error_px = 0.01;
        options.min_angle_deg = 3.0;
        psfm_triangulate_stats stats = run(ctx, &f, &options, &s);
        assert_true(stats.num_points > 100);
        assert_int_equal(stats.num_points, f.tracks.num_tracks - stats.num_small_angle);
        assert_below(worst(&f, &s), 1e-7);
        for (size_t k = 0; k < s.num_points; ++k) {
            assert_below(s.error_px[k], 1e-6);
            assert_true(s.angle_deg[k] >= 3.0);
            assert_int_equal(s.tracks.begin[k + 1] - s.tracks.begin[k],
                             f.tracks.begin[s.source[k] + 1] - f.tracks.begin[s.source[k]]);
        }
        psfm_structure_free(&s);
        drop(&f);
    }
    psfm_context_destroy(&ctx);
}

/* Every third element of each track is replaced by another keypoint of its view. */
static size_t spoil(fixture *f) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    size_t num = 0;
    for (size_t t = 0; t < f->tracks.num_tracks; ++t)
        for (size_t e = f->tracks.begin[t] + 2; e < f->tracks.begin[t + 1]; e += 3, ++num)
            f->tracks.keypoint[e] = (uint32_t)psfm_rng_below(
                &rng, f->scene.matches.views[f->tracks.view[e]].num_keypoints);
    return num;
}

static void wrong_observations_are_dropped(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_structure s;
    make(ctx, PSFM_SCENE_ARENA, PSFM_CAMERA_OPENCV, 0.5, &f);
    size_t num_wrong = spoil(&f), kept_wrong = 0, all = f.tracks.begin[f.tracks.num_tracks];
    psfm_triangulate_stats stats = run(ctx, &f, NULL, &s);
    for (size_t k = 0; k < s.num_points; ++k) {
        const psfm_model_point *first = truth_of(&f, &s.tracks, s.tracks.begin[k]);
        for (size_t e = s.tracks.begin[k]; e < s.tracks.begin[k + 1]; ++e)
            kept_wrong += truth_of(&f, &s.tracks, e) != first;
    }
    assert_true(num_wrong > 300);
    assert_true(stats.num_points + 5 > f.tracks.num_tracks);
    assert_true((double)stats.num_observations > 0.99 * (double)(all - num_wrong));
    assert_true((double)kept_wrong < 0.01 * (double)num_wrong);
    assert_int_equal(stats.num_observations + stats.num_dropped, all);
    assert_below(worst(&f, &s), 0.3);
    assert_below(stats.mean_error_px, 1.0);
    psfm_structure_free(&s);
    drop(&f);
    psfm_context_destroy(&ctx);
}

/* Joins tracks 2k and 2k + 1: views of the first half from one, of the second from the other. */
static void two_points_in_one_track(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_structure s;
    make(ctx, PSFM_SCENE_ARENA, PSFM_CAMERA_PINHOLE, 0.3, &f);
    psfm_tracks *t = &f.tracks;
    size_t to = 0, num = 0, begin = 0, chained = 0;
    for (size_t k = 0; k + 1 < t->num_tracks; k += 2, ++num) {
        size_t first[2] = {0, 0}, end = t->begin[k + 2], start = to;
        for (size_t e = begin; e < end; ++e) {
            bool second = e >= t->begin[k + 1];
            if ((t->view[e] >= MAX_VIEWS / 2) != second)
                continue;
            t->view[to] = t->view[e];
            t->keypoint[to++] = t->keypoint[e];
            ++first[second];
        }
        begin = end;
        t->begin[num] = start;
        chained += first[0] >= 4 && first[1] >= 4;
    }
    t->begin[num] = to;
    t->num_tracks = num;
    psfm_triangulate_options options;
    psfm_options_init(&psfm_triangulate_option_table, &options);
    psfm_triangulate_stats both = run(ctx, &f, &options, &s);
    assert_true(both.num_points >= num + chained - 2);
    assert_below(worst(&f, &s), 0.3);
    psfm_structure_free(&s);
    drop(&f);
    psfm_context_destroy(&ctx);
}

/* The rays of two cameras turned round meet behind both. */
static void points_behind_are_no_points(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_structure s;
    make(ctx, PSFM_SCENE_ARENA, PSFM_CAMERA_PINHOLE, 0.0, &f);
    leave_two(&f);
    psfm_triangulate_stats right = run(ctx, &f, NULL, &s);
    psfm_structure_free(&s);
    for (size_t v = 0; v < 2; ++v)
        for (int k = 3; k < 9; ++k)
            f.R[v][k] = -f.R[v][k]; /* half a turn about the camera's x axis ... */
    for (size_t v = 0; v < 2; ++v)
        for (size_t k = 0; k < f.scene.matches.views[v].num_keypoints; ++k) {
            f.scene.matches.views[v].rays[k][0] *= -1.0; /* ... and its image mirrored in x */
            f.scene.matches.views[v].keypoints[k][0] =
                1280.0 - f.scene.matches.views[v].keypoints[k][0];
        }
    psfm_triangulate_stats turned = run(ctx, &f, NULL, &s);
    assert_true(right.num_points > 50);
    assert_int_equal(turned.num_points, 0);
    assert_int_equal(turned.num_no_agreement, right.num_points + right.num_small_angle);
    psfm_structure_free(&s);
    drop(&f);
    psfm_context_destroy(&ctx);
}

static void small_angles_and_missing_poses(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_structure s;
    make(ctx, PSFM_SCENE_ARENA, PSFM_CAMERA_PINHOLE, 0.0, &f);
    leave_two(&f);
    psfm_triangulate_options options;
    psfm_options_init(&psfm_triangulate_option_table, &options);
    psfm_triangulate_stats stats = run(ctx, &f, &options, &s);
    size_t seen_twice = s.num_points;
    assert_true(seen_twice > 50);
    assert_int_equal(stats.num_observations, 2 * seen_twice);
    assert_true(stats.num_unposed > 1000);
    for (size_t e = 0; e < s.tracks.begin[s.num_points]; ++e)
        assert_true(s.tracks.view[e] < 2);
    psfm_structure_free(&s);
    options.min_angle_deg = 80.0;
    stats = run(ctx, &f, &options, &s);
    assert_int_equal(stats.num_points, 0);
    assert_int_equal(stats.num_small_angle, seen_twice);
    psfm_structure_free(&s);
    memset(f.scene.matches.views[0].rays, 0,
           f.scene.matches.views[0].num_keypoints * sizeof *f.scene.matches.views[0].rays);
    stats = run(ctx, &f, NULL, &s);
    assert_int_equal(stats.num_points, 0);
    assert_int_equal(stats.num_few, f.tracks.num_tracks);
    psfm_structure_free(&s);
    drop(&f);
    psfm_context_destroy(&ctx);
}

/* Four views are in a world of their own, mirrored and ten times as large. A point has the
 * coordinates and the observations of one world. */
static void a_point_belongs_to_one_component(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_structure s;
    enum { OTHERS = 4 };
    size_t in_other = 0;
    make(ctx, PSFM_SCENE_ARENA, PSFM_CAMERA_PINHOLE, 0.0, &f);
    for (size_t v = 0; v < OTHERS; ++v) {
        f.component[v] = 1;
        for (int k = 0; k < 9; ++k)
            f.R[v][k] *= k % 3 == 2 ? 1.0 : -1.0; /* the world turned half about z */
        for (int k = 0; k < 3; ++k)
            f.c[v][k] *= k == 2 ? 10.0 : -10.0;
    }
    run(ctx, &f, NULL, &s);
    for (size_t k = 0; k < s.num_points; ++k) {
        const double *X = truth_of(&f, &s.tracks, s.tracks.begin[k])->xyz;
        double turned[3] = {-10.0 * X[0], -10.0 * X[1], 10.0 * X[2]}, D[3];
        for (size_t e = s.tracks.begin[k]; e < s.tracks.begin[k + 1]; ++e)
            assert_int_equal(f.component[s.tracks.view[e]], s.component[k]);
        psfm_sub3(s.points[k], s.component[k] == 1 ? turned : X, D);
        assert_below(psfm_norm3(D), 1e-5);
        in_other += s.component[k] == 1;
    }
    assert_true(in_other > 5 && in_other < s.num_points - 5);
    psfm_structure_free(&s);
    drop(&f);
    psfm_context_destroy(&ctx);
}

static void the_same_bytes_for_any_number_of_threads(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_structure s, once;
    make(ctx, PSFM_SCENE_ARENA, PSFM_CAMERA_PINHOLE, 0.5, &f);
    spoil(&f);
    psfm_context_set_threads(ctx, 1);
    psfm_triangulate_stats stats = run(ctx, &f, NULL, &once);
    for (int threads = 2; threads < 6; ++threads) {
        psfm_context_set_threads(ctx, threads);
        run(ctx, &f, NULL, &s);
        assert_int_equal(s.num_points, once.num_points);
        assert_memory_equal(s.points, once.points, s.num_points * sizeof *s.points);
        assert_memory_equal(s.tracks.keypoint, once.tracks.keypoint,
                            stats.num_observations * sizeof *s.tracks.keypoint);
        psfm_structure_free(&s);
    }
    psfm_structure_free(&once);
    drop(&f);
    psfm_context_destroy(&ctx);
}

static void nonsense_and_failed_allocations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_structure s;
    psfm_tracks empty = {0};
    make(ctx, PSFM_SCENE_ARENA, PSFM_CAMERA_PINHOLE, 0.5, &f);
    psfm_poses poses = poses_of(&f);
    assert_ok(ctx, psfm_triangulate(ctx, &f.scene.matches, &empty, &poses, NULL, &s, NULL));
    assert_int_equal(s.num_points, 0);
    psfm_structure_free(&s);
    psfm_context_set_threads(ctx, 1);
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = psfm_triangulate(ctx, &f.scene.matches, &f.tracks, &poses, NULL, &s, NULL);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || (status == PSFM_ERR_MEMORY && s.points == NULL));
        assert_true(n < 100);
    }
    psfm_structure_free(&s);
    f.R[3][0] = NAN; /* a pose that is none has no points */
    f.c[4][1] = INFINITY;
    assert_ok(ctx, psfm_triangulate(ctx, &f.scene.matches, &f.tracks, &poses, NULL, &s, NULL));
    for (size_t e = 0; e < s.tracks.begin[s.num_points]; ++e)
        assert_true(s.tracks.view[e] != 3 && s.tracks.view[e] != 4);
    assert_true(s.num_points > 100);
    psfm_structure_free(&s);
    f.tracks.keypoint[7] = UINT32_MAX;
    assert_int_equal(psfm_triangulate(ctx, &f.scene.matches, &f.tracks, &poses, NULL, &s, NULL),
                     PSFM_ERR_ARGUMENT);
    drop(&f);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_rays_meet_in_the_point),
        cmocka_unit_test(wrong_observations_are_dropped),
        cmocka_unit_test(two_points_in_one_track),
        cmocka_unit_test(points_behind_are_no_points),
        cmocka_unit_test(a_point_belongs_to_one_component),
        cmocka_unit_test(small_angles_and_missing_poses),
        cmocka_unit_test(the_same_bytes_for_any_number_of_threads),
        cmocka_unit_test(nonsense_and_failed_allocations),
    };
    return cmocka_run_group_tests_name("structure/triangulate", tests, NULL, NULL);
}
