/* Alignments made by hand, taken over into keypoints, matches and inliers. */
#include "images/photometric/pair_results.h"

#include "core/base/alloc.h"
#include "test_util.h"

enum { VIEWS = 3, OLD = 4 };

typedef struct {
    psfm_match_set set;
    psfm_two_view two_views[3];
    psfm_view_corners corners[VIEWS];
    psfm_pair_refined pairs[3];
} fixture;

/* Three views of four keypoints each with two corners, matched with each other: pairs (0, 1),
 * (0, 2) and (1, 2) of one homography with inliers 0 and 2. */
static void set_up(psfm_context *ctx, fixture *f) {
    static const uint32_t ends[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    memset(f, 0, sizeof *f);
    f->set.num_cameras = 1;
    f->set.num_views = f->set.num_pairs = 3;
    assert_ok(ctx, PSFM_ALLOC(ctx, 1, &f->set.cameras));
    assert_ok(ctx, PSFM_ALLOC(ctx, 3, &f->set.views));
    assert_ok(ctx, PSFM_ALLOC(ctx, 3, &f->set.pairs));
    f->set.cameras[0] = (psfm_camera){.model = PSFM_CAMERA_SIMPLE_PINHOLE,
                                      .width = 100,
                                      .height = 100,
                                      .params = {100.0, 50.0, 50.0}};
    for (uint32_t v = 0; v < VIEWS; ++v) {
        f->set.views[v].num_keypoints = OLD;
        assert_ok(ctx, PSFM_ALLOC(ctx, OLD, &f->set.views[v].keypoints));
        f->corners[v].num = 2;
        assert_ok(ctx, PSFM_ALLOC(ctx, 2, &f->corners[v].corners));
        for (int k = 0; k < 2; ++k) {
            f->corners[v].corners[k].x = (float)(10 * (int)v + k) + 0.5F;
            f->corners[v].corners[k].y = 70.5F;
        }
    }
    for (int p = 0; p < 3; ++p) {
        psfm_match_pair *pair = &f->set.pairs[p];
        psfm_homography *h = NULL;
        *pair = (psfm_match_pair){ends[p][0], ends[p][1], OLD, NULL};
        assert_ok(ctx, PSFM_ALLOC(ctx, OLD, &pair->matches));
        assert_ok(ctx, PSFM_ALLOC(ctx, 1, &h));
        assert_ok(ctx, PSFM_ALLOC(ctx, 2, &h->inliers));
        for (uint32_t k = 0; k < OLD; ++k)
            pair->matches[k][0] = pair->matches[k][1] = k;
        h->num_inliers = 2;
        h->inliers[1] = 2;
        f->two_views[p] = (psfm_two_view){.homographies = h, .num_homographies = 1};
    }
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &f->set, NULL));
}

/* Gives a pair these matches of its plane, which did not come out better itself. */
static void align(psfm_context *ctx, fixture *f, int pair, const psfm_pair_match *matches,
                  size_t num) {
    psfm_pair_refined *r = &f->pairs[pair];
    r->num_matches = num;
    assert_ok(ctx, PSFM_ALLOC(ctx, 1, &r->planes));
    assert_ok(ctx, PSFM_ALLOC(ctx, num, &r->matches));
    r->planes[0].num_matches = num;
    memcpy(r->matches, matches, num * sizeof *matches);
}

static void tear_down(fixture *f) {
    for (int k = 0; k < 3; ++k) {
        psfm_view_corners_free(&f->corners[k]);
        psfm_pair_refined_free(&f->pairs[k]);
        psfm_two_view_free(&f->two_views[k]);
    }
    psfm_match_set_free(&f->set);
}

static void take(psfm_context *ctx, fixture *f) {
    assert_ok(ctx, psfm_pair_results_take(ctx, f->corners, f->pairs, &f->set, f->two_views));
}

/* Corner 1 of view 0 found in views 1 and 2; corner 0 of view 1 found in view 0; corner 1 of view 2
 * in view 1. */
static const psfm_pair_match first[2] = {
    {.corner = 1, .side = 0, .xy = {21.0, 31.0}, .cov = {0.04, 0.0, 0.04}},
    {.corner = 0, .side = 1, .xy = {22.0, 32.0}, .cov = {0.09, 0.03, 0.02}}};
static const psfm_pair_match second[1] = {
    {.corner = 1, .side = 0, .xy = {23.0, 33.0}, .cov = {0.16, 0.0, 0.01}}};
static const psfm_pair_match third[1] = {
    {.corner = 1, .side = 1, .xy = {24.0, 34.0}, .cov = {0.25, 0.0, 0.25}}};

static void align_all(psfm_context *ctx, fixture *f) {
    align(ctx, f, 0, first, 2);
    align(ctx, f, 1, second, 1);
    align(ctx, f, 2, third, 1);
}

static void assert_keypoint(const psfm_view *view, size_t k, double x, double y) {
    assert_true(k < view->num_keypoints);
    assert_close(view->keypoints[k][0], x, 1e-12);
    assert_close(view->keypoints[k][1], y, 1e-12);
    assert_close(view->rays[k][0] / view->rays[k][2], (x - 50.0) / 100.0, 1e-12);
}

