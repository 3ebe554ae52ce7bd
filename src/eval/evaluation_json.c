/* An evaluation as JSON. What is not finite becomes null. */
#include <stdio.h>

#include "base/json.h"
#include "base/number_locale.h"
#include "eval/evaluate.h"

/* {"0.5": ..., "1": ..., ...}: one entry per threshold in degrees. */
static bool add_auc(cJSON *object, const char *name, const double auc[PSFM_NUM_AUC]) {
    cJSON *entry = cJSON_AddObjectToObject(object, name);
    bool ok = entry != NULL;
    for (int k = 0; ok && k < PSFM_NUM_AUC; ++k) {
        char threshold[32];
        locale_t before = psfm_number_locale_begin();
        (void)snprintf(threshold, sizeof threshold, "%g", psfm_auc_thresholds_deg[k]);
        psfm_number_locale_end(before);
        ok = psfm_json_add_number(entry, threshold, auc[k]);
    }
    return ok;
}

static bool add_fit(cJSON *object, const psfm_track_fit *fit) {
    cJSON *entry = cJSON_AddObjectToObject(object, "track_fit");
    return entry != NULL &&
           psfm_json_add_number(entry, "num_observations", (double)fit->num_observations) &&
           psfm_json_add_number(entry, "estimate_px", fit->estimate_px) &&
           psfm_json_add_number(entry, "truth_px", fit->truth_px);
}

cJSON *psfm_evaluation_to_json(const psfm_evaluation *evaluation, const psfm_track_fit *fit) {
    const psfm_evaluation *e = evaluation;
    cJSON *json = cJSON_CreateObject();
    bool ok =
        json != NULL && psfm_json_add_number(json, "num_images", (double)e->num_images) &&
        psfm_json_add_number(json, "num_registered", (double)e->num_registered) &&
        psfm_json_add_number(json, "num_components", (double)e->num_components) &&
        psfm_json_add_number(json, "num_pairs", (double)e->num_pairs) &&
        psfm_json_add_number(json, "pair_step", (double)e->pair_step) &&
        add_auc(json, "auc_rotation", e->auc_rotation) &&
        add_auc(json, "auc_translation", e->auc_translation) &&
        add_auc(json, "auc_max", e->auc_max) &&
        add_auc(json, "recall_rotation", e->recall_rotation) &&
        add_auc(json, "recall_max", e->recall_max) &&
        psfm_json_add_number(json, "median_rotation_deg", e->median_rotation_deg) &&
        psfm_json_add_number(json, "median_translation_deg", e->median_translation_deg) &&
        psfm_json_add_number(json, "position_median", e->position_median) &&
        psfm_json_add_number(json, "position_p90", e->position_p90) &&
        psfm_json_add_number(json, "position_max", e->position_max) &&
        psfm_json_add_number(json, "scene_extent", e->scene_extent) &&
        psfm_json_add_number(json, "position_median_share", e->position_median / e->scene_extent) &&
        psfm_json_add_number(json, "position_p90_share", e->position_p90 / e->scene_extent) &&
        psfm_json_add_number(json, "position_max_share", e->position_max / e->scene_extent) &&
        (fit == NULL || add_fit(json, fit));
    if (!ok) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}
