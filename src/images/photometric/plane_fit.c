/* The two-view code measures errors in pixels through the derivative of the pixel by the ray
 * (core/matches/match_set.h). Multiplying that derivative by the square root S of a point's
 * information makes the same code measure in standard deviations: whitening. A found point has S =
 * C^-1/2; its exact partner has no error of its own, but since the fit shares an error between both
 * images, both sides get half of the variance, the partner's carried over by the scale between the
 * images.
 */
#include "images/photometric/plane_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/twoview/homography.h"
#include "core/twoview/homography_ransac.h"

#define MAX_SIGMAS 4.0 /* of a point that takes part in the last fit */
#define MIN_POINTS 8

static psfm_status alloc_rows(psfm_context *ctx, size_t n, psfm_correspondences *c) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &c->ray1)) || (status = PSFM_ALLOC(ctx, n, &c->ray2)) ||
        (status = PSFM_ALLOC(ctx, n, &c->px1)) || (status = PSFM_ALLOC(ctx, n, &c->px2)))
        return status;
    return PSFM_ALLOC(ctx, n, &c->match_idx);
}

/* Rays and derivatives; points without a ray are left out. */
static void fill_rows(const psfm_plane_points *p, psfm_correspondences *c) {
    for (size_t k = 0; k < p->num; ++k) {
        double xy[2];
        if (!psfm_camera_unproject(p->cameras[0], p->points[k].xy1, c->ray1[c->num]) ||
            !psfm_camera_unproject(p->cameras[1], p->points[k].xy2, c->ray2[c->num]) ||
            !psfm_camera_project_jacobian(p->cameras[0], c->ray1[c->num], xy, c->px1[c->num]) ||
            !psfm_camera_project_jacobian(p->cameras[1], c->ray2[c->num], xy, c->px2[c->num]))
            continue;
        c->match_idx[c->num++] = (uint32_t)k;
    }
}

/* Multiplies a 2 x 3 derivative by the square root of the inverse of `factor` times C. */
static void whiten_derivative(const double cov[3], double factor, double px[6]) {
    double a = sqrt(cov[0] * factor), b = cov[1] * factor / a;
    double c = sqrt(fmax(cov[2] * factor - b * b, 1e-12)); /* C = L L^T */
    for (int k = 0; k < 3; ++k) {
        px[k] /= a;
        px[3 + k] = (px[3 + k] - b * px[k]) / c;
    }
}

static void whiten_rows(const psfm_plane_point *points, psfm_correspondences *c) {
    for (size_t r = 0; r < c->num; ++r) {
        const psfm_plane_point *p = &points[c->match_idx[r]];
        double *found = p->found == 0 ? c->px1[r] : c->px2[r];
        double *exact = p->found == 0 ? c->px2[r] : c->px1[r];
        double size = sqrt(p->cov[0] * p->cov[2] - p->cov[1] * p->cov[1]);
        const double even[3] = {size, 0.0, size};
        whiten_derivative(p->cov, 0.5, found);
        whiten_derivative(even, 0.5, exact);
    }
}

/* Deviations of all points from H_21, in pixels and in standard deviations. */
static void measure_errors(const psfm_plane_points *all, const double H_21[9],
                           psfm_plane_fitted *fit) {
    double H_12[9];
    bool invertible = psfm_mat3_inverse(H_21, H_12);
    for (size_t k = 0; k < all->num; ++k) {
        const psfm_plane_point *p = &all->points[k];
        int exact = 1 - p->found;
        double from[3], to[3], xy[2];
        fit->error_px[k] = fit->sigmas[k] = INFINITY;
        if (!invertible ||
            !psfm_camera_unproject(all->cameras[exact], exact == 0 ? p->xy1 : p->xy2, from))
            continue;
        psfm_mat3_mul_vec(exact == 0 ? H_21 : H_12, from, to);
        if (!psfm_camera_project(all->cameras[p->found], to, xy))
            continue;
        const double *found = p->found == 0 ? p->xy1 : p->xy2;
        double dx = found[0] - xy[0], dy = found[1] - xy[1];
        double det = p->cov[0] * p->cov[2] - p->cov[1] * p->cov[1];
        fit->error_px[k] = hypot(dx, dy);
        fit->sigmas[k] = sqrt(fmax(
            (p->cov[2] * dx * dx - 2.0 * p->cov[1] * dx * dy + p->cov[0] * dy * dy) / det, 0.0));
    }
}

/* By how much the errors of most points exceed their covariances, at least 1: the median of a
 * two-dimensional normal deviate is sqrt(2 ln 2). Reorders the values. */
static double error_excess(double *values, size_t num) {
    return num == 0 ? 1.0 : fmax(psfm_median(values, num) / 1.17741, 1.0);
}

