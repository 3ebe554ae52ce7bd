/* SIFT on ellipses. */
#ifndef PSFM_FEATURE_SIFT_AFFINE_H
#define PSFM_FEATURE_SIFT_AFFINE_H

#include "feature/sift.h"

/* Extracts features whose shape is adapted to their surroundings (affine adaptation of VLFeat).
 * Unlike COLMAP, which leaves adapted keypoints upright, they are given orientations unless
 * options->upright. Whole levels of scale, largest first, until there are max_num_features
 * positions. Safe in several threads. PSFM_ERR_ARGUMENT if built without VLFeat. */
psfm_status psfm_sift_extract_affine(psfm_context *ctx, const psfm_image *image,
                                     const psfm_sift_options *options, psfm_keypoint_set *out);

#endif
