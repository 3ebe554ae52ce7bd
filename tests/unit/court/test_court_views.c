/* Photographs of a pitch whose size nobody gave: they agree on one, and are registered to it. */
#include "court/court_views.h"

#include <unistd.h>

#include "court/posed_registration.h"
#include "test_util.h"
#include "unit/court/court_scene.h"

#define NUM 3

static const psfm_camera camera = {.id = 1,
                                   .model = PSFM_CAMERA_PINHOLE,
                                   .width = 800,
                                   .height = 450,
                                   .params = {660.0, 660.0, 400.0, 225.0}};
static const double from[NUM][2] = {{-20.0, -18.0}, {8.0, 10.0}, {25.0, 20.0}};

typedef struct {
    char folder[32];
    char names[NUM][16];
    psfm_view views[NUM];
    psfm_match_set set;
    psfm_court_target target;
} pitch;

static void open_pitch(psfm_context *ctx, const double size[2], pitch *p) {
    psfm_court court;
    psfm_drawing painted;
    court_shot shot = {
        .camera = camera, .line_width = 0.12, .ground = 90.0, .paint = 200.0, .noise = 2.0};
    *p = (pitch){.folder = "/tmp/planarsfm_XXXXXX"};
    assert_non_null(mkdtemp(p->folder));
    assert_true(psfm_court_get("soccer", &court));
    assert_ok(ctx, psfm_court_target_of_court(ctx, &court, &p->target));
    assert_ok(ctx, psfm_drawing_copy(ctx, &p->target.drawing, &painted));
    psfm_drawing_resize(&painted, size);
    for (int k = 0; k < NUM; ++k) {
        char path[64];
        psfm_image image;
        snprintf(p->names[k], sizeof p->names[k], "%d.png", k);
        snprintf(path, sizeof path, "%s/%s", p->folder, p->names[k]);
        aim(&shot, from[k][0], -60.0, 22.0, from[k][1], 0.0);
        assert_ok(ctx, take_shot(ctx, &painted, &shot, &image));
        assert_ok(ctx, psfm_image_write(ctx, &image, 90, path));
        psfm_image_free(&image);
        p->views[k] = (psfm_view){.id = (uint32_t)k + 1, .name = p->names[k]};
    }
    psfm_drawing_free(&painted);
    p->set = (psfm_match_set){.cameras = (psfm_camera *)(uintptr_t)&camera,
                              .num_cameras = 1,
                              .views = p->views,
                              .num_views = NUM};
}

static void close_pitch(pitch *p) {
    for (int k = 0; k < NUM; ++k) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", p->folder, p->names[k]);
        unlink(path);
    }
    rmdir(p->folder);
    psfm_court_target_free(&p->target);
}

static void photographs_agree_on_a_size(void **state) {
    (void)state;
    const double size[2] = {98.6, 63.2};
    psfm_context *ctx = psfm_context_create();
    psfm_court_options options;
    psfm_court_evidence evidence;
    pitch p;
    psfm_court_options_init(&options);
    open_pitch(ctx, size, &p);
    assert_ok(ctx,
              psfm_court_views_register(ctx, &p.set, p.folder, &p.target, &options, &evidence));
    assert_false(psfm_drawing_is_free(evidence.drawing));
    for (int d = 0; d < 2; ++d) {
        assert_close(evidence.drawing->size[d], size[d], 0.1);
        assert_true(evidence.sigma_size[d] > 0.0 && evidence.sigma_size[d] < 0.1);
    }
    for (uint32_t v = 0; v < NUM; ++v) {
        assert_true(psfm_court_accepts(&evidence, v));
        assert_close(evidence.poses[v].center[0], from[v][0], 0.2);
        assert_true(evidence.poses[v].sigma_size[0] == 0.0);
    }
    psfm_court_evidence_free(&evidence);
    close_pitch(&p);
    psfm_context_destroy(&ctx);
}

/* A photograph that was refused, but that matches posed, gets its lines; one whose pose is nowhere
 * near does not. */
static void posed_photographs_get_lines(void **state) {
    (void)state;
    const double size[2] = {105.0, 68.0};
    psfm_context *ctx = psfm_context_create();
    psfm_court_options options;
    psfm_court_evidence evidence;
    psfm_poses poses;
    uint32_t num;
    pitch p;
    psfm_court_options_init(&options);
    open_pitch(ctx, size, &p);
    psfm_drawing_fix_size(&p.target.drawing);
    assert_ok(ctx, psfm_court_evidence_init(ctx, &p.target.drawing, NUM, &evidence));
    evidence.options = options;
    evidence.photo_folder = p.folder;
    assert_ok(ctx, psfm_poses_init(ctx, NUM, &poses));
    for (int v = 0; v < NUM; ++v) {
        court_shot shot;
        aim(&shot, from[v][0] + (v == 1 ? 30.0 : 0.05), -60.0, 22.0, from[v][1], 0.0);
        memcpy(poses.cam_from_world[v], shot.R, sizeof shot.R);
        memcpy(poses.center[v], shot.center, sizeof shot.center);
    }
    poses.component[2] = PSFM_NO_COMPONENT;
    assert_ok(ctx, psfm_court_fit_posed(ctx, &p.set, &poses, 0, &evidence, &num));
    assert_int_equal(num, 1);
    assert_true(evidence.agrees[0] && !evidence.agrees[1] && !evidence.agrees[2]);
    assert_int_equal(evidence.poses[0].verdict, PSFM_COURT_POSED);
    assert_true(evidence.poses[0].lines.num > 100);
    assert_close(evidence.poses[0].center[0], from[0][0], 0.03);
    psfm_poses_free(&poses);
    psfm_court_evidence_free(&evidence);
    close_pitch(&p);
    psfm_context_destroy(&ctx);
}

