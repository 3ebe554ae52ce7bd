/* The plain version, and the choice for this machine. */
#include "core/bundle/schur_kernel.h"

#include <stddef.h>

#include "core/base/cpu.h"

static void project_rows(const double *restrict K, const double *restrict P, double *restrict U) {
    for (int k = 0; k < 3; ++k)
        for (int v = 0; v < 6; ++v)
            U[6 * k + v] = K[k] * P[v] + K[3 + k] * P[6 + v];
}

static void add_product(const double *restrict P, uint32_t rows, const double *restrict Q,
                        double *restrict S) {
    for (uint32_t u = 0; u < rows; ++u, S += 6)
        for (int v = 0; v < 6; ++v)
            S[v] += P[u] * Q[v] + P[rows + u] * Q[6 + v];
}

static void subtract_product(const double *restrict A, uint32_t rows, const double *restrict B,
                             double *restrict S) {
    for (uint32_t u = 0; u < rows; ++u, S += 6)
        for (int v = 0; v < 6; ++v)
            S[v] -= (A[u] * B[v] + A[rows + u] * B[6 + v]) + A[2 * rows + u] * B[12 + v];
}

static void eliminate_pose(const psfm_schur_pose *p, const psfm_schur_row *row) {
    const double *P = p->P, *U = p->U, *K = p->K;
    double Q[12];
    for (int v = 0; v < 6; ++v) {
        double u0 = U[v], u1 = U[6 + v], u2 = U[12 + v], p0 = P[v], p1 = P[6 + v];
        Q[v] = p0 - ((K[0] * u0 + K[1] * u1) + K[2] * u2);
        Q[6 + v] = p1 - ((K[3] * u0 + K[4] * u1) + K[5] * u2);
        row->rhs[v] -=
            (p->r[0] * p0 + p->r[1] * p1) + ((p->b[0] * u0 + p->b[1] * u1) + p->b[2] * u2);
        row->diagonal[v] += p0 * p0 + p1 * p1;
        if (row->plane == NULL)
            continue;
        double f = (p->q[0] * u0 + p->q[1] * u1) + p->q[2] * u2;
        for (int k = 0; k < 3; ++k)
            row->plane[6 * k + v] -= p->m[k] * f;
    }
    add_product(P, 6, Q, row->S);
}

psfm_schur_kernel psfm_schur_kernel_choose(void) {
#if defined(__x86_64__)
    if (psfm_cpu() >= PSFM_CPU_AVX2)
        return psfm_schur_kernel_avx2;
#endif
    return (psfm_schur_kernel){eliminate_pose, project_rows, add_product, subtract_product};
}
