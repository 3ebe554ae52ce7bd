/* What aligned patches are worth beside matches of keypoints. */
#ifndef PSFM_REFINE_PATCH_WORTH_H
#define PSFM_REFINE_PATCH_WORTH_H

#include "view/match_set.h"

/* The patches of a pair that was aligned (refine/refine_matches.h), as the number of matches of
 * keypoints with as much information; noise_px is the standard deviation of a keypoint's
 * coordinate. O(matches). */
double psfm_patch_worth(const psfm_match_set *set, const psfm_match_pair *pair, double noise_px);

#endif
