/* Homographies are estimated on rays of cameras whose focal lengths may be wrong. Rays of a wrong
 * focal length are a linear map of the right ones, so the homography is as good as ever; only its
 * decomposition is not. Here it is refitted to its inliers, whose scatter gives the noise, and
 * taken to image coordinates, in which no focal length occurs: an entry (r, c) is multiplied by
 * scale2_r / scale1_c, and the information of the nine entries is divided by these factors.
 *
 * Keypoints that lie on one plane often err together (a curved floor, a lens not quite modelled),
 * so that hundreds of them are not as good as their number says: the information is that of
 * EFFECTIVE at most. */
#include "core/calibration/measured_planes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/camera/camera_model.h"
#include "core/linalg/least_squares.h"
#include "core/linalg/order_statistics.h"
#include "core/twoview/homography.h"
#include "core/twoview/transfer_error.h"

#define EFFECTIVE 200.0     /* inliers whose errors are independent, at most */
#define MIN_NOISE_PX 1e-6   /* of noise-free data: numbers are no better */
#define MAX_SIGMAS 3.5      /* an inlier beyond so many standard deviations does not count */
#define MEDIAN_CHI2_2 1.386 /* median of the sum of two squared standard normal variables */
#define MAX_STEPS 20

bool psfm_image_scale(const psfm_camera *camera, double scale[2]) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    double longer = camera->width > camera->height ? (double)camera->width : (double)camera->height;
    for (int k = 0; k < 2; ++k)
        scale[k] = camera->params[info->focal[k]] / longer;
    return !info->is_fisheye;
}

/* The inliers of h among all pairs of rays; both lists ascend. */
static psfm_status select_inliers(psfm_context *ctx, const psfm_correspondences *c,
                                  const psfm_ray_pairs *all, const psfm_homography *h,
                                  psfm_ray_pairs *own) {
    uint32_t *idx = NULL;
    size_t num = 0, k = 0;
    psfm_status status = PSFM_ALLOC(ctx, h->num_inliers, &idx);
    for (size_t i = 0; status == PSFM_OK && i < all->num; ++i) {
        uint32_t match = c->match_idx[all->row[i]];
        while (k < h->num_inliers && h->inliers[k] < match)
            ++k;
        if (k < h->num_inliers && h->inliers[k] == match)
            idx[num++] = (uint32_t)i;
    }
    if (status == PSFM_OK)
        status = psfm_ray_pairs_select(ctx, all, idx, num, own);
    free(idx);
    return status;
}

/* Standard deviation of a keypoint, from the median error of the pairs. */
static psfm_status measure_noise(psfm_context *ctx, const psfm_ray_pairs *pairs, const double H[9],
                                 double *sigma_px) {
    double *squared = NULL;
    psfm_status status = PSFM_ALLOC(ctx, pairs->num_blocks * PSFM_LANES, &squared);
    if (status == PSFM_OK) {
        psfm_homography_errors(pairs, H, squared);
        *sigma_px = fmax(sqrt(psfm_median(squared, pairs->num) / MEDIAN_CHI2_2), MIN_NOISE_PX);
    }
    free(squared);
    return status;
}

/* Refits H to its inliers; the information is that of the fit on rays. Errors beyond *max_squared
 * are not its noise. */
static psfm_status refit_homography(psfm_context *ctx, const psfm_ray_pairs *pairs,
                                    const psfm_camera *camera1, const psfm_camera *camera2,
                                    psfm_measured_plane *m, double *max_squared) {
    psfm_normal9 normal;
    double sigma = 0.0;
    psfm_homography_normalize_norm(m->H);
    psfm_status status = PSFM_OK;
    psfm_loss loss = {HUGE_VAL, 0.0};
    for (int round = 0; status == PSFM_OK && round < 2; ++round) {
        status = measure_noise(ctx, pairs, m->H, &sigma);
        loss.max_squared = MAX_SIGMAS * MAX_SIGMAS * sigma * sigma;
        if (status == PSFM_OK)
            psfm_homography_refine(pairs, pairs->num_blocks, loss, MAX_STEPS, m->H);
    }
    psfm_homography_normal_equations(pairs, pairs->num_blocks, m->H, loss, &normal);
    psfm_k1_information_find(pairs, m->H, loss, normal.N, camera1, camera2, &m->k1);
    double share = fmin(1.0, EFFECTIVE / (double)pairs->num) / (sigma * sigma);
    for (int k = 0; k < 81; ++k)
        m->information[k] = share * normal.N[k];
    psfm_k1_information_scale(share, &m->k1);
    *max_squared = loss.max_squared;
    return status;
}

/* Lists the keypoints on either side of those pairs that have no larger error: the others are near
 * the plane, but not on it. */
