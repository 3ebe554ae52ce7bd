/* Homographies of planes as measurements: what a pair saw, and how surely. */
#ifndef PSFM_CALIBRATION_MEASURED_PLANES_H
#define PSFM_CALIBRATION_MEASURED_PLANES_H

#include "core/twoview/homography.h"
#include "core/twoview/two_view.h"
#include "planarsfm/camera.h"

/* k1 is a change of the first radial coefficient for a focal length of one longer side. With d the
 * change of H and b that of k1 on both sides, the squared errors of the matches change by
 *   d^T N d + 2 d^T by_H b + b^T normal b + 2 gradient . b,
 * N being the information of H, which is the best one for b = 0. At best they fall by `gain`. */
typedef struct {
    double by_H[9][2], normal[2][2], gradient[2], gain;
} psfm_k1_information;

/* From pairs of rays of these cameras. N is the normal matrix of H (unit norm) under this loss.
 * Zero for a side without a radial coefficient. */
void psfm_k1_information_find(const psfm_ray_pairs *pairs, const double H[9], psfm_loss loss,
                              const double N[81], const psfm_camera *camera1,
                              const psfm_camera *camera2, psfm_k1_information *out);

/* Multiplies all squared errors. */
void psfm_k1_information_scale(double factor, psfm_k1_information *b);

#define PSFM_PLANE_SAMPLES 8

/* One homography x2 ~ H x1 between image coordinates: undistorted, counted from the principal
 * point, in units of the image's longer side. A camera of focal length f (in that unit) has
 * x ~ diag(f, f, 1) ray, so that H = K2 (R + t n^T) K1^-1 whatever the focal lengths are. */
typedef struct {
    uint32_t view1, view2;
    double H[9];            /* unit Frobenius norm; positive third coordinate on the inliers */
    double information[81]; /* of the entries of H, row-major; annihilates H itself */
    psfm_k1_information k1; /* of the lenses about the distortion they have now */
    uint32_t num;           /* inliers, as far as their errors are no more than the noise */
    uint32_t *keypoints[2]; /* of the inliers, per view, ascending in each; owned */
    double samples[2][PSFM_PLANE_SAMPLES][2]; /* image points of some inliers, per view */
} psfm_measured_plane;

/* Owns its parts. */
typedef struct {
    psfm_measured_plane *planes;
    size_t num;
    const psfm_view *views; /* whose keypoints these are; not owned */
} psfm_measured_planes;

/* The image coordinates of a camera in terms of its rays: x ~ diag(scale[0], scale[1], 1) ray.
 * False for fisheye lenses, whose images of planes are not related by homographies. */
bool psfm_image_scale(const psfm_camera *camera, double scale[2]);

/* Refits every homography to its inliers and measures their noise. The cameras of the set may have
 * any focal lengths: only their principal points and distortions matter. The set must outlive what
 * is measured. Parallel over pairs. */
psfm_status psfm_measured_planes_init(psfm_context *ctx, const psfm_match_set *set,
                                      const psfm_two_view *two_views, psfm_measured_planes *out);
void psfm_measured_planes_free(psfm_measured_planes *measured);

#endif
