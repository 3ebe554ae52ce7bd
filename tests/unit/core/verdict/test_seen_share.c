/* Cameras in a row before a wall: two scenes in one place, or one. */
#include "core/verdict/seen_share.h"

#include "core/linalg/mat3.h"
#include "test_util.h"

enum { VIEWS = 6, POINTS = 300, POSTER = 15, PAIRS = VIEWS * (VIEWS - 1) / 2 };

/* Whether a view sees a point: all do, or either three see every second one and the poster. */
static bool sees_point(bool two_scenes, size_t v, size_t p) {
    return !two_scenes || p < POSTER || p % 2 == (v < VIEWS / 2);
}

static double find_share(bool two_scenes, bool tried) {
    psfm_context *ctx = psfm_context_create();
    psfm_view views[VIEWS];
    psfm_match_pair pairs[PAIRS];
    psfm_camera camera = {.model = PSFM_CAMERA_PINHOLE,
                          .width = 1000,
                          .height = 1000,
                          .params = {800, 800, 500, 500}};
    static double points[POINTS][3];
    static size_t begin[POINTS + 1];
    static uint32_t view[POINTS * VIEWS], keypoint[POINTS * VIEWS];
    psfm_match_set set = {.num_views = VIEWS, .views = views, .pairs = pairs};
    psfm_pose_solution solution = {.num_nodes = VIEWS, .num_components = 1};
    assert_ok(ctx, psfm_poses_init(ctx, VIEWS, &solution.poses));
    memset(views, 0, sizeof views);
    memset(pairs, 0, sizeof pairs);
    for (uint32_t v = 0; v < VIEWS; ++v) {
        solution.poses.component[v] = 0;
        psfm_mat3_identity(solution.poses.cam_from_world[v]);
        solution.poses.center[v][0] = 0.2 * v;
        for (uint32_t w = 0; tried && w < v; ++w) {
            pairs[set.num_pairs].view1 = w;
            pairs[set.num_pairs++].view2 = v;
        }
    }
    size_t num = 0;
    for (size_t p = 0; p < POINTS; ++p) {
        points[p][0] = -2.0 + 0.2 * (double)(p % 25);
        points[p][1] = -2.0 + 0.3 * (double)(p / 25);
        points[p][2] = 8.0;
        for (uint32_t v = 0; v < VIEWS; ++v)
            if (sees_point(two_scenes, v, p))
                view[num++] = v;
        begin[p + 1] = num;
    }
    psfm_refined refined = {.structure = {.num_points = POINTS,
                                          .points = points,
                                          .tracks = {POINTS, begin, view, keypoint}},
                            .cameras = &camera};
    const psfm_verdict_input input = {.solution = &solution, .refined = &refined, .set = &set};
    double share = -1.0;
    assert_ok(ctx, psfm_seen_share_find(ctx, &input, 0, &share));
    psfm_poses_free(&solution.poses);
    psfm_context_destroy(&ctx);
    return share;
}

static void one_scene_is_seen_by_all(void **state) {
    (void)state;
    assert_close(find_share(false, true), 1.0, 0.0);
}

static void two_scenes_with_one_poster_are_told(void **state) {
    (void)state;
    assert_below(find_share(true, true), 0.15);
}

static void pairs_that_were_not_tried_say_nothing(void **state) {
    (void)state;
    assert_close(find_share(true, false), 1.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_scene_is_seen_by_all),
        cmocka_unit_test(two_scenes_with_one_poster_are_told),
        cmocka_unit_test(pairs_that_were_not_tried_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
