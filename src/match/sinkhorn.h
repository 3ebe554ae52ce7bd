/* Optimal transport with dustbins, in the logarithmic domain. */
#ifndef PSFM_MATCH_SINKHORN_H
#define PSFM_MATCH_SINKHORN_H

#include "nn/engine.h"

/* Sinkhorn's iterations from u = v = 0 towards shifts for which P = exp(z[i][j] + u[i] + v[j]) has
 * row sums 1 and column sums 1, except the dustbins, the last row (sum n) and column (sum m). The
 * last step sets the column sums, so those are exact. z is (m + 1) x (n + 1), rows ld floats
 * apart, ld a multiple of 16; u has m + 1 entries, v ld. Parallel. */
psfm_status psfm_sinkhorn(psfm_context *ctx, psfm_engine *nn, const float *z, size_t m, size_t n,
                          size_t ld, int iterations, float *u, float *v);

#endif
