#include "images/photometric/align_tracks.h"

#include "comma_locale.h"
#include "core/base/alloc.h"
#include "core/linalg/order_statistics.h"
#include "images/photometric/track_tasks.h"
#include "plane_views.h"
#include "thread_link.h"

/* The views with their true poses, and points on the plane seen by the first two views. */
typedef struct {
    fixture f;
    double R[NUM_VIEWS][9], center[NUM_VIEWS][3];
    uint32_t component[NUM_VIEWS];
    psfm_scene_plane plane;
    int32_t point_plane[NUM_POINTS];
    psfm_scene_planes planes;
    psfm_structure structure;
    psfm_track_align_options options;
    psfm_poses poses;
    psfm_track_scene scene;
} model;

static void place_point(model *m, uint32_t p) {
    const double *ray = m->f.set.views[0].rays[p];
    psfm_tracks *t = &m->structure.tracks;
    psfm_scale3(1.0 / psfm_dot3(plane_normal, ray), ray, m->structure.points[p]);
    for (uint32_t v = 0; v < 2; ++v) {
        t->view[2 * p + v] = v;
        t->keypoint[2 * p + v] = p;
    }
    t->begin[p + 1] = 2 * ((size_t)p + 1);
}

static void make_model(model *m, int threads) {
    *m = (model){0};
    set_up(&m->f, threads);
    psfm_context *ctx = m->f.ctx;
    psfm_structure *st = &m->structure;
    for (int v = 0; v < NUM_VIEWS; ++v) {
        double t[3];
        motion_to(v, m->R[v], t);
        psfm_mat3_tmul_vec(m->R[v], t, m->center[v]);
        psfm_scale3(-1.0, m->center[v], m->center[v]);
    }
    psfm_scale3(-1.0 / psfm_norm3(plane_normal), plane_normal, m->plane.normal);
    m->planes = (psfm_scene_planes){&m->plane, 1, m->point_plane};
    psfm_options_init(&psfm_track_align_option_table, &m->options);
    st->num_points = st->tracks.num_tracks = NUM_POINTS;
    assert_ok(ctx, PSFM_ALLOC(ctx, NUM_POINTS, &st->points));
    assert_ok(ctx, PSFM_ALLOC(ctx, NUM_POINTS + 1, &st->tracks.begin));
    assert_ok(ctx, PSFM_ALLOC(ctx, 2 * NUM_POINTS, &st->tracks.view));
    assert_ok(ctx, PSFM_ALLOC(ctx, 2 * NUM_POINTS, &st->tracks.keypoint));
    for (uint32_t p = 0; p < NUM_POINTS; ++p)
        place_point(m, p);
    m->poses = (psfm_poses){NUM_VIEWS, m->R, m->center, m->component};
    m->scene = (psfm_track_scene){m->f.set.cameras, &m->poses, &m->planes, m->f.photos};
}

static void align(model *m, psfm_track_align_stats *stats) {
    assert_ok(m->f.ctx, psfm_align_tracks(m->f.ctx, &m->scene, &m->f.options.patch, &m->options,
                                          &m->f.set, &m->structure, stats));
    assert_ok(m->f.ctx, psfm_match_set_check(m->f.ctx, &m->f.set));
}

static void free_model(model *m) {
    psfm_structure_free(&m->structure);
    tear_down(&m->f);
}

/* The element of a track that gives the patch is the one that did not move. */
static void find_place(const model *m, size_t k, double H_1[9], double ray[3]) {
    const psfm_tracks *t = &m->structure.tracks;
    memcpy(H_1, m->f.H_1[t->view[k]], 9 * sizeof *H_1);
    memcpy(ray, m->f.set.views[t->view[k]].rays[t->keypoint[k]], 3 * sizeof *ray);
}

