/* Distortion from bent lines. */
#include "court/lens.h"

#include "court/target.h"
#include "court_scene.h"
#include "linalg/angle.h"
#include "test_util.h"

static const psfm_camera bent = {.model = PSFM_CAMERA_SIMPLE_RADIAL,
                                 .width = 960,
                                 .height = 540,
                                 .params = {760.0, 480.0, 270.0, -0.1}};

/* Registers a photograph through the bent lens with a camera of which this is known. */
static void register_bent(psfm_context *ctx, const psfm_camera *known, psfm_focal_use focal,
                          bool distortion, psfm_court_pose *pose) {
    court_shot shot = {
        .camera = bent, .line_width = 0.05, .ground = 110.0, .paint = 200.0, .noise = 2.0};
    psfm_court court;
    psfm_court_target target;
    psfm_court_options options;
    psfm_image image;
    aim(&shot, -9.0, -15.0, 6.0, -1.0, 0.5);
    psfm_court_options_init(&options);
    options.distortion = distortion;
    assert_true(psfm_court_get("basketball", &court));
    assert_ok(ctx, psfm_court_target_of_court(ctx, &court, &target));
    assert_ok(ctx, take_shot(ctx, &target.drawing, &shot, &image));
    assert_ok(ctx, psfm_court_target_register(ctx, &target, &image,
                                              (psfm_photo_camera){known, focal}, &options, pose));
    psfm_image_free(&image);
    psfm_court_target_free(&target);
}

static void check(const psfm_court_pose *pose, double max_m) {
    static const double center[3] = {-9.0, -15.0, 6.0};
    double away[3];
    assert_int_equal(pose->verdict, PSFM_COURT_ACCEPTED);
    assert_int_equal(pose->camera.model, PSFM_CAMERA_SIMPLE_RADIAL);
    assert_close(pose->camera.params[3], -0.1, 0.005);
    assert_true(pose->sigma_distortion > 1e-5 && pose->sigma_distortion < 0.005);
    psfm_sub3(pose->center, center, away);
    assert_below(psfm_norm3(away), max_m);
}

/* A focal length that is known, and a lens taken for straight. */
static void distortion_is_found(void **state) {
    psfm_context *ctx = *state;
    psfm_camera straight = bent;
    psfm_court_pose pose;
    straight.params[3] = 0.0;
    register_bent(ctx, &straight, PSFM_FOCAL_FIXED, false, &pose);
    assert_true(pose.sigma_distortion == 0.0 && pose.camera.params[3] == 0.0);
    double before = pose.score;
    psfm_court_pose_free(&pose);
    register_bent(ctx, &straight, PSFM_FOCAL_FIXED, true, &pose);
    check(&pose, 0.03);
    assert_true(pose.score > 1.1 * before);
    assert_close(pose.camera.params[0], 760.0, 0.1);
    psfm_court_pose_free(&pose);
}

/* With the focal length, from a pinhole camera that is 3 % off. */
static void distortion_and_focal_length_are_found(void **state) {
    psfm_context *ctx = *state;
    psfm_camera pinhole = {.model = PSFM_CAMERA_SIMPLE_PINHOLE,
                           .width = 960,
                           .height = 540,
                           .params = {1.03 * 760.0, 480.0, 270.0}};
    psfm_court_pose pose;
    register_bent(ctx, &pinhole, PSFM_FOCAL_REFINE, true, &pose);
    check(&pose, 0.1);
    assert_close(pose.camera.params[0], 760.0, 4.0);
    psfm_court_pose_free(&pose);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distortion_is_found),
        cmocka_unit_test(distortion_and_focal_length_are_found),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
