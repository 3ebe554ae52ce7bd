/* The files of a run: what it found, written to a folder. */
#ifndef PSFM_PIPELINE_RUN_FILES_H
#define PSFM_PIPELINE_RUN_FILES_H

#include <cjson/cJSON.h>

#include "io/colmap_database.h"
#include "pipeline/reconstruct.h"
#include "report/thumbnails.h"

typedef struct {
    const psfm_evidence *evidence;
    const psfm_database_stats *input;
    const psfm_reconstruct_options *options;
    psfm_reconstruct_stats *stats; /* the time of writing is added */
    const psfm_reconstruction *found;
    const cJSON *front_end;      /* facts of extraction and matching; NULL: there was none */
    const char *photo_folder;    /* NULL: none */
    psfm_thumbnails *thumbnails; /* those made so far, for the report; NULL: no report */
} psfm_run_files;

/* Writes models, planes, graph, summary and report. A report that cannot be written costs a
 * warning. *summary (NULL: not wanted) is the tree of summary.json, freed by the caller with
 * cJSON_Delete, or NULL on an early failure. */
psfm_status psfm_run_files_write(psfm_context *ctx, const psfm_run_files *files, const char *folder,
                                 cJSON **summary);

#endif
