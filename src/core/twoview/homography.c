/* Solvers and errors for homographies on rays.
 *
 * Error. With y = H x1 the transfer error at the observed ray x2 is e = P2 y / (x2 . y) pixels, P2
 * the 2 x 3 derivative of the pixel by the ray. Moving the first point by u pixels moves x1 by T1 u
 * and the error by A u, A = (P2 - e x2^T) H T1 / (x2 . y). Both points are noisy, so the shortest
 * joint move that makes e vanish, to first order, has the squared length
 *   e^T (I + A A^T)^-1 e                                                (Sampson's approximation)
 *
 * Minimal solver. x4 = X a and y4 = Y c with X = [x1 x2 x3], Y = [y1 y2 y3] give
 *   H = Y diag(c_i / a_i) X^-1.
 * By Cramer's rule a_i and c_i are ratios of triple products, and H keeps all rays in front (and
 * det H > 0) exactly if the four triple products agree in sign between the images: the oriented
 * projective constraint (Chum, Werner, Matas 2004; Werner and Pajdla 2001). It is tested first.
 *
 * Linear fit. The rows P2_k (x) x1 of the algebraic error are whitened on either side (the analogue
 * for rays of Hartley's normalisation): with C C^T = sum x1 x1^T, D D^T = sum P2_k P2_k^T the
 * unknown is D^T H C, and the 9 x 9 normal matrix is near to the identity but for its least
 * eigenvector. */
#include "core/twoview/homography.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/linalg/mat3.h"
#include "core/twoview/transfer_error.h"

/* A triple product this small against its rays' spread means collinear points. */
#define MIN_TRIPLE_RATIO 1e-3

/* The whitened normal matrix has trace 1 times the pairs' share; a second eigenvalue this small
 * means that more than one homography fits. */
#define MIN_EIGENVALUE 1e-12

/* The four triple products det(x_j x_k x_l), each with point i left out, signed so that
 * sum_i products[i] x_i = 0. */
static void triple_products(const double ray[4][3], double products[4]) {
    double c12[3], c34[3];
    psfm_cross3(ray[0], ray[1], c12);
    psfm_cross3(ray[2], ray[3], c34);
    products[0] = psfm_dot3(ray[1], c34);
    products[1] = -psfm_dot3(ray[0], c34);
    products[2] = psfm_dot3(ray[3], c12);
    products[3] = -psfm_dot3(ray[2], c12);
}

/* Rejects three (nearly) collinear points: one product far below the largest. */
static bool is_collinear(const double products[4]) {
    double least = INFINITY, most = 0.0;
    for (int k = 0; k < 4; ++k) {
        least = fmin(least, fabs(products[k]));
        most = fmax(most, fabs(products[k]));
    }
    return !(least > MIN_TRIPLE_RATIO * most);
}

void psfm_homography_normalize_norm(double H[9]) {
    double sum = 0.0;
    for (int k = 0; k < 9; ++k)
        sum += H[k] * H[k];
    double scale = 1.0 / sqrt(sum);
    for (int k = 0; k < 9; ++k)
        H[k] *= scale;
}

bool psfm_homography_from_four(const double ray1[4][3], const double ray2[4][3], double H[9]) {
    double a[4], c[4];
    triple_products(ray1, a);
    triple_products(ray2, c);
    for (int k = 0; k < 4; ++k)
        if (!(a[k] * c[k] > 0.0))
            return false;
    if (is_collinear(a) || is_collinear(c))
        return false;
    /* H = sum_i (c_i / a_i) y_i (row i of X^-1); X^-1 up to scale from cross products */
    memset(H, 0, 9 * sizeof *H);
    for (int i = 0; i < 3; ++i) {
        double row[3], weight = c[i] / a[i];
        psfm_cross3(ray1[(i + 1) % 3], ray1[(i + 2) % 3], row);
        for (int k = 0; k < 9; ++k)
            H[k] += weight * ray2[i][k / 3] * row[k % 3];
    }
    /* row = det(X) X^-1 and a_4 = -det(X), c_4 = -det(Y) of the same sign */
    if (a[3] > 0.0)
        for (int k = 0; k < 9; ++k)
            H[k] = -H[k];
    psfm_homography_normalize_norm(H);
    return true;
}

/* Squared errors of one block. */
static inline void block_errors(const psfm_ray_block *b, const double H[9],
                                double squared[PSFM_LANES]) {
    for (int l = 0; l < PSFM_LANES; ++l) {
        psfm_transfer t = psfm_transfer_at(b, l, H);
        double weighted = t.m11 * t.e0 * t.e0 - 2.0 * t.m01 * t.e0 * t.e1 + t.m00 * t.e1 * t.e1;
        squared[l] = weighted / (t.m00 * t.m11 - t.m01 * t.m01) + t.excess;
    }
}

