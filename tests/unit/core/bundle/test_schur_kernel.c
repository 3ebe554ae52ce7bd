#include "core/bundle/schur_kernel.h"

#include <string.h>

#include "core/base/cpu.h"
#include "core/base/rng.h"
#include "test_util.h"

static void fill(psfm_rng *rng, size_t num, double *x) {
    for (size_t k = 0; k < num; ++k)
        x[k] = psfm_rng_normal(rng);
}

/* A sum over `num` of a_k b_k, A num x rows, B num x cols, at (u, v). */
static double product(const double *A, int rows, const double *B, int cols, int num, int place) {
    double sum = 0.0;
    for (int k = 0; k < num; ++k)
        sum += A[rows * k + place / cols] * B[cols * k + place % cols];
    return sum;
}

/* Against the products written out, and all versions of this machine to the bit. */
static void versions_agree(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 120; ++round) {
        int rows = 1 + round % 12, num = 6 * rows;
        double A[36], B[18], S[72], plain[3][72];
        fill(&rng, 36, A);
        fill(&rng, 18, B);
        fill(&rng, 72, S);
        for (int level = PSFM_CPU_PLAIN; level <= PSFM_CPU_AVX512; ++level) {
            double out[3][72];
            for (int k = 0; k < 3; ++k)
                memcpy(out[k], S, sizeof S);
            psfm_cpu_limit((psfm_cpu_level)level);
            psfm_schur_kernel kernel = psfm_schur_kernel_choose();
            kernel.project(A, B, out[0]);
            kernel.add(A, (uint32_t)rows, B, out[1]);
            kernel.subtract(A, (uint32_t)rows, B, out[2]);
            if (level == PSFM_CPU_PLAIN)
                memcpy(plain, out, sizeof plain);
            assert_memory_equal(out, plain, sizeof out);
        }
        for (int k = 0; k < 72; ++k) {
            double added = k < num ? product(A, rows, B, 6, 2, k) : 0.0;
            double taken = k < num ? product(A, rows, B, 6, 3, k) : 0.0;
            assert_close(plain[0][k], k < 18 ? product(A, 3, B, 6, 2, k) : S[k], 1e-13);
            assert_close(plain[1][k], S[k] + added, 1e-13);
            assert_close(plain[2][k], S[k] - taken, 1e-13);
        }
    }
    psfm_cpu_limit(PSFM_CPU_AVX512);
}

/* Rows of a pose: 6 of the right-hand side, 6 of the diagonal, the block, that with the plane. */
enum { RHS, DIAGONAL = 6, BLOCK = 12, PLANE = 48, ROW = 66 };

static void expect_row(const psfm_schur_pose *p, const double *before, double *row) {
    for (int v = 0; v < 6; ++v) {
        double b = 0.0, q = 0.0;
        for (int k = 0; k < 3; ++k) {
            b += p->b[k] * p->U[6 * k + v];
            q += p->q[k] * p->U[6 * k + v];
        }
        row[RHS + v] = before[RHS + v] - p->r[0] * p->P[v] - p->r[1] * p->P[6 + v] - b;
        row[DIAGONAL + v] = before[DIAGONAL + v] + p->P[v] * p->P[v] + p->P[6 + v] * p->P[6 + v];
        for (int k = 0; k < 3; ++k)
            row[PLANE + 6 * k + v] = before[PLANE + 6 * k + v] - p->m[k] * q;
    }
    for (int k = 0; k < 36; ++k)
        row[BLOCK + k] = before[BLOCK + k] + product(p->P, 6, p->P, 6, 2, k) -
                         product(p->U, 6, p->U, 6, 3, k); /* as U = K^T P */
}

static void rows_of_poses_agree(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    for (int round = 0; round < 100; ++round) {
        double P[12], r[2], K[6], U[18], point[9], before[ROW], row[ROW], plain[ROW], expected[ROW];
        fill(&rng, 12, P);
        fill(&rng, 2, r);
        fill(&rng, 6, K);
        fill(&rng, 9, point);
        fill(&rng, ROW, before);
        psfm_schur_kernel_choose().project(K, P, U);
        psfm_schur_pose pose = {P, r, K, U, point, point + 3, point + 6};
        for (int level = PSFM_CPU_PLAIN; level <= PSFM_CPU_AVX512; ++level) {
            memcpy(row, before, sizeof row);
            psfm_cpu_limit((psfm_cpu_level)level);
            psfm_schur_row to = {row + RHS, row + DIAGONAL, row + BLOCK,
                                 round % 2 ? row + PLANE : NULL};
            psfm_schur_kernel_choose().pose(&pose, &to);
            if (level == PSFM_CPU_PLAIN)
                memcpy(plain, row, sizeof plain);
            assert_memory_equal(row, plain, sizeof row);
        }
        expect_row(&pose, before, expected);
        for (int k = 0; k < (round % 2 ? ROW : PLANE); ++k)
            assert_close(plain[k], expected[k], 1e-12);
        if (round % 2 == 0)
            assert_memory_equal(plain + PLANE, before + PLANE, 18 * sizeof *plain);
    }
    psfm_cpu_limit(PSFM_CPU_AVX512);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(versions_agree),
                                       cmocka_unit_test(rows_of_poses_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
