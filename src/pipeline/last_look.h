/* The last look at the photographs: what is shown of a result. */
#ifndef PSFM_PIPELINE_LAST_LOOK_H
#define PSFM_PIPELINE_LAST_LOOK_H

#include "planarsfm/model.h"
#include "report/thumbnails.h"
#include "view/match_set.h"

typedef struct psfm_last_look psfm_last_look;

/* Begins to read the photographs of a set below `folder`, in the background. *thumbnails has room
 * for those of all views in the order of their names and outlives the look; NULL: they are not
 * wanted. The set need not. */
psfm_status psfm_last_look_begin(psfm_context *ctx, const char *folder, const psfm_match_set *set,
                                 psfm_thumbnails *thumbnails, psfm_last_look **out);

/* Whether a look is at the photographs of a set. */
bool psfm_last_look_is_at(const psfm_last_look *look, const psfm_match_set *set);

/* Colours of the points of models, and the thumbnails of the photographs that were read for it.
 * Each photograph is read once. Ends the look and sets *look to NULL. */
psfm_status psfm_last_look_finish(psfm_context *ctx, psfm_last_look **look, psfm_model *models,
                                  size_t num_models);

/* Ends a look whose models never came, and sets *look to NULL. */
void psfm_last_look_drop(psfm_last_look **look);

#endif
