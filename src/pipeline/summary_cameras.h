/* What the summary says of the cameras. */
#ifndef PSFM_PIPELINE_SUMMARY_CAMERAS_H
#define PSFM_PIPELINE_SUMMARY_CAMERAS_H

#include <cjson/cJSON.h>

#include "pipeline/reconstruct.h"

/* Adds "cameras" to the summary: where the intrinsics of each come from, before and after, with
 * standard deviations; docs/formats.md. False when memory is out. */
bool psfm_summary_add_cameras(cJSON *root, const psfm_match_set *set,
                              const psfm_reconstruction *found);

#endif
