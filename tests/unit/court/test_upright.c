/* A photograph that is stored turned gives the pose of the upright one, turned. */
#include "core/camera/camera_turn.h"
#include "core/linalg/mat3.h"
#include "court/target.h"
#include "images/image/image_turn.h"
#include "test_util.h"
#include "unit/court/court_scene.h"

static const psfm_camera upright_camera = {.model = PSFM_CAMERA_SIMPLE_PINHOLE,
                                           .width = 960,
                                           .height = 540,
                                           .params = {760.0, 485.0, 268.0}};

static psfm_court_pose register_turned(psfm_context *ctx, const psfm_court_target *target,
                                       const psfm_image *seen, int quarters) {
    psfm_image stored;
    psfm_court_pose pose;
    /* so many turns make it upright again */
    assert_ok(ctx, psfm_image_turn(ctx, seen, 4 - quarters, &stored));
    assert_int_equal(stored.quarters, quarters & 3);
    const psfm_camera camera = psfm_camera_turn(&upright_camera, 4 - quarters);
    assert_ok(ctx, psfm_court_target_register(ctx, target, &stored,
                                              (psfm_photo_camera){&camera, PSFM_FOCAL_FIXED}, NULL,
                                              &pose));
    psfm_image_free(&stored);
    return pose;
}

static void check_pose(const psfm_court_pose *expected, psfm_court_pose *pose, int quarters) {
    const double width = (double)pose->camera.width, height = (double)pose->camera.height;
    assert_int_equal(pose->verdict, PSFM_COURT_ACCEPTED);
    assert_int_equal(pose->camera.width, (quarters & 1) != 0 ? 540 : 960);
    psfm_pose_turn(quarters, pose->R, pose->t);
    for (int e = 0; e < 9; ++e)
        assert_close(pose->R[e], expected->R[e], 1e-12);
    for (int e = 0; e < 3; ++e) {
        assert_close(pose->t[e], expected->t[e], 1e-9);
        assert_close(pose->center[e], expected->center[e], 1e-12);
    }
    assert_int_equal(pose->lines.num, expected->lines.num);
    for (size_t k = 0; k < expected->lines.num; ++k) {
        psfm_line_point *line = &pose->lines.items[k];
        psfm_pixel_turn(quarters, width, height, line->xy);
        psfm_vector_turn(quarters, line->row);
        for (int e = 0; e < 2; ++e) {
            assert_close(line->xy[e], expected->lines.items[k].xy[e], 1e-9);
            assert_close(line->row[e], expected->lines.items[k].row[e], 1e-12);
        }
    }
}

static void test_turned(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    court_shot shot = {.camera = upright_camera,
                       .line_width = 0.05,
                       .ground = 110.0,
                       .paint = 200.0,
                       .noise = 2.0};
    psfm_court court;
    psfm_court_target target;
    psfm_image seen;
    aim(&shot, -9.0, -15.0, 6.0, -1.0, 0.5);
    assert_true(psfm_court_get("basketball", &court));
    assert_ok(ctx, psfm_court_target_of_court(ctx, &court, &target));
    assert_ok(ctx, take_shot(ctx, &target.drawing, &shot, &seen));
    psfm_court_pose expected = register_turned(ctx, &target, &seen, 0);
    assert_int_equal(expected.verdict, PSFM_COURT_ACCEPTED);
    for (int quarters = 1; quarters < 4; ++quarters) {
        psfm_court_pose pose = register_turned(ctx, &target, &seen, quarters);
        check_pose(&expected, &pose, quarters);
        psfm_court_pose_free(&pose);
    }
    psfm_court_pose_free(&expected);
    psfm_image_free(&seen);
    psfm_court_target_free(&target);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_turned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
