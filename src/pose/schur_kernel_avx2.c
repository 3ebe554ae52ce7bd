/* Four numbers at a time. Two rows of S are twelve numbers, three vectors: the first four of a row,
 * its last two with the first two of the next, and the last four of that one. */
#include "pose/schur_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

/* A row of T = N Q as the three vectors want it: 0123, 4501, 2345. */
TARGET __attribute__((always_inline)) static inline void product(double n0, double n1,
                                                                 const double *Q, __m256d T[3]) {
    __m256d a = _mm256_set1_pd(n0), b = _mm256_set1_pd(n1);
    T[0] = _mm256_add_pd(_mm256_mul_pd(a, _mm256_loadu_pd(Q)),
                         _mm256_mul_pd(b, _mm256_loadu_pd(Q + 6)));
    T[2] = _mm256_add_pd(_mm256_mul_pd(a, _mm256_loadu_pd(Q + 2)),
                         _mm256_mul_pd(b, _mm256_loadu_pd(Q + 8)));
    T[1] = _mm256_permute2f128_pd(T[2], T[0], 0x21);
}

TARGET void psfm_schur_subtract_avx2(const double *P, const double *N, const double *Q, double *S) {
    __m256d T0[3], T1[3];
    product(N[0], N[1], Q, T0);
    product(N[2], N[3], Q, T1);
    for (int u = 0; u < 6; u += 2, S += 12) {
        __m256d p0[3] = {_mm256_set1_pd(P[u]), _mm256_setzero_pd(), _mm256_set1_pd(P[u + 1])};
        __m256d p1[3] = {_mm256_set1_pd(P[6 + u]), _mm256_setzero_pd(), _mm256_set1_pd(P[7 + u])};
        p0[1] = _mm256_blend_pd(p0[0], p0[2], 12);
        p1[1] = _mm256_blend_pd(p1[0], p1[2], 12);
        for (int k = 0; k < 3; ++k) {
            __m256d change =
                _mm256_add_pd(_mm256_mul_pd(p0[k], T0[k]), _mm256_mul_pd(p1[k], T1[k]));
            _mm256_storeu_pd(S + 4 * k, _mm256_sub_pd(_mm256_loadu_pd(S + 4 * k), change));
        }
    }
}

#endif
