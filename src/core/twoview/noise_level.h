/* How noisy the keypoints of a set are, from a sample of its pairs. */
#ifndef PSFM_TWOVIEW_NOISE_LEVEL_H
#define PSFM_TWOVIEW_NOISE_LEVEL_H

#include "core/twoview/two_view.h"

typedef struct {
    double sigma_px;  /* standard deviation of a keypoint's coordinate; 0: could not be told */
    size_t num_pairs; /* that had a say */
} psfm_noise_level;

/* Measures the noise. Two-view models of up to 24 pairs, spread evenly over the set, are estimated
 * at inlier bounds of options->max_error_px, its doubles and its halves; the bound under which they
 * are least likely to be chance is that of the noise, and the residuals within it say how large it
 * is. Deterministic; a few milliseconds a pair of the sample. */
psfm_status psfm_noise_level_measure(psfm_context *ctx, const psfm_match_set *set,
                                     const psfm_two_view_options *options, psfm_noise_level *out);

#endif
