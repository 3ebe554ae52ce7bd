/* Products with the Laplacian of a weighted graph. */
#ifndef PSFM_LINALG_LAPLACIAN_H
#define PSFM_LINALG_LAPLACIAN_H

#include "core/linalg/sparse.h"

/* y = L x, (L x)_i = sum_j w_ij (x_i - x_j), for symmetric weights W >= 0 (its diagonal cancels).
 * As differences, because on the smooth vectors that matter a difference of sums would cancel to
 * rounding errors. Parallel and independent of the number of threads; x and y do not alias. */
psfm_status psfm_laplacian_mul(psfm_context *ctx, const psfm_csr *W, const double *x, double *y);

/* y = b - L x; y may alias b but not x. */
psfm_status psfm_laplacian_residual(psfm_context *ctx, const psfm_csr *W, const double *x,
                                    const double *b, double *y);

#endif
