/* How well the matches of a pair determine its rotation. */
#ifndef PSFM_TWOVIEW_MOTION_SIGMA_H
#define PSFM_TWOVIEW_MOTION_SIGMA_H

#include "core/twoview/two_view.h"

/* Matches of one pair, chosen by their indices. */
typedef struct {
    const psfm_view *view1, *view2;
    const uint32_t (*matches)[2];
    const uint32_t *inliers;
    size_t num_inliers;
} psfm_motion_support;

/* The standard deviation of the rotation in radians, for noise of one pixel in each coordinate of
 * every keypoint: of a motion behind a homography, with translation and normal free, and of an
 * essential matrix, with the direction of the translation free. At most PSFM_MAX_MOTION_SIGMA,
 * also where the matches determine nothing. O(inliers). */
#define PSFM_MAX_MOTION_SIGMA 0.2
double psfm_plane_motion_sigma(const psfm_motion_support *support, const psfm_plane_motion *motion);
double psfm_essential_sigma(const psfm_motion_support *support, const double R_21[9],
                            const double t_21[3]);

/* The same of a rotation that was fitted as if the cameras had one centre: with a small translation
 * free, and no less than a third of what admitting one would turn it by. *slack is how far the
 * centres may be apart, in distances of what the images show: three standard deviations, and no
 * less than the translation that fits best. At most PSFM_MAX_MOTION_SIGMA each. The distance is
 * that of a plane in the direction `ahead`, the mean ray of camera 1, that faces the camera. */
double psfm_rotation_sigma(const psfm_motion_support *support, const double R_21[9], double *slack,
                           double ahead[3]);

#endif
