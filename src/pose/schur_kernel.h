/* The inner loop of the elimination of points (bundle_schur.c): one block of two poses. All
 * versions round alike, so that results do not depend on the machine. */
#ifndef PSFM_POSE_SCHUR_KERNEL_H
#define PSFM_POSE_SCHUR_KERNEL_H

/* S -= P^T N Q: S 6 x 6, P and Q 2 x 6, N 2 x 2, all row by row. */
typedef void (*psfm_schur_subtract)(const double *P, const double *N, const double *Q, double *S);

psfm_schur_subtract psfm_schur_subtract_choose(void);

#if defined(__x86_64__)
void psfm_schur_subtract_avx2(const double *P, const double *N, const double *Q, double *S);
#endif

#endif
