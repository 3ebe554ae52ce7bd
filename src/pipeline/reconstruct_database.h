/* The reconstruction from a database, with the facts of what went before. */
#ifndef PSFM_PIPELINE_RECONSTRUCT_DATABASE_H
#define PSFM_PIPELINE_RECONSTRUCT_DATABASE_H

#include <cjson/cJSON.h>

#include "base/timer.h"
#include "pipeline/results.h"
#include "planarsfm/reconstruct.h"

/* What extraction and matching tell about themselves. */
typedef struct {
    cJSON *facts; /* its members are copied into the summary */
    psfm_timings timings;
    psfm_results *results; /* of the folder, open */
} psfm_front_end;

/* psfm_reconstruct_database with a front end (NULL: none). *summary (NULL: not wanted) is the tree
 * of summary.json, freed by the caller with cJSON_Delete, or NULL on an early failure. */
psfm_status psfm_reconstruct_database_from(psfm_context *ctx, const char *database,
                                           const psfm_settings *settings,
                                           const psfm_front_end *front, const char *out_folder,
                                           cJSON **summary);

#endif
