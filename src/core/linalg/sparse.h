/* Sparse matrices: compressed rows for products (psfm_csr), and symmetric positive definite solves
 * on CHOLMOD for matrices whose pattern stays while their values change. */
#ifndef PSFM_LINALG_SPARSE_H
#define PSFM_LINALG_SPARSE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"
#include "planarsfm/graph.h"

/* A symmetric positive definite system A x = b assembled from triplets again and again. */
typedef struct psfm_spd psfm_spd;

/* Fixes the pattern: triplet k adds to A[row[k], col[k]] and, being symmetric, to its mirror.
 * Either triangle may be given; a pair (r, c), r != c, is given once. All diagonal entries are in
 * the pattern. Analyses the fill once. */
psfm_status psfm_spd_create(psfm_context *ctx, uint32_t n, size_t num_triplets, const uint32_t *row,
                            const uint32_t *col, psfm_spd **spd);
/* Sums the triplets' values and factors; `shift` is added to the diagonal. PSFM_ERR_NUMERIC if
 * the matrix is not positive definite. */
psfm_status psfm_spd_factor(psfm_context *ctx, psfm_spd *spd, const double *values, double shift);
/* Solves for num_rhs right-hand sides, stored one after the other (n each); x may equal b. */
psfm_status psfm_spd_solve(psfm_context *ctx, psfm_spd *spd, size_t num_rhs, const double *b,
                           double *x);
void psfm_spd_destroy(psfm_spd **spd);

/* Lets a system whose factor would fill up heavily (that of a graph without small separators, such
 * as a random one) be solved by conjugate gradients with a diagonal preconditioner instead, until
 * the residual has shrunk by `tolerance` or for max_iterations. Returns whether it will be; then
 * psfm_spd_factor only assembles. For callers that iterate anyway and can live with a rough step.
 * Call before psfm_spd_factor. */
bool psfm_spd_allow_iterative(psfm_spd *spd, double tolerance, int max_iterations);

#endif
