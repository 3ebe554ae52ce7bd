/* Agreement between the homographies of a pair and its essential matrix. */
#ifndef PSFM_TWOVIEW_PLANE_MOTION_AGREEMENT_H
#define PSFM_TWOVIEW_PLANE_MOTION_AGREEMENT_H

#include "core/twoview/essential_ransac.h"

/* Where matches off the largest plane determine the motion, every plane of a rigid scene obeys it.
 * Planes are tested against it, those that fail are searched again under the motion, and flat ones
 * are refined together with it; that makes both more accurate and leaves one motion per plane. The
 * planes, and motion and inliers of `essential`, are replaced. A plane that is larger than the
 * support of the motion it contradicts is kept as it is. `obeys` of the set tells which planes have
 * the motion; nothing but clearing it is done if the motion is not determined off the plane.
 * image_area is in px^2. */
psfm_status psfm_reconcile(psfm_context *ctx, const psfm_ray_pairs *pairs,
                           const double image_area[2], const psfm_two_view_options *options,
                           psfm_rng *rng, psfm_plane_set *planes, psfm_essential_found *essential);

#endif
