/* What sampling loops share.
 *
 * Number of samples: with inlier share e and samples of m, one without outliers is drawn with
 * probability c after log(1 - c) / log(1 - e^m) of them. Chance: the a-contrario number of false
 * alarms, by logarithms of factorials. Where to sample: points of one plane tend to be neighbours
 * in the image, so samples from a window of a space-filling curve are free of outliers far more
 * often than samples from everywhere. */
#include "core/matches/ransac.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/linalg/order_statistics.h"

int psfm_ransac_iterations(double inlier_share, int sample_size, double confidence,
                           int max_iterations) {
    double good = 1.0;
    for (int k = 0; k < sample_size; ++k)
        good *= inlier_share;
    if (!(good > 0.0))
        return max_iterations;
    if (good >= 1.0)
        return 1;
    double needed = ceil(log(1.0 - confidence) / log1p(-good));
    return needed < 1.0 ? 1 : needed < (double)max_iterations ? (int)needed : max_iterations;
}

/* log(n!); not lgamma, which writes a global variable. */
static double log_factorial(double n) {
    int sign;
    return lgamma_r(n + 1.0, &sign);
}

static double log10_binomial(double n, double k) {
    return (log_factorial(n) - log_factorial(k) - log_factorial(n - k)) / log(10.0);
}

double psfm_log10_false_alarms(const psfm_chance_group *evidence, size_t num_groups,
                               size_t sample_size) {
    size_t num = 0, num_inliers = 0, in_sample = 0;
    double sum = 0.0;
    for (size_t g = 0; g < num_groups; ++g) {
        const psfm_chance_group *e = &evidence[g];
        size_t sampled = sample_size - in_sample;
        sampled = sampled < e->num_inliers ? sampled : e->num_inliers;
        in_sample += sampled;
        num += e->num;
        num_inliers += e->num_inliers;
        sum += log10_binomial((double)e->num, (double)e->num_inliers) +
               (double)(e->num_inliers - sampled) * e->log10_p;
    }
    if (num_inliers <= sample_size)
        return 0.0;
    return sum + log10((double)(num - sample_size)) +
           log10_binomial((double)num_inliers, (double)sample_size);
}

/* Spreads the lower 16 bits over the even places. */
static uint32_t spread_bits(uint32_t v) {
    v = (v | (v << 8)) & 0x00ff00ffu;
    v = (v | (v << 4)) & 0x0f0f0f0fu;
    v = (v | (v << 2)) & 0x33333333u;
    return (v | (v << 1)) & 0x55555555u;
}

psfm_status psfm_spatial_order(psfm_context *ctx, const psfm_ray_pairs *pairs, uint32_t *order) {
    uint64_t *keys;
    psfm_status status = PSFM_ALLOC(ctx, pairs->num, &keys);
    if (status != PSFM_OK)
        return status;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < pairs->num; ++i) {
        for (int k = 0; k < 2; ++k) {
            low[k] = fmin(low[k], pairs->xy1[i][k]);
            high[k] = fmax(high[k], pairs->xy1[i][k]);
        }
    }
    double extent = fmax(high[0] - low[0], high[1] - low[1]);
    double scale = extent > 0.0 ? 65535.0 / extent : 0.0;
    for (size_t i = 0; i < pairs->num; ++i) {
        uint32_t x = spread_bits((uint32_t)((pairs->xy1[i][0] - low[0]) * scale));
        uint32_t y = spread_bits((uint32_t)((pairs->xy1[i][1] - low[1]) * scale));
        keys[i] = (uint64_t)(x | (y << 1)) << 32 | i;
    }
    qsort(keys, pairs->num, sizeof *keys, psfm_compare_u64);
    for (size_t i = 0; i < pairs->num; ++i)
        order[i] = (uint32_t)(keys[i] & 0xffffffffu);
    free(keys);
    return PSFM_OK;
}

void psfm_sample_window(psfm_rng *rng, const uint32_t *order, size_t num, size_t width, size_t k,
                        uint32_t *out) {
    if (width > num)
        width = num;
    size_t start = psfm_rng_below(rng, num - width + 1);
    psfm_rng_sample(rng, width, k, out);
    for (size_t m = 0; m < k; ++m)
        out[m] = order[start + out[m]];
}
