/* Small dense least squares. */
#ifndef PSFM_LINALG_LEAST_SQUARES_H
#define PSFM_LINALG_LEAST_SQUARES_H

#include <stdbool.h>

/* Solves A x = b by Cholesky for a symmetric positive definite n x n matrix A (row-major; the lower
 * triangle is read and overwritten); x replaces b. False if A is not positive definite to working
 * precision. O(n^3). */
bool psfm_solve_spd(double *A, int n, double *b);

#endif
