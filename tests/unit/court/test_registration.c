#include "court/registration.h"

#include "core/linalg/angle.h"
#include "court/court_evidence.h"
#include "unit/court/line_floor.h"

#include "court/overlay.h"

#include "test_util.h"
#include "unit/court/court_scene.h"

static const psfm_camera pinhole = {.model = PSFM_CAMERA_PINHOLE,
                                    .width = 960,
                                    .height = 540,
                                    .params = {800.0, 800.0, 482.0, 271.0}};
static const psfm_camera distorted = {
    .model = PSFM_CAMERA_OPENCV,
    .width = 960,
    .height = 540,
    .params = {800.0, 803.0, 482.0, 271.0, -0.22, 0.06, 0.0, 0.0}};
static psfm_drawing basketball, tennis;

static court_shot make_shot(const psfm_camera *camera) {
    court_shot shot = {
        .camera = *camera, .line_width = 0.05, .ground = 110.0, .paint = 200.0, .noise = 2.0};
    aim(&shot, -9.0, -15.0, 6.0, -1.0, 0.5);
    return shot;
}

static void register_shot(psfm_context *ctx, const psfm_drawing *painted, const court_shot *shot,
                          const psfm_camera *camera, psfm_focal_use focal,
                          const psfm_drawing *sought, psfm_court_pose *pose) {
    psfm_image image;
    psfm_court_view view;
    assert_ok(ctx, take_shot(ctx, painted, shot, &image));
    assert_ok(ctx, psfm_court_view_init(ctx, &image, camera, focal, NULL, &view));
    assert_ok(ctx, psfm_court_register(ctx, &view, sought, NULL, pose));
    psfm_court_view_free(&view);
    psfm_image_free(&image);
}

/* The angle (degrees) and distance (metres) to the truth, of the nearest symmetric copy. */
static void check_pose(const psfm_drawing *drawing, const court_shot *shot,
                       const psfm_court_pose *pose, double max_deg, double max_m) {
    double best = INFINITY, best_away = INFINITY;
    assert_int_equal(pose->verdict, PSFM_COURT_ACCEPTED);
    assert_int_equal(pose->num_turns, 2);
    for (int k = 0; k < pose->num_turns; ++k) {
        double R[9], t[3], center[3], away[3];
        psfm_court_pose_turn(drawing, pose->turns[k], pose, R, t);
        psfm_mat3_tmul_vec(R, t, center);
        psfm_scale3(-1.0, center, center);
        psfm_sub3(center, shot->center, away);
        double angle = psfm_degrees(psfm_rotation_angle(R, shot->R));
        if (angle < best) {
            best = angle;
            best_away = psfm_norm3(away);
        }
    }
    assert_below(best, max_deg);
    assert_below(best_away, max_m);
}

static void test_known(void **state) {
    psfm_context *ctx = *state;
    court_shot shot = make_shot(&pinhole);
    psfm_court_pose pose;
    register_shot(ctx, &basketball, &shot, &shot.camera, PSFM_FOCAL_FIXED, &basketball, &pose);
    check_pose(&basketball, &shot, &pose, 0.05, 0.02);
    assert_false(pose.is_dark);
    assert_true(pose.hit > 0.8 && pose.rms_px < 0.5);
    assert_true(pose.sigma_rotation_deg > 0.001 && pose.sigma_rotation_deg < 0.05);
    assert_true(psfm_norm3(pose.sigma_center) < 0.02 && pose.sigma_focal == 0.0);
    assert_true(pose.runner_up < 0.55 * pose.score);
    psfm_court_pose_free(&pose);
}

/* Dark lines on a light floor. */
static void test_dark(void **state) {
    psfm_context *ctx = *state;
    court_shot shot = make_shot(&pinhole);
    psfm_court_pose pose;
    shot.ground = 180.0;
    shot.paint = 60.0;
    aim(&shot, 12.0, -13.0, 7.0, 3.0, 0.0);
    register_shot(ctx, &basketball, &shot, &shot.camera, PSFM_FOCAL_FIXED, &basketball, &pose);
    check_pose(&basketball, &shot, &pose, 0.05, 0.02);
    assert_true(pose.is_dark);
    psfm_court_pose_free(&pose);
}

