/* From photographs to results: extraction, matching and reconstruction, one after the other,
 * through one database. What matching will need (weights, a matcher that fits the features, a rule
 * of pairs) is checked before the extraction starts. */
#include "pipeline/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/path.h"
#include "image/image_list.h"
#include "match/pair_select.h"
#include "pipeline/reconstruct_database.h"
#include "refine/patch_worth.h"

#define UNKNOWN_PX 0.5 /* noise of keypoints that could not be measured */

static void add_number(cJSON *object, const char *name, double value, bool *ok) {
    *ok = cJSON_AddNumberToObject(object, name, value) != NULL && *ok;
}

static void add_text(cJSON *object, const char *name, const char *value, bool *ok) {
    *ok = cJSON_AddStringToObject(object, name, value) != NULL && *ok;
}

static cJSON *checked(cJSON *object, bool ok) {
    if (ok)
        return object;
    cJSON_Delete(object);
    return NULL;
}

cJSON *psfm_extract_stats_to_json(const psfm_extract_stats *stats) {
    bool ok = true;
    cJSON *object = cJSON_CreateObject();
    add_number(object, "images", (double)stats->num_images, &ok);
    add_number(object, "extracted", (double)stats->num_extracted, &ok);
    add_number(object, "unchanged", (double)stats->num_unchanged, &ok);
    add_number(object, "removed", (double)stats->num_removed, &ok);
    add_number(object, "features", (double)stats->num_features, &ok);
    add_text(object, "kind", stats->features, &ok);
    add_number(object, "other_files", (double)stats->num_other_files, &ok);
    add_text(object, "intrinsics", stats->intrinsics, &ok);
    cJSON *unused = cJSON_AddArrayToObject(object, "left_out");
    for (size_t k = 0; unused != NULL && k < stats->num_unused; ++k) {
        cJSON *entry = cJSON_CreateObject();
        add_text(entry, "name", stats->unused[k].name, &ok);
        add_text(entry, "reason", stats->unused[k].reason, &ok);
        ok = cJSON_AddItemToArray(unused, entry) && ok;
    }
    return checked(object, ok && unused != NULL);
}

cJSON *psfm_match_stats_to_json(const psfm_match_stats *stats) {
    bool ok = true;
    cJSON *object = cJSON_CreateObject();
    add_text(object, "pairs_rule", stats->rule, &ok);
    add_text(object, "matcher", stats->matcher, &ok);
    add_number(object, "pairs", (double)stats->num_pairs, &ok);
    add_number(object, "added_pairs", (double)stats->num_added, &ok);
    add_number(object, "matched", (double)stats->num_matched, &ok);
    add_number(object, "kept", (double)stats->num_kept, &ok);
    add_number(object, "vain", (double)stats->num_vain, &ok);
    add_number(object, "removed_pairs", (double)stats->num_dropped, &ok);
    add_number(object, "matches", (double)stats->num_matches, &ok);
    add_number(object, "guided", (double)stats->num_guided, &ok);
    return checked(object, ok);
}

/* Adds an item that may be NULL because memory was out. */
static psfm_status attach(psfm_context *ctx, cJSON *object, const char *name, cJSON *item) {
    if (item != NULL && cJSON_AddItemToObject(object, name, item))
        return PSFM_OK;
    cJSON_Delete(item);
    return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
}

/* What was spent: the effort of all photographs, and the names of those that were given more. */
static bool add_effort(cJSON *facts, const psfm_taken_photos *taken) {
    cJSON *raised = cJSON_AddObjectToObject(facts, "raised");
    bool ok = cJSON_AddStringToObject(facts, "effort", psfm_effort_name(taken->effort)) != NULL;
    for (int level = PSFM_EFFORT_NORMAL; level <= PSFM_EFFORT_HIGH; ++level) {
        cJSON *names = cJSON_AddArrayToObject(raised, psfm_effort_name((psfm_effort)level));
        for (size_t k = 0; names != NULL && k < taken->raised.num; ++k)
            if (taken->raised.photos[k].effort == (psfm_effort)level)
                ok =
                    cJSON_AddItemToArray(names, cJSON_CreateString(taken->raised.photos[k].name)) &&
                    ok;
        ok = ok && names != NULL;
    }
    return ok;
}

