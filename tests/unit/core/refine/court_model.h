/* Cameras round a court, and the lines they see of it without any noise. */
#ifndef PSFM_TEST_COURT_MODEL_H
#define PSFM_TEST_COURT_MODEL_H

#include "core/refine/refine_poses.h"
#include "court/court_evidence.h"
#include "test_util.h"
#include "unit/court/court_scene.h"

enum { COURT_VIEWS = 4 };

typedef struct {
    psfm_context *ctx;
    psfm_camera camera;
    psfm_view views[COURT_VIEWS];
    psfm_match_set set;
    psfm_drawing drawing;
    psfm_court_evidence court;
    psfm_pose_solution solution;
    psfm_refined refined;
    double true_R[COURT_VIEWS][9], true_center[COURT_VIEWS][3];
} court_model;

/* The pixel of a place of the floor. */
static inline bool court_pixel(const court_model *m, int v, double x, double y, double xy[2]) {
    double X[3] = {x - m->true_center[v][0], y - m->true_center[v][1], -m->true_center[v][2]}, q[3];
    psfm_mat3_mul_vec(m->true_R[v], X, q);
    return q[2] > 1.0 && psfm_camera_project(&m->camera, q, xy) && xy[0] > 0.0 && xy[1] > 0.0 &&
           xy[0] < (double)m->camera.width && xy[1] < (double)m->camera.height;
}

/* The line points of a view of a floor whose court is longer and wider by `grow`. */
static inline void see_lines(court_model *m, int v, const double grow[2]) {
    psfm_line_points *lines = &m->court.poses[v].lines;
    psfm_drawing_sample *samples = NULL;
    size_t num = 0;
    assert_ok(m->ctx, psfm_drawing_sample_lines(m->ctx, &m->drawing, 0.25, &samples, &num));
    lines->items = calloc(num, sizeof *lines->items);
    assert_non_null(lines->items);
    for (size_t k = 0; k < num; ++k) {
        psfm_line_point *p = &lines->items[lines->num];
        const psfm_drawing_sample *s = &samples[k];
        double beyond[2], x = (double)s->x + (double)s->mx * grow[0];
        double y = (double)s->y + (double)s->my * grow[1];
        if (!court_pixel(m, v, x, y, p->xy) ||
            !court_pixel(m, v, x + 0.01 * (double)s->tx, y + 0.01 * (double)s->ty, beyond))
            continue;
        double dx = beyond[0] - p->xy[0], dy = beyond[1] - p->xy[1], length = hypot(dx, dy);
        *p = (psfm_line_point){.on = {(double)s->x, (double)s->y},
                               .xy = {p->xy[0], p->xy[1]},
                               .move = {(double)s->mx, (double)s->my},
                               .row = {-dy / length, dx / length}};
        ++lines->num;
    }
    assert_true(lines->num > 100);
    free(samples);
}

/* Four cameras, all registered, at their true poses. */
static inline void make_court_model(const double grow[2], court_model *m) {
    static const double from[COURT_VIEWS][2] = {{-12, -13}, {13, -12}, {12, 14}, {-11, 13}};
    psfm_court court;
    *m = (court_model){.ctx = psfm_context_create(),
                       .camera = {.id = 1,
                                  .model = PSFM_CAMERA_PINHOLE,
                                  .width = 1600,
                                  .height = 900,
                                  .params = {1100.0, 1100.0, 800.0, 450.0}}};
    assert_true(psfm_court_get("basketball", &court));
    assert_ok(m->ctx, psfm_drawing_from_court(m->ctx, &court, &m->drawing));
    assert_ok(m->ctx, psfm_court_evidence_init(m->ctx, &m->drawing, COURT_VIEWS, &m->court));
    assert_ok(m->ctx, psfm_poses_init(m->ctx, COURT_VIEWS, &m->solution.poses));
    m->solution.num_nodes = COURT_VIEWS;
    m->solution.num_components = 1;
    m->solution.components = calloc(1, sizeof *m->solution.components);
    m->refined.cameras = calloc(1, sizeof *m->refined.cameras);
    m->refined.images = calloc(COURT_VIEWS, sizeof *m->refined.images);
    assert_true(m->solution.components != NULL && m->refined.cameras != NULL &&
                m->refined.images != NULL);
    m->refined.cameras[0] = m->camera;
    m->set = (psfm_match_set){
        .cameras = &m->camera, .num_cameras = 1, .views = m->views, .num_views = COURT_VIEWS};
    memcpy(m->court.expected_size, m->drawing.size, sizeof m->drawing.size);
    for (int v = 0; v < COURT_VIEWS; ++v) {
        court_shot shot;
        psfm_court_pose *pose = &m->court.poses[v];
        aim(&shot, from[v][0], from[v][1], 6.0 + v, 0.3 * v, 0.1);
        memcpy(m->true_R[v], shot.R, sizeof shot.R);
        memcpy(m->true_center[v], shot.center, sizeof shot.center);
        memcpy(pose->R, shot.R, sizeof shot.R);
        memcpy(pose->center, shot.center, sizeof shot.center);
        memcpy(m->solution.poses.cam_from_world[v], shot.R, sizeof shot.R);
        memcpy(m->solution.poses.center[v], shot.center, sizeof shot.center);
        pose->verdict = PSFM_COURT_ACCEPTED;
        m->court.agrees[v] = true;
        see_lines(m, v, grow);
    }
}

static inline void free_court_model(court_model *m) {
    psfm_pose_solution_free(&m->solution);
    psfm_refined_free(&m->refined);
    psfm_court_evidence_free(&m->court);
    psfm_drawing_free(&m->drawing);
    psfm_context_destroy(&m->ctx);
}

/* Largest errors of the poses: radians and metres. */
static inline void court_errors(const court_model *m, double *turn, double *away) {
    *turn = *away = 0.0;
    for (int v = 0; v < COURT_VIEWS; ++v) {
        double d[3];
        psfm_sub3(m->solution.poses.center[v], m->true_center[v], d);
        *away = fmax(*away, psfm_norm3(d));
        *turn = fmax(*turn, psfm_rotation_angle(m->solution.poses.cam_from_world[v], m->true_R[v]));
    }
}

#endif