/* Through a lens that bends lines. */
static void test_distorted(void **state) {
    psfm_context *ctx = *state;
    court_shot shot = make_shot(&distorted);
    psfm_court_pose pose;
    register_shot(ctx, &basketball, &shot, &shot.camera, PSFM_FOCAL_FIXED, &basketball, &pose);
    check_pose(&basketball, &shot, &pose, 0.05, 0.02);
    psfm_court_pose_free(&pose);
}

/* The focal length is found as well. */
static void test_unknown_focal(void **state) {
    psfm_context *ctx = *state;
    psfm_camera centred = pinhole;
    centred.params[2] = 480.0;
    centred.params[3] = 270.0;
    court_shot shot = make_shot(&centred);
    psfm_court_pose pose;
    register_shot(ctx, &basketball, &shot, NULL, PSFM_FOCAL_FIXED, &basketball, &pose);
    check_pose(&basketball, &shot, &pose, 0.1, 0.1);
    assert_close(pose.camera.params[0], 800.0, 8.0);
    assert_true(pose.sigma_focal > 0.0 && pose.sigma_focal < 0.01);
    psfm_court_pose_free(&pose);
}

/* A focal length that is a little off is refined; one that is far off and said to be known is not
 * believed. */
static void test_wrong_focal(void **state) {
    psfm_context *ctx = *state;
    court_shot shot = make_shot(&pinhole);
    psfm_camera camera = pinhole;
    psfm_court_pose pose;
    camera.params[0] = camera.params[1] = 1.04 * 800.0;
    register_shot(ctx, &basketball, &shot, &camera, PSFM_FOCAL_REFINE, &basketball, &pose);
    check_pose(&basketball, &shot, &pose, 0.1, 0.1);
    assert_close(pose.camera.params[0], 800.0, 4.0);
    assert_close(pose.camera.params[1], 800.0, 4.0);
    psfm_court_pose_free(&pose);
    camera.params[0] = camera.params[1] = 1.08 * 800.0;
    register_shot(ctx, &basketball, &shot, &camera, PSFM_FOCAL_FIXED, &basketball, &pose);
    assert_int_not_equal(pose.verdict, PSFM_COURT_ACCEPTED);
    psfm_court_pose_free(&pose);
}

/* A view whose focal length is set later is the one that had it from the start. */
static void test_scaled_focal(void **state) {
    psfm_context *ctx = *state;
    court_shot shot = make_shot(&pinhole);
    psfm_camera wrong = pinhole;
    psfm_image image;
    psfm_court_view view;
    psfm_court_pose scaled, fresh;
    wrong.params[0] = wrong.params[1] = 500.0;
    assert_ok(ctx, take_shot(ctx, &basketball, &shot, &image));
    assert_ok(ctx, psfm_court_view_init(ctx, &image, &wrong, PSFM_FOCAL_SEARCH, NULL, &view));
    assert_ok(ctx, psfm_court_view_scale_focal(ctx, 800.0 / 500.0, &view));
    assert_ok(ctx, psfm_court_register(ctx, &view, &basketball, NULL, &scaled));
    assert_int_equal(scaled.verdict, PSFM_COURT_ACCEPTED);
    psfm_court_view_free(&view);
    assert_ok(ctx, psfm_court_view_init(ctx, &image, &pinhole, PSFM_FOCAL_REFINE, NULL, &view));
    assert_ok(ctx, psfm_court_register(ctx, &view, &basketball, NULL, &fresh));
    assert_close(scaled.camera.params[0], fresh.camera.params[0], 1e-6);
    for (int d = 0; d < 3; ++d)
        assert_close(scaled.center[d], fresh.center[d], 1e-6);
    psfm_court_pose_free(&scaled);
    psfm_court_pose_free(&fresh);
    psfm_court_view_free(&view);
    psfm_image_free(&image);
}

