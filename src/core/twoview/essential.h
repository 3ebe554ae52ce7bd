/* Essential matrices: ray2^T E ray1 = 0, E = [t]x R. Errors are in pixels, the shortest joint move
 * of a match's two points that makes the rays meet (to first order, Sampson). */
#ifndef PSFM_TWOVIEW_ESSENTIAL_H
#define PSFM_TWOVIEW_ESSENTIAL_H

#include <stdbool.h>

#include "core/linalg/loss.h"
#include "core/matches/ray_pairs.h"
#include "core/twoview/kronecker_sums.h"

typedef struct {
    double R_21[9];
    double t_21[3]; /* unit length */
} psfm_motion;

/* E = [t]x R. */
void psfm_essential_from_motion(const psfm_motion *motion, double E[9]);

/* Squared errors in pixels; room for num_blocks * 8. Unused lanes get INFINITY. */
void psfm_essential_errors(const psfm_ray_pairs *pairs, const double E[9], double *squared);

/* Sum of the losses of all pairs, given up once it exceeds stop_above. */
double psfm_essential_cost(const psfm_ray_pairs *pairs, const double E[9], psfm_loss loss,
                           double stop_above);

/* Whether both rays meet in front of their cameras, or are parallel to within about a pixel's
 * noise, so that it cannot be told. */
bool psfm_in_front(const psfm_motion *motion, const double ray1[3], const double ray2[3]);

/* Of how many of the pairs idx[0 .. num). */
size_t psfm_num_in_front(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                         const psfm_motion *motion);

/* The motion behind E that puts most of the pairs idx[0 .. num) in front of both cameras. E may be
 * off the essential manifold; the nearest point on it is taken. False if E has no rank of two. */
bool psfm_essential_to_motion(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                              const double E[9], psfm_motion *motion);

/* Minimises the cost over R and t by Levenberg-Marquardt on the first num_blocks blocks.
 * Returns the cost there. */
double psfm_motion_refine(const psfm_ray_pairs *pairs, size_t num_blocks, psfm_loss loss,
                          int max_iterations, psfm_motion *motion);

/* Cost and normal equations by the entries of E on the first num_blocks blocks. */
void psfm_essential_normal_equations(const psfm_ray_pairs *pairs, size_t num_blocks,
                                     const double E[9], psfm_loss loss, psfm_normal9 *out);

/* The five parameters of a motion: R is turned by exp([w]), t moved along the two vectors of
 * psfm_tangent_basis. Derivatives of the entries of E by them, one row each. */
void psfm_essential_derivatives(const psfm_motion *motion, double D[5][9]);
void psfm_motion_move(const psfm_motion *motion, const double step[5], psfm_motion *moved);

/* Two unit vectors orthogonal to t and to each other. */
void psfm_tangent_basis(const double t[3], double a[3], double b[3]);

#endif
