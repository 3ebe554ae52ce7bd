/* Which pairs are aligned in the photographs first, and which of the others then. */
#ifndef PSFM_PHOTOMETRIC_PAIR_ORDER_H
#define PSFM_PHOTOMETRIC_PAIR_ORDER_H

#include "core/twoview/two_view.h"

/* Marks the pairs of the first wave in first[0 .. set->num_pairs): of those that can be aligned,
 * the six with most matches on planes of each image. Ties by index. O(n log n) for n pairs. */
psfm_status psfm_pairs_first(psfm_context *ctx, const psfm_match_set *set,
                             const psfm_two_view *two_views, const bool *can_align, bool *first);

/* Marks a few pairs that tell whether patches come to anything here: the best ones of some images
 * at even spaces. O(pairs). */
void psfm_pairs_trial(const psfm_match_set *set, const psfm_two_view *two_views,
                      const bool *can_align, bool *trial);

#endif