/* A pitch whose size nobody gave, seen from a stand: its length and width are found. */
static void test_free_size(void **state) {
    psfm_context *ctx = *state;
    court_shot shot = make_shot(&pinhole);
    psfm_court court;
    psfm_drawing pitch, painted;
    psfm_court_pose pose;
    const double sizes[2][2] = {{99.3, 64.7}, {110.0, 72.5}};
    assert_true(psfm_court_get("soccer", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &pitch));
    shot.line_width = 0.12;
    aim(&shot, -20.0, -60.0, 22.0, -18.0, 0.0);
    for (int k = 0; k < 2; ++k) {
        assert_ok(ctx, psfm_drawing_copy(ctx, &pitch, &painted));
        psfm_drawing_resize(&painted, sizes[k]);
        register_shot(ctx, &painted, &shot, &shot.camera, PSFM_FOCAL_FIXED, &pitch, &pose);
        check_pose(&pitch, &shot, &pose, 0.05, 0.2);
        for (int d = 0; d < 2; ++d) {
            assert_close(pose.size[d], sizes[k][d], 0.2);
            assert_true(pose.sigma_size[d] > 0.0 && pose.sigma_size[d] < 0.2);
        }
        psfm_court_pose_free(&pose);
        psfm_drawing_free(&painted);
    }
    psfm_drawing_free(&pitch);
}

/* A drawing that is not on the floor, and a floor without any. */
static void test_refused(void **state) {
    psfm_context *ctx = *state;
    court_shot shot = make_shot(&pinhole);
    psfm_drawing nothing = {0};
    psfm_court_pose pose;
    register_shot(ctx, &basketball, &shot, &shot.camera, PSFM_FOCAL_FIXED, &tennis, &pose);
    assert_int_not_equal(pose.verdict, PSFM_COURT_ACCEPTED);
    psfm_court_pose_free(&pose);
    register_shot(ctx, &nothing, &shot, &shot.camera, PSFM_FOCAL_FIXED, &basketball, &pose);
    assert_int_equal(pose.verdict, PSFM_COURT_NO_LINES);
    psfm_court_pose_free(&pose);
}

/* ---- line pixels without a photograph ---- */

/* Registers the line pixels of a floor, which are used up. */
static void register_floor(psfm_context *ctx, line_floor *f, const psfm_drawing *sought,
                           const psfm_court_options *options, psfm_court_pose *pose) {
    psfm_court_view view;
    view_floor(ctx, f, PSFM_FOCAL_FIXED, &view);
    assert_ok(ctx, psfm_court_register(ctx, &view, sought, options, pose));
    psfm_court_view_free(&view);
}

/* Metres to the truth, of the nearest copy that the drawing allows. */
static double away_from(const psfm_drawing *drawing, const double center[3],
                        const psfm_court_pose *pose) {
    double best = INFINITY;
    for (int k = 0; k < pose->num_turns; ++k) {
        double R[9], t[3], d[3];
        psfm_court_pose_turn(drawing, pose->turns[k], pose, R, t);
        psfm_mat3_tmul_vec(R, t, d);
        psfm_axpy3(d, 1.0, center, d);
        best = fmin(best, psfm_norm3(d));
    }
    return best;
}

/* What a pose says of itself goes together: t = -R C, the lines that its parts confirm, the shares.
 */
