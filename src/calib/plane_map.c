/* Closed forms between a pose against a plane, a focal length and the map from plane to image. */
#include "calib/plane_map.h"

#include <math.h>

#include "linalg/vec3.h"

void psfm_plane_map(const psfm_plane_sight *s, double f, double G[9]) {
    for (int r = 0; r < 3; ++r) {
        double scale = r < 2 ? f : 1.0;
        G[3 * r] = scale * s->R[3 * r];
        G[3 * r + 1] = scale * s->R[3 * r + 1];
        G[3 * r + 2] = scale * s->t[r];
    }
}

/* The nearest orthonormal pair to the first two columns of M, after scaling M so that they have
 * unit length in the mean: M (M^T M)^-1/2 by the closed form of a 2 x 2 root. */
void psfm_plane_pose(const double M[9], psfm_plane_sight *sight) {
    double a = 0.0, b = 0.0, d = 0.0, scale;
    for (int r = 0; r < 3; ++r) {
        a += M[3 * r] * M[3 * r];
        b += M[3 * r] * M[3 * r + 1];
        d += M[3 * r + 1] * M[3 * r + 1];
    }
    scale = 2.0 / (sqrt(a) + sqrt(d));
    double root = sqrt(fmax(a * d - b * b, 1e-300)), trace = sqrt(a + d + 2.0 * root);
    double inv[3] = {(d + root) / (root * trace), -b / (root * trace), (a + root) / (root * trace)};
    double r1[3], r2[3], r3[3];
    for (int r = 0; r < 3; ++r) {
        r1[r] = M[3 * r] * inv[0] + M[3 * r + 1] * inv[1];
        r2[r] = M[3 * r] * inv[1] + M[3 * r + 1] * inv[2];
        sight->t[r] = scale * M[3 * r + 2];
    }
    psfm_cross3(r1, r2, r3);
    for (int r = 0; r < 3; ++r) {
        sight->R[3 * r] = r1[r];
        sight->R[3 * r + 1] = r2[r];
        sight->R[3 * r + 2] = r3[r];
    }
}

void psfm_circular_split(const double v[6], double w[2], double z[2]) {
    w[0] = v[0] * v[0] - v[3] * v[3] + v[1] * v[1] - v[4] * v[4];
    w[1] = 2.0 * (v[0] * v[3] + v[1] * v[4]);
    z[0] = v[2] * v[2] - v[5] * v[5];
    z[1] = 2.0 * v[2] * v[5];
}

double psfm_clip_focal2(double focal2) {
    const double least = PSFM_MIN_FOCAL * PSFM_MIN_FOCAL, most = PSFM_MAX_FOCAL * PSFM_MAX_FOCAL;
    return focal2 > least ? fmin(focal2, most) : least;
}
