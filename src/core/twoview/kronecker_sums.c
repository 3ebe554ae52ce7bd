/* The last step of the sums: lanes are added, and the 36 sums of products of upper triangles are
 * spread over the 9 x 9 normal matrix, whose entry (r c, q d) is the sum of L_rq R_cd. */
#include "core/twoview/kronecker_sums.h"

void psfm_kronecker_finish(const psfm_kronecker_sums *s, size_t num, double max_squared,
                           psfm_normal9 *out) {
    double *N = out->N;
    static const int upper[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) {
            double value = psfm_sum_lanes(s->N[i][j]);
            int r = upper[i][0], q = upper[i][1], c = upper[j][0], d = upper[j][1];
            N[9 * (3 * r + c) + 3 * q + d] = N[9 * (3 * q + d) + 3 * r + c] = value;
            N[9 * (3 * r + d) + 3 * q + c] = N[9 * (3 * q + c) + 3 * r + d] = value;
        }
    }
    for (int k = 0; k < 9; ++k)
        out->g[k] = psfm_sum_lanes(s->g[k / 3][k % 3]);
    double outliers = (double)num - psfm_sum_lanes(s->used);
    out->inlier_cost = psfm_sum_lanes(s->cost);
    out->cost = out->inlier_cost + outliers * max_squared;
}

void psfm_normal9_project(const double N[81], double D[][9], int num, double *A, int stride) {
    for (int p = 0; p < num; ++p) {
        double ND[9] = {0};
        for (int k = 0; k < 9; ++k)
            for (int j = 0; j < 9; ++j)
                ND[k] += N[9 * k + j] * D[p][j];
        for (int q = 0; q < num; ++q) {
            double sum = 0.0;
            for (int k = 0; k < 9; ++k)
                sum += D[q][k] * ND[k];
            A[stride * p + q] = sum;
        }
    }
}