/* The front end of one run. */
typedef struct {
    psfm_front_end front;
    psfm_folder_options extract;
    psfm_photos_to_take what;
    psfm_taken_photos taken;
    double noise_px; /* of keypoints, as given; 0: as measured */
} intake;

/* Puts what extraction and matching came to into the facts, in place of what was there. */
static psfm_status tell(psfm_context *ctx, intake *in) {
    cJSON *facts = psfm_extract_stats_to_json(&in->taken.extracted);
    cJSON_DeleteItemFromObject(in->front.facts, "photographs");
    cJSON_DeleteItemFromObject(in->front.facts, "matching");
    if (facts != NULL && (cJSON_AddStringToObject(facts, "folder", in->what.folder) == NULL ||
                          !add_effort(facts, &in->taken))) {
        cJSON_Delete(facts);
        facts = NULL;
    }
    psfm_status status = attach(ctx, in->front.facts, "photographs", facts);
    return status == PSFM_OK ? attach(ctx, in->front.facts, "matching",
                                      psfm_match_stats_to_json(&in->taken.matched))
                             : status;
}

/* Whether there are photographs that neither matches nor patches hold well. */
static psfm_status judge(psfm_context *ctx, void *user, const psfm_evidence *evidence, bool *more) {
    intake *in = user;
    const psfm_match_set *set = evidence->set;
    const double measured = evidence->noise.sigma_px > 0.0 ? evidence->noise.sigma_px : UNKNOWN_PX;
    psfm_pair_patches *patches = NULL;
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs, &patches);
    *more = false;
    for (size_t p = 0; status == PSFM_OK && p < set->num_pairs; ++p) {
        const psfm_match_pair *pair = &set->pairs[p];
        const uint32_t id1 = set->views[pair->view1].id, id2 = set->views[pair->view2].id;
        patches[p] = (psfm_pair_patches){
            id1 < id2 ? id1 : id2, id1 < id2 ? id2 : id1,
            psfm_patch_worth(set, pair, in->noise_px > 0.0 ? in->noise_px : measured)};
    }
    if (status == PSFM_OK)
        status = psfm_take_judge(ctx, &in->what, patches, set->num_pairs, &in->taken, more);
    free(patches);
    return status;
}

/* Whether there are photographs that can be given more where the result is doubtful. */
static psfm_status doubt(psfm_context *ctx, void *user, bool *more) {
    intake *in = user;
    return psfm_take_doubt(ctx, &in->what, &in->taken, more);
}

static psfm_status take_more(psfm_context *ctx, void *user, psfm_timings *timings) {
    intake *in = user;
    psfm_status status = psfm_take_more(ctx, &in->what, timings, &in->taken);
    return status == PSFM_OK ? tell(ctx, in) : status;
}

/* A number of what the alignment of planes depends on beside the matches; 0 if there will be none,
 * or if it would come after more than verification, which would be done twice: cameras that have
 * to be calibrated, a drawing that is sought. */
static psfm_status find_patches_key(psfm_context *ctx, const psfm_run_options *options,
                                    uint64_t *key) {
    const psfm_reconstruct_options *later = &options->settings.options;
    const psfm_intrinsics_options *cameras = &options->folder.intrinsics;
    *key = 0;
    if ((cameras->cameras_path == NULL && cameras->camera_text == NULL) ||
        psfm_settings_have_drawing(&options->settings))
        return PSFM_OK;
    *key = PSFM_HASH_START;
    psfm_status status =
        psfm_options_hash(ctx, &psfm_pair_plane_option_table, &later->photo.planes, key);
    if (status == PSFM_OK)
        status = psfm_options_hash(ctx, &psfm_patch_option_table, &later->photo.patch, key);
    if (status == PSFM_OK)
        status = psfm_options_hash(ctx, &psfm_two_view_option_table, &later->two_view, key);
    if (status == PSFM_OK)
        status = psfm_options_hash(ctx, &psfm_noise_option_table, &later->noise, key);
    *key |= 1;
    return status;
}

