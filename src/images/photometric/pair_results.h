/* What the alignment of pairs in the photographs makes of keypoints, matches and homographies. */
#ifndef PSFM_PHOTOMETRIC_PAIR_RESULTS_H
#define PSFM_PHOTOMETRIC_PAIR_RESULTS_H

#include "core/twoview/two_view.h"
#include "images/photometric/pair_input.h"
#include "images/photometric/pair_planes.h"

/* Takes over what the pairs of a set came to: `views` has the corners of each view, `pairs` and
 * `two_views` an entry a pair; pairs without planes were not aligned. The set gets new keypoints
 * after the ones it has, with their information, and matches; homographies get inliers and, where
 * the plane alone decides the motion, new motions. O(corners + aligned patches). */
psfm_status psfm_pair_results_take(psfm_context *ctx, const psfm_view_corners *views,
                                   const psfm_pair_refined *pairs, psfm_match_set *set,
                                   psfm_two_view *two_views);

/* Replaces the homographies of a pair for which refined[h].refined, and their motions. The pair's
 * matches from `first_new` on are aligned patches, among the inliers already; its views have their
 * information. Where one plane decides, the motions are those of its decomposition that are nearest
 * to the known ones. Where the essential matrix does, motion and planes that obey it are fitted
 * anew together, to the patches of refined planes, the keypoints of the others and those off the
 * planes. What would change beyond recognition stays as it was. */
psfm_status psfm_replace_planes(psfm_context *ctx, const psfm_match_set *set, size_t pair,
                                size_t first_new, const psfm_refined_plane *refined,
                                psfm_two_view *view);

#endif
