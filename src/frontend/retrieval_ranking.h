/* Which of the images that look alike also fit: a cheap look at their geometry. */
#ifndef PSFM_FRONTEND_RETRIEVAL_RANKING_H
#define PSFM_FRONTEND_RETRIEVAL_RANKING_H

#include "images/match/retrieval.h"
#include "store/feature_store.h"

/* What the ranking reads. */
typedef struct {
    psfm_feature_store *store;
    const psfm_stored_photos *photos;
} psfm_alike_source;

/* Like psfm_likeness_nearest, but of twice as many images that look alike those whose largest
 * features agree best: matches of these vote for a turn and a change of scale. Of images without
 * SIFT features likeness alone decides. `source` is a psfm_alike_source. 31 kB an image; about 0.1
 * ms for each pair that is looked at. */
psfm_status psfm_rank_alike(psfm_context *ctx, const psfm_likeness *likeness, size_t count,
                            uint32_t *alike, void *source);

#endif
