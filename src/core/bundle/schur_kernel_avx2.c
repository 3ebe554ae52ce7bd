/* A row of six numbers is a vector of four and one of two. */
#include "core/bundle/schur_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stddef.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET __attribute__((always_inline)) static inline

typedef struct {
    __m256d a;
    __m128d b;
} six;

INLINE six load(const double *x) {
    return (six){_mm256_loadu_pd(x), _mm_loadu_pd(x + 4)};
}

INLINE void store(double *x, six v) {
    _mm256_storeu_pd(x, v.a);
    _mm_storeu_pd(x + 4, v.b);
}

INLINE six times(const double *factor, six v) {
    __m256d f = _mm256_broadcast_sd(factor);
    return (six){_mm256_mul_pd(f, v.a), _mm_mul_pd(_mm256_castpd256_pd128(f), v.b)};
}

INLINE six plus(six x, six y) {
    return (six){_mm256_add_pd(x.a, y.a), _mm_add_pd(x.b, y.b)};
}

INLINE six minus(six x, six y) {
    return (six){_mm256_sub_pd(x.a, y.a), _mm_sub_pd(x.b, y.b)};
}

/* The sum of three rows of U, times a number each. */
INLINE six combine(const double *factor, const six U[3]) {
    return plus(plus(times(factor, U[0]), times(factor + 1, U[1])), times(factor + 2, U[2]));
}

TARGET static void pose(const psfm_schur_pose *p, const psfm_schur_row *row) {
    six U[3] = {load(p->U), load(p->U + 6), load(p->U + 12)};
    six p0 = load(p->P), p1 = load(p->P + 6);
    six g = plus(plus(times(p->r, p0), times(p->r + 1, p1)), combine(p->b, U));
    store(row->rhs, minus(load(row->rhs), g));
    six squares = {_mm256_add_pd(_mm256_mul_pd(p0.a, p0.a), _mm256_mul_pd(p1.a, p1.a)),
                   _mm_add_pd(_mm_mul_pd(p0.b, p0.b), _mm_mul_pd(p1.b, p1.b))};
    store(row->diagonal, plus(load(row->diagonal), squares));
    six q0 = minus(p0, combine(p->K, U)), q1 = minus(p1, combine(p->K + 3, U));
    for (int u = 0; u < 6; ++u) {
        double *S = row->S + 6 * u;
        store(S, plus(load(S), plus(times(p->P + u, q0), times(p->P + 6 + u, q1))));
    }
    if (row->plane == NULL)
        return;
    six f = combine(p->q, U);
    for (int k = 0; k < 3; ++k)
        store(row->plane + 6 * k, minus(load(row->plane + 6 * k), times(p->m + k, f)));
}

TARGET static void project(const double *K, const double *P, double *U) {
    six p0 = load(P), p1 = load(P + 6);
    for (int k = 0; k < 3; ++k)
        store(U + 6 * k, plus(times(K + k, p0), times(K + 3 + k, p1)));
}

TARGET static void add(const double *P, uint32_t rows, const double *Q, double *S) {
    six q0 = load(Q), q1 = load(Q + 6);
    for (uint32_t u = 0; u < rows; ++u, S += 6)
        store(S, plus(load(S), plus(times(P + u, q0), times(P + rows + u, q1))));
}

INLINE void subtract_rows(const double *A, uint32_t rows, const double *B, double *S) {
    six b0 = load(B), b1 = load(B + 6), b2 = load(B + 12);
    for (uint32_t u = 0; u < rows; ++u, S += 6) {
        six sum = plus(times(A + u, b0), times(A + rows + u, b1));
        store(S, minus(load(S), plus(sum, times(A + 2 * rows + u, b2))));
    }
}

TARGET static void subtract(const double *A, uint32_t rows, const double *B, double *S) {
    if (rows == 6) /* unrolled */
        subtract_rows(A, 6, B, S);
    else
        subtract_rows(A, rows, B, S);
}

const psfm_schur_kernel psfm_schur_kernel_avx2 = {pose, project, add, subtract};

#endif
