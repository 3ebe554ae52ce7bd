/* What a run would fail for at its end, found at its beginning. */
#include <stdlib.h>
#include <string.h>

#include "images/image/image_list.h"
#include "images/match/pair_select.h"
#include "sfm/stages.h"

static psfm_status check_weights(psfm_context *ctx, const psfm_weights_list *list,
                                 const psfm_network_file *file) {
    uint64_t fingerprint;
    char *path = NULL;
    psfm_status status = psfm_weights_find(ctx, list, file, &path, &fingerprint);
    free(path);
    return status;
}

/* Whether weights are there, and a matcher that fits the features. */
static psfm_status check_networks(psfm_context *ctx, const psfm_run_options *options) {
    psfm_feature_kind features = (psfm_feature_kind)options->folder.detector.kind;
    const psfm_network_file *file;
    psfm_matcher_kind kind;
    psfm_status status = psfm_matcher_resolve(
        ctx, features, (psfm_matcher_kind)options->match.matcher.kind, &kind, &file);
    if (status == PSFM_OK && features != PSFM_FEATURES_SIFT)
        status = check_weights(ctx, &options->folder.weights,
                               psfm_detector_get(features)->network->file);
    if (status == PSFM_OK && file != NULL)
        status = check_weights(ctx, &options->match.weights, file);
    return status;
}

/* A rule of pairs that is none, a file with a name that no photograph has. */
static psfm_status check_pairs(psfm_context *ctx, const char *folder, const char *list_path,
                               const char *rule) {
    bool by_names = rule != NULL && strncmp(rule, "file:", 5) == 0;
    psfm_image_list files = {0};
    psfm_pair_list pairs = {0};
    psfm_status status = by_names ? psfm_image_list_open(ctx, folder, list_path, &files) : PSFM_OK;
    if (status == PSFM_OK)
        status = psfm_pair_select(ctx, rule, (const char *const *)files.names,
                                  by_names ? files.num : 2, NULL, &pairs);
    psfm_pair_list_free(&pairs);
    psfm_image_list_free(&files);
    return status;
}

static psfm_status check_front_end(psfm_context *ctx, const psfm_sfm *s) {
    psfm_status status = check_networks(ctx, &s->asked);
    return status == PSFM_OK
               ? check_pairs(ctx, s->photo_folder, s->asked.folder.list_path, s->asked.match.pairs)
               : status;
}

/* A drawing needs photographs, and robust mode. */
static psfm_status open_drawing(psfm_context *ctx, psfm_sfm *s) {
    const psfm_settings *settings = &s->asked.settings;
    psfm_status status = psfm_settings_open_target(ctx, settings, &s->target);
    if (status == PSFM_OK && psfm_settings_have_drawing(settings) &&
        (s->photo_folder == NULL || settings->options.mode != PSFM_MODE_ROBUST))
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "a court or drawing needs the photographs (--images) and robust mode");
    return status;
}

psfm_status psfm_stage_check(psfm_context *ctx, psfm_sfm *s) {
    psfm_status status = psfm_reconstruct_options_check(ctx, &s->asked.settings.options);
    if (status == PSFM_OK && s->stage < PSFM_AT_MATCHES)
        status = check_front_end(ctx, s);
    if (status == PSFM_OK)
        status = open_drawing(ctx, s);
    if (status == PSFM_OK && s->out_folder != NULL)
        status = psfm_results_open(ctx, s->out_folder, &s->results);
    return status;
}
