/* One order for one input, however it was put together. */
#ifndef PSFM_MATCHES_CANONICAL_ORDER_H
#define PSFM_MATCHES_CANONICAL_ORDER_H

#include "core/matches/match_set.h"

/* Ranks views by a number made of their keypoints' places (equal ones by their cameras' values,
 * then by name) and sorts them in the order of a walk over the pairs from the first one, strong
 * pairs first, so that images of the same things are near each other. Sorts cameras by the first
 * view that has them (those of no view last), turns each pair so that view1 < view2, sorts pairs by
 * views and matches by the places of their keypoints in the images. Ids and names stay with their
 * views and cameras. So the results depend on what was photographed and matched, not on the order
 * in which images came into the database, on names, ids, the order of keypoints or on which image
 * of a pair was the first one. To people that order says nothing: what they see is in the order of
 * psfm_match_set_by_name. The order of keypoints itself stays: models refer to it. O(n log n),
 * parallel. */
psfm_status psfm_match_set_canonical(psfm_context *ctx, psfm_match_set *set);

/* A number for the random draws of a view, from the places of its keypoints in any order: the draws
 * depend neither on its name and id nor on which other views there are. O(keypoints), a nanosecond
 * each. */
uint64_t psfm_view_stream(const psfm_view *view);

#endif
