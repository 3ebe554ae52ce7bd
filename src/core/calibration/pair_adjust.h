/* Joint adjustment of epipolar geometries to cameras: a motion for each pair, and one focal length
 * a camera or group of cameras. */
#ifndef PSFM_CALIBRATION_PAIR_ADJUST_H
#define PSFM_CALIBRATION_PAIR_ADJUST_H

#include "core/calibration/pair_motion.h"

/* Per group, what is known before. Standard deviations: of log f; of the principal point in units
 * of the longer side; of k1 (0: the lens is as it is) about one that is common to all lenses and
 * unknown. */
typedef struct {
    double scale[2]; /* of the rays, see psfm_image_scale */
    bool is_free;    /* about the median of all free ones instead of log_factor */
    double log_factor, sigma;
    double center_sigma;
    double k1, k1_sigma; /* of the lens beyond that of the rays, if the common one is 0 */
} psfm_lens_prior;

typedef struct {
    size_t num_pairs, num_groups;
    const psfm_measured_pair *pairs;
    const uint32_t (*group)[2]; /* per pair, of either side */
    const psfm_lens_prior *priors;
    const double *weight; /* per pair, in a posterior; NULL: what the loss leaves of it */
} psfm_pair_problem;

/* Per group: standard deviations of log_factor and k1, and by how much k1 is larger than
 * the rays have it. */
typedef struct {
    double sigma, k1, k1_sigma;
} psfm_lens_posterior;

typedef struct {
    double cost;     /* robust, in units of the noise's variance */
    double variance; /* by how much the pairs scatter more than their matches say, 1 or more */
    double *excess;  /* per pair, or NULL: what it costs that its F is essential */
    double common_k1, common_k1_sigma; /* beside a posterior */
} psfm_pair_fit;

/* Minimises a Cauchy loss of what it costs the pairs that their fundamental matrices are essential,
 * and the priors. log_factor (per group) is that of the focal length over the one of the rays,
 * refined in place. posterior (per group, or NULL) is that of an adjustment in which principal
 * points and k1 are free within their standard deviations. Deterministic for any number of threads;
 * O(matches) an iteration. */
psfm_status psfm_pair_adjust(psfm_context *ctx, const psfm_pair_problem *problem,
                             int max_iterations, double *log_factor, psfm_lens_posterior *posterior,
                             psfm_pair_fit *fit);

#endif
