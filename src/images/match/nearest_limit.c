/* Tables of limits. A product matters to a row only if it changes whether the row passes the ratio
 * and distance tests; these are on angles, so the limits are tabulated by the best product, in
 * steps of 64 with a margin for rounding. What is below a limit can be skipped without changing a
 * match. */
#include "images/match/nearest_limit.h"

#include <math.h>

bool psfm_nearest_rule_passes(const psfm_nearest_rule *rule, int32_t best, int32_t second) {
    const float norm = 1.0F / (512.0F * 512.0F);
    if (best <= 0)
        return false;
    float best_angle = acosf(fminf(norm * (float)best, 1.0F));
    if (best_angle > rule->max_distance)
        return false;
    return best_angle < rule->max_ratio * acosf(fminf(norm * (float)second, 1.0F));
}

static int32_t product_at(double angle) {
    return angle >= 1.5707963267948966 ? 0 : (int32_t)(PSFM_NEAREST_ONE * cos(angle));
}

void psfm_nearest_limits_make(const psfm_nearest_rule *rule, psfm_nearest_limits *limits) {
    limits->rule = *rule;
    double ratio = (double)rule->max_ratio, distance = (double)rule->max_distance;
    for (int k = 0; k < PSFM_NEAREST_LIMIT_SIZE; ++k) {
        double best = fmin((double)(k << PSFM_NEAREST_LIMIT_SHIFT) / PSFM_NEAREST_ONE, 1.0);
        limits->breaks[k] = product_at(acos(best) / ratio) - PSFM_NEAREST_LIMIT_MARGIN;
        limits->harmless[k] = product_at(acos(best) * ratio) - PSFM_NEAREST_LIMIT_MARGIN;
    }
    limits->least_best = product_at(distance) - PSFM_NEAREST_LIMIT_MARGIN;
    /* nothing at or below zero is ever a match */
    limits->floor =
        psfm_nearest_larger(product_at(distance / ratio) - PSFM_NEAREST_LIMIT_MARGIN, 0);
}
