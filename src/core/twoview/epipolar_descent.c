/* The errors of all pairs are linearised by the nine entries of the matrix; a family has fewer
 * parameters, and the normal equations are projected on these. So one pass over the pairs serves
 * every family. Cost: O(pairs) a step. */
#include "core/twoview/epipolar_descent.h"

#include <string.h>

#include "core/linalg/least_squares.h"
#include "core/linalg/levenberg.h"
#include "core/twoview/essential.h"

/* The member with its normal equations, and the one that is tried. */
typedef struct {
    const psfm_ray_pairs *pairs;
    size_t num_blocks;
    psfm_loss loss;
    const psfm_epipolar_family *family;
    void *member, *moved;
    psfm_normal9 at, trial;
} search;

static void evaluate_member(const search *s, const void *member, psfm_normal9 *out) {
    double F[9];
    s->family->matrix(member, s->family->user, F);
    psfm_essential_normal_equations(s->pairs, s->num_blocks, F, s->loss, out);
}

static psfm_status attempt_step(psfm_context *ctx, void *user, double damping, double *cost) {
    search *s = user;
    const psfm_epipolar_family *family = s->family;
    double D[PSFM_EPIPOLAR_PARAMS][9], step[PSFM_EPIPOLAR_PARAMS];
    double A[PSFM_EPIPOLAR_PARAMS * PSFM_EPIPOLAR_PARAMS];
    const int num = family->num_params;
    (void)ctx;
    family->derivatives(s->member, family->user, D);
    psfm_normal9_project(s->at.N, D, num, A, num);
    for (int p = 0; p < num; ++p) {
        step[p] = 0.0;
        for (int k = 0; k < 9; ++k)
            step[p] -= D[p][k] * s->at.g[k];
        A[num * p + p] *= 1.0 + damping;
    }
    if (!psfm_solve_spd(A, num, step))
        return PSFM_ERR_NUMERIC;
    family->move(s->member, step, s->moved);
    evaluate_member(s, s->moved, &s->trial);
    *cost = s->trial.cost;
    return PSFM_OK;
}

static bool accept_step(void *user, double before, double after) {
    search *s = user;
    memcpy(s->member, s->moved, s->family->size);
    s->at = s->trial;
    return before - after < s->family->min_gain * s->at.inlier_cost;
}

double psfm_epipolar_descend(const psfm_ray_pairs *pairs, size_t num_blocks, psfm_loss loss,
                             int max_iterations, const psfm_epipolar_family *family, void *member,
                             void *scratch) {
    search s = {.pairs = pairs,
                .num_blocks = num_blocks < pairs->num_blocks ? num_blocks : pairs->num_blocks,
                .loss = loss,
                .family = family,
                .member = member,
                .moved = scratch};
    evaluate_member(&s, member, &s.at);
    return psfm_descend(&(psfm_descent){&s, 1e-6, &psfm_light_damping, attempt_step, accept_step},
                        max_iterations, s.at.cost);
}
