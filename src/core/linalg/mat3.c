/* 3 x 3 matrices and rotations.
 *
 * The singular value decomposition is one-sided Jacobi: columns are made orthogonal pair by pair
 * by plane rotations, which is accurate also for small singular values and needs a handful of
 * sweeps. Symmetric eigenvectors come from two-sided Jacobi. The nearest rotation to A = U S V^T
 * is U diag(1, 1, +-1) V^T, unique only if two singular values are clear of zero. Rotation vectors
 * go through quaternions, which lose no digits near 0 and near 180 degrees, where the arc cosine
 * of the trace does. */
#include "core/linalg/mat3.h"

#include <float.h>
#include <string.h>

void psfm_mat3_identity(double A[9]) {
    memset(A, 0, 9 * sizeof *A);
    A[0] = A[4] = A[8] = 1.0;
}

void psfm_mat3_mul(const double A[9], const double B[9], double out[9]) {
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            out[3 * r + c] = A[3 * r] * B[c] + A[3 * r + 1] * B[3 + c] + A[3 * r + 2] * B[6 + c];
}

void psfm_mat3_mul_t(const double A[9], const double B[9], double out[9]) {
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            out[3 * r + c] = psfm_dot3(A + 3 * r, B + 3 * c);
}

void psfm_mat3_t_mul(const double A[9], const double B[9], double out[9]) {
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            out[3 * r + c] = A[r] * B[c] + A[3 + r] * B[3 + c] + A[6 + r] * B[6 + c];
}

void psfm_mat3_transpose(const double A[9], double out[9]) {
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            out[3 * r + c] = A[3 * c + r];
}

double psfm_mat3_det(const double A[9]) {
    double c[3];
    psfm_cross3(A + 3, A + 6, c);
    return psfm_dot3(A, c);
}

bool psfm_mat3_inverse(const double A[9], double out[9]) {
    double c0[3], c1[3], c2[3];
    psfm_cross3(A + 3, A + 6, c0);
    psfm_cross3(A + 6, A, c1);
    psfm_cross3(A, A + 3, c2);
    double det = psfm_dot3(A, c0);
    double scale = psfm_norm3(A) * psfm_norm3(A + 3) * psfm_norm3(A + 6);
    if (!(fabs(det) > 1e-15 * scale))
        return false;
    for (int r = 0; r < 3; ++r) {
        out[3 * r] = c0[r] / det;
        out[3 * r + 1] = c1[r] / det;
        out[3 * r + 2] = c2[r] / det;
    }
    return true;
}

bool psfm_mat3_solve(const double A[9], const double b[3], double x[3]) {
    double inverse[9];
    if (!psfm_mat3_inverse(A, inverse))
        return false;
    psfm_mat3_mul_vec(inverse, b, x);
    return true;
}

/* The plane rotation that makes columns p and q of A orthogonal (one-sided Jacobi), applied to A
 * and V. Returns whether the columns were not orthogonal yet. */
static bool jacobi_pair(double A[9], double V[9], int p, int q) {
    double alpha = 0.0, beta = 0.0, gamma = 0.0;
    for (int r = 0; r < 3; ++r) {
        alpha += A[3 * r + p] * A[3 * r + p];
        beta += A[3 * r + q] * A[3 * r + q];
        gamma += A[3 * r + p] * A[3 * r + q];
    }
    if (fabs(gamma) <= DBL_EPSILON * sqrt(alpha * beta) || fabs(gamma) < DBL_MIN)
        return false;
    double zeta = (beta - alpha) / (2.0 * gamma);
    double t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
    double c = 1.0 / sqrt(1.0 + t * t);
    double s = c * t;
    for (int r = 0; r < 3; ++r) {
        double a = A[3 * r + p], b = A[3 * r + q];
        A[3 * r + p] = c * a - s * b;
        A[3 * r + q] = s * a + c * b;
        a = V[3 * r + p], b = V[3 * r + q];
        V[3 * r + p] = c * a - s * b;
        V[3 * r + q] = s * a + c * b;
    }
    return true;
}