/* Extraction and matching, and what they tell about themselves. */
static psfm_status take(psfm_context *ctx, const char *folder, const char *database,
                        const psfm_run_options *options, intake *in) {
    const psfm_reconstruct_options *later = &options->settings.options;
    in->extract = options->folder;
    in->noise_px = later->noise.px;
    if (in->extract.effort.level == PSFM_EFFORT_AUTO &&
        (later->mode != PSFM_MODE_ROBUST || !later->photo.control.refine_matches))
        in->extract.effort.level = PSFM_EFFORT_HIGH; /* places are as exact as the features are */
    in->what = (psfm_photos_to_take){folder, database, &in->extract, &options->match, 0};
    psfm_status status = find_patches_key(ctx, options, &in->what.patches_key);
    if (status == PSFM_OK)
        status = psfm_take_photos(ctx, &in->what, &in->front.timings, &in->taken);
    if (status == PSFM_OK)
        status = tell(ctx, in);
    if (in->taken.state == PSFM_TAKEN_TO_ALIGN)
        in->front.judge = judge;
    if (in->taken.state != PSFM_TAKEN_ALL)
        in->front.doubt = doubt;
    in->front.take_more = take_more;
    in->front.user = in;
    return status;
}

static psfm_status check_file(psfm_context *ctx, const psfm_weights_list *list,
                              const psfm_network_file *file) {
    uint64_t fingerprint;
    char *path = NULL;
    psfm_status status = psfm_weights_find(ctx, list, file, &path, &fingerprint);
    free(path);
    return status;
}

/* What matching will need is missed now rather than after the extraction. */
static psfm_status check_networks(psfm_context *ctx, const psfm_run_options *options) {
    psfm_feature_kind features = (psfm_feature_kind)options->folder.detector.kind;
    const psfm_network_file *file;
    psfm_matcher_kind kind;
    psfm_status status = psfm_matcher_resolve(
        ctx, features, (psfm_matcher_kind)options->match.matcher.kind, &kind, &file);
    if (status == PSFM_OK && features != PSFM_FEATURES_SIFT)
        status = check_file(ctx, &options->folder.weights, psfm_detector_file(features));
    if (status == PSFM_OK && file != NULL)
        status = check_file(ctx, &options->match.weights, file);
    return status;
}

/* The same for the pairs: a rule that is none, a file with a name that no photograph has. */
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

psfm_status psfm_run(psfm_context *ctx, const char *folder, const char *out_folder,
                     const psfm_run_options *options, cJSON **summary) {
    psfm_results results = {0};
    intake in = {.front = {.facts = cJSON_CreateObject(), .results = &results}};
    psfm_settings settings = options->settings;
    char *database = NULL;
    settings.photo_folder = (char *)folder;
    psfm_status status = in.front.facts == NULL ? psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory")
                                                : check_networks(ctx, options);
    if (status == PSFM_OK)
        status = check_pairs(ctx, folder, options->folder.list_path, options->match.pairs);
    if (status == PSFM_OK)
        status = psfm_settings_check_drawing(ctx, &settings);
    if (status == PSFM_OK)
        status = psfm_results_open(ctx, out_folder, &results);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, out_folder, "database.db", &database);
    if (status == PSFM_OK)
        status = take(ctx, folder, database, options, &in);
    if (status == PSFM_OK)
        status = psfm_reconstruct_database_from(ctx, database, &settings, &in.front, out_folder,
                                                summary);
    else if (summary != NULL)
        *summary = NULL;
    psfm_results_close(&results);
    psfm_taken_photos_free(&in.taken);
    cJSON_Delete(in.front.facts);
    free(database);
    return status;
}
