/* The Fiedler vector of a weighted graph. */
#ifndef PSFM_LINALG_FIEDLER_H
#define PSFM_LINALG_FIEDLER_H

#include "core/linalg/sparse.h"

typedef struct {
    double tolerance; /* of the residual, relative to the eigenvalue */
    int max_iterations;
    const char *stage; /* name of the progress, in per cent; NULL: none is told */
} psfm_fiedler_options;

typedef struct {
    double value;
    bool converged;
} psfm_fiedler_result;

/* The smallest non-trivial eigenpair of L x = lambda M x, where L is the Laplacian of the connected
 * graph with symmetric weights W >= 0 and M the diagonal matrix of the node masses (> 0); the
 * trivial one is lambda = 0 with the constant vector. x has W->n entries, x^T M x = 1 and
 * x^T M 1 = 0.
 * Converged when |M^-1/2 (L x - lambda M x)| <= tolerance * lambda, or 2e-14 if that is larger
 * (what rounding leaves where M >= L). If that is not reached in max_iterations, x is the best so
 * far. Deterministic, also where the eigenvalue is multiple, and independent of the number of
 * threads. About 20 iterations, each some seven products with L, whatever the size of the graph;
 * more where many eigenvalues crowd at the end of the spectrum. Memory: 26 vectors, and a quarter
 * of W. */
psfm_status psfm_fiedler(psfm_context *ctx, const psfm_csr *W, const double *mass,
                         const psfm_fiedler_options *options, double *x,
                         psfm_fiedler_result *result);

#endif