static void swap_columns(double A[9], int p, int q) {
    for (int r = 0; r < 3; ++r) {
        double a = A[3 * r + p];
        A[3 * r + p] = A[3 * r + q];
        A[3 * r + q] = a;
    }
}

/* Fills column `c` of U, whose singular value is (nearly) zero, with a unit vector orthogonal to
 * the columns before it. */
static void complete_column(double U[9], int c) {
    double best[3] = {0, 0, 0};
    for (int axis = 0; axis < 3; ++axis) {
        double v[3] = {axis == 0, axis == 1, axis == 2};
        for (int pass = 0; pass < 2; ++pass) {
            for (int k = 0; k < c; ++k) {
                double u[3] = {U[k], U[3 + k], U[6 + k]};
                psfm_axpy3(v, -psfm_dot3(u, v), u, v);
            }
        }
        if (psfm_norm3(v) > psfm_norm3(best))
            memcpy(best, v, sizeof best);
    }
    psfm_normalize3(best);
    for (int r = 0; r < 3; ++r)
        U[3 * r + c] = best[r];
}

void psfm_mat3_svd(const double A[9], double U[9], double s[3], double V[9]) {
    memcpy(U, A, 9 * sizeof *U);
    psfm_mat3_identity(V);
    for (int sweep = 0; sweep < 30; ++sweep) {
        bool changed = jacobi_pair(U, V, 0, 1);
        changed = jacobi_pair(U, V, 0, 2) || changed;
        changed = jacobi_pair(U, V, 1, 2) || changed;
        if (!changed)
            break;
    }
    for (int c = 0; c < 3; ++c)
        s[c] = sqrt(U[c] * U[c] + U[3 + c] * U[3 + c] + U[6 + c] * U[6 + c]);
    static const int order[3][2] = {{0, 1}, {1, 2}, {0, 1}};
    for (int k = 0; k < 3; ++k) {
        int p = order[k][0], q = order[k][1];
        if (s[p] < s[q]) {
            double swap = s[p];
            s[p] = s[q];
            s[q] = swap;
            swap_columns(U, p, q);
            swap_columns(V, p, q);
        }
    }
    for (int c = 0; c < 3; ++c) {
        if (s[c] > DBL_EPSILON * s[0] && s[c] > DBL_MIN) {
            for (int r = 0; r < 3; ++r)
                U[3 * r + c] /= s[c];
        } else {
            complete_column(U, c);
        }
    }
}

void psfm_mat3_eigen_symmetric(const double A[9], double w[3], double V[9]) {
    double B[9];
    memcpy(B, A, sizeof B);
    psfm_mat3_identity(V);
    static const int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (int sweep = 0; sweep < 50; ++sweep) {
        double off = fabs(B[1]) + fabs(B[2]) + fabs(B[5]);
        if (off <= DBL_EPSILON * (fabs(B[0]) + fabs(B[4]) + fabs(B[8])) || off < DBL_MIN)
            break;
        for (int k = 0; k < 3; ++k) {
            int p = pairs[k][0], q = pairs[k][1];
            double b = B[3 * p + q];
            if (fabs(b) < DBL_MIN)
                continue;
            double zeta = (B[4 * q] - B[4 * p]) / (2.0 * b);
            double t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
            double c = 1.0 / sqrt(1.0 + t * t), s = c * t;
            double J[9], T[9];
            psfm_mat3_identity(J);
            J[4 * p] = J[4 * q] = c;
            J[3 * p + q] = s;
            J[3 * q + p] = -s;
            psfm_mat3_mul(B, J, T);
            psfm_mat3_t_mul(J, T, B);
            psfm_mat3_mul(V, J, T);
            memcpy(V, T, sizeof T);
        }
    }
    for (int k = 0; k < 3; ++k)
        w[k] = B[4 * k];
    static const int order[3][2] = {{0, 1}, {1, 2}, {0, 1}};
    for (int k = 0; k < 3; ++k) {
        int p = order[k][0], q = order[k][1];
        if (w[p] > w[q]) {
            double swap = w[p];
            w[p] = w[q];
            w[q] = swap;
            swap_columns(V, p, q);
        }
    }
}

