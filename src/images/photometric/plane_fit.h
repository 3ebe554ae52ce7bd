/* A homography fitted to aligned patches by their covariances. */
#ifndef PSFM_PHOTOMETRIC_PLANE_FIT_H
#define PSFM_PHOTOMETRIC_PLANE_FIT_H

#include <stdbool.h>

#include "core/base/rng.h"
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
    double scale;     /* by how much errors exceed covariances; 1 if they do not */
    double *error_px; /* num entries: distance of a found point from where the fit puts it,
                         INFINITY if nowhere */
    double *sigmas;   /* num entries: the same in standard deviations */
} psfm_plane_fitted;

/* The best homography within max_error_px by RANSAC, from the start too, then weighted least
 * squares. H_21 stays if nothing is fitted. */
psfm_status psfm_plane_fit(psfm_context *ctx, const psfm_plane_points *points, psfm_rng *rng,
                           psfm_plane_fitted *fit);

/* Pixel of image 2 that shows what image 1 shows at xy1 + (u, v):
 *   x = x[0] + x[1] u + x[2] v + x[3] u^2 + x[4] u v + x[5] v^2, y likewise, all in pixels.
 * The second order is what perspective and lens distortion leave over a patch. */
typedef struct {
    double x[6], y[6];
} psfm_plane_warp;

/* Expands the map about xy1 from its exact values at nine points, `reach` pixels apart: pixel to
 * ray, H_21 (ray2 ~ H_21 ray1), ray to pixel. False if one of them has no image. */
bool psfm_plane_warp_make(const psfm_camera *camera1, const double xy1[2],
                          const psfm_camera *camera2, const double H_21[9], double reach,
                          psfm_plane_warp *warp);

/* The value at (u, v). */
void psfm_plane_warp_at(const psfm_plane_warp *warp, double u, double v, double xy2[2]);

/* The same map expanded about (u, v). */
void psfm_plane_warp_move(const psfm_plane_warp *warp, double u, double v, psfm_plane_warp *moved);

/* Square root of the area that a pixel of image 1 covers in image 2, and in *anisotropy the ratio
 * of the longest to the shortest extent of its image; 0 if the image is turned over. */
double psfm_plane_warp_zoom(const psfm_plane_warp *warp, double *anisotropy);

#endif