/* Distance in pixels of element k from where the plane puts element `from` in its view. */
static double transfer_error(const model *m, size_t from, size_t k) {
    const psfm_tracks *t = &m->structure.tracks;
    const double *xy = m->f.set.views[t->view[k]].keypoints[t->keypoint[k]];
    double H_1[9], H_2[9], ray[3], first[3], to[3], at[2];
    find_place(m, from, H_1, ray);
    homography_to((int)t->view[k], H_2);
    psfm_mat3_mul_vec(H_1, ray, first);
    psfm_mat3_mul_vec(H_2, first, to);
    assert_true(psfm_camera_project(m->f.set.cameras, to, at));
    return hypot(at[0] - xy[0], at[1] - xy[1]);
}

static void tracks_become_precise_and_longer(void **state) {
    (void)state;
    model m;
    psfm_track_align_stats stats;
    double before[NUM_POINTS], after[3 * NUM_POINTS];
    size_t num = 0, num_long = 0;
    make_model(&m, 2);
    for (size_t p = 0; p < NUM_POINTS; ++p)
        before[p] = transfer_error(&m, 2 * p, 2 * p + 1);
    align(&m, &stats);
    const psfm_tracks *t = &m.structure.tracks;
    for (size_t p = 0; p < NUM_POINTS; ++p) {
        size_t first = t->begin[p], last = t->begin[p + 1];
        num_long += last - first == NUM_VIEWS;
        for (size_t k = first; k + 1 < last; ++k) {
            assert_true(t->view[k] < t->view[k + 1]);
            if (m.f.set.views[t->view[k]].sqrt_info[t->keypoint[k]][0] > 2.0 &&
                m.f.set.views[t->view[k + 1]].sqrt_info[t->keypoint[k + 1]][0] > 2.0)
                after[num++] = transfer_error(&m, k, k + 1);
        }
    }
    assert_true(stats.done && stats.num_new == num_long && num_long > NUM_POINTS / 2);
    assert_true(stats.num_aligned > NUM_POINTS / 2 && num > NUM_POINTS);
    assert_true(psfm_median(before, NUM_POINTS) > 0.5);
    assert_below(psfm_median(after, num), 0.06);
    free_model(&m);
}

/* All views see all points. */
static void lengthen_tracks(model *m) {
    psfm_tracks *t = &m->structure.tracks;
    free(t->view);
    free(t->keypoint);
    assert_ok(m->f.ctx, PSFM_ALLOC(m->f.ctx, NUM_VIEWS * NUM_POINTS, &t->view));
    assert_ok(m->f.ctx, PSFM_ALLOC(m->f.ctx, NUM_VIEWS * NUM_POINTS, &t->keypoint));
    for (uint32_t k = 0; k < NUM_VIEWS * NUM_POINTS; ++k) {
        t->view[k] = k % NUM_VIEWS;
        t->keypoint[k] = k / NUM_VIEWS;
        t->begin[k / NUM_VIEWS + 1] = (size_t)k + 1;
    }
}

/* The same photographs, but nobody knows of the plane: surfaces are taken to face the cameras,
 * though they are seen at an angle. What is found is nearly as precise. */
static void points_off_planes_are_found_too(void **state) {
    (void)state;
    model m;
    psfm_track_align_stats stats;
    double before[NUM_POINTS], after[NUM_POINTS];
    size_t num = 0;
    make_model(&m, 2);
    lengthen_tracks(&m);
    for (size_t p = 0; p < NUM_POINTS; ++p) {
        m.point_plane[p] = -1;
        before[p] = transfer_error(&m, 3 * p, 3 * p + 1);
    }
    align(&m, &stats);
    for (size_t p = 0; p < NUM_POINTS; ++p)
        if (m.f.set.views[0].sqrt_info[p][0] > 2.0 && m.f.set.views[1].sqrt_info[p][0] > 2.0)
            after[num++] = transfer_error(&m, 3 * p, 3 * p + 1);
    assert_true(stats.num_tried > NUM_POINTS && stats.num_new == 0);
    assert_true(num > NUM_POINTS / 3);
    assert_true(psfm_median(before, NUM_POINTS) > 0.5);
    assert_below(psfm_median(after, num), 0.1);
    free_model(&m);
}

