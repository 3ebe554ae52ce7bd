/* Fundamental matrices of few matches, and of many.
 *
 * Seven matches leave F = x A + B, A and B the null space of their constraints; det F = 0 is a
 * cubic in x.
 *
 * Refinement (epipolar_descent.c) has the parameters F = U diag(cos a, sin a, 0) V^T,
 * U and V turned by exp([u]) and exp([v]) on their right, and a. These are seven, and the normal
 * equations by the nine entries of F are projected on them. */
#include "core/twoview/fundamental.h"

#include <math.h>

#include "core/linalg/mat3.h"
#include "core/linalg/null_space.h"
#include "core/linalg/polynomial.h"
#include "core/twoview/epipolar_descent.h"

#define NUM_PARAMS 7
#define MIN_GAIN 1e-8

/* trace(adj(A) B): the derivative of det(A + x B) by x at 0. */
static double mixed_det(const double A[9], const double B[9]) {
    double sum = 0.0;
    for (int r = 0; r < 3; ++r) {
        double cofactor[3];
        psfm_cross3(A + 3 * ((r + 1) % 3), A + 3 * ((r + 2) % 3), cofactor);
        sum += psfm_dot3(cofactor, B + 3 * r);
    }
    return sum;
}

int psfm_seven_point(const double ray1[7][3], const double ray2[7][3], double F[3][9]) {
    double rows[7][9], basis[2][9], cubic[4], roots[3];
    for (int p = 0; p < 7; ++p)
        for (int k = 0; k < 9; ++k)
            rows[p][k] = ray2[p][k / 3] * ray1[p][k % 3];
    if (!psfm_null_space(7, rows, basis))
        return 0;
    const double *A = basis[0], *B = basis[1];
    cubic[0] = psfm_mat3_det(B);
    cubic[1] = mixed_det(B, A);
    cubic[2] = mixed_det(A, B);
    cubic[3] = psfm_mat3_det(A);
    int num = psfm_polynomial_roots(cubic, 3, roots);
    for (int k = 0; k < num; ++k)
        for (int m = 0; m < 9; ++m)
            F[k][m] = (roots[k] * A[m] + B[m]) / sqrt(roots[k] * roots[k] + 1.0);
    return num;
}

typedef struct {
    double U[9], V[9], angle;
} factors;

static void compose_matrix(const void *member, const void *user, double F[9]) {
    const factors *f = member;
    double US[9];
    (void)user;
    for (int r = 0; r < 3; ++r) {
        US[3 * r] = f->U[3 * r] * cos(f->angle);
        US[3 * r + 1] = f->U[3 * r + 1] * sin(f->angle);
        US[3 * r + 2] = 0.0;
    }
    psfm_mat3_mul_t(US, f->V, F);
}

static void decompose_matrix(const double F[9], factors *f) {
    double s[3];
    psfm_mat3_svd(F, f->U, s, f->V);
    f->angle = atan2(s[1], s[0]);
}

/* Derivatives of the entries of F by its parameters, one row each. */
static void fill_derivatives(const void *member, const void *user, double D[][9]) {
    const factors *f = member;
    (void)user;
    double c = cos(f->angle), s = sin(f->angle);
    /* U M V^T for M = [e_k] diag(c, s, 0), diag(c, s, 0) [e_k]^T, diag(-s, c, 0) */
    const double middle[NUM_PARAMS][9] = {
        {0, 0, 0, 0, 0, 0, 0, s, 0},  {0, 0, 0, 0, 0, 0, -c, 0, 0}, {0, -s, 0, c, 0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0, s, 0, 0, 0},  {0, 0, -c, 0, 0, 0, 0, 0, 0}, {0, c, 0, -s, 0, 0, 0, 0, 0},
        {-s, 0, 0, 0, c, 0, 0, 0, 0},
    };
    for (int p = 0; p < NUM_PARAMS; ++p) {
        double UM[9];
        psfm_mat3_mul(f->U, middle[p], UM);
        psfm_mat3_mul_t(UM, f->V, D[p]);
    }
}

static void move_factors(const void *member, const double *step, void *moved) {
    const factors *f = member;
    factors *to = moved;
    double turn[9];
    psfm_rotation_exp(step, turn);
    psfm_mat3_mul(f->U, turn, to->U);
    psfm_rotation_exp(step + 3, turn);
    psfm_mat3_mul(f->V, turn, to->V);
    to->angle = f->angle + step[6];
}

double psfm_fundamental_refine(const psfm_ray_pairs *pairs, size_t num_blocks, psfm_loss loss,
                               int max_iterations, double F[9]) {
    static const psfm_epipolar_family rank_two = {NUM_PARAMS,  sizeof(factors), MIN_GAIN,
                                                  NULL,        compose_matrix,  fill_derivatives,
                                                  move_factors};
    factors now, moved;
    decompose_matrix(F, &now);
    double cost =
        psfm_epipolar_descend(pairs, num_blocks, loss, max_iterations, &rank_two, &now, &moved);
    compose_matrix(&now, NULL, F);
    return cost;
}
