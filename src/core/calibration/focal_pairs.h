/* Focal lengths from the epipolar geometry of pairs, for cameras that planes leave undetermined. */
#ifndef PSFM_CALIBRATION_FOCAL_PAIRS_H
#define PSFM_CALIBRATION_FOCAL_PAIRS_H

#include "core/calibration/pair_adjust.h"

/* What is known of a camera of a match set before. */
typedef struct {
    bool free;       /* its focal length is to be found */
    double focal;    /* else: this, in units of the longer side, */
    double sigma;    /* with this standard deviation of its logarithm */
    bool is_certain; /* its principal point is where it is said to be */
    double k1_sigma; /* standard deviation of its k1 about the usual one; 0: it is as it is */
} psfm_camera_knowledge;

/* Per camera. Owns its arrays. */
typedef struct {
    double *focal;      /* in units of the longer side */
    double *sigma;      /* of log focal; INFINITY if it is not free, or no pair says anything */
    double *k1;         /* by how much k1 is larger than the rays have it, */
    double *k1_sigma;   /* and its standard deviation */
    bool asks_k1;       /* the distortion is more than chance */
    uint32_t num_pairs; /* that took part */
} psfm_pair_estimate;

/* Estimates the focal lengths that are free. two_views are homographies of the rays as they are.
 * Undetermined is a result: sigma is then large. Deterministic for any number of threads. */
psfm_status psfm_focal_from_pairs(psfm_context *ctx, const psfm_match_set *set,
                                  const psfm_two_view *two_views,
                                  const psfm_two_view_options *options,
                                  const psfm_camera_knowledge *known, psfm_pair_estimate *out);

/* The same again and again while the distortion of free cameras changes, if the matches ask for it
 * or if they have some already. The cameras of the set and their rays have that distortion in the
 * end, but keep their focal lengths; out->k1 is the whole change of k1. */
psfm_status psfm_lenses_from_pairs(psfm_context *ctx, psfm_match_set *set,
                                   const psfm_two_view *two_views,
                                   const psfm_two_view_options *options,
                                   const psfm_camera_knowledge *known, psfm_pair_estimate *out);
void psfm_pair_estimate_free(psfm_pair_estimate *estimate);

#endif