/* Removes the photograph of the second view. */
static void lose_a_photograph(const model *m) {
    char *path = NULL;
    assert_ok(m->f.ctx, psfm_path_join(m->f.ctx, m->f.folder, "1.png", &path));
    assert_int_equal(remove(path), 0);
    free(path);
}

/* A view of another component has a frame of its own; a missing photograph is no place to look. */
static void views_that_cannot_take_part(void **state) {
    (void)state;
    model m;
    psfm_track_align_stats stats;
    make_model(&m, 2);
    m.component[2] = 1;
    align(&m, &stats);
    assert_true(stats.num_new == 0 && stats.num_aligned > NUM_POINTS / 2);
    assert_int_equal(m.f.set.views[2].num_keypoints, NUM_POINTS);
    free_model(&m);

    make_model(&m, 2);
    lose_a_photograph(&m);
    align(&m, &stats);
    assert_true(stats.num_aligned == 0 && stats.num_new > NUM_POINTS / 4);
    free_model(&m);
}

/* A view that lost its pose has the one it had: no place to look, and no place to look from,
 * however large it would show the points. */
static void views_without_a_pose_stay(void **state) {
    (void)state;
    model m;
    psfm_track_align_stats stats;
    double before[NUM_POINTS][2];
    make_model(&m, 2);
    m.component[1] = UINT32_MAX;
    psfm_scale3(-0.3, m.plane.normal, m.center[1]); /* nearer to the plane than it was */
    memcpy(before, m.f.set.views[1].keypoints, sizeof before);
    align(&m, &stats);
    assert_true(stats.num_new > NUM_POINTS / 2 && stats.num_aligned == 0);
    assert_int_equal(stats.num_tried, stats.num_points); /* from view 0 to view 2 */
    assert_memory_equal(before, m.f.set.views[1].keypoints, sizeof before);
    for (size_t k = 0; k < m.structure.tracks.begin[NUM_POINTS]; ++k)
        assert_true(m.structure.tracks.view[k] != 2 ||
                    m.structure.tracks.keypoint[k] >= NUM_POINTS);
    free_model(&m);
}

enum { WIDE_VIEWS = 8 };

/* Adds a view like one of the three: a second camera at the same place. */
static void repeat_view(psfm_match_set *set, uint32_t v) {
    const psfm_view *from = &set->views[v % NUM_VIEWS];
    psfm_view *to = &set->views[v];
    *to = (psfm_view){.id = v + 1, .name = copy(from->name), .num_keypoints = NUM_POINTS};
    to->keypoints = malloc(NUM_POINTS * sizeof *to->keypoints);
    assert_non_null(to->keypoints);
    memcpy(to->keypoints, from->keypoints, NUM_POINTS * sizeof *to->keypoints);
    ++set->num_views;
}

/* Few points, each of another view, that are sought in all others: more pairs of views than points
 * and views together, on more threads than these. */
static void each_worker_has_its_aligner(void **state) {
    (void)state;
    model m;
    psfm_track_align_stats stats;
    double R[WIDE_VIEWS][9], center[WIDE_VIEWS][3];
    uint32_t component[WIDE_VIEWS] = {0};
    make_model(&m, 32);
    psfm_match_set *set = &m.f.set;
    psfm_photo_cache_destroy(&m.f.photos);
    set->views = realloc(set->views, WIDE_VIEWS * sizeof *set->views);
    assert_non_null(set->views);
    for (uint32_t v = NUM_VIEWS; v < WIDE_VIEWS; ++v)
        repeat_view(set, v);
    for (uint32_t v = 0; v < WIDE_VIEWS; ++v) {
        memcpy(R[v], m.R[v % NUM_VIEWS], sizeof R[v]);
        memcpy(center[v], m.center[v % NUM_VIEWS], sizeof center[v]);
        m.structure.tracks.begin[v + 1] = v + 1;
        m.structure.tracks.view[v] = m.structure.tracks.keypoint[v] = v;
    }
    m.structure.num_points = m.structure.tracks.num_tracks = WIDE_VIEWS;
    m.poses = (psfm_poses){WIDE_VIEWS, R, center, component};
    assert_ok(m.f.ctx, psfm_match_set_compute_rays(m.f.ctx, set, NULL));
    assert_ok(m.f.ctx, psfm_photo_cache_create(m.f.ctx, set, m.f.folder, 64 << 20, &m.f.photos));
    m.scene.photos = m.f.photos;
    align(&m, &stats);
    assert_int_equal(stats.num_tried, WIDE_VIEWS * (WIDE_VIEWS - 1));
    assert_true(stats.num_new > stats.num_tried / 2);
    free_model(&m);
}

