/* Error of one pair under an essential matrix, shared by scoring and refinement. Inline and free of
 * branches, so that loops over the lanes of a block are vectorised. */
#ifndef PSFM_TWOVIEW_EPIPOLAR_H
#define PSFM_TWOVIEW_EPIPOLAR_H

#include "core/matches/ray_pairs.h"

/* c = x2^T E x1; u and v its derivatives by the pixels of image 1 and 2; g = |u|^2 + |v|^2. The
 * error is c^2 / g. g is 0 in unused lanes. */
typedef struct {
    double c, u0, u1, v0, v1, g;
} psfm_epipolar;

static inline psfm_epipolar psfm_epipolar_at(const psfm_ray_block *b, int l, const double E[9]) {
    psfm_epipolar e;
    double x0 = b->ray1[0][l], x1 = b->ray1[1][l], x2 = b->ray1[2][l];
    double y0 = b->ray2[0][l], y1 = b->ray2[1][l], y2 = b->ray2[2][l];
    double p0 = E[0] * x0 + E[1] * x1 + E[2] * x2; /* E x1 */
    double p1 = E[3] * x0 + E[4] * x1 + E[5] * x2;
    double p2 = E[6] * x0 + E[7] * x1 + E[8] * x2;
    double q0 = E[0] * y0 + E[3] * y1 + E[6] * y2; /* E^T x2 */
    double q1 = E[1] * y0 + E[4] * y1 + E[7] * y2;
    double q2 = E[2] * y0 + E[5] * y1 + E[8] * y2;
    e.c = y0 * p0 + y1 * p1 + y2 * p2;
    e.u0 = b->tan1[0][l] * q0 + b->tan1[2][l] * q1 + b->tan1[4][l] * q2;
    e.u1 = b->tan1[1][l] * q0 + b->tan1[3][l] * q1 + b->tan1[5][l] * q2;
    e.v0 = b->tan2[0][l] * p0 + b->tan2[2][l] * p1 + b->tan2[4][l] * p2;
    e.v1 = b->tan2[1][l] * p0 + b->tan2[3][l] * p1 + b->tan2[5][l] * p2;
    e.g = e.u0 * e.u0 + e.u1 * e.u1 + e.v0 * e.v0 + e.v1 * e.v1;
    return e;
}

#endif
