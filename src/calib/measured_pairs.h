/* Epipolar geometry of pairs as measurements: what each pair saw without any focal length. */
#ifndef PSFM_CALIB_MEASURED_PAIRS_H
#define PSFM_CALIB_MEASURED_PAIRS_H

#include "twoview/fundamental.h"
#include "twoview/two_view.h"

/* A pair whose matches carry a fundamental matrix. Rays are those of the cameras as they are. */
typedef struct {
    uint32_t view1, view2;
    double F[9];         /* unit norm */
    psfm_ray_pairs rays; /* its inliers, shuffled; owned */
    double weight;       /* of a squared error, 1/px^2: its noise, and how many are independent */
    double free_cost;    /* weighed, of F */
} psfm_measured_pair;

/* Of the errors of a pair's inliers: squares. A bound would let a motion that is far off rest on a
 * few of them. */
extern const psfm_loss psfm_pair_loss;

/* Owns its parts. */
typedef struct {
    psfm_measured_pair *items;
    size_t num;
} psfm_measured_pairs;

/* Estimates the fundamental matrices of the pairs that are `wanted` (per pair of the set). Left out
 * are pairs whose matches lie on one plane, but for no more than chance or a share of
 * 1 - options->degenerate_share: these say nothing, and wrong matches among them would. Parallel
 * over pairs; deterministic. */
psfm_status psfm_measured_pairs_init(psfm_context *ctx, const psfm_match_set *set,
                                     const psfm_two_view *two_views, const bool *wanted,
                                     const psfm_two_view_options *options,
                                     psfm_measured_pairs *out);
void psfm_measured_pairs_free(psfm_measured_pairs *pairs);

#endif
