/* A plane among matches whose motion is known: three matches instead of four determine it. */
#ifndef PSFM_TWOVIEW_GUIDED_PLANE_H
#define PSFM_TWOVIEW_GUIDED_PLANE_H

#include "core/matches/ransac.h"
#include "core/twoview/essential.h"

/* Fits m of H = R + t m^T to the pairs by Gauss-Newton, starting from the given m. */
void psfm_guided_plane_fit(const psfm_motion *motion, const psfm_ray_pairs *pairs, psfm_loss loss,
                           double m[3]);

typedef struct {
    bool found;
    double m[3]; /* H = R + t m^T */
} psfm_guided_plane;

/* Searches the plane of least cost by locally optimised RANSAC over three pairs, every other sample
 * from neighbours. */
psfm_status psfm_guided_plane_ransac(psfm_context *ctx, const psfm_motion *motion,
                                     const psfm_ray_pairs *pairs, double max_error_px,
                                     double confidence, psfm_rng *rng, psfm_guided_plane *plane);

/* Whether a plane is more than a slice through a cloud: of `num` matches that obey the motion,
 * num_around are within three times the plane's bound and num_inliers within the bound itself,
 * where a slice would have a third. Counts all slices that three of the matches could define. */
bool psfm_is_peak(size_t num, size_t num_around, size_t num_inliers);

#endif
