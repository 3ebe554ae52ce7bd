#include "court/register.h"

#include "court/overlay.h"
#include "court/turns.h"
#include "court_scene.h"
#include "linalg/angle.h"
#include "test_util.h"

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
    assert_ok(ctx, psfm_court_view_scale_focal(ctx, 800.0 / 500.0, NULL, &view));
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

/* The court of another federation fits in most places; the right one fits better. */
static void test_challenge(void **state) {
    psfm_context *ctx = *state;
    court_shot shot = make_shot(&pinhole);
    psfm_court court;
    psfm_drawing nba;
    psfm_image image;
    psfm_court_view view;
    psfm_court_pose pose;
    assert_true(psfm_court_get("basketball-nba", &court));
    assert_ok(ctx, psfm_drawing_from_court(ctx, &court, &nba));
    assert_ok(ctx, take_shot(ctx, &basketball, &shot, &image));
    assert_ok(ctx, psfm_court_view_init(ctx, &image, &shot.camera, PSFM_FOCAL_FIXED, NULL, &view));
    assert_ok(ctx, psfm_court_register(ctx, &view, &basketball, NULL, &pose));
    assert_ok(ctx, psfm_court_challenge(ctx, &view, &nba, NULL, &pose));
    assert_int_equal(pose.verdict, PSFM_COURT_ACCEPTED);
    psfm_court_pose_free(&pose);
    assert_ok(ctx, psfm_court_register(ctx, &view, &nba, NULL, &pose));
    assert_ok(ctx, psfm_court_challenge(ctx, &view, &basketball, NULL, &pose));
    assert_int_not_equal(pose.verdict, PSFM_COURT_ACCEPTED);
    psfm_court_pose_free(&pose);
    psfm_court_view_free(&view);
    psfm_image_free(&image);
    psfm_drawing_free(&nba);
}

/* The places that a pose rests on are where the drawing has lines, and its pixels see them there:
 * to the noise it claims, before and after the drawing's half turn. */
static void test_line_points(void **state) {
    psfm_context *ctx = *state;
    court_shot shot = make_shot(&distorted);
    psfm_court_pose pose;
    register_shot(ctx, &basketball, &shot, &distorted, PSFM_FOCAL_FIXED, &basketball, &pose);
    assert_int_equal(pose.verdict, PSFM_COURT_ACCEPTED);
    assert_true(pose.lines.num > 300);
    for (int turn = 0; turn < 2; ++turn) {
        double sum = 0.0;
        for (size_t k = 0; k < pose.lines.num; ++k) {
            const psfm_line_point *p = &pose.lines.items[k];
            double X[3] = {p->on[0], p->on[1], 0.0}, q[3], xy[2], nearest = INFINITY;
            for (size_t i = 0; i < basketball.num_parts; ++i)
                nearest = fmin(nearest, part_distance(&basketball.parts[i], p->on[0], p->on[1]));
            assert_true(nearest < 1e-4);
            psfm_mat3_mul_vec(pose.R, X, q);
            psfm_axpy3(q, 1.0, pose.t, q);
            assert_true(psfm_camera_project(&distorted, q, xy));
            double off = p->row[0] * (xy[0] - p->xy[0]) + p->row[1] * (xy[1] - p->xy[1]);
            sum += off * off;
        }
        double rms = sqrt(sum / (double)pose.lines.num);
        assert_true(rms > 0.2 && rms < 2.0);
        assert_ok(ctx, psfm_court_pose_take_turn(ctx, &basketball, 2, &pose));
    }
    psfm_court_pose_free(&pose);
}

/* The canonical copy has its camera on the -y side; both copies see the drawing alike. */
static void test_canonical(void **state) {
    psfm_context *ctx = *state;
    court_shot shot = make_shot(&pinhole);
    psfm_court_pose pose = {.turns = {0, 2}, .num_turns = 2}, turned;
    aim(&shot, -9.0, 15.0, 6.0, -1.0, 0.5);
    memcpy(pose.R, shot.R, sizeof pose.R);
    memcpy(pose.center, shot.center, sizeof pose.center);
    turned = pose;
    assert_ok(ctx, psfm_court_pose_make_canonical(ctx, &basketball, &turned));
    assert_close(turned.center[0], 9.0, 1e-9);
    assert_close(turned.center[1], -15.0, 1e-9);
    for (int k = 0; k < 8; ++k) {
        double X[3] = {k, 2.0 - k, 0.0}, Y[3] = {-X[0], -X[1], 0.0}, a[3], b[3];
        psfm_sub3(X, pose.center, a);
        psfm_mat3_mul_vec(pose.R, a, a);
        psfm_mat3_mul_vec(turned.R, Y, b);
        for (int d = 0; d < 3; ++d)
            assert_close(a[d], b[d] + turned.t[d], 1e-9);
    }
}

/* The overlay changes pixels on the lines of the floor, and those only by darkening elsewhere. */
static void test_overlay(void **state) {
    psfm_context *ctx = *state;
    court_shot shot = make_shot(&pinhole);
    psfm_court_pose pose = {.camera = pinhole};
    psfm_image image;
    double X[3] = {3.0, -7.525, 0.0}, q[3], xy[2];
    assert_ok(ctx, psfm_image_init(ctx, 960, 540, PSFM_IMAGE_GRAY_AND_RGB, &image));
    memcpy(pose.R, shot.R, sizeof pose.R);
    psfm_mat3_mul_vec(shot.R, shot.center, pose.t);
    psfm_scale3(-1.0, pose.t, pose.t);
    pose.part_visible = calloc(basketball.num_parts, sizeof(double));
    pose.part_hit = calloc(basketball.num_parts, sizeof(double));
    psfm_court_overlay(&basketball, &pose, &image);
    psfm_mat3_mul_vec(pose.R, X, q);
    for (int d = 0; d < 3; ++d)
        q[d] += pose.t[d];
    assert_true(psfm_camera_project(&pinhole, q, xy));
    const uint8_t *on = image.rgb + 3 * ((int)xy[1] * 960 + (int)xy[0]);
    assert_true(on[0] == 255 && on[1] == 210 && on[2] == 0);
    assert_true(image.rgb[0] == 0);
    psfm_court_pose_free(&pose);
    psfm_image_free(&image);
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
        cmocka_unit_test(test_known),        cmocka_unit_test(test_dark),
        cmocka_unit_test(test_distorted),    cmocka_unit_test(test_unknown_focal),
        cmocka_unit_test(test_wrong_focal),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_challenge),    cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_overlay),      cmocka_unit_test(test_line_points),
        cmocka_unit_test(test_scaled_focal), cmocka_unit_test(test_free_size),
    };
    return cmocka_run_group_tests(tests, open_drawings, close_drawings);
}
