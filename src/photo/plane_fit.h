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

/* What is fitted. */
typedef struct {
    const psfm_camera *cameras[2];
    const psfm_plane_point *points;
    size_t num;
    double max_error_px; /* of a point that agrees */
} psfm_plane_points;

typedef struct {
    bool fitted;      /* false: the points determine no homography */
    double H_21[9];   /* in: a start; out: the fit, middle singular value 1, det > 0 */
    double scale;     /* by how much deviations exceed covariances; 1 if they do not */
    double *error_px; /* num entries: distance of a found point from where the fit puts it,
                         INFINITY if nowhere */
    double *sigmas;   /* num entries: the same in standard deviations */
} psfm_plane_fitted;

/* The best homography within max_error_px by RANSAC, from the start too, then weighted least
 * squares. H_21 stays if nothing is fitted. */
psfm_status psfm_plane_fit(psfm_context *ctx, const psfm_plane_points *points, psfm_rng *rng,
                           psfm_plane_fitted *fit);

#endif
