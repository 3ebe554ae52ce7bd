/* The files of a run. The page needs graph, planes and summary; the models need none of them and
 * are as much work, so they are written beside it. */
#include "pipeline/run_files.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/parallel.h"
#include "base/path.h"
#include "io/colmap_model.h"
#include "io/planes_file.h"
#include "pipeline/graph_record.h"
#include "pipeline/summary.h"
#include "report/report.h"

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
static psfm_status write_report(psfm_context *ctx, const psfm_reconstruction *r,
                                psfm_thumbnails *thumbnails, const char *out_folder) {
    if (thumbnails == NULL)
        return PSFM_OK;
    psfm_status status =
        psfm_report_write_run(ctx, out_folder, r->models, r->num_models, thumbnails);
    if (status == PSFM_OK || status == PSFM_ERR_CANCELLED)
        return status;
    psfm_log(ctx, PSFM_LOG_WARNING, "no report: %s", psfm_context_message(ctx));
    return PSFM_OK;
}

/* Puts the facts of the front end beside those of the reconstruction. */
static bool add_front_end(const cJSON *facts, cJSON *summary) {
    for (const cJSON *fact = facts->child; fact != NULL; fact = fact->next) {
        cJSON *copy = cJSON_Duplicate(fact, true);
        if (copy == NULL || !cJSON_AddItemToObject(summary, fact->string, copy)) {
            cJSON_Delete(copy);
            return false;
        }
    }
    return true;
}

/* Writes summary.json and, if wanted, hands its tree out. */
static psfm_status write_summary(psfm_context *ctx, const psfm_run_files *f, const char *out_folder,
                                 cJSON **summary) {
    char *path = NULL;
    cJSON *tree = psfm_summary_make(f->evidence, f->input, f->options, f->stats, f->found);
    bool good = tree != NULL && (f->front_end == NULL || add_front_end(f->front_end, tree));
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

/* Everything but the models. */
static psfm_status write_records(psfm_context *ctx, const psfm_run_files *f, const char *folder,
                                 cJSON **summary) {
    psfm_moment start = psfm_moment_now();
    psfm_status status = write_planes(ctx, f->found, folder);
    if (status == PSFM_OK)
        status = write_graph(ctx, f->evidence, f->found, f->photo_folder, folder);
    psfm_timings_add(&f->stats->timings, "writing", start);
    if (status == PSFM_OK)
        status = write_summary(ctx, f, folder, summary);
    return status == PSFM_OK ? write_report(ctx, f->found, f->thumbnails, folder) : status;
}

typedef struct {
    psfm_context *ctx;
    const psfm_run_files *files;
    const char *folder;
    cJSON **summary;
} writing;

static psfm_status write_part(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const writing *w = user;
    psfm_context_borrow_threads(ctx, w->ctx);
    return index == 0 ? write_records(ctx, w->files, w->folder, w->summary)
                      : write_models(ctx, w->files->found, w->folder);
}

psfm_status psfm_run_files_write(psfm_context *ctx, const psfm_run_files *files, const char *folder,
                                 cJSON **summary) {
    writing w = {ctx, files, folder, summary};
    return psfm_parallel_for(ctx, NULL, 2, write_part, &w);
}