bool psfm_mat3_nearest_rotation(const double A[9], double R[9]) {
    double U[9], s[3], V[9];
    psfm_mat3_svd(A, U, s, V);
    if (!(s[1] > 1e-12 * s[0]))
        return false;
    if (psfm_mat3_det(U) * psfm_mat3_det(V) < 0.0)
        for (int r = 0; r < 3; ++r)
            U[3 * r + 2] = -U[3 * r + 2];
    psfm_mat3_mul_t(U, V, R);
    return true;
}

void psfm_rotation_exp(const double w[3], double R[9]) {
    double angle2 = psfm_dot3(w, w);
    double angle = sqrt(angle2);
    /* sin(a)/a and (1 - cos a)/a^2, by series where the quotients lose digits */
    double a = angle < 1e-4 ? 1.0 - angle2 / 6.0 : sin(angle) / angle;
    double half = sin(0.5 * angle);
    double b = angle < 1e-4 ? 0.5 - angle2 / 24.0 : 2.0 * half * half / angle2;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            R[3 * r + c] = b * w[r] * w[c];
    double diagonal = 1.0 - b * angle2;
    R[0] += diagonal;
    R[4] += diagonal;
    R[8] += diagonal;
    R[1] -= a * w[2];
    R[2] += a * w[1];
    R[3] += a * w[2];
    R[5] -= a * w[0];
    R[6] -= a * w[1];
    R[7] += a * w[0];
}

void psfm_rotation_log(const double R[9], double w[3]) {
    double q[4];
    psfm_rotation_to_quat(R, q);
    double sine = psfm_norm3(q + 1);
    /* angle / sin(angle / 2) */
    double scale = sine < 1e-9 ? 2.0 / q[0] : 2.0 * atan2(sine, q[0]) / sine;
    psfm_scale3(scale, q + 1, w);
}

double psfm_rotation_angle(const double A[9], const double B[9]) {
    double R[9], w[3];
    psfm_mat3_t_mul(A, B, R);
    psfm_rotation_log(R, w);
    return psfm_norm3(w);
}

void psfm_rotation_to_quat(const double R[9], double q[4]) {
    /* Shepperd: take the largest component from the diagonal, the others from it. */
    double trace = R[0] + R[4] + R[8];
    if (trace > R[0] && trace > R[4] && trace > R[8]) {
        q[0] = 1.0 + trace;
        q[1] = R[7] - R[5];
        q[2] = R[2] - R[6];
        q[3] = R[3] - R[1];
    } else {
        int i = R[0] >= R[4] && R[0] >= R[8] ? 0 : R[4] >= R[8] ? 1 : 2;
        int j = (i + 1) % 3, k = (i + 2) % 3;
        q[0] = R[3 * k + j] - R[3 * j + k];
        q[1 + i] = 1.0 + R[4 * i] - R[4 * j] - R[4 * k];
        q[1 + j] = R[3 * j + i] + R[3 * i + j];
        q[1 + k] = R[3 * k + i] + R[3 * i + k];
    }
    double norm = sqrt(q[0] * q[0] + psfm_dot3(q + 1, q + 1));
    double sign = q[0] < 0.0 ? -1.0 : 1.0;
    for (int c = 0; c < 4; ++c)
        q[c] *= sign / norm;
}

void psfm_rotation_from_quat(const double q[4], double R[9]) {
    double norm2 = q[0] * q[0] + psfm_dot3(q + 1, q + 1);
    if (!(norm2 > 0.0)) {
        psfm_mat3_identity(R);
        return;
    }
    double s = 2.0 / norm2;
    double w = q[0], x = q[1], y = q[2], z = q[3];
    R[0] = 1.0 - s * (y * y + z * z);
    R[1] = s * (x * y - w * z);
    R[2] = s * (x * z + w * y);
    R[3] = s * (x * y + w * z);
    R[4] = 1.0 - s * (x * x + z * z);
    R[5] = s * (y * z - w * x);
    R[6] = s * (x * z - w * y);
    R[7] = s * (y * z + w * x);
    R[8] = 1.0 - s * (x * x + y * y);
}
