/* All homographies of a pair. */
#ifndef PSFM_TWOVIEW_MULTI_HOMOGRAPHY_H
#define PSFM_TWOVIEW_MULTI_HOMOGRAPHY_H

#include "core/twoview/plane_set.h"
#include "core/twoview/two_view.h"

/* Finds homographies of the pairs one after the other until there are max_planes, starting from
 * those in `set`. Each must have min_inliers over min_area
 * of both images and be beyond chance; each pair belongs to the homography that fits it best.
 * image_area is in px^2. Homographies come with middle singular value 1 and det > 0, most inliers
 * first. */
psfm_status psfm_multi_homography(psfm_context *ctx, const psfm_ray_pairs *pairs,
                                  const double image_area[2], const psfm_two_view_options *options,
                                  size_t max_planes, psfm_rng *rng, psfm_plane_set *set);

#endif
