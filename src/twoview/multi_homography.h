/* All homographies of a pair. */
#ifndef PSFM_TWOVIEW_MULTI_HOMOGRAPHY_H
#define PSFM_TWOVIEW_MULTI_HOMOGRAPHY_H

#include "twoview/ray_pairs.h"
#include "twoview/two_view.h"

#define PSFM_NO_PLANE UINT32_MAX

typedef struct {
    size_t num_planes;
    double (*H_21)[9];   /* middle singular value 1, det > 0; most inliers first; owned */
    size_t *num_inliers; /* owned */
    uint32_t *plane;     /* per pair: index of its homography, or PSFM_NO_PLANE; owned */
} psfm_plane_set;

/* Finds the homographies of the pairs one after the other. Each must have min_inliers over min_area
 * of both images and be beyond chance; each pair belongs to the homography that fits it best.
 * image_area is in px^2. */
psfm_status psfm_multi_homography(psfm_context *ctx, const psfm_ray_pairs *pairs,
                                  const double image_area[2], const psfm_two_view_options *options,
                                  psfm_rng *rng, psfm_plane_set *out);
void psfm_plane_set_free(psfm_plane_set *set);

#endif
