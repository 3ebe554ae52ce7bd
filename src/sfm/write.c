/* The results of a run. The page needs graph, planes and summary; the models need none of them and
 * are as much work, so they are written beside it. All results are made in a folder of their own
 * and replace those of an earlier run together. A report that cannot be written costs a warning,
 * not the poses. */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/parallel.h"
#include "core/base/path.h"
#include "core/matches/camera_groups.h"
#include "formats/json.h"
#include "formats/planes_file.h"
#include "report/report.h"
#include "sfm/diagnosis.h"
#include "sfm/graph_record.h"
#include "sfm/stages.h"
#include "sfm/summary.h"

/* model/0, 1, ... */
static psfm_status write_models(psfm_context *ctx, const psfm_sfm *s) {
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < s->num_models; ++k) {
        char name[32], *path = NULL;
        snprintf(name, sizeof name, "model/%zu", k);
        status = psfm_path_join(ctx, s->results.staging, name, &path);
        if (status == PSFM_OK)
            status = psfm_model_write(ctx, &s->models[k], PSFM_MODEL_TEXT, path);
        free(path);
    }
    return status;
}

/* planes.json and planes.ply, if planes were looked for. */
static psfm_status write_planes(psfm_context *ctx, const psfm_sfm *s, char **text) {
    char *json = NULL, *ply = NULL;
    if (s->refined.images == NULL)
        return PSFM_OK;
    psfm_status status = psfm_path_join(ctx, s->results.staging, "planes.json", &json);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, s->results.staging, "planes.ply", &ply);
    if (status == PSFM_OK)
        status = psfm_planes_write_json(ctx, &s->refined.planes, json, text);
    if (status == PSFM_OK)
        status = psfm_planes_write_ply(ctx, &s->refined.planes, ply);
    free(json);
    free(ply);
    return status;
}

/* graph.json: the pose graph and what became of it. */
static psfm_status write_graph(psfm_context *ctx, const psfm_sfm *s, psfm_graph_file *graph) {
    char *path = NULL;
    psfm_status status = psfm_graph_record(ctx, s, graph);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, s->results.staging, "graph.json", &path);
    if (status == PSFM_OK)
        status = psfm_graph_file_write(ctx, graph, path);
    free(path);
    return status;
}

static psfm_status write_summary(psfm_context *ctx, psfm_sfm *s, char **text) {
    char *path = NULL;
    psfm_status status = psfm_path_join(ctx, s->results.staging, "summary.json", &path);
    if (status == PSFM_OK) {
        s->summary = psfm_summary_make(s);
        status =
            s->summary == NULL ? psfm_fail_memory(ctx) : psfm_diagnosis_add(ctx, s, s->summary);
        if (status == PSFM_OK)
            status = psfm_json_write_and_keep(ctx, s->summary, path, text);
    }
    free(path);
    return status;
}

/* report.html, from models and graph in memory and the texts of the other files. The results are
 * complete without it. */
static psfm_status write_report(psfm_context *ctx, psfm_sfm *s, psfm_run_record *record) {
    psfm_thumbnails *made = s->prefetch != NULL ? psfm_prefetch_thumbnails(s->prefetch) : NULL;
    if (s->asked.settings.no_report)
        return PSFM_OK;
    record->models = s->models;
    record->num_models = s->num_models;
    psfm_status status = psfm_report_write_run(ctx, s->results.staging, record, made);
    if (status == PSFM_OK || status == PSFM_ERR_CANCELLED)
        return status;
    psfm_log(ctx, PSFM_LOG_WARNING, "no report: %s", psfm_context_message(ctx));
    return PSFM_OK;
}

/* Everything but the models. */
static psfm_status write_records(psfm_context *ctx, psfm_sfm *s) {
    const psfm_moment start = psfm_moment_now();
    psfm_run_record record = {0};
    psfm_status status = write_planes(ctx, s, &record.planes);
    if (status == PSFM_OK)
        status = write_graph(ctx, s, &record.graph);
    psfm_timings_add(&s->stats.timings, "writing", start);
    if (status == PSFM_OK)
        status = write_summary(ctx, s, &record.summary);
    if (status == PSFM_OK)
        status = write_report(ctx, s, &record);
    psfm_graph_file_free(&record.graph);
    cJSON_free(record.summary);
    cJSON_free(record.planes);
    return status;
}

typedef struct {
    psfm_context *ctx;
    psfm_sfm *s;
} writing;

static psfm_status write_part(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const writing *w = user;
    psfm_context_borrow_threads(ctx, w->ctx);
    return index == 0 ? write_records(ctx, w->s) : write_models(ctx, w->s);
}

/* Nothing posed, with the results written, which have the reasons. */
static psfm_status refuse_nothing(psfm_context *ctx, const psfm_sfm *s) {
    if (s->set.num_pairs == 0 && s->front.is_used)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "%s: no two images have matches: do the photographs overlap?",
                         s->database);
    if (s->set.num_pairs == 0)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "%s: no two images have matches; run 'planarsfm match %s' first (if that "
                         "was done, the images have nothing in common)",
                         s->database, s->database);
    if (s->num_models == 0)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "%s: no image could be posed; %s/summary.json has a reason for each of "
                         "the %zu images",
                         s->database, s->results.folder, s->set.num_views);
    return PSFM_OK;
}

/* Says which photographs came out as those of one camera, if that was guessed. */
static void say_cameras(psfm_context *ctx, const psfm_sfm *s) {
    const psfm_camera_groups groups = psfm_camera_groups_count(&s->set);
    char text[256];
    psfm_camera_groups_describe(&groups, text, sizeof text);
    if (text[0] != '\0')
        psfm_log(ctx, PSFM_LOG_INFO, "%s", text);
}

psfm_status psfm_stage_write(psfm_context *ctx, psfm_sfm *s) {
    writing w = {ctx, s};
    say_cameras(ctx, s);
    if (s->out_folder == NULL)
        return PSFM_OK;
    psfm_status status = psfm_parallel_for(ctx, NULL, 2, write_part, &w);
    if (status == PSFM_OK)
        status = psfm_results_commit(ctx, &s->results);
    return status == PSFM_OK ? refuse_nothing(ctx, s) : status;
}
