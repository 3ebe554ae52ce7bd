/* Homographies of two images, and the motions behind them (part of libplanarsfm-core).
 *
 * A plane that two cameras see maps the rays of one to those of the other, ray2 ~ H_21 ray1, with
 *   H_21 = R_21 + t_21 n1^T,   n1 . X1 = 1 on the plane,
 * lengths in units of the plane's distance from camera 1 (docs/conventions.md).
 *
 * In this and the other headers of parts: arrays of several columns are rows one after the other,
 * matrices row by row; a struct begins with struct_size, which the caller sets to its sizeof; a
 * member of a struct of options that is 0 stands for its default, and NULL for all defaults. NULL
 * for anything else that is not said to be optional is PSFM_ERR_ARGUMENT. */
#ifndef PLANARSFM_HOMOGRAPHY_H
#define PLANARSFM_HOMOGRAPHY_H

#include <stddef.h>
#include <stdint.h>

#include "planarsfm/camera.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Matched points: row k of xy1 and row k of xy2 are said to show the same. Pixels; the centre of
 * the first one is (0.5, 0.5). */
typedef struct {
    size_t struct_size;
    size_t num;
    const double *xy1, *xy2; /* num x 2 */
    /* Both, or neither: then lens and focal length are not known, and homographies are between
     * pixels. */
    const psfm_camera *camera1, *camera2;
} psfm_matched_points;

typedef struct {
    size_t struct_size;
    double max_error_px; /* 4: how far the two points of a match must move together to agree */
    int min_inliers;     /* 8: fewer are no homography; of many matches more are asked for */
    double min_area;     /* 0.005: share of either image that the inliers' hull covers */
    int max_iterations;  /* 10000: samples of four */
} psfm_homography_options;

/* Finds homographies among matches of which many may be wrong, one after the other, up to `most`;
 * each is beyond chance, and each match belongs to the one that fits it best. Most inliers first.
 * H_21 has room for most x 9. With cameras it maps rays, has middle singular value 1 and a positive
 * determinant; without it maps pixels (x, y, 1) and has unit norm. plane (num, or NULL) is the
 * index of each match's homography, -1 for none. *num_found = 0 is a result, not a failure. Random
 * draws come from the context's seed. */
PSFM_API psfm_status psfm_find_homographies(psfm_context *ctx, const psfm_matched_points *points,
                                            const psfm_homography_options *options, size_t most,
                                            double *H_21, int32_t *plane, size_t *num_found);

/* One motion behind a homography. It keeps this layout. */
typedef struct {
    double R_21[9];
    double t_21[3]; /* X2 = R_21 X1 + t_21, in units of the plane's distance from camera 1; zero
                       for a rotation */
    double n1[3], n2[3]; /* the plane's normal in either camera, away from it; n2 = R_21 n1 */
    double d2_over_d1;   /* 1 + n2 . t_21: the plane's distances from the cameras */
} psfm_plane_motion;

/* The motions behind a homography between rays, of any scale and sign: 2; 1 if t is parallel to n;
 * 1 with t = n = 0 if it is a rotation. The num rays (num x 3, any length) of points on the plane
 * say which side of it they see: motions are turned so that it is in front of both cameras, one
 * that hides points which the other shows is dropped, and the one that more points agree with, or
 * else the one that sees the plane more frontally, comes first. With num 0 the plane is on the side
 * of camera 1's axis. motions has room for 2. A singular matrix is PSFM_ERR_DATA. */
PSFM_API psfm_status psfm_decompose_homography(psfm_context *ctx, const double *H_21, size_t num,
                                               const double *rays1, const double *rays2,
                                               psfm_plane_motion *motions, size_t *num_motions);

#ifdef __cplusplus
}
#endif
#endif