static void a_pose_agrees_with_itself(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.hidden = 1U << 4 | 1U << 9};
    psfm_court_pose pose;
    double back[3], visible[64] = {0.0}, hit[64] = {0.0}, seen = 0.0, found = 0.0;
    uint32_t ids[64];
    int lines = 0;
    aim_floor(&f, -6.0, -14.0, 6.0, -1.0, 0.5);
    draw_floor(&f, &basketball);
    register_floor(ctx, &f, &basketball, NULL, &pose);
    assert_int_equal(pose.verdict, PSFM_COURT_ACCEPTED);
    assert_below(away_from(&basketball, f.center, &pose), 5e-4);
    psfm_mat3_tmul_vec(pose.R, pose.t, back);
    for (int d = 0; d < 3; ++d)
        assert_close(-back[d], pose.center[d], 1e-9);
    uint32_t num = psfm_drawing_number_lines(&basketball, ids);
    for (size_t k = 0; k < basketball.num_parts; ++k) {
        visible[ids[k]] += pose.part_visible[k];
        hit[ids[k]] += pose.part_hit[k];
        seen += pose.part_visible[k];
        found += pose.part_hit[k];
    }
    for (uint32_t k = 0; k < num; ++k)
        lines += visible[k] > 40.0 && hit[k] >= 0.5 * visible[k];
    assert_int_equal(pose.num_lines, lines);
    assert_true(lines >= 7 && lines <= (int)num);
    assert_close(pose.visible_px, seen, 1e-6 * seen);
    assert_close(pose.hit, found / seen, 1e-9);
    assert_true(pose.size[0] == basketball.size[0] && pose.sigma_size[0] == 0.0);
    assert_true(pose.camera.params[0] == floor_camera.params[0] && pose.sigma_focal == 0.0);
    assert_true(pose.sigma_distortion == 0.0 && pose.lines.num > 300);
    psfm_court_pose_free(&pose);
}

/* A court is its own mirror image: a photograph that was mirrored is one from the mirrored place.
 */
static void mirrored_photographs_stand_at_mirrored_places(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.2, .piece = 10};
    psfm_court_pose pose;
    aim_floor(&f, -6.0, -14.0, 6.0, -1.0, 0.5);
    draw_floor(&f, &basketball);
    for (size_t k = 0; k < f.pixels.num; ++k) {
        psfm_line_pixel *p = &f.pixels.pixels[k];
        p->x = FLOOR_WIDTH - p->x;
        p->tx = p->ty == 0.0F ? 1.0F : -p->tx;
    }
    f.camera.params[2] = FLOOR_WIDTH - f.camera.params[2];
    register_floor(ctx, &f, &basketball, NULL, &pose);
    assert_int_equal(pose.verdict, PSFM_COURT_ACCEPTED);
    const double center[3] = {-f.center[0], f.center[1], f.center[2]};
    assert_below(away_from(&basketball, center, &pose), 0.02);
    psfm_court_pose_free(&pose);
}

/* The same floor in an image that is 1.4 times as large. */
static void larger_images_give_the_same_pose(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.camera = floor_camera};
    psfm_court_pose pose;
    f.camera.width = (uint64_t)(1.4 * FLOOR_WIDTH);
    f.camera.height = (uint64_t)(1.4 * FLOOR_HEIGHT);
    for (int k = 0; k < 4; ++k)
        f.camera.params[k] *= 1.4;
    aim_floor(&f, -6.0, -14.0, 6.0, -1.0, 0.5);
    draw_floor(&f, &basketball);
    register_floor(ctx, &f, &basketball, NULL, &pose);
    assert_int_equal(pose.verdict, PSFM_COURT_ACCEPTED);
    assert_below(away_from(&basketball, f.center, &pose), 5e-4);
    assert_below(pose.rms_px, 5e-3);
    psfm_court_pose_free(&pose);
}

