/* Agreement between the homographies of a pair and its essential matrix. */
#ifndef PSFM_TWOVIEW_RECONCILE_H
#define PSFM_TWOVIEW_RECONCILE_H

#include "twoview/essential_ransac.h"

/* Where points off the largest plane determine the motion, every plane of a rigid scene obeys it.
 * Planes that do are refined together with the motion and the other inliers, which makes both more
 * accurate and leaves one motion per plane; their homographies, labels, and the motion and inliers
 * of `essential` are replaced. Planes that contradict a motion with more support than they have are
 * removed (their matches are off plane then). obeys[p] tells, for the planes left, whether H_21[p]
 * is of the form R + t m^T with the motion. Does nothing but clear `obeys` if the motion is not
 * determined off the plane. */
psfm_status psfm_reconcile(psfm_context *ctx, const psfm_ray_pairs *pairs,
                           const psfm_two_view_options *options, psfm_plane_set *planes,
                           psfm_essential_found *essential, bool *obeys);

#endif
