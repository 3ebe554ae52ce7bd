/* Central differences on a grid of 3 x 3 exact values give all six coefficients of each coordinate
 * to second order; what remains over a patch of ten pixels is of third order, far below a hundredth
 * of a pixel for any view that is not grazing. */
#include "photo/plane_warp.h"

#include <math.h>
#include <string.h>

#include "linalg/mat3.h"

bool psfm_plane_warp_make(const psfm_camera *camera1, const double xy1[2],
                          const psfm_camera *camera2, const double H_21[9], double reach,
                          psfm_plane_warp *warp) {
    double f[2][3][3]; /* coordinate, v, u */
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            double at[2] = {xy1[0] + (c - 1) * reach, xy1[1] + (r - 1) * reach};
            double ray1[3], ray2[3], xy2[2];
            if (!psfm_camera_unproject(camera1, at, ray1))
                return false;
            psfm_mat3_mul_vec(H_21, ray1, ray2);
            if (!psfm_camera_project(camera2, ray2, xy2))
                return false;
            f[0][r][c] = xy2[0];
            f[1][r][c] = xy2[1];
        }
    }
    double once = 0.5 / reach, twice = 0.5 / (reach * reach);
    for (int k = 0; k < 2; ++k) {
        double(*g)[3] = f[k], *out = k == 0 ? warp->x : warp->y;
        out[0] = g[1][1];
        out[1] = (g[1][2] - g[1][0]) * once;
        out[2] = (g[2][1] - g[0][1]) * once;
        out[3] = (g[1][2] + g[1][0] - 2.0 * g[1][1]) * twice;
        out[4] = (g[2][2] - g[2][0] - g[0][2] + g[0][0]) * 0.5 * twice;
        out[5] = (g[2][1] + g[0][1] - 2.0 * g[1][1]) * twice;
    }
    return true;
}

static double value(const double c[6], double u, double v) {
    return c[0] + c[1] * u + c[2] * v + c[3] * u * u + c[4] * u * v + c[5] * v * v;
}

void psfm_plane_warp_at(const psfm_plane_warp *warp, double u, double v, double xy2[2]) {
    xy2[0] = value(warp->x, u, v);
    xy2[1] = value(warp->y, u, v);
}

static void move(const double c[6], double u, double v, double out[6]) {
    out[0] = value(c, u, v);
    out[1] = c[1] + 2.0 * c[3] * u + c[4] * v;
    out[2] = c[2] + 2.0 * c[5] * v + c[4] * u;
    memcpy(out + 3, c + 3, 3 * sizeof *c);
}

void psfm_plane_warp_move(const psfm_plane_warp *warp, double u, double v, psfm_plane_warp *moved) {
    move(warp->x, u, v, moved->x);
    move(warp->y, u, v, moved->y);
}

double psfm_plane_warp_zoom(const psfm_plane_warp *warp, double *anisotropy) {
    double a = warp->x[1], b = warp->x[2], c = warp->y[1], d = warp->y[2];
    double det = a * d - b * c, sum = a * a + b * b + c * c + d * d;
    if (!(det > 0.0) || !isfinite(sum))
        return 0.0;
    double root = sqrt(fmax(0.25 * sum * sum - det * det, 0.0));
    *anisotropy = (0.5 * sum + root) / det; /* s1^2 / (s1 s2) */
    return sqrt(det);
}
