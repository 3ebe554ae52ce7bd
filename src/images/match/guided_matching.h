/* Matching again along homographies that were found: what the ratio test threw away because
 * something similar is elsewhere in the image is clear within the few pixels where it can be. */
#ifndef PSFM_MATCH_GUIDED_MATCHING_H
#define PSFM_MATCH_GUIDED_MATCHING_H

#include "core/base/options.h"
#include "core/matches/match_set.h"

/* One homography of a pair, as two-view geometry delivers it. */
typedef struct {
    double H_21[9];          /* ray2 ~ H_21 ray1, with a positive factor on the plane */
    const uint32_t *inliers; /* indices into the pair's matches */
    size_t num_inliers;
} psfm_guide;

typedef struct {
    bool enabled; /* whether to do it at all: for the caller to look at */
} psfm_guided_options;

extern const psfm_option_table psfm_guided_option_table;

/* Homographies with fewer inliers lead to no new matches. */
enum { PSFM_GUIDE_MIN_INLIERS = 15 };

/* New matches, none of whose keypoints was matched before, sorted by the first keypoint. Owns its
 * arrays. */
typedef struct {
    uint32_t (*matches)[2];
    uint32_t *guide; /* per match: the homography that led to it */
    size_t num;
} psfm_guided_matches;

void psfm_guided_matches_free(psfm_guided_matches *matches);

/* A pair with what leads to more matches. */
typedef struct {
    const psfm_view *view1, *view2; /* with rays and px_from_ray */
    const psfm_match_pair *pair;
    const uint8_t *descriptors1, *descriptors2; /* n x 128 bytes, per keypoint of the views */
    const psfm_guide *guides;
    size_t num_guides;
} psfm_guided_pair;

/* Matches the unmatched keypoints of a pair along its homographies, in the order given: for each
 * keypoint of image 1 in the grown hull of the inliers the best descriptor among the keypoints of
 * image 2 where the homography puts it, and back; both must agree. Cost: linear in the keypoints
 * times the candidates within the error. */
psfm_status psfm_guided_match(psfm_context *ctx, const psfm_guided_pair *input,
                              psfm_guided_matches *out);

#endif
