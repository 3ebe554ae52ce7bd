/* Photographs read ahead for what is shown of a result: colours of its points, and thumbnails. */
#ifndef PSFM_SFM_PREFETCH_H
#define PSFM_SFM_PREFETCH_H

#include "core/matches/match_set.h"
#include "planarsfm/model.h"
#include "report/thumbnails.h"

typedef struct psfm_prefetch psfm_prefetch;

/* Begins to read the photographs of a set below `folder`, in the background; with thumbnails if
 * they are wanted, in the order of the names. The set need not outlive it. */
psfm_status psfm_prefetch_begin(psfm_context *ctx, const char *folder, const psfm_match_set *set,
                                bool wants_thumbnails, psfm_prefetch **out);

/* Whether it is of the photographs of a set. */
bool psfm_prefetch_is_of(const psfm_prefetch *prefetch, const psfm_match_set *set);

/* Colours of the points of models, and the thumbnails of the photographs that were read for it.
 * Each photograph is read once, with one in memory per thread beside those that were read ahead;
 * one that cannot be read takes no part, with a warning. Ends the reading. */
psfm_status psfm_prefetch_colour(psfm_context *ctx, psfm_prefetch *prefetch, psfm_model *models,
                                 size_t num_models);

/* The thumbnails made so far; empty if they were not wanted. */
psfm_thumbnails *psfm_prefetch_thumbnails(psfm_prefetch *prefetch);

/* Ends the reading, frees, and sets *prefetch to NULL. NULL is fine. */
void psfm_prefetch_destroy(psfm_prefetch **prefetch);

#endif
