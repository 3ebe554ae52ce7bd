/* Non-linear refinement of a motion on the error of essential.c.
 *
 * r = c / sqrt(g), g = |u1|^2 + |u2|^2. With the rays moved onto the epipolar geometry,
 * z1 = x1 - (c / g) T1 u1 and z2 = x2 - (c / g) T2 u2, the derivative of r by E is z2 z1^T /
 * sqrt(g) up to terms of second order in the error. The normal equations by the nine entries of E
 * are projected on the five parameters of E = [t]x R: R turned by exp([w]), t moved in its tangent
 * plane. */
#include <math.h>
#include <string.h>

#include "core/linalg/mat3.h"
#include "core/twoview/epipolar.h"
#include "core/twoview/epipolar_descent.h"
#include "core/twoview/essential.h"
#include "core/twoview/kronecker_sums.h"

#define NUM_PARAMS 5
#define MIN_GAIN 1e-5

/* Terms of one block; zero where a pair does not count. */
static inline void evaluate_block(const psfm_ray_block *b, const double E[9], psfm_loss loss,
                                  psfm_kronecker_terms *t) {
    for (int l = 0; l < PSFM_LANES; ++l) {
        psfm_epipolar e = psfm_epipolar_at(b, l, E);
        double inverse = 1.0 / (e.g > 0.0 ? e.g : 1.0);
        double squared = e.c * e.c * inverse, move = e.c * inverse;
        double none = e.g > 0.0 ? 0.0 : (double)INFINITY;
        double weight = psfm_loss_weight(loss, squared + none);
        double z0 = b->ray1[0][l] - move * (b->tan1[0][l] * e.u0 + b->tan1[1][l] * e.u1);
        double z1 = b->ray1[1][l] - move * (b->tan1[2][l] * e.u0 + b->tan1[3][l] * e.u1);
        double z2 = b->ray1[2][l] - move * (b->tan1[4][l] * e.u0 + b->tan1[5][l] * e.u1);
        double w0 = b->ray2[0][l] - move * (b->tan2[0][l] * e.v0 + b->tan2[1][l] * e.v1);
        double w1 = b->ray2[1][l] - move * (b->tan2[2][l] * e.v0 + b->tan2[3][l] * e.v1);
        double w2 = b->ray2[2][l] - move * (b->tan2[4][l] * e.v0 + b->tan2[5][l] * e.v1);
        double scaled = weight * inverse;
        t->right[0][l] = z0 * z0;
        t->right[1][l] = z0 * z1;
        t->right[2][l] = z0 * z2;
        t->right[3][l] = z1 * z1;
        t->right[4][l] = z1 * z2;
        t->right[5][l] = z2 * z2;
        t->left[0][l] = scaled * w0 * w0;
        t->left[1][l] = scaled * w0 * w1;
        t->left[2][l] = scaled * w0 * w2;
        t->left[3][l] = scaled * w1 * w1;
        t->left[4][l] = scaled * w1 * w2;
        t->left[5][l] = scaled * w2 * w2;
        t->gradient_right[0][l] = z0;
        t->gradient_right[1][l] = z1;
        t->gradient_right[2][l] = z2;
        t->gradient_left[0][l] = weight * move * w0;
        t->gradient_left[1][l] = weight * move * w1;
        t->gradient_left[2][l] = weight * move * w2;
        t->used[l] = weight > 0.0 ? 1.0 : 0.0;
        t->cost[l] = t->used[l] * psfm_loss_value(loss, squared);
    }
}

void psfm_essential_normal_equations(const psfm_ray_pairs *pairs, size_t num_blocks,
                                     const double E[9], psfm_loss loss, psfm_normal9 *out) {
    psfm_kronecker_sums sums;
    psfm_kronecker_terms terms;
    memset(&sums, 0, sizeof sums);
    for (size_t k = 0; k < num_blocks; ++k) {
        evaluate_block(&pairs->blocks[k], E, loss, &terms);
        psfm_kronecker_add(&terms, &sums);
    }
    psfm_kronecker_finish(&sums, psfm_ray_pairs_within(pairs, num_blocks), loss.max_squared, out);
}

void psfm_tangent_basis(const double t[3], double a[3], double b[3]) {
    int least = fabs(t[0]) < fabs(t[1]) ? 0 : 1;
    least = fabs(t[2]) < fabs(t[least]) ? 2 : least;
    double axis[3] = {least == 0, least == 1, least == 2};
    psfm_cross3(t, axis, a);
    psfm_normalize3(a);
    psfm_cross3(t, a, b);
}

void psfm_essential_derivatives(const psfm_motion *m, double D[NUM_PARAMS][9]) {
    double basis[2][3];
    psfm_tangent_basis(m->t_21, basis[0], basis[1]);
    for (int c = 0; c < 3; ++c) {
        double column[3] = {m->R_21[c], m->R_21[3 + c], m->R_21[6 + c]};
        for (int p = 0; p < NUM_PARAMS; ++p) {
            double d[3];
            if (p < 3) {
                double w[3] = {p == 0, p == 1, p == 2};
                psfm_cross3(w, column, d);
                psfm_cross3(m->t_21, d, d);
            } else {
                psfm_cross3(basis[p - 3], column, d);
            }
            for (int r = 0; r < 3; ++r)
                D[p][3 * r + c] = d[r];
        }
    }
}

void psfm_motion_move(const psfm_motion *m, const double step[NUM_PARAMS], psfm_motion *moved) {
    double basis[2][3], turn[9];
    psfm_tangent_basis(m->t_21, basis[0], basis[1]);
    psfm_rotation_exp(step, turn);
    psfm_mat3_mul(turn, m->R_21, moved->R_21);
    psfm_axpy3(m->t_21, step[3], basis[0], moved->t_21);
    psfm_axpy3(moved->t_21, step[4], basis[1], moved->t_21);
    psfm_normalize3(moved->t_21);
}

static void matrix_of(const void *motion, const void *user, double E[9]) {
    (void)user;
    psfm_essential_from_motion(motion, E);
}

static void derivatives_at(const void *motion, const void *user, double D[][9]) {
    (void)user;
    psfm_essential_derivatives(motion, D);
}

static void move_motion(const void *motion, const double *step, void *moved) {
    psfm_motion_move(motion, step, moved);
}

double psfm_motion_refine(const psfm_ray_pairs *pairs, size_t num_blocks, psfm_loss loss,
                          int max_iterations, psfm_motion *motion) {
    static const psfm_epipolar_family motions = {NUM_PARAMS, sizeof *motion, MIN_GAIN,   NULL,
                                                 matrix_of,  derivatives_at, move_motion};
    psfm_motion moved;
    return psfm_epipolar_descend(pairs, num_blocks, loss, max_iterations, &motions, motion, &moved);
}
