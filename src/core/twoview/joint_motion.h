/* One motion for all planes of a pair and the points off them. */
#ifndef PSFM_TWOVIEW_JOINT_MOTION_H
#define PSFM_TWOVIEW_JOINT_MOTION_H

#include "core/twoview/essential.h"

/* A plane seen under the motion: H_21 = R_21 + t_21 m^T, t of unit length, m = n1 |t| / d1. */
typedef struct {
    psfm_ray_pairs pairs; /* its matches */
    double max_squared;   /* bound of their errors, px^2 */
    double m[3];
} psfm_joint_plane;

/* H_21 = R + t m^T; its middle singular value is 1. */
void psfm_joint_homography(const psfm_motion *motion, const double m[3], double H_21[9]);

/* The m that comes nearest to a given homography (middle singular value 1). */
void psfm_joint_plane_start(const psfm_motion *motion, const double H_21[9], double m[3]);

/* Minimises the sum of the truncated squared errors of the planes' matches under their homographies
 * and of the matches `off` the planes under the essential matrix, over the motion and all m, by
 * Levenberg-Marquardt. Cost O(matches + planes^3) per step. */
psfm_status psfm_joint_refine(psfm_context *ctx, psfm_joint_plane *planes, size_t num_planes,
                              const psfm_ray_pairs *off, double off_max_squared,
                              psfm_motion *motion);

#endif
