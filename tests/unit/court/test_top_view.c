/* Floors from above: which end is which. */
#include "court/top_view.h"

#include "court/turns.h"
#include "court_scene.h"
#include "test_util.h"

static psfm_drawing plain, marked;

/* A pose as if registered, in the given turn. */
static psfm_court_pose pose_of(psfm_context *ctx, const court_shot *shot, int quarters) {
    psfm_court_pose pose = {.camera = shot->camera, .turns = {0, 2}, .num_turns = 2};
    memcpy(pose.R, shot->R, sizeof pose.R);
    memcpy(pose.center, shot->center, sizeof pose.center);
    psfm_mat3_mul_vec(pose.R, pose.center, pose.t);
    psfm_scale3(-1.0, pose.t, pose.t);
    assert_ok(ctx, psfm_court_pose_take_turn(ctx, &plain, quarters, &pose));
    return pose;
}

static int open_drawings(void **state) {
    psfm_context *ctx = psfm_context_create();
    psfm_court court;
    assert_true(psfm_court_get("basketball", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &plain));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &marked));
    /* what is at one end only: a cross and a ring */
    const psfm_drawing_part marks[3] = {{.a = {4.0, 3.0}, .b = {7.0, 5.5}},
                                        {.a = {4.0, 5.5}, .b = {7.0, 3.0}},
                                        {.a = {-4.0, -2.0}, .b = {0.0, 6.28}, .radius = 1.2}};
    for (int k = 0; k < 3; ++k)
        assert_ok(ctx, psfm_drawing_add(ctx, &marked, &marks[k]));
    *state = ctx;
    return 0;
}

static int close_drawings(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing_free(&plain);
    psfm_drawing_free(&marked);
    psfm_context_destroy(&ctx);
    return 0;
}

static void floors_tell_the_ends_apart(void **state) {
    psfm_context *ctx = *state;
    static const double place[4][2] = {{-9.0, -15.0}, {9.0, -16.0}, {10.0, 15.0}, {-8.0, 16.0}};
    static const int quarters[4] = {0, 2, 2, 0}; /* what registration made of them */
    psfm_top_raster raster = psfm_top_raster_make(&plain);
    psfm_top_view views[4];
    const int turns[2] = {0, 2};
    for (int k = 0; k < 4; ++k) {
        court_shot shot = {.camera = {.model = PSFM_CAMERA_PINHOLE,
                                      .width = 800,
                                      .height = 450,
                                      .params = {500.0, 500.0, 400.0, 225.0}},
                           .line_width = 0.15,
                           .ground = 110.0,
                           .paint = 200.0,
                           .noise = 2.0};
        psfm_image image;
        aim(&shot, place[k][0], place[k][1], 9.0, 0.0, 0.0);
        assert_ok(ctx, take_shot(ctx, &marked, &shot, &image));
        psfm_court_pose pose = pose_of(ctx, &shot, quarters[k]);
        assert_ok(ctx, psfm_top_view_make(ctx, &raster, &image, &pose, &views[k]));
        psfm_image_free(&image);
    }
    assert_ok(ctx, psfm_top_views_take_symmetric(ctx, &raster, turns, 2, views, 4));
    for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j) {
            int same = (quarters[i] + quarters[j]) & 3;
            double right = psfm_top_view_likeness(&raster, &views[i], &views[j], same);
            double wrong = psfm_top_view_likeness(&raster, &views[i], &views[j], same ^ 2);
            assert_true(right > wrong + 0.2);
        }
    for (int k = 0; k < 4; ++k)
        psfm_top_view_free(&views[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(floors_tell_the_ends_apart)};
    return cmocka_run_group_tests(tests, open_drawings, close_drawings);
}
