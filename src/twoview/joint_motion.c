/* Joint refinement of a motion and several planes: 5 parameters for (R, t), as in
 * essential_refine.c, and 3 for each plane. The normal equations by the nine entries of each
 * homography, and of the essential matrix for the other matches, are projected on them. */
#include "twoview/joint_motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/mat3.h"
#include "twoview/homography.h"
#include "twoview/least_squares.h"

#define MOTION 5 /* parameters of the motion, before those of the planes */
#define LOCAL 8  /* parameters that one homography depends on: the motion's and its own */
#define MAX_ITERATIONS 15
#define MIN_GAIN 1e-5

void psfm_joint_homography(const psfm_motion *motion, const double m[3], double H_21[9]) {
    for (int k = 0; k < 9; ++k)
        H_21[k] = motion->R_21[k] + motion->t_21[k / 3] * m[k % 3];
}

void psfm_joint_plane_start(const psfm_motion *motion, const double H_21[9], double m[3]) {
    double difference[9];
    for (int k = 0; k < 9; ++k)
        difference[k] = H_21[k] - motion->R_21[k];
    psfm_mat3_tmul_vec(difference, motion->t_21, m);
}

/* Everything the steps work on; A and b are the normal equations of all parameters. */
typedef struct {
    const psfm_ray_pairs *off;
    double off_max_squared;
    size_t num_planes;
    size_t size; /* MOTION + 3 num_planes */
    double *A, *b, *A_new, *b_new, *work;
} problem;

/* Adds the normal equations of a model, projected by D (num_local x 9) to A and b. `place`
 * tells where each local parameter is. */
static void add_projected(const problem *p, const psfm_normal9 *at, double D[LOCAL][9],
                          int num_local, const size_t *place, double *A, double *b) {
    for (int i = 0; i < num_local; ++i) {
        double ND[9] = {0};
        for (int k = 0; k < 9; ++k) {
            b[place[i]] -= D[i][k] * at->g[k];
            for (int j = 0; j < 9; ++j)
                ND[k] += at->N[9 * k + j] * D[i][j];
        }
        for (int j = 0; j < num_local; ++j) {
            double sum = 0.0;
            for (int k = 0; k < 9; ++k)
                sum += D[j][k] * ND[k];
            A[p->size * place[i] + place[j]] += sum;
        }
    }
}

/* Derivatives of H = exp([w]) R + t m^T. */
static void homography_derivatives(const psfm_motion *motion, const double m[3],
                                   double D[LOCAL][9]) {
    double basis[2][3];
    psfm_tangent_basis(motion->t_21, basis[0], basis[1]);
    for (int c = 0; c < 3; ++c) {
        double column[3] = {motion->R_21[c], motion->R_21[3 + c], motion->R_21[6 + c]};
        for (int a = 0; a < 3; ++a) {
            double w[3] = {a == 0, a == 1, a == 2}, turned[3];
            psfm_cross3(w, column, turned);
            for (int r = 0; r < 3; ++r) {
                D[a][3 * r + c] = turned[r];
                D[MOTION + a][3 * r + c] = a == c ? motion->t_21[r] : 0.0;
            }
        }
        for (int r = 0; r < 3; ++r) {
            D[3][3 * r + c] = basis[0][r] * m[c];
            D[4][3 * r + c] = basis[1][r] * m[c];
        }
    }
}

