/* Does an alignment say anything, or would any positions have given it?
 *
 * A similarity has seven degrees of freedom, and the robust fit chooses which of the known places
 * it fits, so some fit is always found. How surprising is one? Suppose the places lay at random in
 * the box that those which agree fill, with sides L1 >= L2 >= L3 (of a uniform distribution with
 * their principal variances). The chance that one of them comes as near as the root mean square r
 * along a side is p_k = min(1, 2.4 r / L_k), where 2.4 = sqrt(2 pi e / 3) relates the side of a box
 * to the ball of the same volume in many dimensions. Three places fix the similarity but for the
 * shape of their triangle, which has two degrees of freedom; each further place has three. With
 * (n - 2) counts and binomial(n, m) choices of the m of n that agree, the number of fits as good as
 * this one to be expected of nonsense is (Desolneux, Moisan, Morel, "Meaningful alignments", 2000)
 *
 *     (n - 2) binomial(n, m) p_1^2 (p_1 p_2 p_3)^(m - 3). */
#include "world/alignment_check.h"

#include <math.h>
#include <string.h>

#include "core/linalg/mat3.h"

#define MOST_BY_CHANCE (-4.0) /* decimal logarithm */
#define RIGHT_BY_CHANCE (-6.0)
#define RIGHT_SHARE 0.75
#define SIDE_OF_BALL 2.386
#define ROLL_SIGMAS 3.0 /* standard deviations from a line below which a roll is anyone's guess */

static bool is_placed_inlier(const psfm_alignment_item *item) {
    return item->is_inlier && !isnan(item->residual);
}

/* Variances along the principal axes of the places that agree, largest first; returns how many. */
static size_t find_variances(const psfm_alignment *a, double variance[3]) {
    double mean[3] = {0}, C[9] = {0}, V[9], d[3], w[3];
    size_t num = 0;
    for (size_t k = 0; k < a->num_items; ++k) {
        if (!is_placed_inlier(&a->items[k]))
            continue;
        psfm_axpy3(mean, 1.0, a->items[k].at, mean);
        ++num;
    }
    psfm_scale3(1.0 / fmax(1.0, (double)num), mean, mean);
    for (size_t k = 0; k < a->num_items; ++k) {
        if (!is_placed_inlier(&a->items[k]))
            continue;
        psfm_sub3(a->items[k].at, mean, d);
        for (int e = 0; e < 9; ++e)
            C[e] += d[e / 3] * d[e % 3] / (double)num;
    }
    psfm_mat3_eigen_symmetric(C, w, V);
    for (int e = 0; e < 3; ++e)
        variance[e] = fmax(0.0, w[2 - e]);
    return num;
}

/* Decimal logarithm of the chance to be within `rms` along an axis of this variance. */
static double chance_along(double rms, double variance) {
    double share = SIDE_OF_BALL * rms / sqrt(12.0 * variance);
    return share < 1.0 ? log10(fmax(share, 1e-15)) : 0.0; /* also 0 / 0 */
}

static double expect_by_chance(double n, double m, double rms, const double variance[3]) {
    double along[3];
    for (int e = 0; e < 3; ++e)
        along[e] = chance_along(rms, variance[e]);
    double choices = (lgamma(n + 1.0) - lgamma(m + 1.0) - lgamma(n - m + 1.0)) / log(10.0);
    return log10(n - 2.0) + choices + 2.0 * along[0] + (m - 3.0) * (along[0] + along[1] + along[2]);
}

static size_t count_fitted(const psfm_alignment *a) {
    size_t num = 0;
    for (size_t k = 0; k < a->num_items; ++k)
        num += !isnan(a->items[k].residual) || !isnan(a->items[k].residual_px);
    return num;
}

psfm_status psfm_alignment_check(psfm_context *ctx, const char *what, psfm_alignment *a) {
    double variance[3];
    size_t n = count_fitted(a), m = find_variances(a, variance);
    if (m < 3)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "%zu of the %zu %s agree with the model; three are needed", m, n, what);
    if (2 * a->num_inliers < n)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "only %zu of the %zu %s agree with each other on where the model is; "
                         "check their names, their order and their units",
                         a->num_inliers, n, what);
    a->chance_log10 = expect_by_chance((double)n, (double)m, a->rms_inliers, variance);
    if (a->chance_log10 > MOST_BY_CHANCE)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "the %s do not fit the model: %zu of %zu are off by %.3g where they "
                         "extend over %.3g, as places at random would be%s",
                         what, m, n, a->rms_inliers, sqrt(12.0 * variance[0]),
                         m < 5 ? "; give more of them" : "; check their names and units");
    if (sqrt(variance[1] * (double)m) < ROLL_SIGMAS * a->rms_inliers)
        return psfm_fail(ctx, PSFM_ERR_DATA,
                         "the %s lie on a line, as far as their errors of %.3g tell: how the model "
                         "is turned about it is open",
                         what, a->rms_inliers);
    bool is_right =
        a->chance_log10 < RIGHT_BY_CHANCE && (double)a->num_inliers >= RIGHT_SHARE * (double)n;
    a->verdict = is_right ? "right" : "plausible";
    return PSFM_OK;
}
