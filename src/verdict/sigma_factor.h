/* How far the standard deviations of poses fall short of what halves of the points show. */
#ifndef PSFM_VERDICT_SIGMA_FACTOR_H
#define PSFM_VERDICT_SIGMA_FACTOR_H

#include "verdict/image_features.h"

/* What the standard deviations of a component's poses are to be multiplied with so that they
 * explain the differences between the halves and the shifts by free focal lengths: 1, or more than
 * chance would give; NAN without halves or deviations. */
psfm_status psfm_sigma_factor_find(psfm_context *ctx, const psfm_verdict_input *input,
                                   uint32_t component, double *factor);

#endif
