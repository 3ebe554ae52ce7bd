/* A turned model sees its points at the turned keypoints; cameras are shared as far as they can. */
#include "world/upright_model.h"

#include "core/linalg/mat3.h"
#include "synth/scene.h"
#include "test_util.h"

static void check_image(const psfm_model *model, const psfm_model_image *image) {
    double R[9], X[3], xy[2];
    const psfm_camera *camera = psfm_model_camera(model, image->camera_id);
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    for (size_t p = 0; p < model->num_points; ++p)
        for (size_t t = 0; t < model->points[p].track_length; ++t) {
            const psfm_track_element *seen = &model->points[p].track[t];
            if (seen->image_id != image->id)
                continue;
            psfm_mat3_mul_vec(R, model->points[p].xyz, X);
            psfm_axpy3(X, 1.0, image->cam_from_world_t, X);
            assert_true(psfm_camera_project(camera, X, xy));
            for (int e = 0; e < 2; ++e)
                assert_close(image->keypoints[seen->keypoint_idx][e], xy[e], 1e-6);
        }
}

static void test_model(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene scene;
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 6;
    options.num_points = 60;
    options.noise_px = 0.0;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 1, &options, &scene));
    psfm_model *model = &scene.truth;
    const size_t cameras = model->num_cameras;
    double before[3], after[3];
    psfm_model_image_center(&model->images[3], before);
    const int none[6] = {0}, some[6] = {0, 1, 2, 3, 1, 0};
    assert_ok(ctx, psfm_model_turn(ctx, none, model));
    assert_int_equal(model->num_cameras, cameras);
    assert_ok(ctx, psfm_model_turn(ctx, some, model));
    if (cameras == 1)
        assert_int_equal(model->num_cameras, 4);
    assert_int_equal(psfm_model_camera(model, model->images[1].camera_id)->width,
                     psfm_model_camera(model, model->images[0].camera_id)->height);
    psfm_model_image_center(&model->images[3], after);
    for (int e = 0; e < 3; ++e)
        assert_close(after[e], before[e], 1e-9);
    for (size_t k = 0; k < model->num_images; ++k)
        check_image(model, &model->images[k]);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
