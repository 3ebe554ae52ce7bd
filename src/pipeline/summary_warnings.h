/* What the summary says against a model that is not called right, and of which images. */
#ifndef PSFM_PIPELINE_SUMMARY_WARNINGS_H
#define PSFM_PIPELINE_SUMMARY_WARNINGS_H

#include <cjson/cJSON.h>

#include "pipeline/reconstruct.h"

/* Adds "warnings"; docs/formats.md. False when memory is out. */
bool psfm_summary_add_warnings(cJSON *root, const psfm_match_set *set,
                               const psfm_reconstruction *found);

#endif
