/* Real roots of polynomials in one variable. */
#ifndef PSFM_LINALG_POLYNOMIAL_H
#define PSFM_LINALG_POLYNOMIAL_H

#define PSFM_MAX_DEGREE 10

/* All simple real roots of c[0] + c[1] x + ... + c[degree] x^degree, degree <= PSFM_MAX_DEGREE, to
 * working precision. Returns their number, at most `degree`. Roots that touch zero without crossing
 * it may be missed. */
int psfm_polynomial_roots(const double *c, int degree, double *roots);

#endif
