/* Similarities of space: rotation, translation and scale. */
#ifndef PLANARSFM_SIM3_H
#define PLANARSFM_SIM3_H

#include <stddef.h>

#include "planarsfm/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y = scale R x + t; R is row-major. */
typedef struct {
    double scale;
    double R[9];
    double t[3];
} psfm_sim3;

/* The similarity between two sets of corresponding points, robust: up to 40 % gross outliers do
 * not matter. The same input and seed give the same result. PSFM_ERR_DATA if fewer than three
 * points, or points on a line, do not determine it. */
PSFM_API psfm_status psfm_sim3_fit_robust(psfm_context *ctx, size_t num, const double (*x)[3],
                                          const double (*y)[3], psfm_sim3 *out);

#ifdef __cplusplus
}
#endif

#endif