/* Cost and normal equations at a motion and planes. */
static double evaluate(const problem *p, const psfm_motion *motion, const psfm_joint_plane *planes,
                       double *A, double *b) {
    psfm_normal9 at;
    double D[LOCAL][9], E[9], cost = 0.0;
    size_t place[LOCAL] = {0, 1, 2, 3, 4};
    memset(A, 0, p->size * p->size * sizeof *A);
    memset(b, 0, p->size * sizeof *b);
    for (size_t k = 0; k < p->num_planes; ++k) {
        double H[9];
        psfm_loss loss = {planes[k].max_squared, 0.0};
        psfm_joint_homography(motion, planes[k].m, H);
        psfm_homography_normal_equations(&planes[k].pairs, planes[k].pairs.num_blocks, H, loss,
                                         &at);
        cost += at.cost;
        homography_derivatives(motion, planes[k].m, D);
        for (size_t i = 0; i < 3; ++i)
            place[MOTION + i] = MOTION + 3 * k + i;
        add_projected(p, &at, D, LOCAL, place, A, b);
    }
    psfm_loss loss = {p->off_max_squared, 0.0};
    psfm_essential_from_motion(motion, E);
    psfm_essential_normal_equations(p->off, p->off->num_blocks, E, loss, &at);
    cost += at.cost;
    psfm_essential_derivatives(motion, D);
    add_projected(p, &at, D, MOTION, place, A, b);
    return cost;
}

/* The damped step at (motion, planes) to (moved, moved_m). */
static bool take_step(const problem *p, const psfm_motion *motion, const psfm_joint_plane *planes,
                      double damping, psfm_motion *moved, psfm_joint_plane *moved_planes) {
    double *step = p->work + p->size * p->size;
    memcpy(p->work, p->A, p->size * p->size * sizeof *p->work);
    memcpy(step, p->b, p->size * sizeof *step);
    for (size_t i = 0; i < p->size; ++i)
        p->work[(p->size + 1) * i] *= 1.0 + damping;
    if (!psfm_solve_spd(p->work, (int)p->size, step))
        return false;
    psfm_motion_move(motion, step, moved);
    for (size_t k = 0; k < p->num_planes; ++k)
        for (size_t i = 0; i < 3; ++i)
            moved_planes[k].m[i] = planes[k].m[i] + step[MOTION + 3 * k + i];
    return true;
}

static void minimize(problem *p, psfm_joint_plane *planes, psfm_joint_plane *trial,
                     psfm_motion *motion) {
    double damping = 1e-6, cost = evaluate(p, motion, planes, p->A, p->b);
    for (int iteration = 0; iteration < MAX_ITERATIONS && damping < 1e3; ++iteration) {
        psfm_motion moved;
        if (!take_step(p, motion, planes, damping, &moved, trial))
            break;
        double cost_new = evaluate(p, &moved, trial, p->A_new, p->b_new);
        if (!(cost_new < cost)) {
            damping = fmax(damping * 100.0, 1e-3);
            continue;
        }
        bool converged = cost - cost_new < MIN_GAIN * cost;
        *motion = moved;
        for (size_t k = 0; k < p->num_planes; ++k)
            memcpy(planes[k].m, trial[k].m, sizeof planes[k].m);
        double *swap = p->A;
        p->A = p->A_new;
        p->A_new = swap;
        swap = p->b;
        p->b = p->b_new;
        p->b_new = swap;
        cost = cost_new;
        damping = fmax(damping * 0.1, 1e-12);
        if (converged)
            break;
    }
}

psfm_status psfm_joint_refine(psfm_context *ctx, psfm_joint_plane *planes, size_t num_planes,
                              const psfm_ray_pairs *off, double off_max_squared,
                              psfm_motion *motion) {
    size_t size = MOTION + 3 * num_planes, square = size * size;
    double *memory = NULL;
    psfm_joint_plane *trial = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 3 * (square + size), &memory);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_planes, &trial);
    if (status == PSFM_OK) {
        problem p = {off, off_max_squared, num_planes, size, memory, memory + square, NULL, NULL,
                     NULL};
        p.A_new = p.b + size;
        p.b_new = p.A_new + square;
        p.work = p.b_new + size;
        memcpy(trial, planes, num_planes * sizeof *trial);
        minimize(&p, planes, trial, motion);
    }
    free(memory);
    free(trial); /* its pairs are those of planes */
    return status;
}
