/* Each registration knows its pose up to the court's turn. A model knows how its images are turned
 * against each other, so one of them decides for all: the one that most others agree with. */
#include "world/align_court.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/path.h"
#include "court/target.h"
#include "court/turns.h"
#include "linalg/angle.h"
#include "linalg/mat3.h"

#define SAME_TURN 3.0 /* degrees */

typedef struct {
    const psfm_model *model;
    const char *folder;
    const psfm_court *court;
    psfm_court_target target;
    psfm_court_pose *poses; /* per image of the model */
} finding;

static psfm_status register_image(psfm_context *ctx, size_t k, int worker, void *user) {
    finding *f = user;
    const psfm_model_image *image = &f->model->images[k];
    psfm_photo_camera camera = {psfm_model_camera(f->model, image->camera_id), PSFM_FOCAL_FIXED};
    psfm_image photograph = {0};
    char *path = NULL;
    (void)worker;
    f->poses[k].verdict = PSFM_COURT_NO_LINES;
    psfm_status status = psfm_path_join(ctx, f->folder, image->name, &path);
    bool there = status == PSFM_OK && psfm_path_is_file(path);
    if (there)
        status = psfm_image_read(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, &photograph);
    bool fits = there && status == PSFM_OK && (uint64_t)photograph.width == camera.camera->width &&
                (uint64_t)photograph.height == camera.camera->height;
    if (fits)
        status =
            psfm_court_target_register(ctx, &f->target, &photograph, camera, NULL, &f->poses[k]);
    psfm_image_free(&photograph);
    free(path);
    return status;
}

static bool is_registered(const finding *f, size_t k) {
    return f->poses[k].verdict == PSFM_COURT_ACCEPTED;
}

/* The turn of image k's registration that goes with the world of image `of`; -1 if none does. */
static int turn_with(const finding *f, size_t of, size_t k) {
    double A[9], B[9], model_21[9], R[9], t[3], court_21[9];
    psfm_rotation_from_quat(f->model->images[of].cam_from_world_q, A);
    psfm_rotation_from_quat(f->model->images[k].cam_from_world_q, B);
    psfm_mat3_mul_t(B, A, model_21);
    for (int i = 0; i < f->poses[k].num_turns; ++i) {
        psfm_court_pose_turn(&f->target.drawing, f->poses[k].turns[i], &f->poses[k], R, t);
        psfm_mat3_mul_t(R, f->poses[of].R, court_21);
        if (psfm_degrees(psfm_rotation_angle(court_21, model_21)) < SAME_TURN)
            return f->poses[k].turns[i];
    }
    return -1;
}

/* The registration that most others agree with; the number of images if there is none. */
static size_t find_leader(const finding *f) {
    size_t n = f->model->num_images, best = n, most = 0;
    for (size_t of = 0; of < n; ++of) {
        size_t num = 0;
        for (size_t k = 0; is_registered(f, of) && k < n; ++k)
            num += is_registered(f, k) && turn_with(f, of, k) >= 0;
        if (num > most) {
            most = num;
            best = of;
        }
    }
    return best;
}

static psfm_status add_view(psfm_context *ctx, const finding *f, size_t k, uint32_t point,
                            psfm_control_set *points) {
    const psfm_court_pose *pose = &f->poses[k];
    double q[3], xy[2];
    psfm_mat3_mul_vec(pose->R, points->points[point].at, q);
    psfm_axpy3(q, 1.0, pose->t, q);
    if (!(q[2] > 0.0) || !psfm_camera_project(&pose->camera, q, xy) || xy[0] < 0.0 || xy[1] < 0.0 ||
        xy[0] > (double)pose->camera.width || xy[1] > (double)pose->camera.height)
        return PSFM_OK;
    psfm_status status =
        PSFM_RESERVE(ctx, &points->views, &points->views_capacity, points->num_views + 1);
    if (status != PSFM_OK)
        return status;
    psfm_control_view *view = &points->views[points->num_views];
    *view = (psfm_control_view){.point = point, .xy = {xy[0], xy[1]}};
    status = psfm_strdup(ctx, f->model->images[k].name, &view->image);
    points->num_views += status == PSFM_OK;
    return status;
}

/* All marks of the court, as points without views. */
static psfm_status list_marks(psfm_context *ctx, const psfm_court *court,
                              psfm_control_set *points) {
    char labels[4096], *rest = NULL;
    psfm_status status = PSFM_OK;
    psfm_court_labels(court, labels, sizeof labels);
    for (char *label = strtok_r(labels, " ", &rest); label != NULL && status == PSFM_OK;
         label = strtok_r(NULL, " ", &rest)) {
        status =
            PSFM_RESERVE(ctx, &points->points, &points->points_capacity, points->num_points + 1);
        if (status != PSFM_OK)
            return status;
        psfm_control_point *point = &points->points[points->num_points];
        *point = (psfm_control_point){0};
        if (!psfm_court_find(court, label, point->at))
            continue;
        status = psfm_strdup(ctx, label, &point->label);
        points->num_points += status == PSFM_OK;
    }
    return status;
}

static psfm_status list_points(psfm_context *ctx, finding *f, psfm_control_set *points) {
    size_t leader = find_leader(f), num = 0;
    if (leader == f->model->num_images)
        return psfm_fail(ctx, PSFM_ERR_DATA, "%s: no photograph shows the lines of a %s court",
                         f->folder, f->court->name);
    psfm_status status = list_marks(ctx, f->court, points);
    for (size_t k = 0; k < f->model->num_images && status == PSFM_OK; ++k) {
        int turn = is_registered(f, k) ? turn_with(f, leader, k) : -1;
        if (turn < 0)
            continue;
        if (k != leader) /* whose pose the others are held against */
            status = psfm_court_pose_take_turn(ctx, &f->target.drawing, turn, &f->poses[k]);
        for (uint32_t p = 0; p < points->num_points && status == PSFM_OK; ++p)
            status = add_view(ctx, f, k, p, points);
        ++num;
    }
    if (status == PSFM_OK)
        psfm_log(ctx, PSFM_LOG_INFO, "%s: found in %zu photographs", f->court->name, num);
    return status;
}

psfm_status psfm_court_points_find(psfm_context *ctx, const psfm_model *model, const char *folder,
                                   const psfm_court *court, psfm_control_set *points) {
    psfm_court sized = *court; /* its marks are where its length and width have them */
    psfm_court_fix_size(&sized);
    finding f = {.model = model, .folder = folder, .court = &sized};
    *points = (psfm_control_set){0};
    if (!psfm_path_is_folder(folder))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: no such folder of photographs", folder);
    psfm_status status = psfm_court_target_of_court(ctx, &sized, &f.target);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, model->num_images, &f.poses);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, "court", model->num_images, register_image, &f);
    if (status == PSFM_OK)
        status = list_points(ctx, &f, points);
    for (size_t k = 0; f.poses != NULL && k < model->num_images; ++k)
        psfm_court_pose_free(&f.poses[k]);
    free(f.poses);
    psfm_court_target_free(&f.target);
    if (status != PSFM_OK)
        psfm_control_free(points);
    return status;
}
