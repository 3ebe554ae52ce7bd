/* Motions and planes behind a homography. */
#ifndef PSFM_TWOVIEW_HOMOGRAPHY_DECOMPOSE_H
#define PSFM_TWOVIEW_HOMOGRAPHY_DECOMPOSE_H

#include "core/matches/ray_pairs.h"
#include "core/twoview/two_view.h"

/* All motions with H_21 = R_21 + t_21 n1^T, up to the common sign of t and n, for H_21 with middle
 * singular value 1 and det > 0. Returns their number: 2; 1 if t is parallel to n, so that the two
 * fall together; 1 with t = n = 0 if H is a rotation to working precision. */
int psfm_homography_decompose(const double H_21[9], psfm_plane_motion motions[2]);

/* Sets the signs of t and n so that the plane is in front of the cameras where the given pairs see
 * it, drops a motion that hides points of which the other shows more, and sorts: more visible
 * points first, then the plane seen more frontally. Returns the number left, at least 1. */
int psfm_plane_motions_keep_visible(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                                    psfm_plane_motion motions[2], int num_motions);

#endif
