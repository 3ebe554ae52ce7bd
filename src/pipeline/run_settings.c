/* Options of a run by name: those of extraction and matching here, all others are those of a
 * reconstruction. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pipeline/run.h"
#include "planarsfm/run.h"

enum { CAMERAS, CAMERA, MASKS, LIST, PAIRS, NUM_TEXTS, MOST_WEIGHTS = 16 };

/* Owns its texts. */
struct psfm_run_settings {
    psfm_run_options options;
    char *texts[NUM_TEXTS];
    char *weights[MOST_WEIGHTS];
    size_t num_weights;
};

/* Tables of options with their places in the settings; those with a prefix of "" have bare names.
 */
static const psfm_option_group groups[] = {
    {&psfm_feature_option_table, offsetof(psfm_run_options, folder.detector)},
    {&psfm_superpoint_option_table, offsetof(psfm_run_options, folder.detector.superpoint)},
    {&psfm_xfeat_option_table, offsetof(psfm_run_options, folder.detector.xfeat)},
    {&psfm_edgepoint2_option_table, offsetof(psfm_run_options, folder.detector.edgepoint2)},
    {&psfm_matcher_option_table, offsetof(psfm_run_options, match.matcher)},
    {&psfm_nearest_float_option_table, offsetof(psfm_run_options, match.matcher.nearest)},
    {&psfm_superglue_option_table, offsetof(psfm_run_options, match.matcher.superglue)},
    {&psfm_lightglue_option_table, offsetof(psfm_run_options, match.matcher.lightglue)},
    {&psfm_extract_option_table, offsetof(psfm_run_options, folder.extract)},
    {&psfm_sift_option_table, offsetof(psfm_run_options, folder.sift)},
    {&psfm_expand_option_table, offsetof(psfm_run_options, match.expand)},
    {&psfm_nearest_option_table, offsetof(psfm_run_options, match.nearest)},
    {&psfm_guided_option_table, offsetof(psfm_run_options, match.guided)},
};

static void init_options(psfm_run_options *options) {
    psfm_options_init(&psfm_extract_option_table, &options->folder.extract);
    psfm_options_init(&psfm_sift_option_table, &options->folder.sift);
    psfm_options_init(&psfm_expand_option_table, &options->match.expand);
    psfm_options_init(&psfm_nearest_option_table, &options->match.nearest);
    psfm_options_init(&psfm_guided_option_table, &options->match.guided);
    psfm_detector_options_init(&options->folder.detector);
    psfm_matcher_options_init(&options->match.matcher);
    psfm_reconstruct_options_init(PSFM_MODE_DEFAULT, &options->settings.options);
}

psfm_run_settings *psfm_run_settings_create(void) {
    psfm_run_settings *settings = calloc(1, sizeof *settings);
    if (settings != NULL)
        init_options(&settings->options);
    return settings;
}

void psfm_run_settings_destroy(psfm_run_settings **settings) {
    if (settings == NULL || *settings == NULL)
        return;
    psfm_settings_clear(&(*settings)->options.settings);
    for (int k = 0; k < NUM_TEXTS; ++k)
        free((*settings)->texts[k]);
    for (size_t k = 0; k < (*settings)->num_weights; ++k)
        free((*settings)->weights[k]);
    free(*settings);
    *settings = NULL;
}

static psfm_status set_text(psfm_context *ctx, psfm_run_settings *settings, int which,
                            const char *value) {
    char *copy = NULL;
    psfm_status status = psfm_strdup(ctx, value, &copy);
    if (status != PSFM_OK)
        return status;
    free(settings->texts[which]);
    settings->texts[which] = copy;
    return PSFM_OK;
}

static psfm_status add_weights(psfm_context *ctx, psfm_run_settings *settings, const char *path) {
    if (settings->num_weights == MOST_WEIGHTS)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "weights: more than %d files", MOST_WEIGHTS);
    psfm_status status = psfm_strdup(ctx, path, &settings->weights[settings->num_weights]);
    settings->num_weights += status == PSFM_OK;
    return status;
}

static psfm_status set_switch(psfm_context *ctx, const char *name, const char *value, bool *out) {
    *out = strcmp(value, "on") == 0;
    if (*out || strcmp(value, "off") == 0)
        return PSFM_OK;
    return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s: '%s' is not allowed (on | off)", name, value);
}

static psfm_status set_sharing(psfm_context *ctx, psfm_run_settings *settings, const char *value) {
    if (psfm_camera_sharing_from_name(value, &settings->options.folder.intrinsics.sharing))
        return PSFM_OK;
    return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "share-cameras: '%s' is not allowed (%s)", value,
                     PSFM_SHARE_CHOICES);
}

/* The row of the tables with this name; NULL if there is none. */
static const psfm_option *find(const char *name, const psfm_option_group **group) {
    for (size_t k = 0; k < sizeof groups / sizeof *groups; ++k) {
        const psfm_option_table *table = groups[k].table;
        size_t length = strlen(table->prefix);
        bool fits =
            length == 0 || (strncmp(name, table->prefix, length) == 0 && name[length] == '.');
        const psfm_option *row =
            fits ? psfm_options_find(table, name + length + (length > 0)) : NULL;
        *group = &groups[k];
        if (row != NULL)
            return row;
    }
    return NULL;
}

psfm_status psfm_run_settings_set(psfm_context *ctx, psfm_run_settings *settings, const char *name,
                                  const char *value) {
    static const char *const texts[NUM_TEXTS] = {"cameras", "camera", "masks", "images-list",
                                                 "pairs"};
    const psfm_option_group *group;
    for (int k = 0; k < NUM_TEXTS; ++k)
        if (strcmp(name, texts[k]) == 0)
            return set_text(ctx, settings, k, value);
    if (strcmp(name, "weights") == 0)
        return add_weights(ctx, settings, value);
    if (strcmp(name, "share-cameras") == 0)
        return set_sharing(ctx, settings, value);
    if (strcmp(name, "replace") == 0)
        return set_switch(ctx, name, value, &settings->options.folder.replace);
    if (strcmp(name, "opencv-pixels") == 0)
        return set_switch(ctx, name, value, &settings->options.folder.intrinsics.opencv_pixels);
    const psfm_option *row = find(name, &group);
    if (row != NULL)
        return psfm_option_set(ctx, group->table, row, value,
                               (char *)&settings->options + group->offset);
    return psfm_settings_set(ctx, &settings->options.settings, name, value);
}

/* The options with what the settings own put in its places. */
static psfm_run_options complete(const psfm_run_settings *settings) {
    psfm_run_options options = settings->options;
    options.folder.intrinsics.cameras_path = settings->texts[CAMERAS];
    options.folder.intrinsics.camera_text = settings->texts[CAMERA];
    options.folder.mask_folder = settings->texts[MASKS];
    options.folder.list_path = settings->texts[LIST];
    options.match.pairs = settings->texts[PAIRS];
    options.folder.weights = options.match.weights =
        (psfm_weights_list){(const char *const *)settings->weights, settings->num_weights};
    return options;
}

psfm_status psfm_run_photographs(psfm_context *ctx, const char *folder,
                                 const psfm_run_settings *settings, const char *out_folder) {
    psfm_run_settings defaults = {0};
    if (settings == NULL)
        init_options(&defaults.options);
    psfm_run_options options = complete(settings == NULL ? &defaults : settings);
    return psfm_run(ctx, folder, out_folder, &options, NULL);
}
