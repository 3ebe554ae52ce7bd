/* Eigenpairs of symmetric matrices: all of a dense one (LAPACK), the smallest of an operator that
 * is only known by its products (ARPACK). */
#ifndef PSFM_LINALG_EIGEN_H
#define PSFM_LINALG_EIGEN_H

#include <stdint.h>

#include "base/context.h"

/* A = V diag(w) V^T, w ascending. A is n x n, only its upper triangle (by columns; the lower by
 * rows) is read; on return column k, A + k n, is the unit eigenvector of w[k]. O(n^3). A must be
 * finite (PSFM_ERR_ARGUMENT). */
psfm_status psfm_eigen_symmetric(psfm_context *ctx, uint32_t n, double *A, double *w);

/* y = A x for a symmetric A; x and y do not alias. */
typedef psfm_status (*psfm_product_fn)(psfm_context *ctx, const double *x, double *y, void *user);

/* A symmetric matrix of n rows, known by its products. */
typedef struct {
    uint32_t n;
    psfm_product_fn product;
    void *user; /* of product */
} psfm_operator;

typedef struct {
    double value;
    int num_products;
    bool converged; /* if not, neither value nor vector is to be used */
} psfm_eigen_result;

/* The smallest eigenvalue of A >= 0 and its vector, by ARPACK's implicitly restarted Lanczos method
 * from the given start: x is n long, the (non-zero) start on entry, the unit eigenvector on return.
 * Converged when the residual is below tolerance times the eigenvalue. Deterministic: the vector
 * depends on A and the start only, also if the eigenvalue is multiple. Not converged are also the
 * rare matrices of few distinct eigenvalues on which ARPACK would go on from random vectors of its
 * own. Calls exclude each other, because ARPACK keeps its state in static variables. n > 20 and
 * < 2^31. x is untouched unless converged. */
psfm_status psfm_eigen_smallest(psfm_context *ctx, const psfm_operator *A, double tolerance,
                                int max_restarts, double *x, psfm_eigen_result *result);

#endif
