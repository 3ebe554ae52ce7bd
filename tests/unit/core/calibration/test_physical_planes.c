#include "test_util.h"

#include "core/calibration/physical_planes.h"

/* A homography of a pair with the keypoints first, first + 1, ... in both views. */
static psfm_measured_plane plane(uint32_t view1, uint32_t view2, uint32_t first, uint32_t num) {
    psfm_measured_plane m = {.view1 = view1, .view2 = view2, .num = num};
    for (int side = 0; side < 2; ++side) {
        m.keypoints[side] = malloc(num * sizeof(uint32_t));
        for (uint32_t k = 0; k < num; ++k)
            m.keypoints[side][k] = first + k;
    }
    return m;
}

/* In every view keypoint k is at column k % 10 and row k / 10 of a grid. */
static psfm_physical_planes find(psfm_context *ctx, psfm_measured_plane *planes, size_t num) {
    double xy[300][2];
    psfm_view views[4] = {0};
    for (uint32_t k = 0; k < 300; ++k) {
        xy[k][0] = 30.0 * (k % 10);
        xy[k][1] = 30.0 * (k / 10);
    }
    for (int v = 0; v < 4; ++v) {
        views[v].num_keypoints = 300;
        views[v].keypoints = xy;
    }
    psfm_measured_planes measured = {planes, num, views};
    psfm_physical_planes out;
    assert_ok(ctx, psfm_physical_planes_find(ctx, &measured, 4, &out));
    return out;
}

static void forget(psfm_measured_plane *planes, size_t num, psfm_physical_planes *out) {
    for (size_t k = 0; k < num; ++k) {
        free(planes[k].keypoints[0]);
        free(planes[k].keypoints[1]);
    }
    psfm_physical_planes_free(out);
}

static void shared_keypoints_make_one_plane(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_measured_plane planes[] = {plane(0, 1, 0, 50), plane(0, 1, 100, 40), plane(1, 2, 0, 60),
                                    plane(1, 2, 100, 30), plane(2, 3, 200, 20)};
    psfm_physical_planes out = find(ctx, planes, 5);
    assert_int_equal(out.num, 3);
    assert_int_equal(out.begin[1], 2); /* most inliers first: 110, 70, 20 */
    assert_int_equal(out.items[0], 0);
    assert_int_equal(out.items[1], 2);
    assert_int_equal(out.items[2], 1);
    assert_int_equal(out.items[3], 3);
    assert_int_equal(out.items[4], 4);
    forget(planes, 5, &out);
    psfm_context_destroy(&ctx);
}

/* Both homographies of (0, 1) overlap the one of (1, 2), which can only be one of them. */
static void groups_with_the_same_pair_are_not_joined(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_measured_plane planes[] = {plane(0, 1, 0, 60), plane(0, 1, 60, 40), plane(1, 2, 0, 100),
                                    plane(1, 3, 60, 40)};
    psfm_physical_planes out = find(ctx, planes, 4);
    assert_int_equal(out.num, 2);
    for (size_t g = 0; g < out.num; ++g) {
        bool first = false, second = false;
        for (size_t k = out.begin[g]; k < out.begin[g + 1]; ++k) {
            first = first || out.items[k] == 0;
            second = second || out.items[k] == 1;
        }
        assert_false(first && second);
    }
    forget(planes, 4, &out);
    psfm_context_destroy(&ctx);
}

static void a_few_keypoints_are_no_overlap(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_measured_plane planes[] = {plane(0, 1, 0, 50), plane(1, 2, 43, 50)};
    psfm_physical_planes out = find(ctx, planes, 2);
    assert_int_equal(out.num, 2); /* seven of fifty */
    forget(planes, 2, &out);
    out = find(ctx, NULL, 0);
    assert_int_equal(out.num, 0);
    psfm_physical_planes_free(&out);
    psfm_context_destroy(&ctx);
}

/* A floor of ten rows and a board of six share the two at their edge, a third of the board; on the
 * floor as many anywhere else are enough. */
static void planes_that_meet_in_an_edge_stay_two(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_measured_plane planes[] = {plane(0, 1, 0, 100), plane(1, 2, 80, 60), plane(1, 3, 0, 100)};
    for (uint32_t k = 0; k < 20; ++k) /* of a floor in (1, 3): every fifth keypoint */
        for (int side = 0; side < 2; ++side)
            planes[2].keypoints[side][k] = 5 * k + k / 2 % 5;
    planes[2].num = 20;
    psfm_physical_planes out = find(ctx, planes, 3);
    assert_int_equal(out.num, 2);
    assert_int_equal(out.begin[1], 2);
    assert_int_equal(out.items[0], 0);
    assert_int_equal(out.items[1], 2);
    assert_int_equal(out.items[2], 1);
    forget(planes, 3, &out);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_keypoints_make_one_plane),
        cmocka_unit_test(groups_with_the_same_pair_are_not_joined),
        cmocka_unit_test(a_few_keypoints_are_no_overlap),
        cmocka_unit_test(planes_that_meet_in_an_edge_stay_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
