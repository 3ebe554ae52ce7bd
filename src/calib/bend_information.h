/* What the matches of a homography say about the radial distortion of the two lenses. */
#ifndef PSFM_CALIB_BEND_INFORMATION_H
#define PSFM_CALIB_BEND_INFORMATION_H

#include "planarsfm/camera.h"
#include "twoview/homography.h"

/* A bend is a change of the first radial coefficient for a focal length of one longer side. With d
 * the change of H and b the bends of both sides, the squared errors of the matches change by
 *   d^T N d + 2 d^T by_H b + b^T normal b + 2 gradient . b,
 * N being the information of H, which is the best one for b = 0. At best they fall by `gain`. */
typedef struct {
    double by_H[9][2], normal[2][2], gradient[2], gain;
} psfm_bend_information;

/* From pairs of rays of these cameras. N is the normal matrix of H (unit norm) under this loss.
 * Zero for a side without a radial coefficient. */
void psfm_bend_information_find(const psfm_ray_pairs *pairs, const double H[9], psfm_loss loss,
                                const double N[81], const psfm_camera *camera1,
                                const psfm_camera *camera2, psfm_bend_information *out);

/* Multiplies all squared errors. */
void psfm_bend_information_scale(double factor, psfm_bend_information *bend);

#endif
