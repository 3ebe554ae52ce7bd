/* A homography fitted to aligned patches by their covariances. */
#ifndef PSFM_PHOTO_PLANE_FIT_H
#define PSFM_PHOTO_PLANE_FIT_H

#include "base/rng.h"
#include "planarsfm/camera.h"

/* Two pixels that show one point of the plane; the covariance (px^2: xx, xy, yy) is of the found
 * one, and the other is exact. */
typedef struct {
    double xy1[2], xy2[2];
    double cov[3];
    int found; /* 0 or 1: image in which it was found */
} psfm_plane_point;

/* Fits H_21 (in: a start, out: the fit, middle singular value 1, det > 0): the best within
 * max_error_px by RANSAC, from the start too, then weighted least squares. error_px[k] receives the
 * distance of each found point from where the fit puts it, INFINITY if nowhere; sigmas[k] the same
 * in standard deviations. *scale is by how much the deviations exceed the covariances (1 if they
 * do not). *fitted is false, and H_21 unchanged, if the points determine no homography. */
psfm_status psfm_plane_fit(psfm_context *ctx, const psfm_camera cameras[2],
                           const psfm_plane_point *points, size_t num, double max_error_px,
                           psfm_rng *rng, double H_21[9], double *error_px, double *sigmas,
                           double *scale, bool *fitted);

#endif
