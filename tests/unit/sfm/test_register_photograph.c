/* The library's door to registration: pixels in, a pose or a reason out. */
#include "planarsfm/court.h"

#include "comma_locale.h"
#include "unit/court/court_scene.h"

static const psfm_camera camera = {.id = 1,
                                   .model = PSFM_CAMERA_PINHOLE,
                                   .width = 960,
                                   .height = 540,
                                   .params = {800.0, 800.0, 480.0, 270.0}};

static void a_photograph_gets_its_pose(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_settings *settings = psfm_settings_create();
    psfm_court court;
    psfm_drawing drawing;
    psfm_image image;
    court_shot shot = {
        .camera = camera, .line_width = 0.05, .ground = 110.0, .paint = 200.0, .noise = 2.0};
    aim(&shot, -9.0, -15.0, 6.0, -1.0, 0.5);
    assert_true(psfm_court_get("basketball", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &drawing));
    assert_ok(ctx, take_shot(ctx, &drawing, &shot, &image));
    psfm_photograph photo = {sizeof photo, 960, 540, 1, image.gray, &camera};
    psfm_registration found = {.struct_size = sizeof found};
    assert_int_equal(psfm_register_photograph(ctx, &photo, settings, &found), PSFM_ERR_ARGUMENT);
    assert_ok(ctx, psfm_settings_set(ctx, settings, "court", "basketball"));
    assert_ok(ctx, psfm_register_photograph(ctx, &photo, settings, &found));
    assert_true(found.is_accepted);
    assert_string_equal(found.verdict, "registered");
    assert_int_equal(found.num_turns, 2);
    for (int d = 0; d < 3; ++d)
        assert_close(found.center[d], shot.center[d], 0.05);
    assert_true(found.score > found.runner_up && found.rotation_sigma_deg < 0.1);
    photo.channels = 2;
    assert_int_equal(psfm_register_photograph(ctx, &photo, settings, &found), PSFM_ERR_ARGUMENT);
    photo.channels = 1;
    photo.width = 900;
    assert_int_equal(psfm_register_photograph(ctx, &photo, settings, &found), PSFM_ERR_ARGUMENT);
    psfm_image_free(&image);
    psfm_drawing_free(&drawing);
    psfm_settings_destroy(&settings);
    psfm_context_destroy(&ctx);
}

static void a_comma_locale_changes_nothing(void **state) {
    set_comma_locale();
    a_photograph_gets_its_pose(state);
    leave_comma_locale();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_photograph_gets_its_pose),
                                       cmocka_unit_test(a_comma_locale_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
