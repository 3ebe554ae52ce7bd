/* What became of photographs that were registered to a drawing, as JSON and as a COLMAP model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "formats/json.h"
#include "frontend/court_folder.h"

/* ---- JSON ---- */

static void add_camera(psfm_json_maker *m, cJSON *out, const psfm_camera *camera) {
    psfm_json_text(m, out, "model", psfm_camera_model_name(camera->model));
    psfm_json_number(m, out, "width", (double)camera->width);
    psfm_json_number(m, out, "height", (double)camera->height);
    psfm_json_numbers(m, out, "params", camera->params,
                      (size_t)psfm_camera_num_params(camera->model));
}

static void add_pose(psfm_json_maker *m, cJSON *object, const psfm_court_pose *pose) {
    double q[4];
    psfm_rotation_to_quat(pose->R, q);
    psfm_json_numbers(m, object, "rotation", q, 4);
    psfm_json_numbers(m, object, "translation", pose->t, 3);
    psfm_json_numbers(m, object, "center", pose->center, 3);
    add_camera(m, psfm_json_object(m, object, "camera"), &pose->camera);
    psfm_json_number(m, object, "sigma_rotation_deg", pose->sigma_rotation_deg);
    psfm_json_numbers(m, object, "sigma_center", pose->sigma_center, 3);
    psfm_json_number(m, object, "sigma_focal", pose->sigma_focal);
    psfm_json_number(m, object, "sigma_distortion", pose->sigma_distortion);
    psfm_json_numbers(m, object, "size", pose->size, 2);
    psfm_json_numbers(m, object, "sigma_size", pose->sigma_size, 2);
}

static void add_scores(psfm_json_maker *m, cJSON *object, const psfm_court_pose *pose) {
    psfm_json_put(m, object, "turns", cJSON_CreateIntArray(pose->turns, pose->num_turns));
    psfm_json_number(m, object, "score", pose->score);
    psfm_json_number(m, object, "runner_up", pose->runner_up);
    psfm_json_number(m, object, "lines", pose->num_lines);
    psfm_json_number(m, object, "confirmed", pose->hit);
    psfm_json_number(m, object, "visible_px", pose->visible_px);
    psfm_json_number(m, object, "rms_px", pose->rms_px);
    psfm_json_text(m, object, "paint", pose->is_dark ? "dark" : "light");
}

/* The share of each part that lines confirm; null for parts that are not in view. */
static void add_parts(psfm_json_maker *m, cJSON *object, const psfm_court_pose *pose,
                      size_t num_parts) {
    cJSON *list = psfm_json_list(m, object, "parts");
    for (size_t k = 0; k < num_parts; ++k) {
        double visible = pose->part_visible[k];
        psfm_json_number(m, list, NULL, visible > 0.0 ? pose->part_hit[k] / visible : (double)NAN);
    }
}

static void add_result(psfm_json_maker *m, cJSON *object, const psfm_court_result *result,
                       size_t num_parts) {
    const psfm_court_pose *pose = &result->pose;
    bool good = result->problem == NULL;
    psfm_json_text(m, object, "name", result->name);
    psfm_json_flag(m, object, "accepted", good && pose->verdict == PSFM_COURT_ACCEPTED);
    psfm_json_text(m, object, "verdict",
                   good ? psfm_court_verdict_text(pose->verdict) : result->problem);
    if (!good || pose->part_hit == NULL)
        return;
    add_pose(m, object, pose);
    add_scores(m, object, pose);
    add_parts(m, object, pose, num_parts);
}

static void add_drawing_part(psfm_json_maker *m, cJSON *list, const psfm_drawing_part *p) {
    const double line[4] = {p->a[0], p->a[1], p->b[0], p->b[1]};
    const double arc[5] = {p->a[0], p->a[1], p->radius, psfm_degrees(p->b[0]),
                           psfm_degrees(p->b[1])};
    psfm_json_numbers(m, list, NULL, p->radius > 0.0 ? arc : line, p->radius > 0.0 ? 5 : 4);
}

cJSON *psfm_court_results_to_json(const psfm_drawing *drawing, const psfm_court_results *results) {
    psfm_json_maker m = {false};
    cJSON *root = cJSON_CreateObject();
    psfm_json_text(&m, root, "drawing", drawing->name);
    psfm_json_number(&m, root, "accepted", (double)results->num_accepted);
    cJSON *parts = psfm_json_list(&m, root, "parts");
    for (size_t k = 0; k < drawing->num_parts; ++k)
        add_drawing_part(&m, parts, &drawing->parts[k]);
    cJSON *list = psfm_json_list(&m, root, "photographs");
    for (size_t k = 0; k < results->num; ++k)
        add_result(&m, psfm_json_object(&m, list, NULL), &results->items[k], drawing->num_parts);
    return psfm_json_finish(&m, root);
}

/* ---- model ---- */

static bool is_same_camera(const psfm_camera *a, const psfm_camera *b) {
    bool same = a->model == b->model && a->width == b->width && a->height == b->height;
    for (size_t k = 0; k < sizeof a->params / sizeof *a->params; ++k)
        same = same && a->params[k] == b->params[k];
    return same;
}

/* The id of the camera in the model, to which it is added if it is new. */
static uint32_t take_camera(psfm_model *model, const psfm_camera *camera) {
    for (size_t k = 0; k < model->num_cameras; ++k)
        if (is_same_camera(&model->cameras[k], camera))
            return model->cameras[k].id;
    psfm_camera *added = &model->cameras[model->num_cameras++];
    *added = *camera;
    added->id = (uint32_t)model->num_cameras;
    return added->id;
}

psfm_status psfm_court_results_to_model(psfm_context *ctx, const psfm_court_results *results,
                                        psfm_model *model) {
    *model = (psfm_model){0};
    psfm_status status = PSFM_ALLOC(ctx, results->num_accepted, &model->cameras);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, results->num_accepted, &model->images);
    for (size_t k = 0; k < results->num && status == PSFM_OK; ++k) {
        const psfm_court_result *result = &results->items[k];
        if (result->problem != NULL || result->pose.verdict != PSFM_COURT_ACCEPTED)
            continue;
        psfm_model_image *image = &model->images[model->num_images++];
        image->id = (uint32_t)k + 1;
        image->camera_id = take_camera(model, &result->pose.camera);
        psfm_rotation_to_quat(result->pose.R, image->cam_from_world_q);
        memcpy(image->cam_from_world_t, result->pose.t, sizeof image->cam_from_world_t);
        status = psfm_strdup(ctx, result->name, &image->name);
    }
    if (status != PSFM_OK)
        psfm_model_free(model);
    return status;
}
