/* Essential matrices: ray2^T E ray1 = 0, E = [t]x R. Errors are in pixels, the shortest joint move
 * of a match's two points that makes the rays meet (to first order, Sampson). */
#ifndef PSFM_TWOVIEW_ESSENTIAL_H
#define PSFM_TWOVIEW_ESSENTIAL_H

#include <stdbool.h>

#include "twoview/ray_pairs.h"

typedef struct {
    double R_21[9];
    double t_21[3]; /* unit length */
} psfm_motion;

/* E = [t]x R. */
void psfm_essential_from_motion(const psfm_motion *motion, double E[9]);

/* Squared errors in pixels; room for num_blocks * 8. Unused lanes get INFINITY. */
void psfm_essential_errors(const psfm_ray_pairs *pairs, const double E[9], double *squared);

/* Sum of min(squared error, max_squared), given up once it exceeds stop_above. */
double psfm_essential_cost(const psfm_ray_pairs *pairs, const double E[9], double max_squared,
                           double stop_above);

/* Whether both rays meet in front of their cameras, or are parallel to within about a pixel's
 * noise, so that it cannot be told. */
bool psfm_in_front(const psfm_motion *motion, const double ray1[3], const double ray2[3]);

/* The motion behind E that puts most of the pairs idx[0 .. num) in front of both cameras. E may be
 * off the essential manifold; the nearest point on it is taken. False if E has no rank of two. */
bool psfm_essential_to_motion(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                              const double E[9], psfm_motion *motion);

/* Minimises the truncated cost over R and t by Levenberg-Marquardt on the first num_blocks blocks.
 * Returns the cost there. */
double psfm_motion_refine(const psfm_ray_pairs *pairs, size_t num_blocks, double max_squared,
                          int max_iterations, psfm_motion *motion);

#endif
