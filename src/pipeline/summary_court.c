/* The drawing goes into the summary as each photograph sees it, part by part, so that a page can
 * lay it over the photographs without knowing of lenses. */
#include "pipeline/summary_court.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "io/drawing_json.h"
#include "linalg/mat3.h"

#define PIECES 40       /* of a part as long as the drawing is large */
#define FOUND 0.5       /* share of a part's pixels that lines confirm */
#define MOST_POINTS 256 /* of a stroke */

/* A photograph of the drawing. */
typedef struct {
    const psfm_drawing *drawing;
    const psfm_court_pose *lines; /* what its lines say */
    const psfm_camera *camera;
    double R[9], center[3];
} photograph;

static bool project(const photograph *p, const double at[2], double xy[2]) {
    double X[3] = {at[0] - p->center[0], at[1] - p->center[1], -p->center[2]}, q[3];
    psfm_mat3_mul_vec(p->R, X, q);
    return q[2] > 0.0 && psfm_camera_project(p->camera, q, xy) && xy[0] >= 0.0 && xy[1] >= 0.0 &&
           xy[0] <= (double)p->camera->width && xy[1] <= (double)p->camera->height;
}

static bool add_stroke(cJSON *list, const double *xy, int num, bool found) {
    cJSON *stroke = cJSON_CreateObject();
    cJSON *points = stroke == NULL ? NULL : cJSON_CreateDoubleArray(xy, 2 * num);
    if (points == NULL || !cJSON_AddItemToArray(list, stroke)) {
        cJSON_Delete(stroke);
        cJSON_Delete(points);
        return false;
    }
    return psfm_json_add_item(stroke, "xy", points) &&
           cJSON_AddBoolToObject(stroke, "found", found) != NULL;
}

/* The pieces of a part that are in the photograph, each one stroke. */
static bool add_part(cJSON *list, const photograph *p, size_t k) {
    const psfm_drawing_part *part = &p->drawing->parts[k];
    double share = psfm_drawing_part_length(part) / psfm_drawing_size(p->drawing);
    int pieces = (int)fmin(ceil(PIECES * share), MOST_POINTS - 1), num = 0;
    double visible = p->lines->part_visible[k], xy[2 * MOST_POINTS];
    bool found = visible > 0.0 && p->lines->part_hit[k] >= FOUND * visible, ok = true;
    for (int i = 0; ok && i <= pieces; ++i) {
        double at[2], pixel[2];
        psfm_drawing_part_at(part, (double)i / pieces, at);
        bool seen = project(p, at, pixel);
        if (seen) {
            xy[2 * num] = 0.1 * round(10.0 * pixel[0]);
            xy[2 * num++ + 1] = 0.1 * round(10.0 * pixel[1]);
        }
        if (num > 1 && (!seen || i == pieces))
            ok = add_stroke(list, xy, num, found);
        num = seen ? num : 0;
    }
    return ok;
}

static bool add_lines(cJSON *item, const photograph *p) {
    const psfm_court_pose *pose = p->lines;
    cJSON *strokes = cJSON_AddArrayToObject(item, "drawing");
    bool ok = strokes != NULL && psfm_json_add_number(item, "score", pose->score) &&
              psfm_json_add_number(item, "runner_up", pose->runner_up) &&
              psfm_json_add_number(item, "lines", pose->num_lines) &&
              psfm_json_add_number(item, "confirmed", pose->hit) &&
              psfm_json_add_number(item, "rms_px", pose->rms_px) &&
              psfm_json_add_number(item, "width", (double)p->camera->width) &&
              psfm_json_add_number(item, "height", (double)p->camera->height);
    for (size_t k = 0; ok && k < p->drawing->num_parts; ++k)
        ok = add_part(strokes, p, k);
    return ok;
}

static bool add_photograph(cJSON *list, const psfm_evidence *evidence,
                           const psfm_reconstruction *found, uint32_t v) {
    const psfm_court_evidence *court = evidence->court;
    const psfm_view *view = &evidence->set->views[v];
    const psfm_poses *poses = &found->solution.poses;
    photograph p = {.drawing = court->drawing, .lines = &court->poses[v]};
    bool held = court->agrees[v] && psfm_has_pose(poses, v);
    p.camera = held ? &evidence->set->cameras[view->camera_idx] : &court->poses[v].camera;
    memcpy(p.R, held ? poses->cam_from_world[v] : court->poses[v].R, sizeof p.R);
    memcpy(p.center, held ? poses->center[v] : court->poses[v].center, sizeof p.center);
    cJSON *item = cJSON_CreateObject();
    if (item == NULL || !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        return false;
    }
    bool ok = cJSON_AddStringToObject(item, "name", view->name) != NULL &&
              cJSON_AddStringToObject(item, "registration",
                                      psfm_court_verdict_text(p.lines->verdict)) != NULL &&
              cJSON_AddBoolToObject(item, "in_model", held) != NULL;
    if (ok && held)
        ok = psfm_json_add_number(item, "turn_deg", 90.0 * court->quarters[v]);
    return ok && (!psfm_court_has_pose(court, v) || add_lines(item, &p));
}

static bool add_pair(cJSON *object, const char *name, const double values[2]) {
    return psfm_json_add_item(object, name, cJSON_CreateDoubleArray(values, 2));
}

/* The model in the frame of the drawing, if there is one, and the drawing on its z = 0. */
static bool add_model(cJSON *object, const psfm_court_evidence *court, const psfm_poses *poses) {
    for (uint32_t v = 0; v < court->num_views; ++v)
        if (court->agrees[v] && psfm_has_pose(poses, v))
            return psfm_json_add_number(object, "model", poses->component[v]) &&
                   psfm_drawing_add_strokes(object, court->drawing);
    return true;
}

static bool add_sizes(cJSON *object, const psfm_court_evidence *court) {
    return add_pair(object, "expected_size", court->expected_size) &&
           add_pair(object, "size", court->drawing->size) &&
           add_pair(object, "sigma_size", court->sigma_size);
}

bool psfm_summary_add_court(cJSON *root, const psfm_evidence *evidence,
                            const psfm_reconstruction *found) {
    const psfm_court_evidence *court = evidence->court;
    uint32_t registered = 0, held = 0;
    if (court == NULL)
        return true;
    for (uint32_t v = 0; v < court->num_views; ++v) {
        registered += psfm_court_accepts(court, v);
        held += court->agrees[v] && psfm_has_pose(&found->solution.poses, v);
    }
    cJSON *object = cJSON_AddObjectToObject(root, "court");
    bool ok = object != NULL &&
              cJSON_AddStringToObject(object, "drawing", court->drawing->name) != NULL &&
              psfm_json_add_number(object, "registered", registered) &&
              psfm_json_add_number(object, "in_model", held) && add_sizes(object, court) &&
              add_model(object, court, &found->solution.poses);
    cJSON *list = ok ? cJSON_AddArrayToObject(object, "photographs") : NULL;
    ok = list != NULL;
    for (uint32_t v = 0; ok && v < court->num_views; ++v)
        ok = add_photograph(list, evidence, found, v);
    psfm_json_sort(list, "name", NULL);
    return ok;
}
