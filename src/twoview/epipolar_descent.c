/* The errors of all pairs are linearised by the nine entries of the matrix; a family has fewer
 * parameters, and the normal equations are projected on these. So one pass over the pairs serves
 * every family. Cost: O(pairs) a step. */
#include "twoview/epipolar_descent.h"

#include <math.h>
#include <string.h>

#include "twoview/essential.h"
#include "twoview/least_squares.h"

void psfm_normal9_project(const double N[81], double D[][9], int num, double *A, int stride) {
    for (int p = 0; p < num; ++p) {
        double ND[9] = {0};
        for (int k = 0; k < 9; ++k)
            for (int j = 0; j < 9; ++j)
                ND[k] += N[9 * k + j] * D[p][j];
        for (int q = 0; q < num; ++q) {
            double sum = 0.0;
            for (int k = 0; k < 9; ++k)
                sum += D[q][k] * ND[k];
            A[stride * p + q] = sum;
        }
    }
}

/* The damped step from the normal equations at `member`, applied to give *moved. */
static bool take_step(const psfm_epipolar_family *family, const void *member,
                      const psfm_normal9 *at, double damping, void *moved) {
    double D[PSFM_EPIPOLAR_PARAMS][9], step[PSFM_EPIPOLAR_PARAMS];
    double A[PSFM_EPIPOLAR_PARAMS * PSFM_EPIPOLAR_PARAMS];
    const int num = family->num_params;
    family->derivatives(member, family->user, D);
    psfm_normal9_project(at->N, D, num, A, num);
    for (int p = 0; p < num; ++p) {
        step[p] = 0.0;
        for (int k = 0; k < 9; ++k)
            step[p] -= D[p][k] * at->g[k];
        A[num * p + p] *= 1.0 + damping;
    }
    if (!psfm_solve_spd(A, num, step))
        return false;
    family->move(member, step, moved);
    return true;
}

double psfm_epipolar_descend(const psfm_ray_pairs *pairs, size_t num_blocks, psfm_loss loss,
                             int max_iterations, const psfm_epipolar_family *family, void *member,
                             void *scratch) {
    psfm_normal9 at, trial;
    double F[9], damping = 1e-6;
    if (num_blocks > pairs->num_blocks)
        num_blocks = pairs->num_blocks;
    family->matrix(member, family->user, F);
    psfm_essential_normal_equations(pairs, num_blocks, F, loss, &at);
    for (int iteration = 0; iteration < max_iterations && damping < 1e3; ++iteration) {
        if (!take_step(family, member, &at, damping, scratch))
            break;
        family->matrix(scratch, family->user, F);
        psfm_essential_normal_equations(pairs, num_blocks, F, loss, &trial);
        if (!(trial.cost < at.cost)) {
            damping = fmax(damping * 100.0, 1e-3);
            continue;
        }
        bool converged = at.cost - trial.cost < family->min_gain * trial.inlier_cost;
        memcpy(member, scratch, family->size);
        at = trial;
        damping = fmax(damping * 0.1, 1e-12);
        if (converged)
            break;
    }
    return at.cost;
}
