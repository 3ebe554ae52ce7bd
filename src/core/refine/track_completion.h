/* Points looked for where they must be, in images that no match has led to. */
#ifndef PSFM_REFINE_TRACK_COMPLETION_H
#define PSFM_REFINE_TRACK_COMPLETION_H

#include "core/structure/track_merging.h"

typedef struct {
    size_t num_sought;    /* places where a point was looked for */
    size_t num_found;     /* with one keypoint and no other near it */
    double num_by_chance; /* that as many other places give */
    size_t num_views;     /* left alone: chance finds too much there */
    double sigma_px;      /* of a keypoint from its point, by coordinate */
    psfm_merge_stats merged;
} psfm_track_completion_stats;

/* Tracks for triangulation anew, of the points of a structure and the keypoints found by their
 * place in images that are matched with images of theirs; tracks grow to at most max_images.
 * Parallel, and the same for any number of threads. O(observations times pairs of an image). stats
 * may be NULL. */
psfm_status psfm_tracks_complete(psfm_context *ctx, const psfm_match_set *set,
                                 const psfm_structure *structure, const psfm_poses *poses,
                                 uint32_t max_images, psfm_tracks *tracks,
                                 psfm_track_completion_stats *stats);

#endif
