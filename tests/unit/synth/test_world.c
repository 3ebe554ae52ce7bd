#include "test_util.h"

#include "core/linalg/mat3.h"
#include "synth/observe.h"

static const psfm_layout *const layouts[] = {&psfm_layout_arena, &psfm_layout_field,
                                             &psfm_layout_room, &psfm_layout_facade,
                                             &psfm_layout_general};

static psfm_plan plan_of(const psfm_layout *layout, const psfm_scene_options *options) {
    psfm_plan plan = {.layout = layout,
                      .options = options,
                      .seed = 5,
                      .camera = {1, PSFM_CAMERA_PINHOLE, 1280, 720, {1200, 1200, 640, 360}, true},
                      .num_cameras = (size_t)options->num_cameras,
                      .num_points = (size_t)options->num_points};
    layout->measure(&plan);
    return plan;
}

/* The duplicate of a duplicate is the point itself for turns; positions are as promised. */
static void duplicates_exist_as_points(void **state) {
    psfm_context *ctx = *state;
    for (int l = 0; l < 5; ++l) {
        psfm_scene_options options;
        psfm_options_init(&psfm_scene_option_table, &options);
        options.duplicates = 0.1;
        options.off_plane = 0.3;
        psfm_plan plan = plan_of(layouts[l], &options);
        psfm_world world;
        assert_ok(ctx, psfm_world_init(ctx, &plan, &world));
        const double middle[2] = {3.0, -2.0};
        size_t found = 0;
        double sum[2] = {0}; /* of the coordinates of a point and its duplicate: twice the axis */
        for (uint32_t k = 0; k < world.num_points; ++k) {
            uint32_t duplicate = psfm_world_duplicate(&world, middle, k);
            if (duplicate == PSFM_NO_INDEX)
                continue;
            assert_true(duplicate < world.num_points);
            const double *a = world.points[k], *b = world.points[duplicate];
            for (int c = 0; c < 2 && found == 0; ++c)
                sum[c] = a[c] + b[c];
            ++found;
            assert_true(a[2] == b[2] && (world.plane[k] < 0) == (world.plane[duplicate] < 0));
            if (l == 3) {
                assert_close(b[0] - a[0], 4.0, 1e-9);
                assert_true(a[1] == b[1]);
            } else {
                assert_int_equal(psfm_world_duplicate(&world, middle, duplicate), k);
                for (int c = 0; c < 2 && l != 1; ++c)
                    assert_true(b[c] == -a[c]);
                for (int c = 0; c < 2 && l == 1; ++c) {
                    assert_close(a[c] + b[c], sum[c], 1e-9);
                    assert_close(0.5 * (a[c] + b[c]), middle[c], 5.0); /* near the views */
                }
            }
        }
        assert_true(found > world.num_points / 2);
        psfm_world_free(&world);
    }
}

static void poses_look_where_they_say(void **state) {
    psfm_context *ctx = *state;
    for (int l = 0; l < 5; ++l) {
        psfm_scene_options options;
        psfm_options_init(&psfm_scene_option_table, &options);
        options.num_points = 10;
        psfm_plan plan = plan_of(layouts[l], &options);
        psfm_world world;
        assert_ok(ctx, psfm_world_init(ctx, &plan, &world));
        for (size_t k = 0; k < plan.num_cameras; ++k) {
            const psfm_synth_pose *pose = &world.poses[k];
            double at[3], R[9];
            psfm_mat3_mul_vec(pose->R, pose->center, at);
            psfm_axpy3(at, 1.0, pose->t, at);
            assert_close(psfm_norm3(at), 0.0, 1e-12);
            psfm_rotation_from_quat(pose->q, R);
            assert_memory_equal(R, pose->R, sizeof R);
            assert_close(psfm_mat3_det(R), 1.0, 1e-14);
            /* the optical axis passes over the view point */
            const double *axis = pose->R + 6;
            double dx = pose->view[0] - pose->center[0], dy = pose->view[1] - pose->center[1];
            assert_close(dx * axis[1] - dy * axis[0], 0.0, 1e-9 * hypot(dx, dy) + 1e-12);
            assert_true(dx * axis[0] + dy * axis[1] >= 0.0);
            /* the image is upright, or looks down: its y axis never points up */
            assert_true(pose->R[5] < 0.2);
        }
        psfm_world_free(&world);
    }
}

/* Looking into buckets finds what looking at every point finds. */
static void buckets_lose_nothing(void **state) {
    psfm_context *ctx = *state;
    for (int l = 1; l <= 3; l += 2) {
        psfm_scene_options options;
        psfm_options_init(&psfm_scene_option_table, &options);
        options.num_cameras = 60;
        options.noise_px = 0.0;
        options.off_plane = 0.2;
        psfm_plan plan = plan_of(layouts[l], &options);
        psfm_world world;
        assert_ok(ctx, psfm_world_init(ctx, &plan, &world));
        psfm_synth_view *near = calloc(60, sizeof *near), *all = calloc(60, sizeof *all);
        assert_true(near != NULL && all != NULL);
        assert_ok(ctx, psfm_synth_views_make(ctx, &world, near));
        world.plan.reach = 0.0;
        assert_ok(ctx, psfm_synth_views_make(ctx, &world, all));
        for (int k = 0; k < 60; ++k) {
            assert_int_equal(near[k].num, all[k].num);
            assert_memory_equal(near[k].points, all[k].points, all[k].num * sizeof(uint32_t));
            for (size_t m = 1; m < all[k].num; ++m)
                assert_true(all[k].points[m - 1] < all[k].points[m]);
        }
        psfm_synth_views_free(near, 60);
        psfm_synth_views_free(all, 60);
        psfm_world_free(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duplicates_exist_as_points),
        cmocka_unit_test(poses_look_where_they_say),
        cmocka_unit_test(buckets_lose_nothing),
    };
    return cmocka_run_group_tests_name("synth/world", tests, open_context, close_context);
}
