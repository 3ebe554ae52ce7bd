/* The planes of a pair of photographs, aligned patch by patch. */
#ifndef PSFM_PHOTOMETRIC_PAIR_PLANES_H
#define PSFM_PHOTOMETRIC_PAIR_PLANES_H

#include "core/base/options.h"
#include "images/photometric/patch.h"
#include "images/photometric/pyramid.h"

typedef struct {
    int corners;         /* of an image, at most: one in each square of a grid */
    double max_error_px; /* of an aligned patch from the refitted homography */
    int min_matches;     /* a plane with fewer aligned patches keeps its raw homography */
} psfm_pair_plane_options;

extern const psfm_option_table psfm_pair_plane_option_table;

/* One of the two photographs. */
typedef struct {
    psfm_patch_view view;
    const psfm_corner *corners;
    size_t num_corners;
} psfm_pair_side;

/* A plane as the matches of keypoints know it. */
typedef struct {
    double H_21[9]; /* ray2 ~ H_21 ray1 */
    size_t num_inliers;
    const double (*xy1)[2], (*xy2)[2]; /* the inliers in pixels */
} psfm_raw_plane;

/* A patch about a corner of one photograph, found in the other. */
typedef struct {
    uint32_t plane;
    uint32_t corner; /* of side `side` */
    int side;        /* 0: a corner of image 1 found in image 2; 1: the other way round */
    double xy[2];    /* where it was found */
    double cov[3];   /* its covariance, px^2: xx, xy, yy */
    double shift_px; /* from where the raw homography had put it */
} psfm_pair_match;

typedef struct {
    bool refined;   /* H_21 is new, and there are matches */
    double H_21[9]; /* middle singular value 1, det > 0 */
    size_t num_matches;
    double rms_px; /* of the matches, where they were found */
} psfm_refined_plane;

/* How patches fared in the last round. */
typedef struct {
    size_t num_tried;
    size_t outcomes[PSFM_NUM_PATCH_OUTCOMES];
    size_t num_off_plane;  /* aligned, but not where the refitted homography is */
    size_t num_raw_planes; /* kept as they were */
    size_t num_refined_planes;
} psfm_pair_plane_stats;

/* A pair of photographs and the planes that keypoints found in them. */
typedef struct {
    psfm_pair_side sides[2];
    const psfm_raw_plane *raw;
    size_t num_planes;
    uint64_t stream[2]; /* seeds the random draws together with the context's seed */
} psfm_pair_photos;

/* What came of them. Owns its arrays. */
typedef struct {
    psfm_refined_plane *planes; /* one for each raw plane */
    psfm_pair_match *matches;   /* of each corner at most one, ordered by side, then corner */
    size_t num_matches;
    psfm_pair_plane_stats stats;
} psfm_pair_refined;

/* Aligns the corners of both photographs in the regions of the planes, refits the homographies by
 * their covariances, and lets the regions grow. */
psfm_status psfm_pair_planes_refine(psfm_context *ctx, psfm_patch_aligner *aligner,
                                    const psfm_pair_photos *pair,
                                    const psfm_pair_plane_options *options, psfm_pair_refined *out);
void psfm_pair_refined_free(psfm_pair_refined *refined);

#endif
