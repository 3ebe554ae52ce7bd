/* The reconstruction from a database, with the facts of what went before. */
#ifndef PSFM_PIPELINE_RECONSTRUCT_DATABASE_H
#define PSFM_PIPELINE_RECONSTRUCT_DATABASE_H

#include <cjson/cJSON.h>

#include "base/timer.h"
#include "pipeline/results.h"
#include "planarsfm/reconstruct.h"
#include "refine/evidence.h"

/* What extraction and matching tell about themselves. */
typedef struct {
    cJSON *facts; /* its members are copied into the summary */
    psfm_timings timings;
    psfm_results *results; /* of the folder, open */
    /* Once planes are aligned: whether photographs are not held well in spite of it. If so, what
     * was gathered is forgotten, take_more gives them more features, and the database is read
     * again. NULL: it stays as it is. */
    psfm_status (*judge)(psfm_context *ctx, void *user, const psfm_evidence *evidence, bool *more);
    /* The same where the verdict on the largest model is doubtful, or there is no model. */
    psfm_status (*doubt)(psfm_context *ctx, void *user, bool *more);
    psfm_status (*take_more)(psfm_context *ctx, void *user, psfm_timings *timings);
    void *user;
} psfm_front_end;

/* psfm_reconstruct_database with a front end (NULL: none). *summary (NULL: not wanted) is the tree
 * of summary.json, freed by the caller with cJSON_Delete, or NULL on an early failure. */
psfm_status psfm_reconstruct_database_from(psfm_context *ctx, const char *database,
                                           const psfm_settings *settings,
                                           const psfm_front_end *front, const char *out_folder,
                                           cJSON **summary);

#endif
