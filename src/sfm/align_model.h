/* A model into a known world, with how well it fits. */
#ifndef PSFM_SFM_ALIGN_MODEL_H
#define PSFM_SFM_ALIGN_MODEL_H

#include <cjson/cJSON.h>

#include "planarsfm/stages.h"
#include "world/align.h"

/* psfm_align_model, with the alignment, which the caller frees in any case; on PSFM_ERR_DATA its
 * items may tell why. *points: its items are points, with residuals in pixels. */
psfm_status psfm_align_and_tell(psfm_context *ctx, const char *model,
                                const psfm_align_request *request, const char *out,
                                psfm_alignment *alignment, bool *points);

/* The facts of an alignment; NULL when memory is out. */
cJSON *psfm_alignment_to_json(const psfm_alignment *alignment, bool points);

#endif