static psfm_status list_keypoints(psfm_context *ctx, const psfm_match_pair *pair,
                                  const psfm_correspondences *c, const psfm_ray_pairs *own,
                                  double max_squared, psfm_measured_plane *m) {
    double *squared = NULL;
    psfm_status status = PSFM_ALLOC(ctx, own->num_blocks * PSFM_LANES, &squared);
    for (int side = 0; status == PSFM_OK && side < 2; ++side)
        status = PSFM_ALLOC(ctx, own->num, &m->keypoints[side]);
    if (status == PSFM_OK)
        psfm_homography_errors(own, m->H, squared);
    for (size_t k = 0; status == PSFM_OK && k < own->num; ++k) {
        const uint32_t *match = pair->matches[c->match_idx[own->row[k]]];
        if (!(squared[k] <= max_squared))
            continue;
        m->keypoints[0][m->num] = match[0];
        m->keypoints[1][m->num++] = match[1];
    }
    for (int side = 0; status == PSFM_OK && side < 2; ++side)
        qsort(m->keypoints[side], m->num, sizeof *m->keypoints[side], psfm_compare_u32);
    free(squared);
    return status;
}

/* Image points of some inliers, evenly from their list. */
static void take_samples(const psfm_ray_pairs *pairs, const double scale1[2],
                         const double scale2[2], psfm_measured_plane *m) {
    for (size_t k = 0; k < PSFM_PLANE_SAMPLES; ++k) {
        double ray[2][3];
        psfm_ray_pairs_get(pairs, k * pairs->num / PSFM_PLANE_SAMPLES, ray[0], ray[1]);
        for (int axis = 0; axis < 2; ++axis) {
            m->samples[0][k][axis] = scale1[axis] * ray[0][axis] / ray[0][2];
            m->samples[1][k][axis] = scale2[axis] * ray[1][axis] / ray[1][2];
        }
    }
}

/* From rays to image coordinates, at unit norm. */
static void change_units(const double scale1[2], const double scale2[2], psfm_measured_plane *m) {
    double from[3] = {scale1[0], scale1[1], 1.0}, to[3] = {scale2[0], scale2[1], 1.0}, factor[9];
    double norm = 0.0;
    for (int k = 0; k < 9; ++k) {
        factor[k] = to[k / 3] / from[k % 3];
        m->H[k] *= factor[k];
        norm += m->H[k] * m->H[k];
    }
    for (int k = 0; k < 9; ++k)
        m->H[k] /= sqrt(norm);
    for (int r = 0; r < 9; ++r) {
        for (int c = 0; c < 9; ++c)
            m->information[9 * r + c] *= norm / (factor[r] * factor[c]);
        for (int side = 0; side < 2; ++side)
            m->k1.by_H[r][side] *= sqrt(norm) / factor[r];
    }
}

typedef struct {
    const psfm_match_set *set;
    const psfm_two_view *two_views;
    const size_t *begin; /* per pair: its first homography among all */
    psfm_measured_planes *out;
} measuring;

static psfm_status measure_pair(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const measuring *job = user;
    const psfm_match_pair *pair = &job->set->pairs[index];
    const psfm_two_view *found = &job->two_views[index];
    double scale1[2], scale2[2];
    psfm_correspondences c = {0};
    psfm_ray_pairs all = {0};
    const psfm_view *views = job->set->views;
    const psfm_camera *camera1 = &job->set->cameras[views[pair->view1].camera_idx];
    const psfm_camera *camera2 = &job->set->cameras[views[pair->view2].camera_idx];
    if (job->begin[index] == job->begin[index + 1])
        return PSFM_OK;
    psfm_image_scale(camera1, scale1);
    psfm_image_scale(camera2, scale2);
    psfm_status status = psfm_correspondences_init(ctx, job->set, pair, &c);
    if (status == PSFM_OK)
        status = psfm_ray_pairs_init(ctx, &c, NULL, &all);
    for (size_t k = 0; status == PSFM_OK && k < found->num_homographies; ++k) {
        psfm_measured_plane *m = &job->out->planes[job->begin[index] + k];
        psfm_ray_pairs own = {0};
        m->view1 = pair->view1;
        m->view2 = pair->view2;
        memcpy(m->H, found->homographies[k].H_21, sizeof m->H);
        double max_squared = 0.0;
        status = select_inliers(ctx, &c, &all, &found->homographies[k], &own);
        if (status == PSFM_OK)
            status = refit_homography(ctx, &own, camera1, camera2, m, &max_squared);
        if (status == PSFM_OK)
            status = list_keypoints(ctx, pair, &c, &own, max_squared, m);
        if (status == PSFM_OK) {
            take_samples(&own, scale1, scale2, m);
            change_units(scale1, scale2, m);
        }
        psfm_ray_pairs_free(&own);
    }
    psfm_ray_pairs_free(&all);
    psfm_correspondences_free(&c);
    return status;
}

/* Whether homographies of this pair say something about its cameras. */
static bool is_usable(const psfm_match_set *set, const psfm_match_pair *pair) {
    double scale[2];
    return psfm_image_scale(&set->cameras[set->views[pair->view1].camera_idx], scale) &&
           psfm_image_scale(&set->cameras[set->views[pair->view2].camera_idx], scale);
}

