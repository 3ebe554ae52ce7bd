/* What the summary says of the drawing on the floor. */
#ifndef PSFM_PIPELINE_SUMMARY_COURT_H
#define PSFM_PIPELINE_SUMMARY_COURT_H

#include <cjson/cJSON.h>

#include "pipeline/reconstruct.h"

/* Adds "court" to the summary: the drawing, and for each photograph what its lines say, as poses
 * and cameras of `found` see it; docs/formats.md. Nothing without a drawing. False when memory is
 * out. */
bool psfm_summary_add_court(cJSON *root, const psfm_evidence *evidence,
                            const psfm_reconstruction *found);

#endif
