/* Levenberg-Marquardt over a family of epipolar matrices. */
#ifndef PSFM_TWOVIEW_EPIPOLAR_DESCENT_H
#define PSFM_TWOVIEW_EPIPOLAR_DESCENT_H

#include "core/linalg/loss.h"
#include "core/matches/ray_pairs.h"
#include "core/twoview/kronecker_sums.h"

#define PSFM_EPIPOLAR_PARAMS 7 /* the most that a family has */

/* Which matrices there are: essential ones by their motion, all of rank two, ... */
typedef struct {
    int num_params;
    size_t size;      /* of a member, in bytes */
    double min_gain;  /* relative decrease of the cost below which a step is the last */
    const void *user; /* what all members have in common */
    void (*matrix)(const void *member, const void *user, double F[9]);
    /* Of the entries of the matrix, one row a parameter. */
    void (*derivatives)(const void *member, const void *user, double D[][9]);
    void (*move)(const void *member, const double *step, void *moved);
} psfm_epipolar_family;

/* Moves `member` to where the errors of the pairs in the first num_blocks blocks cost least, in at
 * most max_iterations steps, and returns that cost. `scratch` has room for a member. */
double psfm_epipolar_descend(const psfm_ray_pairs *pairs, size_t num_blocks, psfm_loss loss,
                             int max_iterations, const psfm_epipolar_family *family, void *member,
                             void *scratch);

#endif
