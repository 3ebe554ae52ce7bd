/* Matches to a tenth of a pixel: between verification and the pose graph the planes of all pairs
 * are aligned in the photographs themselves. */
#ifndef PSFM_PHOTOMETRIC_REFINE_MATCHES_H
#define PSFM_PHOTOMETRIC_REFINE_MATCHES_H

#include "core/base/timer.h"
#include "images/photometric/align_tracks.h"
#include "images/photometric/alignment_cache.h"
#include "images/photometric/pair_planes.h"
#include "images/photometric/photo_cache.h"

typedef struct {
    bool refine_matches; /* align patches where there are photographs */
    int cache_mb;        /* memory for photographs */
} psfm_photo_control_options;

extern const psfm_option_table psfm_photo_control_option_table;

typedef struct {
    psfm_photo_control_options control;
    psfm_pair_plane_options planes;
    psfm_patch_options patch;
    psfm_track_align_options tracks; /* of the points, after the adjustment */
} psfm_photo_options;

/* What is aligned, and in what. */
typedef struct {
    psfm_match_set *set;
    psfm_two_view *two_views; /* per pair of the set */
    psfm_photo_cache *photos; /* of the set's views */
    psfm_kept_pairs *kept;    /* alignments of an earlier call, and then of this one, for the next;
                                 NULL: there will be no other */
} psfm_photo_input;

typedef struct {
    bool done;
    size_t num_photos, num_unusable; /* photographs; of these, not read or of another size */
    size_t num_pairs;                /* aligned */
    size_t num_corners;
    psfm_pair_plane_stats patches;
    size_t num_matches; /* accepted patches */
    double median_shift_px, median_sigma_px;
} psfm_refine_matches_stats;

/* Aligns the planes of pairs in their photographs: of a few on
 * trial, and, where these came to something, of the best pairs of each image, and of others where
 * these did (images/photometric/pair_order.h). Its set
 * gets new keypoints after the ones it has: each corner that was found in another photograph, and
 * each place where it was found, with their information, so that a corner is one keypoint in its
 * own image and one in each other: a track. Pairs get the matches, homographies their inliers and,
 * where the plane alone decides the motion, new motions. Planes that do not come out better
 * supported stay as they are. Photographs that cannot be read are said in a warning. Parallel over
 * pairs, on the ranks of the context's link if there is one; the same bytes for any number of
 * threads and ranks. Memory: about cache_mb, 100 bytes a corner. */
psfm_status psfm_refine_matches(psfm_context *ctx, const psfm_photo_options *options,
                                const psfm_photo_input *input, psfm_refine_matches_stats *stats);

/* One line about the stage. */
void psfm_refine_matches_describe(const psfm_refine_matches_stats *stats, char *text, size_t size);

#endif
