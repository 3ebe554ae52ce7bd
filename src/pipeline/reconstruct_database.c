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
#include "base/text.h"
#include "intake/court_views.h"
#include "intake/photo_changes.h"
#include "io/colmap_database.h"
#include "pipeline/last_look.h"
#include "pipeline/reconstruct.h"
#include "pipeline/run_files.h"
#include "pipeline/settings.h"
#include "planarsfm/version.h"
#include "report/report.h"
#include "view/canonical.h"

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

/* Leaves images without pairs whose names the text model could not keep: they would cost all others
 * their poses at the end. */
static void set_aside(psfm_context *ctx, psfm_match_set *set) {
    for (size_t v = 0; v < set->num_views; ++v) {
        const char *name = set->views[v].name;
        if (psfm_name_fits_line(name))
            continue;
        psfm_log(ctx, PSFM_LOG_WARNING,
                 "image '%s' is left out: its name begins or ends with a blank or has a line end, "
                 "which text files cannot keep",
                 name);
        for (size_t p = 0; p < set->num_pairs; ++p)
            if (set->pairs[p].view1 == v || set->pairs[p].view2 == v)
                set->pairs[p].num_matches = 0;
    }
}

/* One run: what it is asked for, what came in, what came out. */
typedef struct {
    const char *database;
    const psfm_settings *settings; /* NULL: defaults */
    const psfm_front_end *front;   /* NULL: none */
    const char *photo_folder;      /* NULL: none */
    psfm_reconstruct_options options;
    psfm_match_set set;
    psfm_database_stats input;
    psfm_court_target target; /* empty: there is no drawing */
    psfm_court_evidence court;
    psfm_evidence evidence; /* of the set */
    psfm_kept_pairs kept;   /* alignments, for a second time that evidence is gathered */
    psfm_reconstruct_stats stats;
    psfm_reconstruction found;
    psfm_last_look *look;       /* NULL: no photographs, or done */
    psfm_thumbnails thumbnails; /* of what was read for it */
} run;

static void run_init(const char *database, const psfm_settings *settings,
                     const psfm_front_end *front, run *r) {
    *r = (run){.database = database, .settings = settings, .front = front};
    r->evidence.set = &r->set;
    if (settings != NULL) {
        r->photo_folder = settings->photo_folder;
        r->options = settings->options;
    } else {
        psfm_reconstruct_options_init(PSFM_MODE_DEFAULT, &r->options);
    }
    if (front != NULL)
        r->stats.timings = front->timings;
}

/* What was read and verified. */
static void free_evidence(run *r) {
    psfm_photo_cache_destroy(&r->evidence.photos);
    psfm_evidence_free(&r->evidence);
    psfm_court_evidence_free(&r->court);
    psfm_court_target_free(&r->target);
    psfm_match_set_free(&r->set);
}

static void free_look(run *r) {
    psfm_last_look_drop(&r->look);
    psfm_thumbnails_free(&r->thumbnails);
}

static void run_free(run *r) {
    free_evidence(r);
    free_look(r);
    psfm_kept_pairs_free(&r->kept);
    psfm_reconstruction_free(&r->found);
}

/* Forgets what was read, for it changed; times, alignments and the look stay. */
static void run_reset(run *r) {
    const run before = *r;
    free_evidence(r);
    run_init(before.database, before.settings, before.front, r);
    r->stats.timings = before.stats.timings;
    r->kept = before.kept;
    r->look = before.look;
    r->thumbnails = before.thumbnails;
}

static bool wants_geometries(const run *r) {
    return r->settings != NULL && r->settings->geometries;
}

/* Matches that are only in COLMAP's geometries would be lost if these were replaced. */
static psfm_status check_geometries(psfm_context *ctx, const run *r) {
    size_t num = r->input.num_pairs_from_geometries;
    if (!wants_geometries(r) || num == 0)
        return PSFM_OK;
    return psfm_fail(ctx, PSFM_ERR_DATA,
                     "%s: two_view_geometries cannot be replaced: %zu pairs have their matches "
                     "only there; run without --geometries",
                     r->database, num);
}

static psfm_status read_database(psfm_context *ctx, run *r) {
    psfm_moment start = psfm_moment_now();
    psfm_status status = psfm_database_read(ctx, r->database, &r->set, &r->input);
    if (status == PSFM_OK)
        status = check_geometries(ctx, r);
    if (status == PSFM_OK) {
        set_aside(ctx, &r->set);
        status = psfm_match_set_canonical(ctx, &r->set);
    }
    psfm_timings_add(&r->stats.timings, "reading", start);
    return status;
}

/* What an earlier run verified, if it still holds; `key` says for what. */
static psfm_status look_up(psfm_context *ctx, run *r, char key[KEY_SIZE]) {
    psfm_moment start = psfm_moment_now();
    psfm_reconstruct_options scaled = psfm_reconstruct_options_for(&r->options, &r->evidence);
    psfm_status status = verification_key(ctx, &r->set, &scaled.two_view, key);
    if (status == PSFM_OK)
        status = load_two_views(ctx, r->database, key, &r->evidence);
    psfm_timings_add(&r->stats.timings, "reading", start);
    return status;
}

