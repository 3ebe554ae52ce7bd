/* The inner loops of the elimination of points (bundle_rows.c). All versions round the same way, so
 * that results do not depend on the machine. */
#ifndef PSFM_BUNDLE_SCHUR_KERNEL_H
#define PSFM_BUNDLE_SCHUR_KERNEL_H

#include <stdint.h>

/* An observation: derivatives P (2 x 6) by its pose, r its residual, K (2 x 3), U = K^T P (3 x 6);
 * b, q and m of its point, 3 each. */
typedef struct {
    const double *P, *r, *K, *U, *b, *q, *m;
} psfm_schur_pose;

/* The row of its pose: right-hand side and diagonal, 6 each, the block S with itself (6 x 6) and
 * the transposed one with the point's plane (3 x 6), or NULL. */
typedef struct {
    double *rhs, *diagonal, *S, *plane;
} psfm_schur_row;

/* All matrices row by row. */
typedef struct {
    /* rhs -= P^T r + U^T b; diagonal += that of P^T P; S += P^T (P - K U); plane -= m (U^T q)^T. */
    void (*pose)(const psfm_schur_pose *pose, const psfm_schur_row *row);
    /* U = K^T P: U 3 x 6, K 2 x 3, P 2 x 6. */
    void (*project)(const double *K, const double *P, double *U);
    /* S += P^T Q: S rows x 6, P 2 x rows, Q 2 x 6. */
    void (*add)(const double *P, uint32_t rows, const double *Q, double *S);
    /* S -= A^T B: S rows x 6, A 3 x rows, B 3 x 6. */
    void (*subtract)(const double *A, uint32_t rows, const double *B, double *S);
} psfm_schur_kernel;

psfm_schur_kernel psfm_schur_kernel_choose(void);

#if defined(__x86_64__)
extern const psfm_schur_kernel psfm_schur_kernel_avx2;
#endif

#endif
