/* How noisy the observations are: weights and loss of a bundle adjustment from its residuals. */
#ifndef PSFM_REFINE_OBSERVATION_NOISE_H
#define PSFM_REFINE_OBSERVATION_NOISE_H

#include "pose/bundle.h"
#include "scene/tracks.h"

/* Brings the information of keypoints (one pixel: 1, 0, 1) and of aligned patches to the scale of
 * their deviations, so that neither has more weight than it deserves. sqrt_info is that of
 * `problem`, whose observations are the elements of `tracks`. */
psfm_status psfm_noise_balance(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_tracks *tracks, double (*sqrt_info)[3]);

/* Typical deviation of a coordinate of the keypoints of `problem` from its poses and points, in
 * pixels; 0 if there are too few to tell. */
psfm_status psfm_noise_of_keypoints(psfm_context *ctx, const psfm_bundle_problem *problem,
                                    const psfm_tracks *tracks, double *sigma_px);

/* The scale at which Cauchy's loss suits the residuals, in the unit of the weighted residuals.
 *
 * That loss is the log-likelihood of Student's t with n degrees of freedom and core scale s if it
 * bends at sqrt(n) s. Detectors make a few large errors beside many small ones (n of 1 to 3);
 * labels and synthetic noise are nearly normal. num_posed images with six parameters each. */
psfm_status psfm_noise_loss_scale(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  size_t num_posed, double *scale);

#endif
