#include "images/photometric/refine_matches.h"

#include <unistd.h>

#include "comma_locale.h"
#include "core/linalg/order_statistics.h"
#include "images/photometric/pair_tasks.h"
#include "plane_views.h"
#include "thread_link.h"

static const psfm_task_kind *const kinds[] = {&psfm_corner_tasks, &psfm_pair_tasks, NULL};

/* Median error of the matches of a pair from match `first` on, against the plane. */
static double median_error(const fixture *f, size_t pair, size_t first) {
    const psfm_match_pair *p = &f->set.pairs[pair];
    double *errors = malloc(p->num_matches * sizeof *errors), H_2[9], H_21[9];
    assert_non_null(errors);
    assert_true(psfm_mat3_inverse(f->H_1[p->view2], H_2));
    psfm_mat3_mul(H_2, f->H_1[p->view1], H_21);
    for (size_t m = first; m < p->num_matches; ++m) {
        const double *xy = f->set.views[p->view2].keypoints[p->matches[m][1]];
        double to[3], at[2];
        psfm_mat3_mul_vec(H_21, f->set.views[p->view1].rays[p->matches[m][0]], to);
        assert_true(psfm_camera_project(f->set.cameras, to, at));
        errors[m - first] = hypot(at[0] - xy[0], at[1] - xy[1]);
    }
    double median = psfm_median(errors, p->num_matches - first);
    free(errors);
    return median;
}

static psfm_status refine_keeping(fixture *f, psfm_kept_pairs *kept,
                                  psfm_refine_matches_stats *stats) {
    const psfm_photo_input input = {&f->set, f->two_views, f->photos, kept};
    return psfm_refine_matches(f->ctx, &f->options, &input, stats);
}

static psfm_status refine(fixture *f, psfm_refine_matches_stats *stats) {
    return refine_keeping(f, NULL, stats);
}

static void matches_become_precise(void **state) {
    (void)state;
    fixture f;
    psfm_refine_matches_stats stats;
    set_up(&f, 2);
    assert_ok(f.ctx, refine(&f, &stats));
    assert_ok(f.ctx, psfm_match_set_check(f.ctx, &f.set));
    assert_true(stats.done && stats.num_pairs == 3 && stats.num_unusable == 0);
    assert_true(stats.num_matches > 300 && stats.median_sigma_px < 0.1);
    for (size_t p = 0; p < NUM_VIEWS; ++p) {
        const psfm_homography *h = &f.two_views[p].homographies[0];
        assert_true(f.set.pairs[p].num_matches > NUM_POINTS + 100);
        assert_below(median_error(&f, p, NUM_POINTS), 0.06);
        assert_true(h->num_inliers > 150);
        for (size_t k = 1; k < h->num_inliers; ++k)
            assert_true(h->inliers[k - 1] < h->inliers[k]);
    }
    double R_21[9] = {cos(0.06), 0, sin(0.06), 0, 1, 0, -sin(0.06), 0, cos(0.06)}, nearest = 1.0;
    const psfm_homography *h = &f.two_views[0].homographies[0];
    for (int k = 0; k < h->num_motions; ++k)
        nearest = fmin(nearest, psfm_rotation_angle(h->motions[k].R_21, R_21));
    assert_below(nearest, 0.002);
    tear_down(&f);
}

static void assert_same(const fixture *f, const fixture *g) {
    for (int v = 0; v < NUM_VIEWS; ++v) {
        const psfm_view *a = &f->set.views[v], *b = &g->set.views[v];
        const psfm_match_pair *p = &f->set.pairs[v], *q = &g->set.pairs[v];
        assert_int_equal(a->num_keypoints, b->num_keypoints);
        assert_memory_equal(a->keypoints, b->keypoints, a->num_keypoints * sizeof *a->keypoints);
        assert_memory_equal(a->sqrt_info, b->sqrt_info, a->num_keypoints * sizeof *a->sqrt_info);
        assert_int_equal(p->num_matches, q->num_matches);
        assert_memory_equal(p->matches, q->matches, p->num_matches * sizeof *p->matches);
        assert_memory_equal(f->two_views[v].homographies[0].H_21,
                            g->two_views[v].homographies[0].H_21, 9 * sizeof(double));
    }
}

