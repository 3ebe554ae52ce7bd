/* Eigenpairs of dense symmetric matrices. */
#ifndef PSFM_LINALG_EIGEN_H
#define PSFM_LINALG_EIGEN_H

#include <stdint.h>

#include "core/base/context.h"

/* A = V diag(w) V^T, w ascending. A is n x n, only its upper triangle (by columns; the lower by
 * rows) is read; on return column k, A + k n, is the unit eigenvector of w[k]. O(n^3). A must be
 * finite (PSFM_ERR_ARGUMENT). */
psfm_status psfm_eigen_symmetric(psfm_context *ctx, uint32_t n, double *A, double *w);

#endif
