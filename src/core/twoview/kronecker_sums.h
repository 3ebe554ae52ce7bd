/* Normal equations of a least-squares problem in the nine entries of a 3 x 3 matrix M, whose
 * residuals have derivatives of the form l r^T: every normal matrix is a sum of Kronecker products
 * L (x) R of symmetric 3 x 3 matrices, so 36 sums do in place of 45. Eight pairs at a time. */
#ifndef PSFM_TWOVIEW_KRONECKER_SUMS_H
#define PSFM_TWOVIEW_KRONECKER_SUMS_H

#include "core/matches/ray_pairs.h"

/* What the pairs of one block contribute. Symmetric matrices by their upper triangles: 00 01 02 11
 * 12 22. The gradient by M is gradient_left gradient_right^T. */
typedef struct {
    double left[6][PSFM_LANES], right[6][PSFM_LANES];
    double gradient_left[3][PSFM_LANES], gradient_right[3][PSFM_LANES];
    double cost[PSFM_LANES];
    double used[PSFM_LANES]; /* 1 for an inlier, else 0 */
} psfm_kronecker_terms;

typedef struct {
    double N[6][6][PSFM_LANES];
    double g[3][3][PSFM_LANES];
    double cost[PSFM_LANES], used[PSFM_LANES];
} psfm_kronecker_sums;

/* Normal equations by the nine entries (row-major) of a matrix M. */
typedef struct {
    double N[81]; /* Gauss-Newton matrix, 9 x 9 */
    double g[9];  /* half the gradient of the cost */
    double cost;
    double inlier_cost; /* without what the pairs beyond the bound cost */
} psfm_normal9;

static inline void psfm_kronecker_add(const psfm_kronecker_terms *t, psfm_kronecker_sums *s) {
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j)
            for (int l = 0; l < PSFM_LANES; ++l)
                s->N[i][j][l] += t->left[i][l] * t->right[j][l];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int l = 0; l < PSFM_LANES; ++l)
                s->g[i][j][l] += t->gradient_left[i][l] * t->gradient_right[j][l];
    for (int l = 0; l < PSFM_LANES; ++l) {
        s->cost[l] += t->cost[l];
        s->used[l] += t->used[l];
    }
}

/* The normal equations of `num` pairs; those that were not used cost max_squared each. */
void psfm_kronecker_finish(const psfm_kronecker_sums *s, size_t num, double max_squared,
                           psfm_normal9 *out);

/* A = D N D^T for `num` rows of D; rows of A are `stride` apart. */
void psfm_normal9_project(const double N[81], double D[][9], int num, double *A, int stride);

#endif
