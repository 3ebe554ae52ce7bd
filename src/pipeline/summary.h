/* OUT/summary.json: counts, reasons, timings. */
#ifndef PSFM_PIPELINE_SUMMARY_H
#define PSFM_PIPELINE_SUMMARY_H

#include <cjson/cJSON.h>

#include "io/colmap_database.h"
#include "pipeline/reconstruct.h"

/* The summary as a tree; NULL when memory is out. `input` may be NULL (no database). See
 * docs/formats.md for its fields. */
cJSON *psfm_summary_make(const psfm_evidence *evidence, const psfm_database_stats *input,
                         const psfm_reconstruct_options *options,
                         const psfm_reconstruct_stats *stats, const psfm_reconstruction *found);

#endif
