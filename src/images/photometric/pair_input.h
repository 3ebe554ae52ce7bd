/* What the alignment of a pair of photographs starts from. */
#ifndef PSFM_PHOTOMETRIC_PAIR_INPUT_H
#define PSFM_PHOTOMETRIC_PAIR_INPUT_H

#include "core/twoview/two_view.h"
#include "images/photometric/pair_planes.h"

/* Corners of a photograph, or why there are none. Owns both. */
typedef struct {
    psfm_corner *corners;
    size_t num;
    char *problem; /* the photograph cannot be used; NULL: it can */
} psfm_view_corners;

/* Spread evenly, about as many as the options say. */
psfm_status psfm_view_corners_find(psfm_context *ctx, const psfm_pair_plane_options *planes,
                                   const psfm_patch_options *patch, const psfm_pyramid *photo,
                                   psfm_view_corners *out);
void psfm_view_corners_free(psfm_view_corners *corners);

/* The planes of a pair, as its matches know them. Owns its arrays. */
typedef struct {
    psfm_raw_plane *planes; /* one for each homography; rotations have no inliers */
    size_t num;
    double (*xy)[2]; /* of all inliers: one plane after the other, those of image 1 first */
} psfm_raw_planes;

/* Points the planes to their inliers, whose numbers they have. */
void psfm_raw_planes_share(psfm_raw_planes *planes);

/* From the inliers of a pair's homographies; the caller frees *out in any case. */
psfm_status psfm_raw_planes_list(psfm_context *ctx, const psfm_match_set *set,
                                 const psfm_match_pair *pair, const psfm_two_view *view,
                                 psfm_raw_planes *out);
void psfm_raw_planes_free(psfm_raw_planes *planes);

#endif