/* Each bound, moved beyond what the photograph shows, refuses for its own reason. */
static void verdicts_name_the_bound_that_was_passed(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.2, .piece = 10, .hidden = 1U << 2 | 1U << 3 | 1U << 8};
    psfm_court_options options[6];
    psfm_court_view view;
    psfm_court_pose pose;
    const psfm_court_verdict expected[6] = {PSFM_COURT_ACCEPTED,  PSFM_COURT_WEAK,
                                            PSFM_COURT_WEAK,      PSFM_COURT_SPARSE,
                                            PSFM_COURT_AMBIGUOUS, PSFM_COURT_LOOSE};
    for (int k = 0; k < 6; ++k)
        psfm_court_options_init(&options[k]);
    options[1].min_score = 1e6;
    options[2].min_lines = 15;
    options[3].min_hit = 0.95;
    options[4].max_runner_up = 0.01;
    options[5].max_sigma = 1e-6;
    aim_floor(&f, -6.0, -14.0, 6.0, -1.0, 0.5);
    draw_floor(&f, &basketball);
    view_floor(ctx, &f, PSFM_FOCAL_FIXED, &view);
    for (int k = 0; k < 6; ++k) {
        assert_ok(ctx, psfm_court_register(ctx, &view, &basketball, &options[k], &pose));
        assert_int_equal(pose.verdict, expected[k]);
        psfm_court_pose_free(&pose);
    }
    psfm_court_view_free(&view);
}

/* A ladder of equal lines fits itself one rung on nearly as well. */
static void ladders_are_ambiguous(void **state) {
    psfm_context *ctx = *state;
    psfm_drawing ladder = {.name = NULL};
    line_floor f = {.noise = 0.2, .piece = 10};
    psfm_court_pose pose;
    for (int k = 0; k < 16; ++k) {
        psfm_drawing_part rung = {.a = {3.0 * k - 22.5, -3.0}, .b = {3.0 * k - 22.5, 3.0}};
        assert_ok(ctx, psfm_drawing_add(ctx, &ladder, &rung));
    }
    for (int k = -1; k <= 1; k += 2) {
        psfm_drawing_part side = {.a = {-22.5, 3.0 * k}, .b = {22.5, 3.0 * k}};
        assert_ok(ctx, psfm_drawing_add(ctx, &ladder, &side));
    }
    aim_floor(&f, 1.0, -11.0, 6.0, 1.5, 0.5);
    draw_floor(&f, &ladder);
    register_floor(ctx, &f, &ladder, NULL, &pose);
    assert_int_equal(pose.verdict, PSFM_COURT_AMBIGUOUS);
    assert_true(pose.runner_up > 0.55 * pose.score && pose.runner_up <= pose.score);
    psfm_court_pose_free(&pose);
    psfm_drawing_free(&ladder);
}

/* No lines, one segment, or lines that are all parallel. */
static void too_few_lines_are_refused(void **state) {
    psfm_context *ctx = *state;
    for (int k = 0; k < 3; ++k) {
        line_floor f = {.noise = 0.2, .piece = 10};
        psfm_drawing painted = {.name = NULL};
        psfm_court_pose pose;
        for (int i = 0; i < (k == 2 ? 4 : k); ++i) {
            psfm_drawing_part part = {.a = {-9.0, 2.0 * i}, .b = {9.0, 2.0 * i}};
            assert_ok(ctx, psfm_drawing_add(ctx, &painted, &part));
        }
        aim_floor(&f, -6.0, -14.0, 6.0, -1.0, 0.5);
        draw_floor(&f, &painted);
        register_floor(ctx, &f, &basketball, NULL, &pose);
        assert_int_equal(pose.verdict, k == 2 ? pose.verdict : PSFM_COURT_NO_LINES);
        assert_int_not_equal(pose.verdict, PSFM_COURT_ACCEPTED);
        assert_true(k == 2 || (pose.part_hit == NULL && pose.lines.num == 0));
        psfm_court_pose_free(&pose);
        psfm_drawing_free(&painted);
    }
}

