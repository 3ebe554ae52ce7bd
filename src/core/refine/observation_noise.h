/* How noisy the observations are: weights and loss of a bundle adjustment from its residuals. */
#ifndef PSFM_REFINE_OBSERVATION_NOISE_H
#define PSFM_REFINE_OBSERVATION_NOISE_H

#include "core/bundle/bundle.h"
#include "core/matches/match_set.h"
#include "core/structure/tracks.h"

/* Brings the information of keypoints (one pixel: 1, 0, 1) and of aligned patches to the scale of
 * their standard deviations, so that neither has more weight than it deserves. sqrt_info is that of
 * `problem`, whose observations are the elements of `tracks`. */
psfm_status psfm_noise_balance(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_tracks *tracks, double (*sqrt_info)[3]);

/* Typical standard deviation of a coordinate of the keypoints of `problem` from its poses and
 * points, in pixels; 0 if there are too few to tell. */
psfm_status psfm_noise_of_keypoints(psfm_context *ctx, const psfm_bundle_problem *problem,
                                    const psfm_tracks *tracks, double *sigma_px);

/* The scale at which Cauchy's loss suits the residuals, in the unit of the weighted residuals.
 *
 * That loss is the log-likelihood of Student's t with n degrees of freedom and core scale s if its
 * own scale is sqrt(n) s. Detectors make a few large errors beside many small ones (n of 1 to 3);
 * labels and synthetic noise are nearly normal. num_posed images with six parameters each. */
psfm_status psfm_noise_loss_scale(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  size_t num_posed, double *scale);

/* Keypoints to be appended to one view. Owns its arrays. */
typedef struct {
    size_t num, capacity;
    double (*xy)[2];  /* pixels */
    double (*cov)[3]; /* px^2: xx, xy, yy */
} psfm_precise_keypoints;

psfm_status psfm_precise_keypoints_add(psfm_context *ctx, psfm_precise_keypoints *list,
                                       const double xy[2], const double cov[3]);
void psfm_precise_keypoints_free(psfm_precise_keypoints *list);

/* Appends them to the view, with rays by `camera` and their information. Keypoints that the view
 * has already count as a detector's if it did not say otherwise. */
psfm_status psfm_view_append(psfm_context *ctx, const psfm_camera *camera,
                             const psfm_precise_keypoints *list, psfm_view *view);

/* Moves keypoint k of a view that knows its keypoints' information. */
void psfm_view_move(const psfm_camera *camera, size_t k, const double xy[2], const double cov[3],
                    psfm_view *view);

#endif
