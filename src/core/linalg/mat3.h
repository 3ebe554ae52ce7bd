/* 3 x 3 matrices, row-major double[9], and rotations. Outputs must not alias inputs unless said.
 * Rotations are named by both ends: R_21 takes coordinates of frame 1 to frame 2. */
#ifndef PSFM_LINALG_MAT3_H
#define PSFM_LINALG_MAT3_H

#include <stdbool.h>

#include "core/linalg/vec3.h"

static inline void psfm_mat3_mul_vec(const double A[9], const double x[3], double out[3]) {
    double y0 = A[0] * x[0] + A[1] * x[1] + A[2] * x[2];
    double y1 = A[3] * x[0] + A[4] * x[1] + A[5] * x[2];
    double y2 = A[6] * x[0] + A[7] * x[1] + A[8] * x[2];
    out[0] = y0;
    out[1] = y1;
    out[2] = y2;
}

/* out = A^T x; may alias. */
static inline void psfm_mat3_tmul_vec(const double A[9], const double x[3], double out[3]) {
    double y0 = A[0] * x[0] + A[3] * x[1] + A[6] * x[2];
    double y1 = A[1] * x[0] + A[4] * x[1] + A[7] * x[2];
    double y2 = A[2] * x[0] + A[5] * x[1] + A[8] * x[2];
    out[0] = y0;
    out[1] = y1;
    out[2] = y2;
}

void psfm_mat3_identity(double A[9]);
void psfm_mat3_mul(const double A[9], const double B[9], double out[9]);   /* A B */
void psfm_mat3_mul_t(const double A[9], const double B[9], double out[9]); /* A B^T */
void psfm_mat3_t_mul(const double A[9], const double B[9], double out[9]); /* A^T B */
void psfm_mat3_transpose(const double A[9], double out[9]);
double psfm_mat3_det(const double A[9]);
/* False, and out untouched, if A is singular to working precision. */
bool psfm_mat3_inverse(const double A[9], double out[9]);
/* x of A x = b; false, as the inverse, if A is singular. */
bool psfm_mat3_solve(const double A[9], const double b[3], double x[3]);
/* A = U diag(s) V^T, s descending and >= 0, U and V orthogonal (det may be -1). Jacobi, accurate
 * for small singular values too. */
void psfm_mat3_svd(const double A[9], double U[9], double s[3], double V[9]);
/* Symmetric A = V diag(w) V^T, w ascending, eigenvectors in the columns of V. */
void psfm_mat3_eigen_symmetric(const double A[9], double w[3], double V[9]);
/* The rotation nearest to A in the Frobenius norm. False if it is not unique (rank < 2). */
bool psfm_mat3_nearest_rotation(const double A[9], double R[9]);

/* Rotation vector (axis times angle, radians) to matrix and back; the log's angle is in [0, pi]. */
void psfm_rotation_exp(const double w[3], double R[9]);
void psfm_rotation_log(const double R[9], double w[3]);
/* Geodesic distance in radians, accurate near 0 and pi. */
double psfm_rotation_angle(const double A[9], const double B[9]);

/* Unit quaternion (w, x, y, z), COLMAP's order, of a rotation matrix and back. The quaternion of a
 * matrix has w >= 0. A quaternion need not be normalised; zero gives the identity. */
void psfm_rotation_to_quat(const double R[9], double q[4]);
void psfm_rotation_from_quat(const double q[4], double R[9]);

#endif