void psfm_homography_transfer(const psfm_ray_pairs *pairs, size_t i, const double H[9],
                              double e[2]) {
    const psfm_ray_block *b = &pairs->blocks[i / PSFM_LANES];
    size_t l = i % PSFM_LANES;
    double x[3], x2[3], y[3];
    psfm_ray_pairs_get(pairs, i, x, x2);
    psfm_mat3_mul_vec(H, x, y);
    double depth = psfm_dot3(x2, y);
    e[0] = (b->px2[0][l] * y[0] + b->px2[1][l] * y[1] + b->px2[2][l] * y[2]) / depth;
    e[1] = (b->px2[3][l] * y[0] + b->px2[4][l] * y[1] + b->px2[5][l] * y[2]) / depth;
}

void psfm_homography_errors(const psfm_ray_pairs *pairs, const double H[9], double *squared) {
    for (size_t k = 0; k < pairs->num_blocks; ++k)
        block_errors(&pairs->blocks[k], H, squared + k * PSFM_LANES);
}

size_t psfm_homography_count(const psfm_ray_pairs *pairs, const double H[9], double max_error_px) {
    size_t count = 0;
    double squared[PSFM_LANES];
    psfm_ray_pairs block = psfm_ray_pairs_head(pairs, 1);
    for (size_t k = 0; k < pairs->num_blocks; ++k, ++block.blocks) {
        psfm_homography_errors(&block, H, squared);
        for (int l = 0; l < PSFM_LANES; ++l)
            count += squared[l] < max_error_px * max_error_px;
    }
    return count;
}

double psfm_homography_cost(const psfm_ray_pairs *pairs, const double H[9], psfm_loss loss,
                            double stop_above) {
    double cost = -(double)psfm_ray_pairs_unused(pairs) * loss.max_squared;
    for (size_t k = 0; k < pairs->num_blocks; ++k) {
        double squared[PSFM_LANES];
        block_errors(&pairs->blocks[k], H, squared);
        for (int l = 0; l < PSFM_LANES; ++l)
            squared[l] = psfm_loss_value(loss, squared[l]);
        cost += psfm_sum_lanes(squared);
        if (cost > stop_above)
            break;
    }
    return cost;
}

bool psfm_homography_normalize(double H[9]) {
    double U[9], s[3], V[9];
    psfm_mat3_svd(H, U, s, V);
    if (!(s[2] > 1e-12 * s[0]) || !isfinite(s[0]))
        return false;
    double scale = copysign(1.0 / s[1], psfm_mat3_det(H));
    for (int k = 0; k < 9; ++k)
        H[k] *= scale;
    return true;
}

/* Lower Cholesky factor of the symmetric S, and false if S is (nearly) singular. */
static bool factor_3x3(const double S[9], double L[9]) {
    memset(L, 0, 9 * sizeof *L);
    for (int j = 0; j < 3; ++j) {
        double d = S[3 * j + j];
        for (int k = 0; k < j; ++k)
            d -= L[3 * j + k] * L[3 * j + k];
        if (!(d > 1e-13 * S[3 * j + j]))
            return false;
        L[3 * j + j] = sqrt(d);
        for (int i = j + 1; i < 3; ++i) {
            double v = S[3 * i + j];
            for (int k = 0; k < j; ++k)
                v -= L[3 * i + k] * L[3 * j + k];
            L[3 * i + j] = v / L[3 * j + j];
        }
    }
    return true;
}

/* x := L^-1 x */
static void forward_solve3(const double L[9], double x[3]) {
    x[0] = x[0] / L[0];
    x[1] = (x[1] - L[3] * x[0]) / L[4];
    x[2] = (x[2] - L[6] * x[0] - L[7] * x[1]) / L[8];
}

/* Factors of the second moments of the rays of image 1 and of the pixel derivatives of image 2. */
static bool find_whitening(const psfm_ray_pairs *pairs, size_t num, double C[9], double D[9]) {
    double S[9] = {0}, Q[9] = {0};
    for (size_t i = 0; i < num; ++i) {
        const psfm_ray_block *b = &pairs->blocks[i / PSFM_LANES];
        size_t l = i % PSFM_LANES;
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c <= r; ++c) {
                S[3 * r + c] += b->ray1[r][l] * b->ray1[c][l];
                Q[3 * r + c] += b->px2[r][l] * b->px2[c][l] + b->px2[3 + r][l] * b->px2[3 + c][l];
            }
        }
    }
    return factor_3x3(S, C) && factor_3x3(Q, D);
}

