/* A reconstruction from a database to a folder of results.
 *
 * Verification does not depend on the options of later stages. So its results are kept in the
 * database under a key that is a hash of everything they depend on, and taken from there the next
 * time. All results are made in a folder of their own and replace those of an earlier run together.
 * A database or a report that cannot be written costs a warning, not the poses. */
#include "pipeline/reconstruct_database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/path.h"
#include "intake/photo_changes.h"
#include "io/colmap_database.h"
#include "io/planes_file.h"
#include "pipeline/graph_record.h"
#include "pipeline/reconstruct.h"
#include "pipeline/settings.h"
#include "pipeline/summary.h"
#include "planarsfm/version.h"
#include "report/report.h"
#include "world/color_points.h"

#define KEY_SIZE 64

/* A text that changes when anything does that the verification depends on: matches, keypoints,
 * cameras, its options, the seed, the version. */
static psfm_status verification_key(psfm_context *ctx, const psfm_match_set *set,
                                    const psfm_two_view_options *options, char key[KEY_SIZE]) {
    cJSON *json = psfm_options_to_json(&psfm_two_view_option_table, options);
    char *text = psfm_json_print_line(json);
    cJSON_Delete(json);
    if (text == NULL)
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    uint64_t seed = psfm_context_seed(ctx);
    uint64_t hash = psfm_hash(PSFM_HASH_START, text, strlen(text));
    cJSON_free(text);
    hash = psfm_hash(hash, PSFM_VERSION, sizeof PSFM_VERSION);
    hash = psfm_hash(hash, &seed, sizeof seed);
    for (size_t c = 0; c < set->num_cameras; ++c) {
        const psfm_camera *camera = &set->cameras[c];
        hash = psfm_hash(hash, &camera->model, sizeof camera->model);
        hash = psfm_hash(hash, camera->params, sizeof camera->params);
        hash = psfm_hash(hash, &camera->width, sizeof camera->width);
        hash = psfm_hash(hash, &camera->height, sizeof camera->height);
    }
    for (size_t v = 0; v < set->num_views; ++v) {
        const psfm_view *view = &set->views[v];
        hash = psfm_hash(hash, &view->camera_idx, sizeof view->camera_idx);
        hash = psfm_hash(hash, view->keypoints, view->num_keypoints * sizeof *view->keypoints);
    }
    for (size_t p = 0; p < set->num_pairs; ++p) {
        const psfm_match_pair *pair = &set->pairs[p];
        hash = psfm_hash(hash, &pair->view1, sizeof pair->view1);
        hash = psfm_hash(hash, &pair->view2, sizeof pair->view2);
        hash = psfm_hash(hash, pair->matches, pair->num_matches * sizeof *pair->matches);
    }
    snprintf(key, KEY_SIZE, "%016llx", (unsigned long long)hash);
    return PSFM_OK;
}

/* Takes the homographies of an earlier run from the database if they belong to this key. */
static psfm_status load_two_views(psfm_context *ctx, const char *database, const char *key,
                                  psfm_evidence *evidence) {
    bool found = false;
    psfm_two_view *two_views = NULL;
    const psfm_match_set *set = evidence->set;
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs, &two_views);
    if (status == PSFM_OK)
        status = psfm_database_read_two_views(ctx, database, set, key, two_views, &found);
    if (status == PSFM_OK && found) {
        evidence->two_views = two_views;
        evidence->num_pairs = set->num_pairs;
        psfm_log(ctx, PSFM_LOG_INFO, "verification: taken from %s", database);
        return PSFM_OK;
    }
    free(two_views);
    return status;
}

/* Keeps the homographies for the next run. A database that cannot be written is no reason to
 * fail: the poses do not depend on it. */
static void keep_two_views(psfm_context *ctx, const char *database, const psfm_evidence *evidence,
                           const char *key) {
    if (psfm_database_write_two_views(ctx, database, evidence->set, evidence->two_views, key) !=
        PSFM_OK)
        psfm_log(ctx, PSFM_LOG_WARNING, "homographies were not kept: %s",
                 psfm_context_message(ctx));
}

/* model/0, 1, ... */
static psfm_status write_models(psfm_context *ctx, const psfm_reconstruction *r,
                                const char *out_folder) {
    char *folder = NULL;
    psfm_status status = psfm_path_join(ctx, out_folder, "model", &folder);
    for (size_t k = 0; status == PSFM_OK && k < r->num_models; ++k) {
        char name[32], *path = NULL;
        snprintf(name, sizeof name, "%zu", k);
        status = psfm_path_join(ctx, folder, name, &path);
        if (status == PSFM_OK)
            status = psfm_model_write(ctx, &r->models[k], PSFM_MODEL_TEXT, path);
        free(path);
    }
    free(folder);
    return status;
}

