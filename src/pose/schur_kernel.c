/* The plain version, and the choice for this machine. */
#include "pose/schur_kernel.h"

#include "base/cpu.h"

static void subtract(const double *restrict P, const double *restrict N, const double *restrict Q,
                     double *restrict S) {
    double T[12];
    for (int v = 0; v < 6; ++v) {
        T[v] = N[0] * Q[v] + N[1] * Q[6 + v];
        T[6 + v] = N[2] * Q[v] + N[3] * Q[6 + v];
    }
    for (int u = 0; u < 6; ++u)
        for (int v = 0; v < 6; ++v)
            S[6 * u + v] -= P[u] * T[v] + P[6 + u] * T[6 + v];
}

psfm_schur_subtract psfm_schur_subtract_choose(void) {
#if defined(__x86_64__)
    if (psfm_cpu() >= PSFM_CPU_AVX2)
        return psfm_schur_subtract_avx2;
#endif
    return subtract;
}
