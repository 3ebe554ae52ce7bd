/* Is a homography a rotation? */
#ifndef PSFM_TWOVIEW_ROTATION_FIT_H
#define PSFM_TWOVIEW_ROTATION_FIT_H

#include "core/matches/ray_pairs.h"

/* Whether the matches of a homography (all of `own`) are explained by a rotation alone, and which:
 * either the two predictions differ by less than rotation_px in the median, or the rotation's
 * errors are not significantly larger than the homography's (so that the matches do not tell
 * translation from noise). H_21 has been fitted to these matches. scratch has room for own->num
 * values. */
bool psfm_is_rotation(const psfm_ray_pairs *own, const double H_21[9], double rotation_px,
                      double *scratch, double R_21[9]);

#endif
