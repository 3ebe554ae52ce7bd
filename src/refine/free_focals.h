/* What an adjusted bundle becomes when the focal lengths that were given are let go. */
#ifndef PSFM_REFINE_FREE_FOCALS_H
#define PSFM_REFINE_FREE_FOCALS_H

#include "refine/bundle_copy.h"

/* Owns its arrays. */
typedef struct {
    psfm_bundle_copy copy; /* adjusted */
    psfm_bundle_options options;
    psfm_bundle_stats stats;
    size_t num_free; /* cameras that were let go; 0: nothing was adjusted */
    bool all;        /* these are all cameras */
} psfm_free_focals;

/* Lets the focal lengths go that the adjustment with `options` held, holds the others, and adjusts
 * a copy until its poses have settled. Free it in any case. Cost: an adjustment of some ten steps.
 */
psfm_status psfm_free_focals_make(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  const psfm_bundle_options *options, psfm_free_focals *out);
void psfm_free_focals_free(psfm_free_focals *focals);

#endif