/* Adds the two whitened rows of pair i to the normal matrix N (9 x 9). */
static void add_rows(const psfm_ray_pairs *pairs, size_t i, const double C[9], const double D[9],
                     double N[81]) {
    const psfm_ray_block *b = &pairs->blocks[i / PSFM_LANES];
    size_t l = i % PSFM_LANES;
    double x[3] = {b->ray1[0][l], b->ray1[1][l], b->ray1[2][l]};
    forward_solve3(C, x);
    for (int k = 0; k < 6; k += 3) {
        double p[3] = {b->px2[k][l], b->px2[k + 1][l], b->px2[k + 2][l]}, row[9];
        forward_solve3(D, p);
        for (int m = 0; m < 9; ++m)
            row[m] = p[m / 3] * x[m % 3];
        for (int r = 0; r < 9; ++r)
            for (int c = 0; c < 9; ++c)
                N[9 * r + c] += row[r] * row[c];
    }
}

/* Jacobi rotation of rows and columns p and q that makes N[p][q] vanish, applied to V as well. */
static void rotate_9x9(double N[81], double V[81], int p, int q) {
    double b = N[9 * p + q];
    if (fabs(b) < DBL_MIN)
        return;
    double zeta = (N[9 * q + q] - N[9 * p + p]) / (2.0 * b);
    double t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
    double c = 1.0 / sqrt(1.0 + t * t), s = c * t;
    for (int k = 0; k < 9; ++k) {
        double x = N[9 * k + p], y = N[9 * k + q];
        N[9 * k + p] = c * x - s * y;
        N[9 * k + q] = s * x + c * y;
        x = V[9 * k + p], y = V[9 * k + q];
        V[9 * k + p] = c * x - s * y;
        V[9 * k + q] = s * x + c * y;
    }
    for (int k = 0; k < 9; ++k) {
        double x = N[9 * p + k], y = N[9 * q + k];
        N[9 * p + k] = c * x - s * y;
        N[9 * q + k] = s * x + c * y;
    }
}

/* Eigenvalues (on the diagonal of N, unsorted) and eigenvectors (columns of V) of the symmetric 9 x
 * 9 matrix N, by cyclic Jacobi rotations. */
static void diagonalise_9x9(double N[81], double V[81]) {
    memset(V, 0, 81 * sizeof *V);
    for (int k = 0; k < 9; ++k)
        V[9 * k + k] = 1.0;
    for (int sweep = 0; sweep < 30; ++sweep) {
        double off = 0.0, diagonal = 0.0;
        for (int p = 0; p < 9; ++p) {
            diagonal += N[9 * p + p] * N[9 * p + p];
            for (int q = p + 1; q < 9; ++q)
                off += N[9 * p + q] * N[9 * p + q];
        }
        if (!(off > DBL_EPSILON * DBL_EPSILON * diagonal))
            return;
        for (int p = 0; p < 9; ++p)
            for (int q = p + 1; q < 9; ++q)
                rotate_9x9(N, V, p, q);
    }
}

/* H := D^-T H C^-1, by columns and rows. */
static void unwhiten_homography(const double C[9], const double D[9], double H[9]) {
    for (int c = 0; c < 3; ++c) {
        H[6 + c] = H[6 + c] / D[8];
        H[3 + c] = (H[3 + c] - D[7] * H[6 + c]) / D[4];
        H[c] = (H[c] - D[3] * H[3 + c] - D[6] * H[6 + c]) / D[0];
    }
    for (int r = 0; r < 9; r += 3) {
        H[r + 2] = H[r + 2] / C[8];
        H[r + 1] = (H[r + 1] - C[7] * H[r + 2]) / C[4];
        H[r] = (H[r] - C[3] * H[r + 1] - C[6] * H[r + 2]) / C[0];
    }
}

bool psfm_homography_fit(const psfm_ray_pairs *pairs, size_t num_blocks, double H[9]) {
    size_t num = psfm_ray_pairs_within(pairs, num_blocks);
    double C[9], D[9], N[81] = {0}, V[81];
    if (num < 4 || !find_whitening(pairs, num, C, D))
        return false;
    for (size_t i = 0; i < num; ++i)
        add_rows(pairs, i, C, D, N);
    diagonalise_9x9(N, V);
    int least = 0, next = 1;
    for (int k = 1; k < 9; ++k) {
        if (N[9 * k + k] < N[9 * least + least]) {
            next = least;
            least = k;
        } else if (k == 1 || N[9 * k + k] < N[9 * next + next]) {
            next = k;
        }
    }
    if (!(N[9 * next + next] > MIN_EIGENVALUE))
        return false;
    for (int k = 0; k < 9; ++k)
        H[k] = V[9 * k + least];
    unwhiten_homography(C, D, H);
    psfm_homography_normalize_norm(H);
    double det = psfm_mat3_det(H);
    if (det < 0.0)
        for (int k = 0; k < 9; ++k)
            H[k] = -H[k];
    return fabs(det) > 1e-15;
}