/* planes.json and planes.ply, if planes were looked for. */
static psfm_status write_planes(psfm_context *ctx, const psfm_reconstruction *r,
                                const char *out_folder) {
    char *json = NULL, *ply = NULL;
    if (r->refined.images == NULL)
        return PSFM_OK;
    psfm_status status = psfm_path_join(ctx, out_folder, "planes.json", &json);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, out_folder, "planes.ply", &ply);
    if (status == PSFM_OK)
        status = psfm_planes_write_json(ctx, &r->refined.planes, json);
    if (status == PSFM_OK)
        status = psfm_planes_write_ply(ctx, &r->refined.planes, ply);
    free(json);
    free(ply);
    return status;
}

/* graph.json: the pose graph and what became of it. */
static psfm_status write_graph(psfm_context *ctx, const psfm_evidence *evidence,
                               const psfm_reconstruction *r, const char *photo_folder,
                               const char *out_folder) {
    psfm_graph_file graph;
    char *path = NULL;
    psfm_status status = psfm_graph_record(ctx, evidence, r, photo_folder, &graph);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, out_folder, "graph.json", &path);
    if (status == PSFM_OK)
        status = psfm_graph_file_write(ctx, &graph, path);
    psfm_graph_file_free(&graph);
    free(path);
    return status;
}

/* report.html. The results are complete without it, so a page that cannot be written is no reason
 * to fail. */
static psfm_status write_report(psfm_context *ctx, const psfm_settings *settings,
                                const char *out_folder) {
    if (settings != NULL && settings->no_report)
        return PSFM_OK;
    psfm_status status = psfm_report_write(ctx, out_folder, NULL);
    if (status == PSFM_OK || status == PSFM_ERR_CANCELLED)
        return status;
    psfm_log(ctx, PSFM_LOG_WARNING, "no report: %s", psfm_context_message(ctx));
    return PSFM_OK;
}

/* Puts the facts of the front end beside those of the reconstruction. */
static bool add_front_end(const psfm_front_end *front, cJSON *summary) {
    for (const cJSON *fact = front->facts->child; fact != NULL; fact = fact->next) {
        cJSON *copy = cJSON_Duplicate(fact, true);
        if (copy == NULL || !cJSON_AddItemToObject(summary, fact->string, copy)) {
            cJSON_Delete(copy);
            return false;
        }
    }
    return true;
}

/* Writes summary.json and, if wanted, hands its tree out. */
static psfm_status write_summary(psfm_context *ctx, cJSON *tree, const psfm_front_end *front,
                                 const char *out_folder, cJSON **summary) {
    char *path = NULL;
    bool good = tree != NULL && (front == NULL || add_front_end(front, tree));
    psfm_status status = !good ? psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory")
                               : psfm_path_join(ctx, out_folder, "summary.json", &path);
    if (status == PSFM_OK)
        status = psfm_json_write(ctx, tree, path);
    if (status == PSFM_OK && summary != NULL)
        *summary = tree;
    else
        cJSON_Delete(tree);
    free(path);
    return status;
}

/* What the results are made from. */
typedef struct {
    const psfm_evidence *evidence;
    const psfm_database_stats *input;
    const psfm_reconstruct_options *options;
    psfm_reconstruct_stats *stats;
    const psfm_reconstruction *found;
    const psfm_front_end *front; /* NULL: none */
} outcome;

/* Verification, and what it gave kept for the next run. */
static psfm_status verify(psfm_context *ctx, const char *database,
                          const psfm_reconstruct_options *options, const char *key,
                          psfm_evidence *evidence, psfm_reconstruct_stats *stats) {
    psfm_status status = psfm_reconstruct_verify(ctx, options, evidence, stats);
    double start = psfm_now();
    if (status == PSFM_OK)
        keep_two_views(ctx, database, evidence, key);
    psfm_timings_add(&stats->timings, "writing", start);
    return status;
}

/* Opens the photographs and aligns the planes of the evidence in them. */
static psfm_status align_planes(psfm_context *ctx, const char *photo_folder,
                                const psfm_reconstruct_options *options, psfm_evidence *evidence,
                                psfm_reconstruct_stats *stats) {
    psfm_status status =
        psfm_photo_cache_create(ctx, evidence->set, photo_folder,
                                (size_t)options->photo.control.cache_mb << 20, &evidence->photos);
    return status == PSFM_OK ? psfm_reconstruct_align(ctx, options, evidence, stats) : status;
}

static psfm_status color_models(psfm_context *ctx, const char *photo_folder, psfm_timings *timings,
                                psfm_reconstruction *r) {
    double start = psfm_now();
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && photo_folder != NULL && k < r->num_models; ++k)
        status = psfm_color_points(ctx, photo_folder, &r->models[k]);
    if (photo_folder != NULL)
        psfm_timings_add(timings, "colours", start);
    return status;
}