/* The verification, taken from the database or done and kept there for the next run. */
static psfm_status verify(psfm_context *ctx, run *r) {
    char key[KEY_SIZE];
    psfm_status status = look_up(ctx, r, key);
    bool is_new = r->evidence.two_views == NULL;
    if (status == PSFM_OK && is_new)
        status = psfm_reconstruct_verify(ctx, &r->options, &r->evidence, &r->stats);
    psfm_moment start = psfm_moment_now();
    if (status == PSFM_OK && is_new)
        keep_two_views(ctx, r->database, &r->evidence, key);
    if (status == PSFM_OK && wants_geometries(r))
        status =
            psfm_database_write_colmap_geometries(ctx, r->database, &r->set, r->evidence.two_views);
    psfm_timings_add(&r->stats.timings, "writing", start);
    return status;
}

/* Aligns the planes of the evidence in the photographs, if there are any and it is wanted. */
static psfm_status align_planes(psfm_context *ctx, run *r) {
    const psfm_photo_control_options *control = &r->options.photo.control;
    if (r->photo_folder == NULL)
        return PSFM_OK;
    psfm_status status = psfm_warn_changed_photos(ctx, r->database, r->photo_folder);
    if (status != PSFM_OK || r->options.mode != PSFM_MODE_ROBUST || !control->refine_matches)
        return status;
    size_t most = psfm_context_memory(ctx) / 4, size = (size_t)control->cache_mb << 20;
    status = psfm_photo_cache_create(ctx, &r->set, r->photo_folder, size < most ? size : most,
                                     &r->evidence.photos);
    if (status == PSFM_OK)
        status = psfm_reconstruct_align(ctx, &r->options, &r->evidence, &r->stats);
    return status;
}

/* Begins with what is shown of the photographs, colours of the points and thumbnails in the report:
 * threads that have to wait from here on do it. */
static psfm_status begin_look(psfm_context *ctx, run *r) {
    const bool is_shown = r->settings == NULL || !r->settings->no_report;
    psfm_status status = PSFM_OK;
    if (r->photo_folder == NULL || (r->look != NULL && psfm_last_look_is_at(r->look, &r->set)))
        return PSFM_OK;
    free_look(r);
    if (is_shown)
        status = psfm_report_begin_thumbnails(ctx, r->set.num_views, &r->thumbnails);
    return status == PSFM_OK ? psfm_last_look_begin(ctx, r->photo_folder, &r->set,
                                                    is_shown ? &r->thumbnails : NULL, &r->look)
                             : status;
}

static psfm_status finish_look(psfm_context *ctx, run *r) {
    psfm_moment start = psfm_moment_now();
    if (r->look == NULL)
        return PSFM_OK;
    psfm_status status = psfm_last_look_finish(ctx, &r->look, r->found.models, r->found.num_models);
    psfm_timings_add(&r->stats.timings, "colours", start);
    return status;
}

/* Registers the photographs to the drawing, if there is one; cameras that nobody gave get the focal
 * lengths that its lines show. */
static psfm_status register_photographs(psfm_context *ctx, run *r) {
    psfm_moment start = psfm_moment_now();
    size_t num = 0;
    psfm_court_options court = r->options.court;
    int refine = r->options.refine.bundle.refine;
    court.distortion = court.distortion || refine >= PSFM_REFINE_FOCAL_DISTORTION;
    if (!psfm_settings_have_drawing(r->settings))
        return PSFM_OK;
    psfm_status status = psfm_settings_check_drawing(ctx, r->settings);
    if (status == PSFM_OK)
        status = psfm_settings_open_target(ctx, r->settings, &r->target);
    if (status == PSFM_OK)
        status =
            psfm_court_views_register(ctx, &r->set, r->photo_folder, &r->target, &court, &r->court);
    if (status != PSFM_OK)
        return status;
    r->evidence.court = &r->court;
    for (uint32_t v = 0; v < r->court.num_views; ++v)
        num += psfm_court_accepts(&r->court, v);
    psfm_log(ctx, PSFM_LOG_INFO, "%s: %zu of %u photographs registered by its lines",
             r->target.drawing.name, num, r->court.num_views);
    if (psfm_court_views_calibrate(&r->court, &r->set) > 0)
        status = psfm_match_set_compute_rays(ctx, &r->set, NULL);
    psfm_timings_add(&r->stats.timings, "court", start);
    return status;
}

