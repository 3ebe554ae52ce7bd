/* Rotation against homography. Both are fitted by least squares to the same matches; if the
 * rotation is the truth, the difference of their sums of squares over that of the homography
 * follows an F distribution with 8 - 3 and 2 n - 8 degrees of freedom. */
#include "core/twoview/rotation_fit.h"

#include <math.h>
#include <string.h>

#include "core/linalg/least_squares.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/twoview/homography.h"
#include "core/twoview/point_spread.h"

static const psfm_loss unbounded = {1e12, 0.0}; /* all matches count */

/* Derivative of exp([w]) R by w at 0 in direction `axis`, as 9 entries. */
static void rotation_derivative(const double R[9], int axis, double D[9]) {
    double w[3] = {axis == 0, axis == 1, axis == 2};
    for (int c = 0; c < 3; ++c) {
        double column[3] = {R[c], R[3 + c], R[6 + c]}, d[3];
        psfm_cross3(w, column, d);
        for (int r = 0; r < 3; ++r)
            D[3 * r + c] = d[r];
    }
}

/* Gauss-Newton on the rotation. Returns the sum of squares. */
static double refine_rotation(const psfm_ray_pairs *pairs, double R[9]) {
    psfm_normal9 at;
    psfm_homography_normal_equations(pairs, pairs->num_blocks, R, unbounded, &at);
    double cost = at.cost;
    for (int iteration = 0; iteration < 10; ++iteration) {
        double D[3][9], A[9], w[3], exponential[9], R_new[9];
        for (int a = 0; a < 3; ++a) {
            rotation_derivative(R, a, D[a]);
            w[a] = 0.0;
            for (int k = 0; k < 9; ++k)
                w[a] -= D[a][k] * at.g[k];
        }
        psfm_normal9_project(at.N, D, 3, A, 3);
        if (!psfm_solve_spd(A, 3, w))
            break;
        psfm_rotation_exp(w, exponential);
        psfm_mat3_mul(exponential, R, R_new);
        psfm_homography_normal_equations(pairs, pairs->num_blocks, R_new, unbounded, &at);
        if (!(at.cost < cost))
            break;
        bool converged = cost - at.cost < 1e-6 * cost;
        memcpy(R, R_new, sizeof R_new);
        cost = at.cost;
        if (converged)
            break;
    }
    return cost;
}

/* Median distance in pixels of image 2 between where H and R send the points. */
static double median_parallax(const psfm_ray_pairs *pairs, const double H[9], const double R[9],
                              double *scratch) {
    for (size_t i = 0; i < pairs->num; ++i) {
        double a[2], b[2];
        psfm_homography_transfer(pairs, i, H, a);
        psfm_homography_transfer(pairs, i, R, b);
        scratch[i] = hypot(a[0] - b[0], a[1] - b[1]);
    }
    return psfm_select(scratch, pairs->num, pairs->num / 2);
}

bool psfm_is_rotation(const psfm_ray_pairs *own, const double H_21[9], double rotation_px,
                      double *scratch, double R_21[9]) {
    psfm_normal9 at;
    if (own->num < 5 || !psfm_mat3_nearest_rotation(H_21, R_21))
        return false;
    /* far from a rotation: no need to fit one */
    if (median_parallax(own, H_21, R_21, scratch) > 50.0 * fmax(rotation_px, 1.0))
        return false;
    double cost = refine_rotation(own, R_21);
    if (median_parallax(own, H_21, R_21, scratch) < rotation_px)
        return true;
    double freedom = 2.0 * (double)own->num - 8.0;
    psfm_homography_normal_equations(own, own->num_blocks, H_21, unbounded, &at);
    /* 99.9 % point of the F distribution with 5 and `freedom` degrees: 4.1 for many */
    double bound = 4.1 * (1.0 + 18.0 / freedom);
    return (cost - at.cost) / 5.0 < bound * at.cost / freedom;
}
