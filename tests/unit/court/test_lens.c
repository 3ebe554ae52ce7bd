/* Distortion from bent lines. */

#include "core/linalg/angle.h"
#include "court/target.h"
#include "test_util.h"
#include "unit/court/court_scene.h"

static const psfm_camera bent = {.model = PSFM_CAMERA_SIMPLE_RADIAL,
                                 .width = 960,
                                 .height = 540,
                                 .params = {760.0, 480.0, 270.0, -0.1}};

/* Registers a photograph through a lens with a camera of which this is known. */
static void register_shot(psfm_context *ctx, const psfm_camera *lens, const psfm_camera *known,
                          psfm_focal_use focal, bool distortion, psfm_court_pose *pose) {
    court_shot shot = {
        .camera = *lens, .line_width = 0.05, .ground = 110.0, .paint = 200.0, .noise = 2.0};
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
    register_shot(ctx, &bent, &straight, PSFM_FOCAL_FIXED, false, &pose);
    assert_true(pose.sigma_distortion == 0.0 && pose.camera.params[3] == 0.0);
    double before = pose.score;
    psfm_court_pose_free(&pose);
    register_shot(ctx, &bent, &straight, PSFM_FOCAL_FIXED, true, &pose);
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
    register_shot(ctx, &bent, &pinhole, PSFM_FOCAL_REFINE, true, &pose);
    check(&pose, 0.1);
    assert_close(pose.camera.params[0], 760.0, 4.0);
    psfm_court_pose_free(&pose);
}

/* The one coefficient of the FOV model is an angle; its deviation is that of the angle, not of the
 * focal length before it in the list. */
static void the_angle_of_a_fov_lens_is_found(void **state) {
    psfm_context *ctx = *state;
    const psfm_camera wide = {.model = PSFM_CAMERA_FOV,
                              .width = 960,
                              .height = 540,
                              .params = {760.0, 760.0, 480.0, 270.0, 0.7}};
    psfm_camera told = wide;
    psfm_court_pose pose;
    told.params[4] = 0.5;
    register_shot(ctx, &wide, &told, PSFM_FOCAL_REFINE, true, &pose);
    assert_int_equal(pose.verdict, PSFM_COURT_ACCEPTED);
    assert_int_equal(pose.camera.model, PSFM_CAMERA_FOV);
    assert_true(pose.sigma_distortion > 1e-5 && pose.sigma_distortion < 0.005);
    assert_close(pose.camera.params[4], 0.7, 5.0 * pose.sigma_distortion);
    psfm_court_pose_free(&pose);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distortion_is_found),
        cmocka_unit_test(distortion_and_focal_length_are_found),
        cmocka_unit_test(the_angle_of_a_fov_lens_is_found),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
