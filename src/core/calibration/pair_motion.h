/* The motion of a measured pair under given focal lengths, and what its matches say of them. */
#ifndef PSFM_CALIBRATION_PAIR_MOTION_H
#define PSFM_CALIBRATION_PAIR_MOTION_H

#include "core/twoview/fundamental.h"
#include "core/twoview/two_view.h"

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
 * 1 - PSFM_DEGENERATE_SHARE: these say nothing, and wrong matches among them would. Parallel
 * over pairs; deterministic. */
psfm_status psfm_measured_pairs_init(psfm_context *ctx, const psfm_match_set *set,
                                     const psfm_two_view *two_views, const bool *wanted,
                                     const psfm_two_view_options *options,
                                     psfm_measured_pairs *out);
void psfm_measured_pairs_free(psfm_measured_pairs *pairs);

/* What may be wrong with a camera: the logarithm of its focal length, its principal point and its
 * k1 (see measured_planes.h). Principal points are in units of the longer side. */
enum { PSFM_LENS_DIM = 4, PSFM_LENS_FOCAL = 0, PSFM_LENS_CENTER = 1, PSFM_LENS_K1 = 3 };

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
