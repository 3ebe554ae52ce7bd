/* Intrinsics as they came and as they left, one object per camera. */
#include "pipeline/summary_cameras.h"

#include <math.h>

#include "base/json.h"
#include "camera/camera_model.h"
#include "camera/camera_origin.h"

/* Standard deviation of the logarithm of a focal length that is known. In photographs those of an
 * adjustment are too small by a factor of up to five (refine/choose_lens.c), and planes have to
 * know it to 0.02. */
#define SURE 0.005

/* One value of a camera that may have two, for a reader who wants to know how long the lens is. */
static double mean_focal(const psfm_camera *camera) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    return sqrt(camera->params[info->focal[0]] * camera->params[info->focal[1]]);
}

/* Standard deviation of the logarithm of a focal length: after the adjustment if it moved there. */
static double focal_sigma(const double *sigma, const psfm_camera *after, double before) {
    int focal = psfm_camera_model_get(after->model)->focal[0];
    double moved = sigma == NULL ? NAN : sigma[focal];
    return isfinite(moved) ? moved / after->params[focal] : before;
}

/* Where the value at the end is from: an adjustment that made a doubtful one sure is its source. */
static psfm_focal_source final_source(const psfm_camera_origin *origin, const psfm_camera *after,
                                      const double *sigma) {
    bool is_sure = focal_sigma(sigma, after, INFINITY) < SURE;
    return psfm_focal_is_doubtful(origin->source) && is_sure ? PSFM_FOCAL_POINTS : origin->source;
}

/* Numbers as a list; null for those that are not known. */
static bool add_list(cJSON *item, const char *name, const double *values, int num) {
    cJSON *list = cJSON_AddArrayToObject(item, name);
    bool ok = list != NULL;
    for (int k = 0; ok && k < num; ++k) {
        cJSON *value = isfinite(values[k]) ? cJSON_CreateNumber(values[k]) : cJSON_CreateNull();
        ok = value != NULL && cJSON_AddItemToArray(list, value);
        if (!ok)
            cJSON_Delete(value);
    }
    return ok;
}

static bool add_camera(cJSON *item, const psfm_camera *after, const psfm_camera_origin *origin,
                       const double *sigma) {
    int num = psfm_camera_num_params(after->model);
    bool ok = psfm_json_add_number(item, "id", after->id) &&
              cJSON_AddStringToObject(item, "model", psfm_camera_model_name(after->model)) &&
              cJSON_AddStringToObject(item, "source",
                                      psfm_focal_source_name(final_source(origin, after, sigma))) &&
              psfm_json_add_number(item, "focal_px_before", mean_focal(&origin->before)) &&
              psfm_json_add_number(item, "focal_px", mean_focal(after)) &&
              psfm_json_add_number(item, "focal_sigma", focal_sigma(sigma, after, origin->sigma)) &&
              add_list(item, "params", after->params, num);
    if (ok && origin->before.model == after->model)
        ok = add_list(item, "params_before", origin->before.params, num);
    return ok && (sigma == NULL || add_list(item, "params_sigma", sigma, num));
}

bool psfm_summary_add_cameras(cJSON *root, const psfm_match_set *set,
                              const psfm_reconstruction *found) {
    const psfm_refined *refined = &found->refined;
    cJSON *list = cJSON_AddArrayToObject(root, "cameras");
    bool ok = list != NULL;
    for (size_t c = 0; ok && c < set->num_cameras; ++c) {
        cJSON *item = cJSON_CreateObject();
        psfm_camera_origin origin = {.before = set->cameras[c]};
        if (set->origins != NULL)
            origin = set->origins[c];
        ok = item != NULL && cJSON_AddItemToArray(list, item);
        if (ok)
            ok = add_camera(
                item, refined->cameras == NULL ? &set->cameras[c] : &refined->cameras[c], &origin,
                refined->camera_sigma == NULL ? NULL : refined->camera_sigma[c]);
        else
            cJSON_Delete(item);
    }
    psfm_json_sort(list, "id", NULL);
    return ok;
}
