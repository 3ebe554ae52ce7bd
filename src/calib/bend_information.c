/* A ray r = (x, y, 1) has the pixel f r (1 + k |r|^2 + ...) + c, so that its pixel moves by
 * f r |r|^2 if k grows by one. The pixel is what was seen and stays; the ray moves the other way.
 * The error of a match, e = P2 y / (x2 . y) with y = H x1 (twoview/transfer.h), then changes by
 *   -A m1  with the first image's movement m1 in pixels,  A = g H T1,
 *    m2    with the second's.
 *
 * The gain is that of the best bends, H being refitted: gradient^T S^-1 gradient with
 * S = normal - by_H^T N^-1 by_H. Two lenses that bend alike in images that are alike cancel, so S
 * may be singular: what is usual of lenses is added. */
#include "calib/bend_information.h"

#include <math.h>
#include <string.h>

#include "calib/measured_planes.h"
#include "camera/camera_model.h"
#include "twoview/least_squares.h"
#include "twoview/transfer.h"

#define USUAL_BEND 0.5 /* no lens bends more */

/* Movement of the pixel of a ray for a bend of one. */
static void movement(const psfm_camera *camera, const double ray[3], double m[2]) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    double scale[2], x = ray[0] / ray[2], y = ray[1] / ray[2];
    bool bends = psfm_image_scale(camera, scale) && info->radial[0] != 0;
    double factor = bends ? scale[0] * scale[1] * (x * x + y * y) : 0.0;
    m[0] = factor * camera->params[info->focal[0]] * x;
    m[1] = factor * camera->params[info->focal[1]] * y;
}

/* Derivatives of a match's error by the bends: by[k][side]. */
static void differentiate(const psfm_ray_block *b, int l, const psfm_transfer *t, const double H[9],
                          const psfm_camera *camera1, const psfm_camera *camera2, double by[2][2]) {
    const double g[2][3] = {{t->g00, t->g01, t->g02}, {t->g10, t->g11, t->g12}};
    double ray1[3], ray2[3], m1[2], m2[2], moved[3];
    for (int i = 0; i < 3; ++i) {
        ray1[i] = b->ray1[i][l];
        ray2[i] = b->ray2[i][l];
    }
    movement(camera1, ray1, m1);
    movement(camera2, ray2, m2);
    for (int i = 0; i < 3; ++i)
        moved[i] = b->tan1[2 * i][l] * m1[0] + b->tan1[2 * i + 1][l] * m1[1];
    for (int k = 0; k < 2; ++k) {
        by[k][0] = 0.0;
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c)
                by[k][0] -= g[k][r] * H[3 * r + c] * moved[c];
        by[k][1] = m2[k];
    }
}

static void add_match(const psfm_ray_block *b, int l, const double H[9], psfm_loss loss,
                      const psfm_camera *camera1, const psfm_camera *camera2,
                      psfm_bend_information *out) {
    psfm_transfer t = psfm_transfer_at(b, l, H);
    double det = t.m00 * t.m11 - t.m01 * t.m01, by[2][2], q[2][2];
    double W[2][2] = {{t.m11 / det, -t.m01 / det}, {-t.m01 / det, t.m00 / det}};
    const double g[2][3] = {{t.g00, t.g01, t.g02}, {t.g10, t.g11, t.g12}}, e[2] = {t.e0, t.e1};
    double squared = W[0][0] * e[0] * e[0] + 2.0 * W[0][1] * e[0] * e[1] + W[1][1] * e[1] * e[1];
    double weight = psfm_loss_weight(loss, squared + t.excess);
    if (!(weight > 0.0))
        return;
    differentiate(b, l, &t, H, camera1, camera2, by);
    for (int k = 0; k < 2; ++k) /* q = W by */
        for (int s = 0; s < 2; ++s)
            q[k][s] = weight * (W[k][0] * by[0][s] + W[k][1] * by[1][s]);
    for (int s = 0; s < 2; ++s) {
        for (int i = 0; i < 9; ++i)
            out->by_H[i][s] += (g[0][i / 3] * q[0][s] + g[1][i / 3] * q[1][s]) * b->ray1[i % 3][l];
        for (int u = 0; u < 2; ++u)
            out->normal[s][u] += by[0][s] * q[0][u] + by[1][s] * q[1][u];
        out->gradient[s] += e[0] * q[0][s] + e[1] * q[1][s];
    }
}

/* The gain of the best bends. */
static double find_gain(const psfm_bend_information *b, const double N[81], const double H[9]) {
    double A[81], solved[2][9], S[4], x[2] = {b->gradient[0], b->gradient[1]}, trace = 0.0;
    for (int i = 0; i < 9; ++i)
        trace += N[10 * i];
    for (int s = 0; s < 2; ++s) {
        for (int i = 0; i < 81; ++i)
            A[i] = N[i] + trace * H[i / 9] * H[i % 9];
        for (int i = 0; i < 9; ++i)
            solved[s][i] = b->by_H[i][s];
        if (!psfm_solve_spd(A, 9, solved[s]))
            return 0.0;
    }
    for (int s = 0; s < 2; ++s)
        for (int u = 0; u < 2; ++u) {
            S[2 * s + u] = b->normal[s][u] + (s == u ? 1.0 / (USUAL_BEND * USUAL_BEND) : 0.0);
            for (int i = 0; i < 9; ++i)
                S[2 * s + u] -= b->by_H[i][s] * solved[u][i];
        }
    if (!psfm_solve_spd(S, 2, x))
        return 0.0;
    return fmax(x[0] * b->gradient[0] + x[1] * b->gradient[1], 0.0);
}

void psfm_bend_information_find(const psfm_ray_pairs *pairs, const double H[9], psfm_loss loss,
                                const double N[81], const psfm_camera *camera1,
                                const psfm_camera *camera2, psfm_bend_information *out) {
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < pairs->num; ++i)
        add_match(&pairs->blocks[i / PSFM_LANES], (int)(i % PSFM_LANES), H, loss, camera1, camera2,
                  out);
    out->gain = find_gain(out, N, H);
}

void psfm_bend_information_scale(double factor, psfm_bend_information *b) {
    for (int i = 0; i < 9; ++i)
        for (int s = 0; s < 2; ++s)
            b->by_H[i][s] *= factor;
    for (int s = 0; s < 2; ++s) {
        b->normal[s][0] *= factor;
        b->normal[s][1] *= factor;
        b->gradient[s] *= factor;
    }
    b->gain *= factor;
}