/* The stages before the graph: evidence that is verified and aligned. */
static psfm_status gather(psfm_context *ctx, run *r) {
    psfm_status status = read_database(ctx, r);
    if (status == PSFM_OK)
        status = begin_look(ctx, r);
    if (status == PSFM_OK)
        status = register_photographs(ctx, r);
    if (status == PSFM_OK)
        status = psfm_reconstruct_calibrate(ctx, &r->options, &r->evidence, &r->stats);
    if (status == PSFM_OK)
        status = psfm_reconstruct_measure(ctx, &r->options, &r->evidence, &r->stats);
    if (status == PSFM_OK)
        status = verify(ctx, r);
    return status == PSFM_OK ? align_planes(ctx, r) : status;
}

/* Gathers again if photographs turn out to need more features. */
static psfm_status gather_enough(psfm_context *ctx, run *r) {
    bool more = false;
    bool is_open = r->front != NULL && r->front->judge != NULL;
    r->evidence.kept = is_open ? &r->kept : NULL;
    psfm_status status = gather(ctx, r);
    if (status == PSFM_OK && is_open)
        status = r->front->judge(ctx, r->front->user, &r->evidence, &more);
    if (status == PSFM_OK && more) {
        run_reset(r);
        r->evidence.kept = &r->kept;
        status = r->front->take_more(ctx, r->front->user, &r->stats.timings);
        if (status == PSFM_OK)
            status = gather(ctx, r);
    }
    psfm_kept_pairs_free(&r->kept);
    r->evidence.kept = NULL;
    return status;
}

/* Whether there is no model, or the verdict on the largest one is not that it is right. */
static bool is_doubtful(const psfm_reconstruction *found) {
    const psfm_verdicts *verdicts = &found->verdicts;
    return found->num_models == 0 ||
           (verdicts->models != NULL && !psfm_is_called_right(&verdicts->models[0]));
}

static psfm_status pose(psfm_context *ctx, run *r) {
    return psfm_reconstruct(ctx, &r->options, &r->evidence, &r->stats, &r->found);
}

/* Solves again if the result is doubtful and photographs can be given more features. */
static psfm_status solve_surely(psfm_context *ctx, run *r) {
    bool more = false;
    psfm_status status = gather_enough(ctx, r);
    if (status == PSFM_OK)
        status = pose(ctx, r);
    if (status == PSFM_OK && r->front != NULL && r->front->doubt != NULL && is_doubtful(&r->found))
        status = r->front->doubt(ctx, r->front->user, &more);
    if (status != PSFM_OK || !more)
        return status;
    psfm_log(ctx, PSFM_LOG_INFO, "the result is doubtful: once more with more features");
    psfm_reconstruction_free(&r->found);
    run_reset(r);
    status = r->front->take_more(ctx, r->front->user, &r->stats.timings);
    if (status == PSFM_OK)
        status = gather(ctx, r);
    return status == PSFM_OK ? pose(ctx, r) : status;
}

/* All stages from the database to models. */
static psfm_status solve(psfm_context *ctx, run *r) {
    psfm_status status = solve_surely(ctx, r);
    return status == PSFM_OK ? finish_look(ctx, r) : status;
}

/* All results, first where they are staged, then swapped in. */
static psfm_status write_results(psfm_context *ctx, run *r, psfm_results *results,
                                 cJSON **summary) {
    const psfm_run_files files = {
        .evidence = &r->evidence,
        .input = &r->input,
        .options = &r->options,
        .stats = &r->stats,
        .found = &r->found,
        .front_end = r->front == NULL ? NULL : r->front->facts,
        .photo_folder = r->photo_folder,
        .thumbnails = r->settings != NULL && r->settings->no_report ? NULL : &r->thumbnails,
    };
    psfm_status status = psfm_run_files_write(ctx, &files, results->staging, summary);
    return status == PSFM_OK ? psfm_results_commit(ctx, results) : status;
}

static psfm_status refuse_unmatched(psfm_context *ctx, const run *r) {
    if (r->front != NULL)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "%s: no two images have matches: do the photographs overlap?",
                         r->database);
    return psfm_fail(ctx, PSFM_ERR_DATA,
                     "%s: no two images have matches; run 'planarsfm match %s' first (if that was "
                     "done, the images have nothing in common)",
                     r->database, r->database);
}

static psfm_status reconstruct_into(psfm_context *ctx, run *r, psfm_results *results,
                                    cJSON **summary) {
    psfm_status status = solve(ctx, r);
    if (status == PSFM_OK)
        status = write_results(ctx, r, results, summary);
    if (status == PSFM_OK && r->set.num_pairs == 0)
        status = refuse_unmatched(ctx, r);
    if (status == PSFM_OK && r->found.num_models == 0)
        status = psfm_fail(ctx, PSFM_ERR_DATA,
                           "%s: no image could be posed; %s/summary.json has a reason for each of "
                           "the %zu images",
                           r->database, results->folder, r->set.num_views);
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
    run r;
    run_init(database, settings, front, &r);
    if (status == PSFM_OK)
        status = reconstruct_into(ctx, &r, results, summary);
    run_free(&r);
    psfm_results_close(&opened);
    return status;
}
