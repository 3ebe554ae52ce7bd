/* The stages as calls of their own, from files to files. */
#include "planarsfm/stages.h"

#include <stddef.h>

#include "core/base/path.h"
#include "core/base/public_input.h"
#include "formats/export.h"
#include "formats/json.h"
#include "report/report.h"
#include "sfm/align_model.h"
#include "sfm/run.h"
#include "sfm/settings.h"
#include "sfm/summary_parts.h"
#include "world/model_source.h"

void psfm_text_free(char **text) {
    if (text == NULL)
        return;
    cJSON_free(*text);
    *text = NULL;
}

/* Prints the tree, which it frees. */
static psfm_status hand_out_facts(psfm_context *ctx, cJSON *tree, char **facts) {
    *facts = tree == NULL ? NULL : psfm_json_print(tree);
    cJSON_Delete(tree);
    return *facts != NULL ? PSFM_OK : psfm_fail_memory(ctx);
}

/* The settings, or the defaults if there are none. */
static const psfm_run_options *choose_options(const psfm_run_settings *settings,
                                              psfm_run_options *defaults) {
    psfm_run_options_init(PSFM_MODE_DEFAULT, defaults);
    return settings != NULL ? settings : defaults;
}

psfm_status psfm_extract_features(psfm_context *ctx, const char *folder, const char *database,
                                  const psfm_run_settings *settings, char **facts) {
    psfm_run_options defaults;
    psfm_extract_stats stats = {0};
    const psfm_run_options *options = choose_options(settings, &defaults);
    if (facts != NULL)
        *facts = NULL;
    psfm_status status = PSFM_REQUIRE(ctx, folder);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE(ctx, database);
    if (status == PSFM_OK)
        status = psfm_extract_folder(ctx, folder, database, &options->folder, &stats);
    if (status == PSFM_OK && facts != NULL)
        status = hand_out_facts(ctx, psfm_extract_stats_to_json(&stats), facts);
    psfm_extract_stats_free(&stats);
    psfm_run_options_free(&defaults);
    return status;
}

psfm_status psfm_match_features(psfm_context *ctx, const char *database,
                                const psfm_run_settings *settings, char **facts) {
    psfm_run_options defaults;
    psfm_match_stats stats;
    const psfm_run_options *options = choose_options(settings, &defaults);
    psfm_match_options match = options->match;
    match.two_view = options->settings.options.two_view;
    if (facts != NULL)
        *facts = NULL;
    psfm_status status = PSFM_REQUIRE(ctx, database);
    if (status == PSFM_OK)
        status = psfm_match_images(ctx, database, &match, &stats);
    if (status == PSFM_OK && facts != NULL)
        status = hand_out_facts(ctx, psfm_match_stats_to_json(&stats), facts);
    psfm_run_options_free(&defaults);
    return status;
}

/* What the pairs turned out to be. */
static cJSON *describe_verification(const psfm_sfm *s) {
    enum { PLANAR, ROTATIONS, ESSENTIAL, HOMOGRAPHIES, INLIERS, NUM };
    static const char *const names[NUM] = {"planar", "rotations", "essential", "homographies",
                                           "inliers"};
    double count[NUM] = {0};
    for (size_t p = 0; p < s->num_two_views; ++p) {
        const psfm_two_view *two_view = &s->two_views[p];
        count[PLANAR] += two_view->kind == PSFM_PAIR_OK;
        count[ROTATIONS] += two_view->kind == PSFM_PAIR_ROTATION;
        count[ESSENTIAL] += two_view->essential.found;
        count[HOMOGRAPHIES] += (double)two_view->num_homographies;
        count[INLIERS] += (double)psfm_two_view_explained(two_view);
    }
    cJSON *root = cJSON_CreateObject();
    bool ok = psfm_json_add_number(root, "pairs", (double)s->num_two_views);
    for (int k = 0; k < NUM; ++k)
        ok = ok && psfm_json_add_number(root, names[k], count[k]);
    if (ok)
        return root;
    cJSON_Delete(root);
    return NULL;
}

psfm_status psfm_verify_matches(psfm_context *ctx, const char *database,
                                const psfm_settings *settings, char **facts) {
    psfm_sfm s;
    if (facts != NULL)
        *facts = NULL;
    psfm_status status = PSFM_REQUIRE(ctx, database);
    if (status != PSFM_OK)
        return status;
    psfm_sfm_open(NULL, &s);
    if (settings != NULL)
        s.asked.settings = *settings;
    s.database = database;
    s.stage = PSFM_AT_MATCHES;
    status = psfm_sfm_verify(ctx, &s);
    if (status == PSFM_OK && facts != NULL)
        status = hand_out_facts(ctx, describe_verification(&s), facts);
    psfm_sfm_close(&s);
    return status;
}

psfm_status psfm_convert_model(psfm_context *ctx, const char *model, const char *format,
                               const char *out, const char *image_folder, const char *planes) {
    psfm_model_source source;
    psfm_status status = PSFM_REQUIRE(ctx, model);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE(ctx, out);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE(ctx, format);
    if (status != PSFM_OK)
        return status;
    const psfm_export_format *found = psfm_export_find(ctx, format);
    if (found == NULL)
        return PSFM_ERR_ARGUMENT;
    status = psfm_model_source_read(ctx, model, planes, &source);
    if (status == PSFM_OK) {
        if (image_folder == NULL && found->write == psfm_export_transforms)
            image_folder = "images";
        psfm_export_input in = {&source.model, source.has_geo ? &source.geo : NULL,
                                source.has_planes ? &source.planes : NULL, image_folder};
        status = psfm_export(ctx, found, &in, out);
    }
    psfm_model_source_free(&source);
    return status;
}

psfm_status psfm_make_report(psfm_context *ctx, const char *out, const char *photo_folder) {
    psfm_status status = PSFM_REQUIRE(ctx, out);
    if (status != PSFM_OK)
        return status;
    if (!psfm_path_is_folder(out))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: no such folder", out);
    if (photo_folder != NULL && !psfm_path_is_folder(photo_folder))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: no such folder of photographs", photo_folder);
    return psfm_report_write(ctx, out, photo_folder);
}

psfm_status psfm_align_model(psfm_context *ctx, const char *model,
                             const psfm_align_request *request, const char *out, char **facts) {
    psfm_alignment alignment;
    bool points;
    if (facts != NULL)
        *facts = NULL;
    psfm_align_request known = {.struct_size = sizeof known};
    psfm_status status = PSFM_REQUIRE(ctx, model);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE(ctx, out);
    if (status == PSFM_OK)
        status = PSFM_REQUIRE(ctx, request);
    if (status == PSFM_OK)
        status = psfm_take_input(ctx, request, &known, sizeof known);
    if (status != PSFM_OK)
        return status;
    status = psfm_align_and_tell(ctx, model, &known, out, &alignment, &points);
    if (status == PSFM_OK && facts != NULL)
        status = hand_out_facts(ctx, psfm_alignment_to_json(&alignment, points), facts);
    psfm_alignment_free(&alignment);
    return status;
}