/* Measures, and sets the scale to the excess of the points within max_error_px. `values` is
 * scratch.
 */
static void find_excess(const psfm_plane_points *all, const double H_21[9], double *values,
                        psfm_plane_fitted *fit) {
    size_t n = 0;
    measure_errors(all, H_21, fit);
    for (size_t k = 0; k < all->num; ++k)
        if (fit->error_px[k] <= all->max_error_px)
            values[n++] = fit->sigmas[k];
    fit->scale = error_excess(values, n);
}

/* The homography that most points agree with, by RANSAC and from the start. */
static psfm_status search_homography(psfm_context *ctx, const psfm_ray_pairs *pairs,
                                     double max_error_px, psfm_rng *rng, double H_21[9],
                                     bool *found) {
    psfm_loss loss = {max_error_px * max_error_px, 0.0};
    double start[9], *scratch = NULL;
    psfm_status status = PSFM_ALLOC(ctx, pairs->num_blocks * PSFM_LANES, &scratch);
    if (status != PSFM_OK)
        return status;
    memcpy(start, H_21, sizeof start);
    psfm_homography_normalize_norm(start);
    double cost = psfm_homography_refine(pairs, pairs->num_blocks, loss, 20, start);
    psfm_homography_search options = {max_error_px, 0.9999, 2000, scratch, NULL};
    psfm_homography_found best;
    *found = psfm_homography_ransac(pairs, &options, rng, &best);
    if (*found)
        memcpy(H_21, cost <= best.cost ? start : best.H_21, sizeof start);
    free(scratch);
    return PSFM_OK;
}

psfm_status psfm_plane_fit(psfm_context *ctx, const psfm_plane_points *points, psfm_rng *rng,
                           psfm_plane_fitted *fit) {
    psfm_correspondences c = {0};
    psfm_ray_pairs pairs = {0}, white = {0};
    double H[9], *values = NULL;
    memcpy(H, fit->H_21, sizeof H);
    fit->fitted = false;
    fit->scale = 1.0;
    psfm_status status = alloc_rows(ctx, points->num, &c);
    if (status != PSFM_OK || (status = PSFM_ALLOC(ctx, points->num, &values)))
        goto cleanup;
    fill_rows(points, &c);
    if (c.num < MIN_POINTS)
        goto cleanup;
    if ((status = psfm_ray_pairs_init(ctx, &c, rng, &pairs)) ||
        (status = search_homography(ctx, &pairs, points->max_error_px, rng, H, &fit->fitted)) ||
        !fit->fitted)
        goto cleanup;
    fit->fitted = false;
    whiten_rows(points->points, &c);
    if ((status = psfm_ray_pairs_init(ctx, &c, NULL, &white)))
        goto cleanup;
    for (int k = 0; k < 3; ++k) { /* the excess changes with the fit */
        find_excess(points, H, values, fit);
        psfm_loss loss = {MAX_SIGMAS * MAX_SIGMAS * fit->scale * fit->scale, 0.0};
        psfm_homography_normalize_norm(H);
        psfm_homography_refine(&white, white.num_blocks, loss, 20, H);
    }
    find_excess(points, H, values, fit);
    fit->fitted = psfm_homography_normalize(H);
    if (fit->fitted)
        memcpy(fit->H_21, H, sizeof H);

cleanup:
    psfm_correspondences_free(&c);
    psfm_ray_pairs_free(&pairs);
    psfm_ray_pairs_free(&white);
    free(values);
    return status;
}

/* ---- the warp of a plane ---- */

/* Central differences on a grid of 3 x 3 exact values give all six coefficients of each coordinate
 * to second order; what remains over a patch of ten pixels is of third order, far below a hundredth
 * of a pixel for any view that is not grazing. */

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

static double quadratic_value(const double c[6], double u, double v) {
    return c[0] + c[1] * u + c[2] * v + c[3] * u * u + c[4] * u * v + c[5] * v * v;
}

void psfm_plane_warp_at(const psfm_plane_warp *warp, double u, double v, double xy2[2]) {
    xy2[0] = quadratic_value(warp->x, u, v);
    xy2[1] = quadratic_value(warp->y, u, v);
}

static void move_origin(const double c[6], double u, double v, double out[6]) {
    out[0] = quadratic_value(c, u, v);
    out[1] = c[1] + 2.0 * c[3] * u + c[4] * v;
    out[2] = c[2] + 2.0 * c[5] * v + c[4] * u;
    memcpy(out + 3, c + 3, 3 * sizeof *c);
}

void psfm_plane_warp_move(const psfm_plane_warp *warp, double u, double v, psfm_plane_warp *moved) {
    move_origin(warp->x, u, v, moved->x);
    move_origin(warp->y, u, v, moved->y);
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