/* A corner is one keypoint, however many found it, before all that was found in its view. */
static void corners_and_what_was_found_become_keypoints(void **state) {
    psfm_context *ctx = *state;
    fixture f;
    set_up(ctx, &f);
    align_all(ctx, &f);
    take(ctx, &f);
    const psfm_view *v = f.set.views;
    assert_int_equal(v[0].num_keypoints, OLD + 2);
    assert_keypoint(&v[0], OLD, 1.5, 70.5);
    assert_keypoint(&v[0], OLD + 1, 22.0, 32.0);
    assert_int_equal(v[1].num_keypoints, OLD + 3);
    assert_keypoint(&v[1], OLD, 10.5, 70.5);
    assert_keypoint(&v[1], OLD + 1, 21.0, 31.0);
    assert_keypoint(&v[1], OLD + 2, 24.0, 34.0);
    assert_int_equal(v[2].num_keypoints, OLD + 2);
    assert_keypoint(&v[2], OLD, 21.5, 70.5);
    assert_keypoint(&v[2], OLD + 1, 23.0, 33.0);
    tear_down(&f);
}

/* Each by view1 and view2, after those that were there, and inliers of the plane. */
static void matches_join_them_and_are_inliers(void **state) {
    psfm_context *ctx = *state;
    fixture f;
    set_up(ctx, &f);
    align_all(ctx, &f);
    take(ctx, &f);
    static const uint32_t expected[4][3] = {
        {0, OLD, OLD + 1}, {0, OLD + 1, OLD}, {1, OLD, OLD + 1}, {2, OLD + 2, OLD}};
    size_t seen[3] = {OLD, OLD, OLD};
    for (int k = 0; k < 4; ++k) {
        const uint32_t p = expected[k][0], *match = f.set.pairs[p].matches[seen[p]++];
        assert_int_equal(match[0], expected[k][1]);
        assert_int_equal(match[1], expected[k][2]);
    }
    for (int p = 0; p < 3; ++p) {
        const psfm_homography *h = &f.two_views[p].homographies[0];
        size_t num = p == 0 ? 2 : 1;
        assert_int_equal(f.set.pairs[p].num_matches, OLD + num);
        assert_int_equal(h->num_inliers, 2 + num);
        assert_true(h->inliers[0] == 0 && h->inliers[1] == 2);
        for (size_t k = 0; k < num; ++k)
            assert_int_equal(h->inliers[2 + k], OLD + k);
    }
    tear_down(&f);
}

/* What was found by its covariance; a corner by half of the geometric mean of the standard areas of
 * those that found it. A detector's keypoints are known to a pixel. */
static void information_is_that_of_the_covariances(void **state) {
    psfm_context *ctx = *state;
    fixture f;
    const double pixel[3] = {1.0, 0.0, 1.0};
    set_up(ctx, &f);
    align_all(ctx, &f);
    take(ctx, &f);
    const psfm_view *v = f.set.views;
    for (int k = 0; k < VIEWS; ++k)
        for (int i = 0; i < OLD; ++i)
            assert_memory_equal(v[k].sqrt_info[i], pixel, sizeof pixel);
    /* 0.2 0.2 and 0.4 0.1 */
    assert_close(v[0].sqrt_info[OLD][0], 1.0 / sqrt(0.5 * 0.04), 1e-9);
    assert_close(v[0].sqrt_info[OLD][1], 0.0, 1e-12);
    assert_close(v[0].sqrt_info[OLD][2], 1.0 / sqrt(0.5 * 0.04), 1e-9);
    double area = sqrt(0.09 * 0.02 - 0.03 * 0.03);
    assert_close(v[1].sqrt_info[OLD][0], 1.0 / sqrt(0.5 * area), 1e-9);
    const double *s = v[0].sqrt_info[OLD + 1]; /* S^T S is the inverse of the covariance */
    double det = 0.09 * 0.02 - 0.03 * 0.03;
    assert_close(s[0] * s[0], 0.02 / det, 1e-9);
    assert_close(s[0] * s[1], -0.03 / det, 1e-9);
    assert_close(s[1] * s[1] + s[2] * s[2], 0.09 / det, 1e-9);
    tear_down(&f);
}

/* Pairs that were not aligned stay, and so does a set without any. */
static void what_was_not_aligned_stays(void **state) {
    psfm_context *ctx = *state;
    fixture f;
    set_up(ctx, &f);
    align(ctx, &f, 1, second, 1);
    take(ctx, &f);
    for (int p = 0; p < 3; ++p) {
        assert_int_equal(f.set.pairs[p].num_matches, OLD + (p == 1));
        assert_int_equal(f.two_views[p].homographies[0].num_inliers, 2 + (p == 1));
    }
    assert_int_equal(f.set.views[0].num_keypoints, OLD + 1);
    assert_int_equal(f.set.views[1].num_keypoints, OLD);
    assert_int_equal(f.set.views[2].num_keypoints, OLD + 1);
    tear_down(&f);
    set_up(ctx, &f);
    take(ctx, &f);
    for (int v = 0; v < VIEWS; ++v)
        assert_int_equal(f.set.views[v].num_keypoints, OLD);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_and_what_was_found_become_keypoints),
        cmocka_unit_test(matches_join_them_and_are_inliers),
        cmocka_unit_test(information_is_that_of_the_covariances),
        cmocka_unit_test(what_was_not_aligned_stays),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
