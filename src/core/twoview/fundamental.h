/* Fundamental matrices: ray2^T F ray1 = 0, F of rank two, where the rays are those of cameras whose
 * focal lengths may be wrong. Such rays are linear maps of the right ones, so there is an F as good
 * as ever, but it is no essential matrix. Errors are those of essential.h. */
#ifndef PSFM_TWOVIEW_FUNDAMENTAL_H
#define PSFM_TWOVIEW_FUNDAMENTAL_H

#include "core/twoview/essential.h"

/* The fundamental matrices of seven matches, at most three, of unit norm. Returns their number. */
int psfm_seven_point(const double ray1[7][3], const double ray2[7][3], double F[3][9]);

/* Minimises the cost over F by Levenberg and Marquardt on the first num_blocks blocks. The result
 * has rank two and unit norm. Returns the cost there. */
double psfm_fundamental_refine(const psfm_ray_pairs *pairs, size_t num_blocks, psfm_loss loss,
                               int max_iterations, double F[9]);

typedef struct {
    bool found; /* more inliers than chance has */
    double F[9];
    uint32_t *inliers; /* indices of pairs within the noise, ascending; owned, free with free() */
    size_t num_inliers;
    double sigma_px;    /* of the inliers' errors */
    double plane_share; /* of the inliers that H explains; 0 without one */
} psfm_fundamental_found;

/* One fundamental matrix out of contaminated matches (shuffled pairs). H is the homography of a
 * plane that many of them may be on, or NULL: then it must be carried by matches off the plane that
 * are more than chance. max_error_px bounds the error of an inlier, before the noise is known. */
psfm_status psfm_fundamental_ransac(psfm_context *ctx, const psfm_ray_pairs *pairs, const double *H,
                                    double max_error_px, psfm_rng *rng,
                                    psfm_fundamental_found *out);

#endif
