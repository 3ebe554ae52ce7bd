/* Joint refinement of a motion and several planes: 5 parameters for (R, t), as in
 * essential_refine.c, and 3 for each plane. The normal equations by the nine entries of each
 * homography, and of the essential matrix for the other matches, are projected on them. */
#include "core/twoview/joint_motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/least_squares.h"
#include "core/linalg/levenberg.h"
#include "core/linalg/mat3.h"
#include "core/twoview/homography.h"

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
    psfm_motion *motion, moved;
    psfm_joint_plane *planes, *trial;
    double *A, *b, *A_new, *b_new, *work;
} problem;

/* Adds the normal equations of a model, projected by D (num_local x 9) to A and b. `place`
 * tells where each local parameter is. */
static void add_projected(const problem *p, const psfm_normal9 *at, double D[LOCAL][9],
                          int num_local, const size_t *place, double *A, double *b) {
    double local[LOCAL * LOCAL];
    psfm_normal9_project(at->N, D, num_local, local, LOCAL);
    for (int i = 0; i < num_local; ++i) {
        for (int k = 0; k < 9; ++k)
            b[place[i]] -= D[i][k] * at->g[k];
        for (int j = 0; j < num_local; ++j)
            A[p->size * place[i] + place[j]] += local[LOCAL * i + j];
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
static double evaluate_motion(const problem *p, const psfm_motion *motion,
                              const psfm_joint_plane *planes, double *A, double *b) {
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

static psfm_status attempt_step(psfm_context *ctx, void *user, double damping, double *cost) {
    problem *p = user;
    double *step = p->work + p->size * p->size;
    (void)ctx;
    memcpy(p->work, p->A, p->size * p->size * sizeof *p->work);
    memcpy(step, p->b, p->size * sizeof *step);
    for (size_t i = 0; i < p->size; ++i)
        p->work[(p->size + 1) * i] *= 1.0 + damping;
    if (!psfm_solve_spd(p->work, (int)p->size, step))
        return PSFM_ERR_NUMERIC;
    psfm_motion_move(p->motion, step, &p->moved);
    for (size_t k = 0; k < p->num_planes; ++k)
        for (size_t i = 0; i < 3; ++i)
            p->trial[k].m[i] = p->planes[k].m[i] + step[MOTION + 3 * k + i];
    *cost = evaluate_motion(p, &p->moved, p->trial, p->A_new, p->b_new);
    return PSFM_OK;
}

static void swap_pointers(double **a, double **b) {
    double *t = *a;
    *a = *b;
    *b = t;
}

static bool accept_step(void *user, double before, double after) {
    problem *p = user;
    *p->motion = p->moved;
    for (size_t k = 0; k < p->num_planes; ++k)
        memcpy(p->planes[k].m, p->trial[k].m, sizeof p->planes[k].m);
    swap_pointers(&p->A, &p->A_new);
    swap_pointers(&p->b, &p->b_new);
    return before - after < MIN_GAIN * before;
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
        problem p = {.off = off,
                     .off_max_squared = off_max_squared,
                     .num_planes = num_planes,
                     .size = size,
                     .motion = motion,
                     .planes = planes,
                     .trial = trial,
                     .A = memory,
                     .b = memory + square,
                     .A_new = memory + square + size,
                     .b_new = memory + 2 * square + size,
                     .work = memory + 2 * (square + size)};
        memcpy(trial, planes, num_planes * sizeof *trial);
        (void)psfm_descend(
            &(psfm_descent){&p, 1e-6, &psfm_light_damping, attempt_step, accept_step},
            MAX_ITERATIONS, evaluate_motion(&p, motion, planes, p.A, p.b));
    }
    free(memory);
    free(trial); /* its pairs are those of planes */
    return status;
}