psfm_status psfm_measured_planes_init(psfm_context *ctx, const psfm_match_set *set,
                                      const psfm_two_view *two_views, psfm_measured_planes *out) {
    size_t *begin = NULL;
    *out = (psfm_measured_planes){.views = set->views};
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs + 1, &begin);
    if (status != PSFM_OK)
        return status;
    for (size_t p = 0; p < set->num_pairs; ++p)
        begin[p + 1] =
            begin[p] + (is_usable(set, &set->pairs[p]) ? two_views[p].num_homographies : 0);
    measuring job = {set, two_views, begin, out};
    status = PSFM_ALLOC(ctx, begin[set->num_pairs], &out->planes);
    if (status == PSFM_OK) {
        out->num = begin[set->num_pairs];
        status = psfm_parallel_for(ctx, NULL, set->num_pairs, measure_pair, &job);
    }
    free(begin);
    if (status != PSFM_OK)
        psfm_measured_planes_free(out);
    return status;
}

void psfm_measured_planes_free(psfm_measured_planes *measured) {
    for (size_t k = 0; k < measured->num; ++k) {
        free(measured->planes[k].keypoints[0]);
        free(measured->planes[k].keypoints[1]);
    }
    free(measured->planes);
    *measured = (psfm_measured_planes){0};
}

/* ---- what k1 changes ---- */

/* A ray r = (x, y, 1) has the pixel f r (1 + k |r|^2 + ...) + c, so that its pixel moves by
 * f r |r|^2 if k grows by one. The pixel is what was seen and stays; the ray moves the other way.
 * The error of a match is e = P2 y / (x2 . y) with y = H x1 (core/twoview/transfer_error.h). If the
 * pixel moves by m1 in the first image and by m2 in the second one, e changes by m2 - A m1 with
 * A = g H T1.
 *
 * The gain is that of the best k1 of both lenses, H being refitted: gradient^T S^-1 gradient with
 * S = normal - by_H^T N^-1 by_H. Two lenses of equal distortion in similar images cancel, so S may
 * be singular: what is usual of lenses is added. */

#define USUAL_K1 0.5 /* no lens has more */

/* Movement of the pixel of a ray if k1 grows by one. */
static void find_movement(const psfm_camera *camera, const double ray[3], double m[2]) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    double scale[2], x = ray[0] / ray[2], y = ray[1] / ray[2];
    bool has_k1 = psfm_image_scale(camera, scale) && info->radial[0] != 0;
    double factor = has_k1 ? scale[0] * scale[1] * (x * x + y * y) : 0.0;
    m[0] = factor * camera->params[info->focal[0]] * x;
    m[1] = factor * camera->params[info->focal[1]] * y;
}

/* Derivatives of a match's error by k1 of both lenses: by[k][side]. */
static void differentiate_error(const psfm_ray_block *b, int l, const psfm_transfer *t,
                                const double H[9], const psfm_camera *camera1,
                                const psfm_camera *camera2, double by[2][2]) {
    const double g[2][3] = {{t->g00, t->g01, t->g02}, {t->g10, t->g11, t->g12}};
    double ray1[3], ray2[3], m1[2], m2[2], moved[3];
    for (int i = 0; i < 3; ++i) {
        ray1[i] = b->ray1[i][l];
        ray2[i] = b->ray2[i][l];
    }
    find_movement(camera1, ray1, m1);
    find_movement(camera2, ray2, m2);
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
                      psfm_k1_information *out) {
    psfm_transfer t = psfm_transfer_at(b, l, H);
    double det = t.m00 * t.m11 - t.m01 * t.m01, by[2][2], q[2][2];
    double W[2][2] = {{t.m11 / det, -t.m01 / det}, {-t.m01 / det, t.m00 / det}};
    const double g[2][3] = {{t.g00, t.g01, t.g02}, {t.g10, t.g11, t.g12}}, e[2] = {t.e0, t.e1};
    double squared = W[0][0] * e[0] * e[0] + 2.0 * W[0][1] * e[0] * e[1] + W[1][1] * e[1] * e[1];
    double weight = psfm_loss_weight(loss, squared + t.excess);
    if (!(weight > 0.0))
        return;
    differentiate_error(b, l, &t, H, camera1, camera2, by);
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

/* The gain of the best k1 of both lenses. */
static double find_gain(const psfm_k1_information *b, const double N[81], const double H[9]) {
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
            S[2 * s + u] = b->normal[s][u] + (s == u ? 1.0 / (USUAL_K1 * USUAL_K1) : 0.0);
            for (int i = 0; i < 9; ++i)
                S[2 * s + u] -= b->by_H[i][s] * solved[u][i];
        }
    if (!psfm_solve_spd(S, 2, x))
        return 0.0;
    return fmax(x[0] * b->gradient[0] + x[1] * b->gradient[1], 0.0);
}

void psfm_k1_information_find(const psfm_ray_pairs *pairs, const double H[9], psfm_loss loss,
                              const double N[81], const psfm_camera *camera1,
                              const psfm_camera *camera2, psfm_k1_information *out) {
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < pairs->num; ++i)
        add_match(&pairs->blocks[i / PSFM_LANES], (int)(i % PSFM_LANES), H, loss, camera1, camera2,
                  out);
    out->gain = find_gain(out, N, H);
}

void psfm_k1_information_scale(double factor, psfm_k1_information *b) {
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
