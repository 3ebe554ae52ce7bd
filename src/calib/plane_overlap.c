/* Two planes meet in an edge, and points near it fit the homographies of both within the noise:
 * boards around a court join its floor to the stands. So a share of common inliers does not make
 * one plane. But if the common ones alone determine their homography as far as all the others
 * reach, then every homography that has them is that of their plane.
 *
 * How well they do depends on where they are, hardly on the homography: it is taken for the
 * identity, whose eight parameters h (the ninth entry is held) move a point (x, y) by
 *   (h0 x + h1 y + h2 - x q, h3 x + h4 y + h5 - y q),  q = h6 x + h7 y.
 * With N the sum of J^T J over points, a homography of some points has the covariance
 * inverse(N_some), and the squared errors of all points sum up to trace(inverse(N_some) N_all). */
#include "calib/plane_overlap.h"

#include <math.h>
#include <stdbool.h>

#define MIN_PIVOT 1e-12 /* below: the points lie on a line, or are fewer than four */

void psfm_spread_add(psfm_spread *spread, double x, double y) {
    const double J[2][PSFM_SPREAD_DIM] = {{x, y, 1.0, 0.0, 0.0, 0.0, -x * x, -x * y},
                                          {0.0, 0.0, 0.0, x, y, 1.0, -x * y, -y * y}};
    for (int r = 0; r < PSFM_SPREAD_DIM; ++r)
        for (int c = 0; c <= r; ++c)
            spread->N[r][c] += J[0][r] * J[0][c] + J[1][r] * J[1][c];
}

/* N = L L^T; false if N is singular. */
static bool factor(const psfm_spread *s, double L[PSFM_SPREAD_DIM][PSFM_SPREAD_DIM]) {
    for (int r = 0; r < PSFM_SPREAD_DIM; ++r)
        for (int c = 0; c <= r; ++c) {
            double sum = s->N[r][c];
            for (int k = 0; k < c; ++k)
                sum -= L[r][k] * L[c][k];
            if (r == c && !(sum > MIN_PIVOT))
                return false;
            L[r][c] = r == c ? sqrt(sum) : sum / L[c][c];
        }
    return true;
}

/* The trace is the squared norm of inverse(L_some) L_all, which is lower triangular. */
double psfm_spread_predict(const psfm_spread *some, const psfm_spread *all) {
    double L[PSFM_SPREAD_DIM][PSFM_SPREAD_DIM], A[PSFM_SPREAD_DIM][PSFM_SPREAD_DIM], trace = 0.0;
    if (!factor(some, L) || !factor(all, A))
        return INFINITY;
    for (int c = 0; c < PSFM_SPREAD_DIM; ++c)
        for (int r = c; r < PSFM_SPREAD_DIM; ++r) {
            double sum = A[r][c];
            for (int k = c; k < r; ++k)
                sum -= L[r][k] * A[k][c];
            A[r][c] = sum / L[r][r];
            trace += A[r][c] * A[r][c];
        }
    return trace;
}
