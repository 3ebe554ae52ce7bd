/* Longer tracks from points: fragments of one track merged, keypoints without a point added. */
#ifndef PSFM_STRUCTURE_TRACK_MERGING_H
#define PSFM_STRUCTURE_TRACK_MERGING_H

#include "core/structure/triangulate.h"

typedef struct {
    size_t num_merged;  /* points that became part of another one */
    size_t num_added;   /* observations that belonged to no point */
    size_t num_refused; /* matches between points that are two */
} psfm_merge_stats;

/* Tracks for triangulation anew, out of points and all matches between images of one component: two
 * points that a match joins become one track if the observations of either agree with the point of
 * all of them within max_error_px; a keypoint of no point joins that of its match if it agrees.
 * Where a track would hold two keypoints of an image, the one nearer to the point stays. Serial;
 * about the cost of one triangulation. stats may be NULL. */
psfm_status psfm_points_merge(psfm_context *ctx, const psfm_match_set *set,
                              const psfm_structure *structure, const psfm_poses *poses,
                              double max_error_px, psfm_tracks *tracks, psfm_merge_stats *stats);

/* A point of the structure and a keypoint of a view that does not see it, which may show it. */
typedef struct {
    uint32_t point, view, keypoint;
} psfm_found_keypoint;

/* The same, where found keypoints stand for the matches: one of no point joins the point it was
 * found for if it agrees; two points that one joins become one if no image sees both, they have at
 * most max_images together, and the observations of either agree. They are taken in their order. */
psfm_status psfm_points_merge_found(psfm_context *ctx, const psfm_match_set *set,
                                    const psfm_structure *structure, const psfm_poses *poses,
                                    const psfm_found_keypoint *found, size_t num_found,
                                    double max_error_px, uint32_t max_images, psfm_tracks *tracks,
                                    psfm_merge_stats *stats);

#endif
