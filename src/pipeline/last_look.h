/* The last look at the photographs: what is shown of a result. */
#ifndef PSFM_PIPELINE_LAST_LOOK_H
#define PSFM_PIPELINE_LAST_LOOK_H

#include "planarsfm/model.h"
#include "report/thumbnails.h"
#include "view/match_set.h"

/* Colours of the points of models, from the photographs of the set below `folder`, and with
 * *thumbnails, which has room for all views in the order of their names, the thumbnails of those
 * that were read for it (NULL: not wanted). Each photograph is read once. */
psfm_status psfm_last_look(psfm_context *ctx, const char *folder, const psfm_match_set *set,
                           psfm_model *models, size_t num_models, psfm_thumbnails *thumbnails);

#endif