static void assert_same(const model *m, const model *n) {
    const psfm_tracks *s = &m->structure.tracks, *t = &n->structure.tracks;
    assert_memory_equal(s->begin, t->begin, (NUM_POINTS + 1) * sizeof *s->begin);
    assert_memory_equal(s->keypoint, t->keypoint, s->begin[NUM_POINTS] * sizeof *s->keypoint);
    for (int v = 0; v < NUM_VIEWS; ++v) {
        const psfm_view *a = &m->f.set.views[v], *b = &n->f.set.views[v];
        assert_int_equal(a->num_keypoints, b->num_keypoints);
        assert_memory_equal(a->keypoints, b->keypoints, a->num_keypoints * sizeof *a->keypoints);
        assert_memory_equal(a->sqrt_info, b->sqrt_info, a->num_keypoints * sizeof *a->sqrt_info);
    }
}

static void threads_make_no_difference(void **state) {
    (void)state;
    model m[2];
    psfm_track_align_stats stats[2];
    for (int k = 0; k < 2; ++k) {
        make_model(&m[k], k == 0 ? 1 : 4);
        align(&m[k], &stats[k]);
    }
    assert_int_equal(stats[0].num_new, stats[1].num_new);
    assert_same(&m[0], &m[1]);
    free_model(&m[0]);
    free_model(&m[1]);
}

/* With all photographs, with little memory, and without a photograph. */
static void ranks_make_no_difference(void **state) {
    (void)state;
    static const psfm_task_kind *const kinds[] = {&psfm_track_tasks, NULL};
    for (int k = 0; k < 3; ++k) {
        model alone, m;
        psfm_track_align_stats expected, stats;
        make_model(&alone, 1);
        make_model(&m, 2);
        psfm_context_set_memory(m.f.ctx, k == 1 ? 4096 : 0);
        if (k == 2) {
            lose_a_photograph(&alone);
            lose_a_photograph(&m);
        }
        thread_ranks *ranks = thread_ranks_start(m.f.ctx, 2 + k, kinds);
        align(&alone, &expected);
        align(&m, &stats);
        assert_true(thread_ranks_stop(m.f.ctx, ranks));
        assert_true(stats.num_new > 0);
        assert_memory_equal(&stats, &expected, sizeof stats);
        assert_same(&alone, &m);
        free_model(&alone);
        free_model(&m);
    }
}

static void the_sentence_has_decimal_points(void **state) {
    (void)state;
    psfm_track_align_stats stats = {.median_shift_px = 0.25};
    char text[256];
    set_comma_locale();
    psfm_align_tracks_describe(&stats, text, sizeof text);
    leave_comma_locale();
    assert_non_null(strstr(text, "0.25 px"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_become_precise_and_longer),
        cmocka_unit_test(points_off_planes_are_found_too),
        cmocka_unit_test(views_that_cannot_take_part),
        cmocka_unit_test(views_without_a_pose_stay),
        cmocka_unit_test(each_worker_has_its_aligner),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(ranks_make_no_difference),
        cmocka_unit_test(the_sentence_has_decimal_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
