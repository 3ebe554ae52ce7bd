/* The motion of a measured pair under given focal lengths, and what its matches say of them. */
#ifndef PSFM_CALIB_PAIR_MOTION_H
#define PSFM_CALIB_PAIR_MOTION_H

#include "calib/measured_pairs.h"

/* What may be wrong with a camera: the logarithm of its focal length, its principal point and its
 * bend (see bend_information.h). Principal points are in units of the longer side. */
enum { PSFM_LENS_DIM = 4, PSFM_LENS_FOCAL = 0, PSFM_LENS_CENTER = 1, PSFM_LENS_BEND = 3 };

/* The lenses of a pair: scale is that of the rays (psfm_image_scale), and factor the focal length
 * over that of the rays. */
typedef struct {
    double scale[2][2], factor[2];
} psfm_pair_lenses;

/* The motion nearest to the pair's F under these lenses. */
bool psfm_pair_motion_start(const psfm_measured_pair *pair, const psfm_pair_lenses *lenses,
                            psfm_motion *motion);

/* Minimises the pair's cost over the motion, lenses as they are. Returns the weighed cost: that of
 * F, and what an essential matrix costs in addition. */
double psfm_pair_motion_refine(const psfm_measured_pair *pair, const psfm_pair_lenses *lenses,
                               int max_iterations, psfm_motion *motion);

/* Normal equations of the cost by both lenses, the motion (at its best) eliminated. */
typedef struct {
    double N[2 * PSFM_LENS_DIM][2 * PSFM_LENS_DIM], g[2 * PSFM_LENS_DIM];
} psfm_lens_information;

/* With `all` by everything that may be wrong, else by the focal lengths only and zero elsewhere.
 * False if the motion is not determined. */
bool psfm_pair_information(const psfm_measured_pair *pair, const psfm_pair_lenses *lenses,
                           const psfm_motion *motion, bool all, psfm_lens_information *out);

#endif
