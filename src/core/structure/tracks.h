/* Tracks: keypoints of different images that show one point, chained from pairwise matches. */
#ifndef PSFM_STRUCTURE_TRACKS_H
#define PSFM_STRUCTURE_TRACKS_H

#include "core/base/context.h"
#include "core/matches/match_set.h"

/* Flat arrays: track t is the elements begin[t] .. begin[t + 1] - 1, views ascending, each view at
 * most once. Tracks are ordered by their first (view, keypoint). Owns its arrays. */
typedef struct {
    size_t num_tracks;
    size_t *begin;      /* num_tracks + 1 */
    uint32_t *view;     /* dense index into the match set's views */
    uint32_t *keypoint; /* index into that view's keypoints */
} psfm_tracks;

typedef struct {
    size_t num_matches;     /* that the mask let through */
    size_t num_components;  /* connected sets of two keypoints or more */
    size_t num_conflicting; /* of these, with two keypoints in one image */
    size_t num_cut;         /* matches left aside to resolve the conflicts */
    size_t num_elements;    /* keypoints in the resulting tracks */
    size_t longest;
} psfm_track_stats;

/* Builds the tracks of all matches k with use[k] (NULL: all). `use` runs over the matches of all
 * pairs in order, psfm_match_set_total of them. Where keypoints that hang together hold two of one
 * image, the weakest matches are cut until each part is consistent. stats may be NULL. O(matches)
 * for consistent sets; conflicting ones cost their matches times the number of images that a
 * keypoint is matched to. */
psfm_status psfm_tracks_build(psfm_context *ctx, const psfm_match_set *set, const bool *use,
                              psfm_tracks *tracks, psfm_track_stats *stats);

/* Number of matches of all pairs. */
size_t psfm_match_set_total(const psfm_match_set *set);

void psfm_tracks_free(psfm_tracks *tracks);

#endif