/* ---- focal lengths ---- */

enum { CAMERAS = 4, VIEWS = 6 };

/* Cameras 0 (pinhole) and 2 (FOV) are guesses, 1 is given, no photograph of 3 is accepted. */
typedef struct {
    psfm_camera cameras[CAMERAS];
    psfm_camera_origin origins[CAMERAS];
    psfm_view views[VIEWS];
    psfm_match_set set;
    psfm_court_pose poses[VIEWS];
    psfm_court_evidence evidence;
} lenses;

static void make_lenses(lenses *l) {
    static const uint32_t of[VIEWS] = {0, 0, 0, 1, 2, 3};
    static const double focal[VIEWS] = {900.0, 1000.0, 5000.0, 700.0, 820.0, 640.0};
    static const double sigma[VIEWS] = {0.01, 0.02, 1e-6, 0.01, 1e-9, 0.01};
    *l = (lenses){.set = {.num_cameras = CAMERAS, .num_views = VIEWS}};
    for (size_t c = 0; c < CAMERAS; ++c) {
        l->cameras[c] = (psfm_camera){.model = c == 2 ? PSFM_CAMERA_FOV : PSFM_CAMERA_PINHOLE,
                                      .params = {800.0, 808.0, 400.0, 225.0, 0.5}};
        l->origins[c].source = c == 1 ? PSFM_FOCAL_GIVEN : PSFM_FOCAL_GUESS;
    }
    for (uint32_t v = 0; v < VIEWS; ++v) {
        l->views[v].camera_idx = of[v];
        l->poses[v] =
            (psfm_court_pose){.verdict = v == 2 || v == 5 ? PSFM_COURT_WEAK : PSFM_COURT_ACCEPTED,
                              .camera = l->cameras[of[v]],
                              .sigma_focal = sigma[v],
                              .sigma_distortion = 0.01};
        l->poses[v].camera.params[0] = focal[v];
        l->poses[v].camera.params[4] = 0.65;
    }
    l->set.cameras = l->cameras;
    l->set.origins = l->origins;
    l->set.views = l->views;
    l->evidence = (psfm_court_evidence){.num_views = VIEWS, .poses = l->poses};
}

/* An open camera gets the mean of its accepted photographs, by their deviations and of logarithms;
 * one that was given, or that no line tells of, stays. */
static void open_cameras_get_the_mean_of_their_photographs(void **state) {
    (void)state;
    const double weight[2] = {1.0 / (0.01 * 0.01), 1.0 / (0.02 * 0.02)};
    const double sum = weight[0] + weight[1];
    lenses l;
    make_lenses(&l);
    assert_int_equal(psfm_court_views_calibrate(&l.evidence, &l.set), 2);
    double focal = exp((weight[0] * log(900.0) + weight[1] * log(1000.0)) / sum);
    assert_close(l.cameras[0].params[0], focal, 1e-9);
    assert_close(l.cameras[0].params[1], 1.01 * focal, 1e-9);
    assert_close(l.cameras[0].params[2], 400.0, 0.0);
    assert_close(l.origins[0].sigma, sqrt(1.0 / sum), 1e-12);
    assert_int_equal(l.origins[0].source, PSFM_FOCAL_LINES);
    assert_close(l.cameras[1].params[0], 800.0, 0.0);
    assert_int_equal(l.origins[1].source, PSFM_FOCAL_GIVEN);
    assert_close(l.cameras[3].params[0], 800.0, 0.0);
    assert_int_equal(l.origins[3].source, PSFM_FOCAL_GUESS);
}

/* Nothing is surer than 0.2 %; the distortion goes along, also where it is an angle. */
static void bends_are_taken_with_focal_lengths(void **state) {
    (void)state;
    lenses l;
    make_lenses(&l);
    assert_int_equal(psfm_court_views_calibrate(&l.evidence, &l.set), 2);
    assert_close(l.cameras[2].params[0], 820.0, 1e-9);
    assert_close(l.origins[2].sigma, 0.002, 1e-12);
    assert_close(l.cameras[2].params[4], 0.65, 1e-12);
    make_lenses(&l);
    l.poses[4].sigma_distortion = 0.0; /* it was not asked for */
    assert_int_equal(psfm_court_views_calibrate(&l.evidence, &l.set), 2);
    assert_close(l.cameras[2].params[4], 0.5, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(photographs_agree_on_a_size),
        cmocka_unit_test(posed_photographs_get_lines),
        cmocka_unit_test(open_cameras_get_the_mean_of_their_photographs),
        cmocka_unit_test(bends_are_taken_with_focal_lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
