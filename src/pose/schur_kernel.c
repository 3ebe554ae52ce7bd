/* The plain version, and the choice for this machine. */
#include "pose/schur_kernel.h"

#include "base/cpu.h"

static void project(const double *restrict K, const double *restrict P, double *restrict U) {
    for (int k = 0; k < 3; ++k)
        for (int v = 0; v < 6; ++v)
            U[6 * k + v] = K[k] * P[v] + K[3 + k] * P[6 + v];
}

static void add(const double *restrict P, uint32_t rows, const double *restrict Q,
                double *restrict S) {
    for (uint32_t u = 0; u < rows; ++u, S += 6)
        for (int v = 0; v < 6; ++v)
            S[v] += P[u] * Q[v] + P[rows + u] * Q[6 + v];
}

static void subtract(const double *restrict A, uint32_t rows, const double *restrict B,
                     double *restrict S) {
    for (uint32_t u = 0; u < rows; ++u, S += 6)
        for (int v = 0; v < 6; ++v)
            S[v] -= (A[u] * B[v] + A[rows + u] * B[6 + v]) + A[2 * rows + u] * B[12 + v];
}

psfm_schur_kernel psfm_schur_kernel_choose(void) {
#if defined(__x86_64__)
    if (psfm_cpu() >= PSFM_CPU_AVX2)
        return psfm_schur_kernel_avx2;
#endif
    return (psfm_schur_kernel){project, add, subtract};
}
