/* Matching again along the homographies of each pair. */
#ifndef PSFM_FRONTEND_GUIDE_MATCHES_H
#define PSFM_FRONTEND_GUIDE_MATCHES_H

#include "core/twoview/two_view.h"
#include "images/feature/keypoint_set.h"
#include "images/match/guided_matching.h"
#include "images/match/nearest_neighbour.h"

/* Estimates the homographies of pairs of views from their matches and adds what guided matching
 * finds along them; lists stay sorted by the first keypoint. Pairs are of indices into the views
 * (keypoints and rays are there) and into `sets` (SIFT descriptors are there), lists[k] the matches
 * of the k-th in the same order. Views need not be sorted. Random draws come from (seed, stage, ids
 * of the images). verified[k] becomes the number of matches of a pair that its geometry explains,
 * the new ones included. Parallel. On failure some lists may have grown. */
psfm_status psfm_guide_matches(psfm_context *ctx, const psfm_match_set *views,
                               const psfm_keypoint_set *sets, const psfm_pair_list *pairs,
                               const psfm_two_view_options *two_view, psfm_match_list *lists,
                               size_t *verified);

#endif
