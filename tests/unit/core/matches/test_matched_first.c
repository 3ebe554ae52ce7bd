/* Matched keypoints first: nothing is lost, and rays of the others come when they are asked for. */
#include "core/matches/match_set.h"

#include "core/base/alloc.h"
#include "test_util.h"

enum { NUM = 10 };

static psfm_context *ctx;
static const uint32_t matched[2][3] = {{7, 2, 4}, {0, 9, 3}};

static psfm_match_set make_set(void) {
    psfm_match_set set = {.num_cameras = 1, .num_views = 2, .num_pairs = 1};
    assert_ok(ctx, PSFM_ALLOC(ctx, 1, &set.cameras));
    assert_ok(ctx, PSFM_ALLOC(ctx, 2, &set.views));
    assert_ok(ctx, PSFM_ALLOC(ctx, 1, &set.pairs));
    set.cameras[0] = (psfm_camera){1, PSFM_CAMERA_PINHOLE, 100, 80, {90, 90, 50, 40}, true};
    for (uint32_t v = 0; v < 2; ++v) {
        psfm_view *view = &set.views[v];
        *view = (psfm_view){.id = v + 1, .num_keypoints = NUM};
        assert_ok(ctx, psfm_strdup(ctx, v == 0 ? "a" : "b", &view->name));
        assert_ok(ctx, PSFM_ALLOC(ctx, NUM, &view->keypoints));
        for (int k = 0; k < NUM; ++k) {
            view->keypoints[k][0] = 10.0 * k + v;
            view->keypoints[k][1] = k == 5 ? NAN : 7.0 * k;
        }
    }
    set.pairs[0] = (psfm_match_pair){.view1 = 0, .view2 = 1, .num_matches = 3};
    assert_ok(ctx, PSFM_ALLOC(ctx, 3, &set.pairs[0].matches));
    for (int m = 0; m < 3; ++m)
        for (int side = 0; side < 2; ++side)
            set.pairs[0].matches[m][side] = matched[side][m];
    return set;
}

static double length(const double x[3]) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static void keypoints_keep_their_names(void **state) {
    (void)state;
    psfm_match_set set = make_set();
    assert_ok(ctx, psfm_match_set_sort_matched(ctx, &set));
    for (uint32_t v = 0; v < 2; ++v) {
        const psfm_view *view = &set.views[v];
        bool seen[NUM] = {false};
        assert_int_equal(view->num_matched, 3);
        for (uint32_t k = 0; k < NUM; ++k) {
            const uint32_t origin = psfm_view_origin(view, k);
            assert_true(origin < NUM && !seen[origin]);
            seen[origin] = true;
            assert_true(view->keypoints[k][0] == 10.0 * origin + v);
            if (k > 0 && k != 3) /* both kinds keep their order */
                assert_true(origin > psfm_view_origin(view, k - 1));
        }
        for (int m = 0; m < 3; ++m)
            assert_int_equal(psfm_view_origin(view, set.pairs[0].matches[m][v]), matched[v][m]);
    }
    assert_ok(ctx, psfm_match_set_check(ctx, &set));
    psfm_match_set_free(&set);
}

static void rays_of_the_others_wait(void **state) {
    (void)state;
    psfm_match_set set = make_set(), all = make_set();
    size_t without[2];
    assert_ok(ctx, psfm_match_set_sort_matched(ctx, &set));
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &set, &without[0]));
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &all, &without[1]));
    assert_int_equal(without[0], 2);
    assert_int_equal(without[1], 2);
    const psfm_view *view = &set.views[0];
    for (int round = 0; round < 2; ++round) {
        for (uint32_t k = 0; k < NUM; ++k) {
            const uint32_t origin = psfm_view_origin(view, k);
            assert_int_equal(psfm_view_has_ray(view, set.cameras, k), origin != 5);
            assert_int_equal(length(view->rays[k]) > 0.0, origin != 5 && (k < 3 || round > 0));
            if (round == 0)
                psfm_view_need_ray(view, set.cameras, k);
            const bool is_there = origin != 5;
            for (int c = 0; is_there && c < 3; ++c)
                assert_true(view->rays[k][c] == all.views[0].rays[origin][c]);
            for (int c = 0; is_there && c < 6; ++c)
                assert_true(view->px_from_ray[k][c] == all.views[0].px_from_ray[origin][c]);
        }
        /* those that were asked for stay when rays are computed anew */
        assert_ok(ctx, psfm_match_set_compute_rays(ctx, &set, &without[0]));
    }
    psfm_match_set_free(&set);
    psfm_match_set_free(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keypoints_keep_their_names),
        cmocka_unit_test(rays_of_the_others_wait),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
