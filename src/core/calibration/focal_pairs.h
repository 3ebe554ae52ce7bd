/* Focal lengths from the epipolar geometry of pairs, for cameras that planes leave undetermined. */
#ifndef PSFM_CALIBRATION_FOCAL_PAIRS_H
#define PSFM_CALIBRATION_FOCAL_PAIRS_H

#include "core/calibration/pair_adjust.h"

/* What is known of a camera of a match set before. */
typedef struct {
    bool free;         /* its focal length is to be found */
    double focal;      /* else: this, in units of the longer side, */
    double sigma;      /* with this standard deviation of its logarithm */
    bool is_certain;   /* its principal point is where it is said to be */
    double bend_sigma; /* deviation of its bend from what is usual; 0: it is as it is */
} psfm_camera_knowledge;

/* Per camera. Owns its arrays. */
typedef struct {
    double *focal;      /* in units of the longer side */
    double *sigma;      /* of log focal; INFINITY if it is not free, or no pair says anything */
    double *bend;       /* by how much the lens bends more than the rays have it, */
    double *bend_sigma; /* and its deviation */
    bool asks_bends;    /* the bends are more than chance */
    uint32_t num_pairs; /* that took part */
} psfm_pair_estimate;

/* Estimates the focal lengths that are free. two_views are homographies of the rays as they are.
 * Undetermined is a result: sigma is then large. Deterministic for any number of threads. */
psfm_status psfm_focal_from_pairs(psfm_context *ctx, const psfm_match_set *set,
                                  const psfm_two_view *two_views,
                                  const psfm_two_view_options *options,
                                  const psfm_camera_knowledge *known, psfm_pair_estimate *out);

/* The same again and again while the lenses of free cameras bend, if the matches ask for it or if
 * they did already. The cameras of the set and their rays have the bends in the end, but keep their
 * focal lengths; out->bend is by how much they were bent in all. */
psfm_status psfm_lenses_from_pairs(psfm_context *ctx, psfm_match_set *set,
                                   const psfm_two_view *two_views,
                                   const psfm_two_view_options *options,
                                   const psfm_camera_knowledge *known, psfm_pair_estimate *out);
void psfm_pair_estimate_free(psfm_pair_estimate *estimate);

#endif
