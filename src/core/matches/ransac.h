/* What the sampling loops share: how long to sample, what to sample, and whether the outcome could
 * be chance. */
#ifndef PSFM_MATCHES_RANSAC_H
#define PSFM_MATCHES_RANSAC_H

#include "core/base/rng.h"
#include "core/matches/ray_pairs.h"

/* How surely a sample without outliers is to be drawn before a search ends: one search in ten
 * thousand may miss it. */
#define PSFM_RANSAC_CONFIDENCE 0.9999

/* Number of samples of `sample_size` after which one without outliers was drawn with probability
 * `confidence`, if this share of the data are inliers; 1 to max_iterations. */
int psfm_ransac_iterations(double inlier_share, int sample_size, double confidence,
                           int max_iterations);

/* A group of pairs, of which some agree with a model. */
typedef struct {
    size_t num;
    size_t num_inliers;
    double log10_p; /* log10 of the probability that an unrelated pair of the group agrees */
} psfm_chance_group;

/* log10 of the expected number of models of sample_size pairs that chance would support as well (a
 * contrario; Moisan, Moulon and Monasse 2012): for one group of n pairs with k inliers it is
 *   (n - m) C(n, k) C(k, m) p^(k - m);
 * groups multiply. The sample is taken from the first groups, so give those of the strongest
 * evidence (least p) first. Well below 0, chance is ruled out. */
double psfm_log10_false_alarms(const psfm_chance_group *evidence, size_t num_groups,
                               size_t sample_size);

/* Indices of the pairs along a space-filling (Morton) curve through image 1: neighbours in the list
 * are neighbours in the image. `order` has num entries. O(n log n). */
psfm_status psfm_spatial_order(psfm_context *ctx, const psfm_ray_pairs *pairs, uint32_t *order);

/* Draws k distinct indices out of a random window of `width` >= k places of `order` (num long). */
void psfm_sample_window(psfm_rng *rng, const uint32_t *order, size_t num, size_t width, size_t k,
                        uint32_t *out);

#endif
