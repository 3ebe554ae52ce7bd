/* Non-linear refinement of a homography on the error of homography.c.
 *
 * Per pair e^T W e with W = (I + A A^T)^-1. The step holds W fixed, as for reprojection error with
 * the points eliminated: with g_k = (P2_k - e_k x2) / (x2 . H x1) the derivative of e_k by H is
 * g_k x1^T, so the normal matrix is the sum of G (x) x1 x1^T, G = sum_kl W_kl g_k g_l^T. H is free
 * up to scale: a multiple of h h^T is added to the matrix, which keeps the step orthogonal to h
 * without changing it otherwise. */
#include "core/twoview/homography.h"

#include <math.h>
#include <string.h>

#include "core/linalg/least_squares.h"
#include "core/linalg/levenberg.h"
#include "core/twoview/kronecker_sums.h"
#include "core/twoview/transfer_error.h"

/* Relative decrease of the cost below which a step is the last. */
#define MIN_GAIN 1e-5

/* Terms of one block; zero where a pair does not count. */
static inline void evaluate_block(const psfm_ray_block *b, const double H[9], psfm_loss loss,
                                  psfm_kronecker_terms *t) {
    for (int l = 0; l < PSFM_LANES; ++l) {
        psfm_transfer m = psfm_transfer_at(b, l, H);
        double scale = 1.0 / (m.m00 * m.m11 - m.m01 * m.m01);
        double w00 = m.m11 * scale, w01 = -m.m01 * scale, w11 = m.m00 * scale;
        double squared = w00 * m.e0 * m.e0 + 2.0 * w01 * m.e0 * m.e1 + w11 * m.e1 * m.e1;
        double weight = psfm_loss_weight(loss, squared + m.excess);
        t->used[l] = weight > 0.0 ? 1.0 : 0.0;
        t->cost[l] = t->used[l] * psfm_loss_value(loss, squared);
        w00 *= weight;
        w01 *= weight;
        w11 *= weight;
        double q00 = w00 * m.g00 + w01 * m.g10, q10 = w01 * m.g00 + w11 * m.g10;
        double q01 = w00 * m.g01 + w01 * m.g11, q11 = w01 * m.g01 + w11 * m.g11;
        double q02 = w00 * m.g02 + w01 * m.g12, q12 = w01 * m.g02 + w11 * m.g12;
        t->left[0][l] = m.g00 * q00 + m.g10 * q10;
        t->left[1][l] = m.g00 * q01 + m.g10 * q11;
        t->left[2][l] = m.g00 * q02 + m.g10 * q12;
        t->left[3][l] = m.g01 * q01 + m.g11 * q11;
        t->left[4][l] = m.g01 * q02 + m.g11 * q12;
        t->left[5][l] = m.g02 * q02 + m.g12 * q12;
        t->gradient_left[0][l] = q00 * m.e0 + q10 * m.e1;
        t->gradient_left[1][l] = q01 * m.e0 + q11 * m.e1;
        t->gradient_left[2][l] = q02 * m.e0 + q12 * m.e1;
        double x = b->ray1[0][l], y = b->ray1[1][l], z = b->ray1[2][l];
        t->right[0][l] = x * x;
        t->right[1][l] = x * y;
        t->right[2][l] = x * z;
        t->right[3][l] = y * y;
        t->right[4][l] = y * z;
        t->right[5][l] = z * z;
        t->gradient_right[0][l] = x;
        t->gradient_right[1][l] = y;
        t->gradient_right[2][l] = z;
    }
}

void psfm_homography_normal_equations(const psfm_ray_pairs *pairs, size_t num_blocks,
                                      const double H[9], psfm_loss loss, psfm_normal9 *out) {
    psfm_kronecker_sums sums;
    psfm_kronecker_terms terms;
    memset(&sums, 0, sizeof sums);
    for (size_t k = 0; k < num_blocks; ++k) {
        evaluate_block(&pairs->blocks[k], H, loss, &terms);
        psfm_kronecker_add(&terms, &sums);
    }
    psfm_kronecker_finish(&sums, psfm_ray_pairs_within(pairs, num_blocks), loss.max_squared, out);
}

/* Solves (N + damping diag N + trace(N) h h^T) step = -g; false if not positive definite. */
static bool solve_step(const psfm_normal9 *at, const double h[9], double damping, double step[9]) {
    const double *N = at->N;
    double A[81], trace = 0.0;
    for (int k = 0; k < 9; ++k)
        trace += N[9 * k + k];
    for (int i = 0; i < 9; ++i) {
        for (int j = 0; j <= i; ++j)
            A[9 * i + j] = N[9 * i + j] + trace * h[i] * h[j];
        A[9 * i + i] += damping * N[9 * i + i];
        step[i] = -at->g[i];
    }
    return psfm_solve_spd(A, 9, step);
}

/* A homography with its normal equations, and the one that is tried. */
typedef struct {
    const psfm_ray_pairs *pairs;
    size_t num_blocks;
    psfm_loss loss;
    double *H, H_new[9];
    psfm_normal9 at, trial;
} search;

static psfm_status attempt_step(psfm_context *ctx, void *user, double damping, double *cost) {
    search *s = user;
    double step[9], gain = 0.0; /* expected of the step, roughly */
    (void)ctx;
    if (!solve_step(&s->at, s->H, damping, step))
        return PSFM_ERR_NUMERIC;
    for (int k = 0; k < 9; ++k) {
        s->H_new[k] = s->H[k] + step[k];
        gain -= s->at.g[k] * step[k];
    }
    psfm_homography_normalize_norm(s->H_new);
    psfm_homography_normal_equations(s->pairs, s->num_blocks, s->H_new, s->loss, &s->trial);
    *cost = s->trial.cost;
    bool has_stalled = !(*cost < s->at.cost) && gain < MIN_GAIN * s->at.inlier_cost;
    return has_stalled ? PSFM_ERR_NUMERIC : PSFM_OK;
}

static bool accept_step(void *user, double before, double after) {
    search *s = user;
    memcpy(s->H, s->H_new, sizeof s->H_new);
    s->at = s->trial;
    return before - after < MIN_GAIN * s->at.inlier_cost;
}

double psfm_homography_refine(const psfm_ray_pairs *pairs, size_t num_blocks, psfm_loss loss,
                              int max_iterations, double H[9]) {
    search s = {.pairs = pairs,
                .num_blocks = num_blocks < pairs->num_blocks ? num_blocks : pairs->num_blocks,
                .loss = loss,
                .H = H};
    psfm_homography_normal_equations(pairs, s.num_blocks, H, loss, &s.at);
    return psfm_descend(&(psfm_descent){&s, 1e-6, &psfm_light_damping, attempt_step, accept_step},
                        max_iterations, s.at.cost);
}
