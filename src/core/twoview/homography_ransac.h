/* One homography out of contaminated matches. */
#ifndef PSFM_TWOVIEW_HOMOGRAPHY_RANSAC_H
#define PSFM_TWOVIEW_HOMOGRAPHY_RANSAC_H

#include "core/matches/ransac.h"

typedef struct {
    double max_error_px;
    double confidence;
    int max_iterations;
    double *scratch;       /* room for a value per lane of the pairs */
    const uint32_t *order; /* spatial order of the pairs: every other sample is of neighbours, to
                              find small planes; NULL for samples from everywhere only */
} psfm_homography_search;

typedef struct {
    double H_21[9]; /* Frobenius norm 1, det > 0 */
    double cost;    /* truncated squared errors, px^2 */
    size_t num_inliers;
    int num_iterations;
} psfm_homography_found;

/* Finds the homography of least truncated squared error by locally optimised RANSAC and refines it
 * on all pairs. False if no sample gave one. Draws from rng. */
bool psfm_homography_ransac(const psfm_ray_pairs *pairs, const psfm_homography_search *search,
                            psfm_rng *rng, psfm_homography_found *found);

#endif
