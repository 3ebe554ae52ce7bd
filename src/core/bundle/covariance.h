/* How well the poses of an adjusted bundle are known. */
#ifndef PSFM_BUNDLE_COVARIANCE_H
#define PSFM_BUNDLE_COVARIANCE_H

#include "core/bundle/bundle.h"

typedef struct {
    /* Standard deviation per coordinate of a residual that the covariances are scaled by: estimated
     * from the residuals, in pixels (or, with obs_sqrt_info, in their unit), or 1 if known. */
    double sigma;
    long long redundancy; /* residuals minus unknowns */
} psfm_covariance_stats;

/* Covariance of each image's pose at the values of an adjusted problem, called with the options of
 * the adjustment. covariance[i] is 6 x 6, row-major: the vector w, in radians and in the axes of
 * the camera, of the rotation error R_true = exp(w) R, then the error of the centre in scene units.
 *
 * Gauge: errors are relative to what holds the frame (see psfm_bundle_adjust and the image states
 * of its stats). The datum image and images fixed by the caller have zero covariance, the image
 * that fixes the scale has none along the line to the datum, and an image that was left out has NaN
 * throughout. So have most images if the system is too large for a factor: then only some are
 * found. Points, planes and refined intrinsics count as unknown.
 *
 * If known_sigma, observations are taken to have unit variance in units of obs_sqrt_info (or one
 * pixel); otherwise the variance is estimated from the residuals, allowing for the loss.
 * PSFM_ERR_NUMERIC if the poses are not determined. Cost: one iteration, and a forward
 * substitution per image. stats may be NULL. */
psfm_status psfm_pose_covariance(psfm_context *ctx, const psfm_bundle_problem *problem,
                                 const psfm_bundle_options *options, bool known_sigma,
                                 double (*covariance)[36], psfm_covariance_stats *stats);

/* Standard deviations of the shape's two numbers; 0 for one that does not move, or without one. */
psfm_status psfm_shape_sigmas(psfm_context *ctx, const psfm_bundle_problem *problem,
                              const psfm_bundle_options *options, double sigma[2]);

/* Standard deviations of the intrinsics that move under the options and priors, per camera and
 * parameter; NAN for those that do not, and for cameras without observations. */
psfm_status psfm_camera_sigmas(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_bundle_options *options,
                               double (*sigma)[PSFM_CAMERA_MAX_PARAMS]);

/* Both, of one factorisation. The standard deviations of priors are taken in the units of the
 * intrinsics: against observations of the variance that their residuals have. */
psfm_status psfm_uncertainty(psfm_context *ctx, const psfm_bundle_problem *problem,
                             const psfm_bundle_options *options, double (*covariance)[36],
                             double (*sigma)[PSFM_CAMERA_MAX_PARAMS]);

#endif