/* From a pose that is roughly right, the exact one, with its runner-up; from nowhere none. */
static void poses_are_fitted_again(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.0};
    psfm_court_pose start = {.camera = floor_camera, .runner_up = 77.0}, pose;
    psfm_court_view view;
    aim_floor(&f, -6.0, -14.0, 6.0, -1.0, 0.5);
    draw_floor(&f, &basketball);
    psfm_court_guess guess = guess_floor(&f, 0.003, 0.05);
    memcpy(start.R, guess.R, sizeof start.R);
    memcpy(start.center, guess.center, sizeof start.center);
    view_floor(ctx, &f, PSFM_FOCAL_REFINE, &view);
    start.camera.params[0] *= 1.01;
    start.camera.params[1] *= 1.01;
    assert_ok(ctx, psfm_court_refit(ctx, &view, &basketball, NULL, &start, &pose));
    assert_int_equal(pose.verdict, PSFM_COURT_ACCEPTED);
    assert_below(away_from(&basketball, f.center, &pose), 1e-3);
    assert_close(pose.camera.params[0], floor_camera.params[0], 0.01);
    assert_close(pose.camera.params[1], floor_camera.params[1], 0.01);
    assert_true(pose.runner_up == 77.0 && pose.sigma_focal > 0.0);
    psfm_court_pose_free(&pose);
    start.center[0] += 400.0;
    assert_ok(ctx, psfm_court_refit(ctx, &view, &basketball, NULL, &start, &pose));
    assert_true(pose.verdict == PSFM_COURT_NO_FIT && pose.part_hit == NULL);
    psfm_court_view_free(&view);
}

/* Views that change places keep what is theirs. */
static void views_are_swapped_whole(void **state) {
    psfm_context *ctx = *state;
    line_floor f = {.noise = 0.0}, g = {.noise = 0.0};
    psfm_court_view a, b;
    psfm_court_pose pose;
    aim_floor(&f, -6.0, -14.0, 6.0, -1.0, 0.5);
    draw_floor(&f, &basketball);
    view_floor(ctx, &f, PSFM_FOCAL_FIXED, &a);
    aim_floor(&g, 7.0, -13.0, 7.0, 2.0, 0.5);
    draw_floor(&g, &basketball);
    view_floor(ctx, &g, PSFM_FOCAL_FIXED, &b);
    psfm_court_view_swap(&a, &b);
    psfm_court_view_free(&b);
    assert_ok(ctx, psfm_court_register(ctx, &a, &basketball, NULL, &pose));
    assert_int_equal(pose.verdict, PSFM_COURT_ACCEPTED);
    assert_below(away_from(&basketball, g.center, &pose), 5e-4);
    psfm_court_pose_free(&pose);
    psfm_court_view_free(&a);
}

static int open_drawings(void **state) {
    psfm_court court;
    psfm_context *ctx = *state = psfm_context_create();
    return !(psfm_court_get("basketball", &court) &&
             psfm_drawing_from_court(ctx, &court, &basketball) == PSFM_OK &&
             psfm_court_get("tennis", &court) &&
             psfm_drawing_from_court(ctx, &court, &tennis) == PSFM_OK);
}

static int close_drawings(void **state) {
    psfm_drawing_free(&basketball);
    psfm_drawing_free(&tennis);
    psfm_context_destroy((psfm_context **)state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_dark),
        cmocka_unit_test(test_distorted),
        cmocka_unit_test(test_unknown_focal),
        cmocka_unit_test(test_wrong_focal),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_scaled_focal),
        cmocka_unit_test(test_free_size),
        cmocka_unit_test(a_pose_agrees_with_itself),
        cmocka_unit_test(mirrored_photographs_stand_at_mirrored_places),
        cmocka_unit_test(larger_images_give_the_same_pose),
        cmocka_unit_test(verdicts_name_the_bound_that_was_passed),
        cmocka_unit_test(ladders_are_ambiguous),
        cmocka_unit_test(too_few_lines_are_refused),
        cmocka_unit_test(poses_are_fitted_again),
        cmocka_unit_test(views_are_swapped_whole),
    };
    return cmocka_run_group_tests(tests, open_drawings, close_drawings);
}
