#include "test_util.h"

#include "core/camera/camera_model.h"
#include "core/linalg/mat3.h"
#include "synth/scene.h"
#include "world/frame.h"

static psfm_sim3 some_similarity(void) {
    psfm_sim3 s = {.scale = 2.5, .t = {10, -20, 30}};
    psfm_rotation_exp((const double[3]){0.3, -2.0, 0.9}, s.R);
    return s;
}

static void project(const psfm_model *model, size_t image, size_t point, double xy[2]) {
    const psfm_model_image *i = &model->images[image];
    double R[9], X[3];
    psfm_rotation_from_quat(i->cam_from_world_q, R);
    psfm_mat3_mul_vec(R, model->points[point].xyz, X);
    psfm_axpy3(X, 1.0, i->cam_from_world_t, X);
    assert_true(psfm_camera_project(psfm_model_camera(model, i->camera_id), X, xy));
}

/* What the cameras see does not tell in which frame they stand. */
static void images_stay_the_same(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene scene;
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 5;
    options.num_points = 50;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 1, &options, &scene));
    psfm_model *model = &scene.truth;
    const psfm_sim3 s = some_similarity();
    const psfm_track_element *seen = model->points[7].track;
    size_t image = 0;
    while (model->images[image].id != seen->image_id)
        ++image;
    double before[2], after[2], X[3], center[3], moved[3];
    psfm_sim3_apply(&s, model->points[7].xyz, X);
    psfm_model_image_center(&model->images[image], center);
    psfm_sim3_apply(&s, center, moved);
    project(model, image, 7, before);
    psfm_model_move(model, &s);
    project(model, image, 7, after);
    psfm_model_image_center(&model->images[image], center);
    for (int k = 0; k < 2; ++k)
        assert_close(after[k], before[k], 1e-8);
    for (int k = 0; k < 3; ++k) {
        assert_close(model->points[7].xyz[k], X[k], 1e-12);
        assert_close(center[k], moved[k], 1e-9);
    }
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

static void planes_move_with_their_corners(void **state) {
    (void)state;
    double corners[3][3] = {{1, 0, 2}, {0, 1, 2}, {-1, -1, 2}};
    psfm_scene_plane plane = {.normal = {0, 0, 1},
                              .distance = 2,
                              .sigma = 0.1,
                              .area = 1.5,
                              .polygon = corners,
                              .num_corners = 3};
    const psfm_sim3 s = some_similarity();
    psfm_scene_plane_move(&plane, &s);
    for (int k = 0; k < 3; ++k)
        assert_close(psfm_dot3(plane.normal, corners[k]), plane.distance, 1e-12);
    double side[3];
    psfm_sub3(corners[1], corners[0], side);
    assert_close(psfm_norm3(side), 2.5 * sqrt(2.0), 1e-12);
    assert_close(plane.sigma, 0.25, 1e-15);
    assert_close(plane.area, 1.5 * 6.25, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_stay_the_same),
        cmocka_unit_test(planes_move_with_their_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
