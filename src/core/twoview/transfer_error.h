/* Error of one pair under a homography, and how it comes about: shared by scoring and refinement.
 * Inline and free of branches, so that loops over the lanes of a block are vectorised. */
#ifndef PSFM_TWOVIEW_TRANSFER_ERROR_H
#define PSFM_TWOVIEW_TRANSFER_ERROR_H

#include <math.h>

#include "core/twoview/homography.h"

/* The change of scale from one image to the other, in any direction, above which a match does not
 * count: near the horizon of a degenerate homography everything moves onto everything. */
#define PSFM_MAX_ZOOM 100.0

/* With y = H x1, depth = x2 . y: e = P2 y / depth is the transfer error in image 2 (pixels);
 * g_k = (P2_k - e_k x2) / depth gives its derivative by H, g_k x1^T; M = I + A A^T is its
 * covariance for unit noise in both images, A = g H T1 its derivative by the pixel of image 1. The
 * joint error is e^T M^-1 e + excess, excess = INFINITY where H turns the ray away or zooms too
 * much. */
typedef struct {
    double e0, e1;
    double g00, g01, g02, g10, g11, g12;
    double m00, m01, m11;
    double excess;
} psfm_transfer;

static inline psfm_transfer psfm_transfer_at(const psfm_ray_block *b, int l, const double H[9]) {
    psfm_transfer t;
    double x = b->ray1[0][l], y = b->ray1[1][l], z = b->ray1[2][l];
    double y0 = H[0] * x + H[1] * y + H[2] * z;
    double y1 = H[3] * x + H[4] * y + H[5] * z;
    double y2 = H[6] * x + H[7] * y + H[8] * z;
    double depth = b->ray2[0][l] * y0 + b->ray2[1][l] * y1 + b->ray2[2][l] * y2;
    double inverse = 1.0 / (depth > PSFM_MIN_DEPTH ? depth : 1.0);
    t.e0 = (b->px2[0][l] * y0 + b->px2[1][l] * y1 + b->px2[2][l] * y2) * inverse;
    t.e1 = (b->px2[3][l] * y0 + b->px2[4][l] * y1 + b->px2[5][l] * y2) * inverse;
    t.g00 = (b->px2[0][l] - t.e0 * b->ray2[0][l]) * inverse;
    t.g01 = (b->px2[1][l] - t.e0 * b->ray2[1][l]) * inverse;
    t.g02 = (b->px2[2][l] - t.e0 * b->ray2[2][l]) * inverse;
    t.g10 = (b->px2[3][l] - t.e1 * b->ray2[0][l]) * inverse;
    t.g11 = (b->px2[4][l] - t.e1 * b->ray2[1][l]) * inverse;
    t.g12 = (b->px2[5][l] - t.e1 * b->ray2[2][l]) * inverse;
    double h00 = t.g00 * H[0] + t.g01 * H[3] + t.g02 * H[6]; /* g H */
    double h01 = t.g00 * H[1] + t.g01 * H[4] + t.g02 * H[7];
    double h02 = t.g00 * H[2] + t.g01 * H[5] + t.g02 * H[8];
    double h10 = t.g10 * H[0] + t.g11 * H[3] + t.g12 * H[6];
    double h11 = t.g10 * H[1] + t.g11 * H[4] + t.g12 * H[7];
    double h12 = t.g10 * H[2] + t.g11 * H[5] + t.g12 * H[8];
    double a00 = h00 * b->tan1[0][l] + h01 * b->tan1[2][l] + h02 * b->tan1[4][l];
    double a01 = h00 * b->tan1[1][l] + h01 * b->tan1[3][l] + h02 * b->tan1[5][l];
    double a10 = h10 * b->tan1[0][l] + h11 * b->tan1[2][l] + h12 * b->tan1[4][l];
    double a11 = h10 * b->tan1[1][l] + h11 * b->tan1[3][l] + h12 * b->tan1[5][l];
    double s00 = a00 * a00 + a01 * a01, s11 = a10 * a10 + a11 * a11; /* A A^T */
    t.m00 = 1.0 + s00;
    t.m01 = a00 * a10 + a01 * a11;
    t.m11 = 1.0 + s11;
    /* sum of the squared zooms, and of their inverses times the determinant */
    const double max_sum = PSFM_MAX_ZOOM * PSFM_MAX_ZOOM;
    double sum = s00 + s11, det = a00 * a11 - a01 * a10;
    /* infinity as an added term, since a choice would keep loops from being vectorised */
    t.excess = depth > PSFM_MIN_DEPTH && sum < max_sum && sum < max_sum * det * det
                   ? 0.0
                   : (double)INFINITY;
    return t;
}

#endif
