/* What became of photographs that were registered to a drawing, as JSON and as a COLMAP model. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "intake/court_folder.h"
#include "linalg/angle.h"
#include "linalg/mat3.h"

/* ---- JSON ---- */

static bool add_doubles(cJSON *object, const char *name, const double *values, int num) {
    cJSON *list = cJSON_CreateDoubleArray(values, num);
    return list != NULL && cJSON_AddItemToObject(object, name, list);
}

static bool add_camera(cJSON *object, const psfm_camera *camera) {
    cJSON *out = cJSON_AddObjectToObject(object, "camera");
    return out != NULL &&
           cJSON_AddStringToObject(out, "model", psfm_camera_model_name(camera->model)) != NULL &&
           psfm_json_add_number(out, "width", (double)camera->width) &&
           psfm_json_add_number(out, "height", (double)camera->height) &&
           add_doubles(out, "params", camera->params, psfm_camera_num_params(camera->model));
}

static bool add_pose(cJSON *object, const psfm_court_pose *pose) {
    double q[4];
    psfm_rotation_to_quat(pose->R, q);
    return add_doubles(object, "rotation", q, 4) &&
           add_doubles(object, "translation", pose->t, 3) &&
           add_doubles(object, "center", pose->center, 3) && add_camera(object, &pose->camera) &&
           psfm_json_add_number(object, "sigma_rotation_deg", pose->sigma_rotation_deg) &&
           add_doubles(object, "sigma_center", pose->sigma_center, 3) &&
           psfm_json_add_number(object, "sigma_focal", pose->sigma_focal) &&
           psfm_json_add_number(object, "sigma_distortion", pose->sigma_distortion) &&
           add_doubles(object, "size", pose->size, 2) &&
           add_doubles(object, "sigma_size", pose->sigma_size, 2);
}

static bool add_scores(cJSON *object, const psfm_court_pose *pose) {
    cJSON *turns = cJSON_CreateIntArray(pose->turns, pose->num_turns);
    if (turns == NULL || !cJSON_AddItemToObject(object, "turns", turns))
        return false;
    return psfm_json_add_number(object, "score", pose->score) &&
           psfm_json_add_number(object, "runner_up", pose->runner_up) &&
           psfm_json_add_number(object, "lines", pose->num_lines) &&
           psfm_json_add_number(object, "confirmed", pose->hit) &&
           psfm_json_add_number(object, "visible_px", pose->visible_px) &&
           psfm_json_add_number(object, "rms_px", pose->rms_px) &&
           cJSON_AddStringToObject(object, "paint", pose->is_dark ? "dark" : "light") != NULL;
}

/* The share of each part that lines confirm; null for parts that are not in sight. */
static bool add_parts(cJSON *object, const psfm_court_pose *pose, size_t num_parts) {
    cJSON *list = cJSON_AddArrayToObject(object, "parts");
    for (size_t k = 0; list != NULL && k < num_parts; ++k) {
        double visible = pose->part_visible[k];
        cJSON *item =
            visible > 0.0 ? cJSON_CreateNumber(pose->part_hit[k] / visible) : cJSON_CreateNull();
        if (item == NULL || !cJSON_AddItemToArray(list, item))
            return false;
    }
    return list != NULL;
}

static bool add_result(cJSON *list, const psfm_court_result *result, size_t num_parts) {
    const psfm_court_pose *pose = &result->pose;
    cJSON *object = cJSON_CreateObject();
    if (object == NULL || !cJSON_AddItemToArray(list, object)) {
        cJSON_Delete(object);
        return false;
    }
    bool accepted = result->problem == NULL && pose->verdict == PSFM_COURT_ACCEPTED;
    const char *words =
        result->problem == NULL ? psfm_court_verdict_text(pose->verdict) : result->problem;
    bool ok = cJSON_AddStringToObject(object, "name", result->name) != NULL &&
              cJSON_AddBoolToObject(object, "accepted", accepted) != NULL &&
              cJSON_AddStringToObject(object, "verdict", words) != NULL;
    if (ok && result->problem == NULL && pose->part_hit != NULL)
        ok = add_pose(object, pose) && add_scores(object, pose) &&
             add_parts(object, pose, num_parts);
    return ok;
}

static bool add_drawing_part(cJSON *list, const psfm_drawing_part *p) {
    const double line[4] = {p->a[0], p->a[1], p->b[0], p->b[1]};
    const double arc[5] = {p->a[0], p->a[1], p->radius, psfm_degrees(p->b[0]),
                           psfm_degrees(p->b[1])};
    cJSON *item = cJSON_CreateDoubleArray(p->radius > 0.0 ? arc : line, p->radius > 0.0 ? 5 : 4);
    if (item != NULL && cJSON_AddItemToArray(list, item))
        return true;
    cJSON_Delete(item);
    return false;
}

cJSON *psfm_court_results_to_json(const psfm_drawing *drawing, const psfm_court_results *results) {
    cJSON *root = cJSON_CreateObject();
    if (root == NULL)
        return NULL;
    bool ok = cJSON_AddStringToObject(root, "drawing", drawing->name) != NULL &&
              psfm_json_add_number(root, "accepted", (double)results->num_accepted);
    cJSON *parts = ok ? cJSON_AddArrayToObject(root, "parts") : NULL;
    ok = parts != NULL;
    for (size_t k = 0; ok && k < drawing->num_parts; ++k)
        ok = add_drawing_part(parts, &drawing->parts[k]);
    cJSON *list = ok ? cJSON_AddArrayToObject(root, "photographs") : NULL;
    ok = list != NULL;
    for (size_t k = 0; ok && k < results->num; ++k)
        ok = add_result(list, &results->items[k], drawing->num_parts);
    if (ok)
        return root;
    cJSON_Delete(root);
    return NULL;
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
