/* Matching again along the homographies of each pair. */
#ifndef PSFM_INTAKE_GUIDE_MATCHES_H
#define PSFM_INTAKE_GUIDE_MATCHES_H

#include "feature/keypoint_set.h"
#include "match/guided.h"
#include "match/nearest_neighbour.h"

/* Estimates the homographies of `num` pairs of views from their matches, by the default options of
 * two-view geometry, and adds what guided
 * matching finds along them; lists stay sorted by the first keypoint. pairs[k] are indices into the
 * views (keypoints and rays are there) and into `sets` (SIFT descriptors are there), lists[k]
 * their matches in the same order. Views need not be sorted. Random draws come from (seed, stage,
 * ids of the images). verified[k] becomes the number of matches of a pair that its geometry
 * explains, the new ones included. Parallel. On failure some lists may have grown. */
psfm_status psfm_guide_matches(psfm_context *ctx, const psfm_match_set *views,
                               const psfm_keypoint_set *sets, const uint32_t (*pairs)[2],
                               size_t num, const psfm_guided_options *options,
                               psfm_match_list *lists, size_t *verified);

#endif
