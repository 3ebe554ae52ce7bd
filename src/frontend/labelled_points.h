/* Matches from points that somebody named in the images. */
#ifndef PSFM_FRONTEND_LABELLED_POINTS_H
#define PSFM_FRONTEND_LABELLED_POINTS_H

#include "core/matches/match_set.h"
#include "formats/control_file.h"
#include "frontend/intrinsics.h"

/* The match set of labelled points: images sorted by name with ids from 1, keypoints in the order
 * of their points, and a pair for every two images that show at least one common point. Pixels of
 * `labels` count from the first pixel's centre if opencv_pixels is set. Every image needs a camera
 * in `intrinsics`, which must not be EXIF's. Rays are not computed. *set is empty on failure. */
psfm_status psfm_label_matches(psfm_context *ctx, const psfm_control_set *labels,
                               bool opencv_pixels, psfm_intrinsics *intrinsics,
                               psfm_match_set *set);

#endif
