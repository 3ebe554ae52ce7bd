/* Optimal transport with dustbins, in the logarithmic domain. */
#ifndef PSFM_MATCH_SINKHORN_H
#define PSFM_MATCH_SINKHORN_H

#include "nn/engine.h"

typedef struct {
    size_t m, n, ld;
    const float *z; /* (m + 1) x (n + 1), rows ld floats apart, ld a multiple of 16 */
    float *u, *v;   /* out: m + 1 and ld entries */
} psfm_transport;

/* Sinkhorn's iterations from u = v = 0 towards shifts for which P = exp(z[i][j] + u[i] + v[j]) has
 * row sums 1 and column sums 1, except the dustbins, the last row (sum n) and column (sum m). The
 * last step sets the column sums, so those are exact. Parallel. */
psfm_status psfm_sinkhorn(psfm_context *ctx, psfm_engine *nn, const psfm_transport *transport,
                          int iterations);

#endif
