/* Homographies between rays: ray2 ~ H_21 ray1, all lengths positive (a point in front of camera 1
 * maps to a point in front of camera 2). Errors are in pixels: the shortest joint move of a match's
 * two points, root of the sum of squares over both images, that makes them agree with H (to first
 * order, Sampson). */
#ifndef PSFM_TWOVIEW_HOMOGRAPHY_H
#define PSFM_TWOVIEW_HOMOGRAPHY_H

#include <stdbool.h>

#include "core/linalg/loss.h"
#include "core/matches/ray_pairs.h"
#include "core/twoview/kronecker_sums.h"

/* A homography (of norm about 1) must leave a ray at least this much in front of the camera. */
#define PSFM_MIN_DEPTH 1e-9

/* The homography of four matches, unit Frobenius norm, det > 0. False, in a few nanoseconds, if no
 * plane in front of both cameras can have them (a triangle changes its orientation) or if three
 * rays of either image are in one plane with the centre (collinear image points). */
bool psfm_homography_from_four(const double ray1[4][3], const double ray2[4][3], double H[9]);

/* Linear least squares over the pairs (at least four) of the first num_blocks blocks: the algebraic
 * transfer error, whitened on both sides. Unit norm, det > 0. False if the points do not determine
 * a homography. */
bool psfm_homography_fit(const psfm_ray_pairs *pairs, size_t num_blocks, double H[9]);

/* Transfer error of pair i in image 2: from the observed point to the image of the first, pixels.
 */
void psfm_homography_transfer(const psfm_ray_pairs *pairs, size_t i, const double H[9],
                              double e[2]);

/* Squared errors in pixels, INFINITY where H turns the ray away. `squared` has room for
 * num_blocks * 8. */
void psfm_homography_errors(const psfm_ray_pairs *pairs, const double H[9], double *squared);

/* Number of pairs within max_error_px. */
size_t psfm_homography_count(const psfm_ray_pairs *pairs, const double H[9], double max_error_px);

/* Sum of the losses of all pairs. Gives up early, returning something larger, once the sum exceeds
 * stop_above. */
double psfm_homography_cost(const psfm_ray_pairs *pairs, const double H[9], psfm_loss loss,
                            double stop_above);

/* Minimises the above cost over H by Levenberg-Marquardt on the first `num_blocks` blocks, in at
 * most max_iterations steps. Returns the cost on these blocks. Keeps the norm of H at 1. */
double psfm_homography_refine(const psfm_ray_pairs *pairs, size_t num_blocks, psfm_loss loss,
                              int max_iterations, double H[9]);

/* Cost and normal equations by the entries of H on the first num_blocks blocks. */
void psfm_homography_normal_equations(const psfm_ray_pairs *pairs, size_t num_blocks,
                                      const double H[9], psfm_loss loss, psfm_normal9 *out);

/* Scales H to Frobenius norm 1. */
void psfm_homography_normalize_norm(double H[9]);

/* Scales H to middle singular value 1 and det > 0. False if H is singular. */
bool psfm_homography_normalize(double H[9]);

#endif
