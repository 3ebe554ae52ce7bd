/* Images of a scene with known points lose their pose and find it again. */
#include "core/refine/matched_points.h"

#include "scene_truth.h"

enum { LOST = 2 };

typedef struct {
    psfm_context *ctx;
    psfm_scene scene;
    psfm_poses poses;
    psfm_structure structure;
    psfm_resection_options options;
} fixture;

static fixture make_fixture(void) {
    fixture f = {.ctx = psfm_context_create()};
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 8;
    options.num_points = 300;
    options.noise_px = 0.0;
    options.outliers = 0.0;
    options.open_chain = true;
    assert_ok(f.ctx, psfm_scene_make(f.ctx, PSFM_SCENE_ARENA, 5, &options, &f.scene));
    f.poses = true_poses(f.ctx, &f.scene);
    f.structure = true_structure(f.ctx, &f.scene);
    f.poses.component[LOST] = PSFM_NO_COMPONENT;
    psfm_options_init(&psfm_resection_option_table, &f.options);
    return f;
}

static void free_fixture(fixture *f) {
    psfm_structure_free(&f->structure);
    psfm_poses_free(&f->poses);
    psfm_scene_free(&f->scene);
    psfm_context_destroy(&f->ctx);
}

static psfm_resection resect(fixture *f, uint32_t *component) {
    psfm_point_views links;
    psfm_resection pose;
    assert_ok(f->ctx,
              psfm_point_views_init(f->ctx, &f->scene.matches, &f->structure, &f->poses, &links));
    assert_ok(f->ctx, psfm_point_views_resect(f->ctx, &links, LOST, &f->options, &pose, component));
    psfm_point_views_free(&links);
    assert_null(links.point_of_keypoint);
    return pose;
}

/* The true pose in a world of coordinates scale X + shift. */
static void check_pose(const fixture *f, const psfm_resection *pose, double scale, double shift) {
    assert_true(pose->found);
    assert_below(psfm_rotation_angle(pose->cam_from_world, f->poses.cam_from_world[LOST]), 1e-6);
    for (int k = 0; k < 3; ++k)
        assert_close(pose->center[k], scale * f->poses.center[LOST][k] + shift, 1e-5);
}

static void matches_lead_to_the_pose(void **state) {
    (void)state;
    fixture f = make_fixture();
    uint32_t component = 99;
    psfm_resection pose = resect(&f, &component);
    check_pose(&f, &pose, 1.0, 0.0);
    assert_int_equal(component, 0);
    free_fixture(&f);
}

/* Points of another world lie elsewhere; those of the smaller share do no harm. */
static void the_component_of_most_matches_wins(void **state) {
    (void)state;
    for (size_t stay = 0; stay < 2; ++stay) {
        fixture f = make_fixture();
        uint32_t component = 99;
        f.options.max_error_px = 1000.0; /* any of them would spoil the pose */
        for (size_t p = 0; p < f.structure.num_points; ++p) {
            if ((p % 3 == 0) != (stay == 1)) /* two thirds move, or one */
                continue;
            f.structure.component[p] = 7;
            for (int c = 0; c < 3; ++c)
                f.structure.points[p][c] = 3.0 * f.structure.points[p][c] + 10.0;
        }
        psfm_resection pose = resect(&f, &component);
        assert_int_equal(component, stay == 1 ? 0 : 7);
        check_pose(&f, &pose, stay == 1 ? 1.0 : 3.0, stay == 1 ? 0.0 : 10.0);
        free_fixture(&f);
    }
}

static void points_of_images_without_a_pose_do_not_count(void **state) {
    (void)state;
    fixture f = make_fixture();
    uint32_t component = 99;
    for (uint32_t v = 0; v < f.poses.num_views; ++v)
        f.poses.component[v] = PSFM_NO_COMPONENT;
    assert_false(resect(&f, &component).found);
    assert_int_equal(component, 99);
    free_fixture(&f);
}

static void too_few_points_give_no_pose(void **state) {
    (void)state;
    fixture f = make_fixture();
    uint32_t component = 99;
    f.options.min_inliers = 1000000;
    assert_false(resect(&f, &component).found);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_lead_to_the_pose),
        cmocka_unit_test(the_component_of_most_matches_wins),
        cmocka_unit_test(points_of_images_without_a_pose_do_not_count),
        cmocka_unit_test(too_few_points_give_no_pose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
