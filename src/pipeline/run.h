/* From photographs to poses in one go. */
#ifndef PSFM_PIPELINE_RUN_H
#define PSFM_PIPELINE_RUN_H

#include <cjson/cJSON.h>

#include "intake/take_photos.h"
#include "pipeline/settings.h"

typedef struct {
    psfm_folder_options folder;
    psfm_match_options match;
    psfm_settings settings;
} psfm_run_options;

/* Extracts, matches and reconstructs: out_folder/database.db, and what psfm_reconstruct_database
 * writes, with colours and with the facts of extraction and matching in the summary. Interrupted at
 * any point, the next call goes on and ends with the same models. *summary (NULL: not wanted) is
 * the tree of summary.json, freed by the caller with cJSON_Delete; NULL if it did not come that
 * far. */
psfm_status psfm_run(psfm_context *ctx, const char *folder, const char *out_folder,
                     const psfm_run_options *options, cJSON **summary);

/* The facts of a stage as an object; NULL when memory is out. */
cJSON *psfm_extract_stats_to_json(const psfm_extract_stats *stats);
cJSON *psfm_match_stats_to_json(const psfm_match_stats *stats);

#endif
