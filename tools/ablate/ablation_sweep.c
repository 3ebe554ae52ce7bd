/* Readings of the paper's formulas. The paper leaves units, constants and some conventions open;
 * each row here changes one of them and leaves the others as they are read by default, the last
 * ones change several. docs/paper.md shows what they give. */
#include "ablate/ablation_sweep.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "sfm/registry.h"

const psfm_ablation_reading psfm_ablation_readings[] = {
    {"as read here", ""},
    {"Eq. 4: bandwidth 0.3 deg", "essential-weight.rotation-bandwidth-deg=0.3"},
    {"Eq. 4: bandwidth 5 deg", "essential-weight.rotation-bandwidth-deg=5"},
    {"Eq. 4: bandwidth 1 rad", "essential-weight.rotation-bandwidth-deg=57.29578"},
    {"Eq. 4: no floor", "essential-weight.floor=0"},
    {"Eq. 4: inlier power 0", "essential-weight.inlier-power=0"},
    {"Eq. 4: inlier power 1", "essential-weight.inlier-power=1"},
    {"Eq. 4: inlier power 4", "essential-weight.inlier-power=4"},
    {"Eq. 2: bandwidth 0.05 rad", "similarity.normal-bandwidth=0.05"},
    {"Eq. 2: bandwidth 0.3 rad", "similarity.normal-bandwidth=0.3"},
    {"Eq. 2: bandwidth 1 rad", "similarity.normal-bandwidth=1"},
    {"Eq. 2: S_ee = 0", "similarity.self=0"},
    {"Eq. 2: S_ee = 0.5", "similarity.self=0.5"},
    {"Eq. 2: S_ee = 4", "similarity.self=4"},
    {"Eq. 2: floor 0", "similarity.floor=0"},
    {"Eq. 2: floor 1e-3", "similarity.floor=1e-3"},
    {"Eq. 2: floor 1e-2", "similarity.floor=1e-2"},
    {"H and E helping each other", "twoview.independent=off"},
    {"radians throughout, S_ee = 1",
     "essential-weight.rotation-bandwidth-deg=57.29578 similarity.normal-bandwidth=1"},
    {"radians, S_ee = 0, nothing of ours",
     "essential-weight.rotation-bandwidth-deg=57.29578 essential-weight.floor=0 "
     "essential-weight.inlier-power=0 similarity.normal-bandwidth=1 similarity.self=0 "
     "similarity.floor=0"},
    {NULL, NULL},
};

/* Sets "name=value name=value ...". */
static psfm_status apply_settings(psfm_context *ctx, const char *settings,
                                  psfm_reconstruct_options *options) {
    char *text = NULL, *rest = NULL;
    psfm_status status = psfm_strdup(ctx, settings, &text);
    char *word = status == PSFM_OK ? strtok_r(text, " ", &rest) : NULL;
    for (; status == PSFM_OK && word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        status = value == NULL ? psfm_fail(ctx, PSFM_ERR_ARGUMENT, "option '%s' has no value", word)
                               : psfm_reconstruct_option_set(ctx, word, value, options);
    }
    free(text);
    return status;
}

psfm_status psfm_ablate_readings(psfm_context *ctx, const psfm_ablation_scene *scenes,
                                 size_t num_scenes, const psfm_reconstruct_options *options,
                                 int num_seeds, psfm_ablation *out, size_t *num) {
    psfm_status status = PSFM_OK;
    for (*num = 0; status == PSFM_OK && psfm_ablation_readings[*num].name != NULL; ++*num) {
        psfm_reconstruct_options changed = *options;
        status = apply_settings(ctx, psfm_ablation_readings[*num].settings, &changed);
        if (status == PSFM_OK)
            status = psfm_ablate(ctx, scenes, num_scenes, &changed, num_seeds, &out[*num]);
    }
    return status;
}

cJSON *psfm_ablation_readings_to_json(const psfm_ablation *ablations, size_t num) {
    cJSON *list = cJSON_CreateArray();
    bool ok = list != NULL;
    for (size_t k = 0; ok && k < num; ++k) {
        cJSON *entry = psfm_ablation_to_json(&ablations[k]);
        ok = entry != NULL && cJSON_AddItemToArray(list, entry);
        if (!ok) {
            cJSON_Delete(entry);
            break;
        }
        ok = cJSON_AddStringToObject(entry, "reading", psfm_ablation_readings[k].name) != NULL &&
             cJSON_AddStringToObject(entry, "settings", psfm_ablation_readings[k].settings) != NULL;
    }
    if (!ok) {
        cJSON_Delete(list);
        return NULL;
    }
    return list;
}
