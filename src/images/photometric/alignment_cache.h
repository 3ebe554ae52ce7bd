/* Corners of photographs and alignments of pairs that stay valid when photographs get more
 * features. */
#ifndef PSFM_PHOTOMETRIC_ALIGNMENT_CACHE_H
#define PSFM_PHOTOMETRIC_ALIGNMENT_CACHE_H

#include "core/matches/match_set.h"
#include "images/photometric/pair_input.h"

typedef struct {
    uint64_t key; /* of all that the alignment started from */
    psfm_pair_refined refined;
} psfm_kept_pair;

/* Owns its pairs and corners. {0} is empty. */
typedef struct {
    psfm_kept_pair *pairs;
    size_t num, capacity;
    bool is_sorted;
    psfm_view_corners *corners; /* per view of the set that they were found in */
    uint64_t *names;            /* fingerprints of these views' names */
    size_t num_views;
} psfm_kept_pairs;

/* A number of the cameras, the keypoints and the planes of a pair. */
psfm_status psfm_kept_pair_key(psfm_context *ctx, const psfm_match_set *set,
                               const psfm_match_pair *pair, const psfm_two_view *view,
                               uint64_t *key);

/* Takes *refined over, which is empty then. */
psfm_status psfm_kept_pairs_add(psfm_context *ctx, psfm_kept_pairs *kept, uint64_t key,
                                psfm_pair_refined *refined);

/* Hands the alignment with this key out again, once; false if there is none. */
bool psfm_kept_pairs_take(psfm_kept_pairs *kept, uint64_t key, psfm_pair_refined *refined);

/* The same for the corners of all views of a set: `corners` has an entry a view. Views are told by
 * their names: corners depend on nothing but the photograph. */
psfm_status psfm_kept_corners_add(psfm_context *ctx, psfm_kept_pairs *kept,
                                  const psfm_match_set *set, psfm_view_corners *corners);
void psfm_kept_corners_take(psfm_kept_pairs *kept, const psfm_match_set *set,
                            psfm_view_corners *corners);

void psfm_kept_pairs_free(psfm_kept_pairs *kept);

/* The patches of a pair that was aligned (images/photometric/refine_matches.h), as the number of
 * matches of keypoints with as much information; noise_px is the standard deviation of a keypoint's
 * coordinate. O(matches). */
double psfm_patch_weight(const psfm_match_set *set, const psfm_match_pair *pair, double noise_px);

#endif
