/* What the alignment of pairs in the photographs makes of keypoints, matches and homographies. */
#ifndef PSFM_REFINE_PAIR_RESULTS_H
#define PSFM_REFINE_PAIR_RESULTS_H

#include "refine/pair_input.h"

/* Takes over what the pairs of a set came to: `views` has the corners of each view, `pairs` and
 * `two_views` an entry a pair; pairs without planes were not aligned. The set gets new keypoints
 * after the ones it has, with their information, and matches; homographies get inliers and, where
 * the plane alone decides the motion, new motions. O(corners + aligned patches). */
psfm_status psfm_pair_results_take(psfm_context *ctx, const psfm_view_corners *views,
                                   const psfm_pair_refined *pairs, psfm_match_set *set,
                                   psfm_two_view *two_views);

#endif