static void threads_make_no_difference(void **state) {
    (void)state;
    fixture f[2];
    psfm_refine_matches_stats stats[2];
    for (int k = 0; k < 2; ++k) {
        set_up(&f[k], k == 0 ? 1 : 4);
        assert_ok(f[k].ctx, refine(&f[k], &stats[k]));
    }
    assert_same(&f[0], &f[1]);
    tear_down(&f[0]);
    tear_down(&f[1]);
}

/* Whoever aligned what, and even if ranks forget their views and photographs again and again. */
static void ranks_make_no_difference(void **state) {
    (void)state;
    static const size_t memory[] = {0, 0, 4096};
    fixture alone;
    psfm_refine_matches_stats expected, stats;
    set_up(&alone, 1);
    assert_ok(alone.ctx, refine(&alone, &expected));
    for (int k = 0; k < 3; ++k) {
        fixture f;
        set_up(&f, 1 + k % 2);
        psfm_context_set_memory(f.ctx, memory[k]);
        thread_ranks *ranks = thread_ranks_start(f.ctx, 2 + k, kinds);
        assert_ok(f.ctx, refine(&f, &stats));
        assert_true(thread_ranks_stop(f.ctx, ranks));
        assert_same(&alone, &f);
        assert_memory_equal(&stats, &expected, sizeof stats);
        tear_down(&f);
    }
    tear_down(&alone);
}

/* A second time, pairs that are as they were are not aligned again, and end as they did; a pair
 * that changed is. */
static void what_did_not_change_is_kept(void **state) {
    (void)state;
    fixture f[3];
    psfm_refine_matches_stats stats[3];
    psfm_kept_pairs kept = {0};
    for (int k = 0; k < 3; ++k)
        set_up(&f[k], 2);
    assert_ok(f[0].ctx, refine_keeping(&f[0], &kept, &stats[0]));
    assert_int_equal(kept.num, 3);
    assert_ok(f[1].ctx, refine_keeping(&f[1], &kept, &stats[1]));
    assert_int_equal(kept.num, 3);
    assert_same(&f[0], &f[1]);
    assert_memory_equal(&stats[0], &stats[1], sizeof stats[0]);
    for (size_t k = 0; k < kept.num; ++k) /* whatever is taken over from now on is marked */
        for (size_t m = 0; m < kept.pairs[k].refined.num_matches; ++m)
            kept.pairs[k].refined.matches[m].xy[0] += 5.0;
    f[2].two_views[2].homographies[0].H_21[2] += 1e-12;
    assert_ok(f[2].ctx, refine_keeping(&f[2], &kept, &stats[2]));
    for (size_t p = 0; p < 2; ++p)
        assert_true(median_error(&f[2], p, NUM_POINTS) > 4.0);
    assert_below(median_error(&f[2], 2, NUM_POINTS), 0.06);
    psfm_kept_pairs_free(&kept);
    for (int k = 0; k < 3; ++k)
        tear_down(&f[k]);
}

/* Corners of photographs are not sought again either. Those that are in no pair any more are not
 * counted. */