/* All results, first where they are staged, then swapped in. */
static psfm_status write_results(psfm_context *ctx, const psfm_settings *settings, const outcome *o,
                                 psfm_results *results, cJSON **summary) {
    double start = psfm_now();
    const char *folder = results->staging;
    psfm_status status = write_models(ctx, o->found, folder);
    if (status == PSFM_OK)
        status = write_planes(ctx, o->found, folder);
    if (status == PSFM_OK)
        status = write_graph(ctx, o->evidence, o->found,
                             settings == NULL ? NULL : settings->photo_folder, folder);
    psfm_timings_add(&o->stats->timings, "writing", start);
    if (status == PSFM_OK)
        status = write_summary(
            ctx, psfm_summary_make(o->evidence, o->input, o->options, o->stats, o->found), o->front,
            folder, summary);
    if (status == PSFM_OK)
        status = write_report(ctx, settings, folder);
    return status == PSFM_OK ? psfm_results_commit(ctx, results) : status;
}

static psfm_status reconstruct_into(psfm_context *ctx, const char *database,
                                    const psfm_settings *settings, const psfm_front_end *front,
                                    psfm_results *results, cJSON **summary) {
    psfm_reconstruct_options options;
    psfm_match_set set = {0};
    psfm_database_stats input = {0};
    psfm_evidence evidence = {.set = &set};
    psfm_reconstruct_stats stats = {0};
    psfm_reconstruction r = {0};
    const char *photo_folder = settings == NULL ? NULL : settings->photo_folder;
    char key[KEY_SIZE];
    if (settings != NULL)
        options = settings->options;
    else
        psfm_reconstruct_options_init(PSFM_MODE_DEFAULT, &options);

    if (front != NULL) {
        psfm_timings_add(&stats.timings, "extraction", psfm_now() - front->extraction_seconds);
        psfm_timings_add(&stats.timings, "matching", psfm_now() - front->matching_seconds);
    }
    double start = psfm_now();
    psfm_status status = psfm_database_read(ctx, database, &set, &input);
    psfm_timings_add(&stats.timings, "reading", start);
    if (status == PSFM_OK)
        status = psfm_reconstruct_calibrate(ctx, &options, &evidence, &stats);
    if (status == PSFM_OK)
        status = psfm_reconstruct_measure(ctx, &options, &evidence, &stats);
    start = psfm_now();
    if (status == PSFM_OK) {
        psfm_reconstruct_options scaled = psfm_reconstruct_options_for(&options, &evidence);
        status = verification_key(ctx, &set, &scaled.two_view, key);
    }
    if (status == PSFM_OK)
        status = load_two_views(ctx, database, key, &evidence);
    psfm_timings_add(&stats.timings, "reading", start);
    if (status == PSFM_OK && evidence.two_views == NULL)
        status = verify(ctx, database, &options, key, &evidence, &stats);
    if (status == PSFM_OK && photo_folder != NULL)
        status = psfm_warn_changed_photos(ctx, database, photo_folder);
    if (status == PSFM_OK && photo_folder != NULL && options.mode == PSFM_MODE_ROBUST &&
        options.photo.control.refine_matches)
        status = align_planes(ctx, photo_folder, &options, &evidence, &stats);
    if (status == PSFM_OK)
        status = psfm_reconstruct(ctx, &options, &evidence, &stats, &r);
    if (status == PSFM_OK)
        status = color_models(ctx, photo_folder, &stats.timings, &r);
    if (status == PSFM_OK) {
        outcome o = {&evidence, &input, &options, &stats, &r, front};
        status = write_results(ctx, settings, &o, results, summary);
    }
    if (status == PSFM_OK && r.num_models == 0)
        status = psfm_fail(ctx, PSFM_ERR_DATA,
                           "%s: no image could be posed; %s/summary.json has a reason for each of "
                           "the %zu images",
                           database, results->folder, set.num_views);
    psfm_photo_cache_destroy(&evidence.photos);
    psfm_evidence_free(&evidence);
    psfm_reconstruction_free(&r);
    psfm_match_set_free(&set);
    return status;
}

psfm_status psfm_reconstruct_database(psfm_context *ctx, const char *database,
                                      const psfm_settings *settings, const char *out_folder) {
    return psfm_reconstruct_database_from(ctx, database, settings, NULL, out_folder, NULL);
}

psfm_status psfm_reconstruct_database_from(psfm_context *ctx, const char *database,
                                           const psfm_settings *settings,
                                           const psfm_front_end *front, const char *out_folder,
                                           cJSON **summary) {
    psfm_results opened = {0};
    psfm_results *results = front == NULL || front->results == NULL ? &opened : front->results;
    if (summary != NULL)
        *summary = NULL;
    psfm_status status = PSFM_OK;
    if (results == &opened)
        status = psfm_results_open(ctx, out_folder, &opened);
    if (status == PSFM_OK)
        status = reconstruct_into(ctx, database, settings, front, results, summary);
    psfm_results_close(&opened);
    return status;
}
