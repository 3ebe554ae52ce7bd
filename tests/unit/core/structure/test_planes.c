#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/vec3.h"
#include "core/structure/planes.h"

enum { PER_PLANE = 200, NUM = 4 * PER_PLANE };

/* Floor z = 0 in two halves with labels of their own, a wall x = 5, and a ball of points. Ten per
 * cent of the floor's labels sit on points above it. */
static void make_room(psfm_rng *rng, double noise, double points[NUM][3], int32_t label[NUM]) {
    for (int k = 0; k < NUM; ++k) {
        int part = k / PER_PLANE;
        label[k] = part;
        double *X = points[k];
        for (int c = 0; c < 3; ++c)
            X[c] = psfm_rng_range(rng, 0, 5);
        if (part < 2)
            X[2] = k % 10 == 0 ? psfm_rng_range(rng, 1, 3) : noise * psfm_rng_normal(rng);
        if (part == 2)
            X[0] = 5 + noise * psfm_rng_normal(rng);
    }
}

static void finds_and_merges_planes(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const double noises[] = {0, 0.01};
    for (int round = 0; round < 2; ++round) {
        psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
        double points[NUM][3], center[2][3] = {{2, 2, 2}, {3, 1, 2}};
        int32_t label[NUM];
        uint32_t component[NUM] = {0};
        psfm_scene_planes found;
        make_room(&rng, noises[round], points, label);
        psfm_labelled_points input = {NUM, (const double(*)[3])points, component, label, 4};
        psfm_poses poses = {2, NULL, center, component};
        assert_ok(ctx, psfm_scene_planes_fit(ctx, &input, &poses, &found));
        assert_int_equal(found.num_planes, 2);
        const psfm_scene_plane *floor = &found.planes[0], *wall = &found.planes[1];
        double tolerance = round == 0 ? 1e-9 : 0.005;
        assert_close(floor->normal[2], 1, tolerance);
        assert_close(floor->distance, 0, tolerance);
        assert_close(wall->normal[0], -1, tolerance);
        assert_close(wall->distance, -5, tolerance);
        assert_in_range(floor->num_points, 340, 365);
        assert_in_range(wall->num_points, 190, 200);
        assert_true(floor->area > 20 && floor->area < 25);
        assert_int_equal(found.point_plane[10], -1); /* above the floor */
        assert_int_equal(found.point_plane[11], 0);
        assert_int_equal(found.point_plane[3 * PER_PLANE], -1);
        for (uint32_t k = 0; k < floor->num_corners; ++k)
            assert_close(psfm_dot3(floor->normal, floor->polygon[k]), floor->distance, 1e-9);
        psfm_scene_planes_free(&found);
    }
    psfm_context_destroy(&ctx);
}

/* One floor, its points dealt out to two components that happen to have the same coordinates, and
 * whose cameras are on opposite sides: two planes. */
static void components_keep_their_planes_apart(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    double points[NUM][3], center[3][3] = {{2, 2, 2}, {3, 1, -2}, {1, 3, -2}};
    int32_t label[NUM];
    uint32_t component[NUM], of_camera[3] = {0, 1, 1};
    make_room(&rng, 0.01, points, label);
    for (uint32_t k = 0; k < NUM; ++k)
        component[k] = k % 4 == 0; /* a quarter: fewer points, the smaller plane */
    psfm_labelled_points input = {NUM, (const double(*)[3])points, component, label, 4};
    psfm_poses poses = {3, NULL, center, of_camera};
    psfm_scene_planes found;
    assert_ok(ctx, psfm_scene_planes_fit(ctx, &input, &poses, &found));
    assert_int_equal(found.num_planes, 4);
    size_t floors = 0;
    for (uint32_t k = 0; k < found.num_planes; ++k) {
        const psfm_scene_plane *plane = &found.planes[k];
        assert_true(k == 0 || plane->num_points <= found.planes[k - 1].num_points);
        if (fabs(plane->normal[2]) < 0.5)
            continue;
        ++floors;
        assert_close(plane->normal[2], plane->component == 0 ? 1 : -1, 0.01);
    }
    assert_int_equal(floors, 2);
    for (uint32_t k = 0; k < NUM; ++k)
        if (found.point_plane[k] >= 0)
            assert_int_equal(found.planes[found.point_plane[k]].component, component[k]);
    psfm_scene_planes_free(&found);
    psfm_context_destroy(&ctx);
}

enum { LONG = 4000 };

/* Points of a wall 4 high and 1000 long whose direction turns by `turn` radians along it, with a
 * spread of `thick`. */
static void make_wall(double turn, double thick, double points[LONG][3]) {
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    for (int k = 0; k < LONG; ++k) {
        double at = psfm_rng_range(&rng, -0.5, 0.5), angle = turn * at, radius = 1000 / turn;
        double off = thick * psfm_rng_normal(&rng);
        points[k][0] = (radius + off) * sin(angle);
        points[k][1] = (radius + off) * cos(angle) - radius;
        points[k][2] = psfm_rng_range(&rng, 0, 4);
    }
}

/* Poses that drift bend a long wall by more than it is high: by 6 or 19 over 1000 it is one plane
 * all the same. By a right angle it is none, and neither is what is as thick as it is high. */
static void a_long_wall_may_curve(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static double points[LONG][3];
    static int32_t label[LONG];
    static uint32_t component[LONG];
    static const double turn[] = {0.05, 0.15, 1.57, 0.05}, thick[] = {0.01, 0.01, 0.01, 1.2};
    double center[1][3] = {{0, -10, 2}};
    for (int round = 0; round < 4; ++round) {
        psfm_scene_planes found;
        make_wall(turn[round], thick[round], points);
        psfm_labelled_points input = {LONG, (const double(*)[3])points, component, label, 1};
        psfm_poses poses = {1, NULL, center, component};
        assert_ok(ctx, psfm_scene_planes_fit(ctx, &input, &poses, &found));
        assert_int_equal(found.num_planes, round < 2 ? 1 : 0);
        if (round < 2) {
            assert_close(found.planes[0].normal[1], -1.0, 1e-3);
            assert_in_range(found.planes[0].num_points, LONG * 9 / 10, LONG);
        }
        psfm_scene_planes_free(&found);
    }
    psfm_context_destroy(&ctx);
}

static void takes_empty_input(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_planes found;
    double point[1][3] = {{0}};
    int32_t label[1] = {0};
    uint32_t component[1] = {0};
    psfm_labelled_points input = {0, (const double(*)[3])point, component, label, 0};
    psfm_poses nobody = {0};
    assert_ok(ctx, psfm_scene_planes_fit(ctx, &input, &nobody, &found));
    assert_int_equal(found.num_planes, 0);
    psfm_scene_planes_free(&found);
    input.num = input.num_labels = 1;
    assert_ok(ctx, psfm_scene_planes_fit(ctx, &input, &nobody, &found));
    assert_int_equal(found.num_planes, 0);
    psfm_scene_planes_free(&found);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_and_merges_planes),
        cmocka_unit_test(components_keep_their_planes_apart),
        cmocka_unit_test(a_long_wall_may_curve),
        cmocka_unit_test(takes_empty_input),
    };
    return cmocka_run_group_tests_name("structure/planes", tests, NULL, NULL);
}