static void corners_are_kept_too(void **state) {
    (void)state;
    for (int fewer = 0; fewer < 2; ++fewer) {
        fixture f[2];
        psfm_refine_matches_stats stats;
        psfm_kept_pairs kept = {0};
        const size_t num_views = fewer ? NUM_VIEWS - 1 : NUM_VIEWS;
        for (int k = 0; k < 2; ++k)
            set_up(&f[k], 2);
        assert_ok(f[0].ctx, refine_keeping(&f[0], &kept, &stats));
        assert_true(kept.num_views == NUM_VIEWS && stats.num_photos == NUM_VIEWS);
        for (size_t v = 0; v < NUM_VIEWS; ++v) /* whatever is taken over from now on is marked */
            for (size_t k = 0; k < kept.corners[v].num; ++k)
                kept.corners[v].corners[k].x += 1000.0F;
        for (int p = 1; fewer && p < 3; ++p) /* those of the last view */
            f[1].two_views[p].homographies[0].is_rotation = true;
        assert_ok(f[1].ctx, refine_keeping(&f[1], &kept, &stats));
        assert_int_equal(stats.num_photos, num_views);
        for (size_t v = 0; v < num_views; ++v) {
            const psfm_view *view = &f[1].set.views[v];
            size_t num_marked = 0;
            for (size_t k = NUM_POINTS; k < view->num_keypoints; ++k)
                num_marked += view->keypoints[k][0] > 1000.0;
            assert_true(num_marked > 50);
        }
        psfm_kept_pairs_free(&kept);
        tear_down(&f[0]);
        tear_down(&f[1]);
    }
}

/* Of flat things the pairs on trial come to something, and the others follow. Where planes are
 * given up these are left alone, and nothing changes. */
static void a_trial_decides_on_the_others(void **state) {
    (void)state;
    for (int given_up = 0; given_up < 2; ++given_up) {
        fixture f, untouched;
        psfm_refine_matches_stats stats;
        set_up(&f, 2);
        set_up(&untouched, 2);
        if (given_up)
            f.options.planes.min_matches = 100000;
        assert_ok(f.ctx, refine(&f, &stats));
        assert_int_equal(stats.num_pairs, given_up ? 2 : 3);
        for (int p = 0; p < 3; ++p) {
            const bool is_same =
                f.set.pairs[p].num_matches == untouched.set.pairs[p].num_matches &&
                memcmp(f.two_views[p].homographies[0].H_21,
                       untouched.two_views[p].homographies[0].H_21, 9 * sizeof(double)) == 0;
            assert_int_equal(is_same, given_up);
        }
        tear_down(&f);
        tear_down(&untouched);
    }
}

static void without_a_photograph(int num_ranks) {
    fixture f;
    psfm_refine_matches_stats stats;
    char *path = NULL;
    set_up(&f, 2);
    thread_ranks *ranks = thread_ranks_start(f.ctx, num_ranks, kinds);
    assert_ok(f.ctx, psfm_path_join(f.ctx, f.folder, "2.png", &path));
    assert_int_equal(remove(path), 0);
    free(path);
    assert_ok(f.ctx, refine(&f, &stats));
    assert_true(stats.num_pairs == 1 && stats.num_unusable == 1);
    assert_true(f.set.pairs[0].num_matches > NUM_POINTS);
    assert_int_equal(f.set.pairs[1].num_matches, NUM_POINTS);
    assert_int_equal(f.set.views[2].num_keypoints, NUM_POINTS);
    assert_true(thread_ranks_stop(f.ctx, ranks));
    tear_down(&f);
}

static void missing_photographs_leave_keypoints(void **state) {
    (void)state;
    without_a_photograph(1);
    without_a_photograph(3);
}

static void the_sentence_has_decimal_points(void **state) {
    (void)state;
    psfm_refine_matches_stats stats = {.median_shift_px = 0.25, .median_sigma_px = 0.5};
    char text[256];
    set_comma_locale();
    psfm_refine_matches_describe(&stats, text, sizeof text);
    leave_comma_locale();
    assert_non_null(strstr(text, "0.50 px"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_become_precise),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(ranks_make_no_difference),
        cmocka_unit_test(what_did_not_change_is_kept),
        cmocka_unit_test(corners_are_kept_too),
        cmocka_unit_test(a_trial_decides_on_the_others),
        cmocka_unit_test(missing_photographs_leave_keypoints),
        cmocka_unit_test(the_sentence_has_decimal_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
