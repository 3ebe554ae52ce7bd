/* Rotations of pairs and how well they are determined.
 *
 * Through a long lens rays are nearly parallel. What two such images tell is nearly an affine map,
 * and a small turn about the object looks like a small shift: the rotation of a pair is then known
 * to some degrees only, however many matches agree. The normal matrix of the matches says so: its
 * inverse is the covariance of all parameters for noise of one pixel, of which the block of the
 * rotation counts here. With y = R x1 and a turn w of R, dy = w x y.
 *
 *   plane:     z = y + t (n . x1) in the frame of camera 2, pixels P2 z / (x2 . z);
 *              dz = w x y + dt (n . x1) + t (dn . x1)
 *   rotation:  the same with t = 0 and a plane straight ahead, n the mean ray;
 *              dz = w x y + dt (n . x1)
 *   essential: c = x2 . (t x y), Sampson's error c / |dc / dpixels|;
 *              dc = w . (y x (x2 x t)) + dt . (y x x2)
 *
 * Scale is free in both (t against n; |t|): a slight pull keeps the matrix regular and, as scale
 * does not change with the rotation, leaves its block alone.
 *
 * A rotation without parallax is fitted with t = 0. Parallax below a fraction of a pixel counts as
 * none, however sure it is, so that noise alone would make the rotation look better than it is: a
 * camera that slides sideways seems to turn. The step (w, dt) that the residuals ask for tells how
 * far that may go. */
#include "core/twoview/motion_sigma.h"

#include <math.h>
#include <string.h>

#include "core/linalg/least_squares.h"
#include "core/linalg/mat3.h"

enum { MAX_PARAMETERS = 9 };

typedef struct {
    double A[MAX_PARAMETERS * MAX_PARAMETERS]; /* lower triangle */
    int n;
} normal_matrix;

static void add_row(normal_matrix *m, const double *row) {
    for (int i = 0; i < m->n; ++i)
        for (int k = 0; k <= i; ++k)
            m->A[i * m->n + k] += row[i] * row[k];
}

/* Keeps the matrix regular. */
static void pull_diagonal(normal_matrix *m) {
    const double share = 1e-10;
    double most = 0.0;
    for (int k = 0; k < m->n; ++k)
        most = fmax(most, m->A[k * m->n + k]);
    for (int k = 0; k < m->n; ++k)
        m->A[k * m->n + k] += share * most;
}

/* Root of the trace of the inverse's block of the three parameters from `first` on. */
static double block_sigma(const normal_matrix *m, int first) {
    double trace = 0.0;
    int n = m->n;
    for (int k = first; k < first + 3; ++k) {
        double A[MAX_PARAMETERS * MAX_PARAMETERS], b[MAX_PARAMETERS] = {0};
        memcpy(A, m->A, sizeof A);
        b[k] = 1.0;
        if (!psfm_solve_spd(A, n, b))
            return PSFM_MAX_MOTION_SIGMA;
        trace += b[k];
    }
    return fmin(sqrt(fmax(trace, 0.0)), PSFM_MAX_MOTION_SIGMA);
}

static double rotation_sigma(normal_matrix *m) {
    pull_diagonal(m);
    return block_sigma(m, 0);
}

/* Derivatives of the pixel in image 2 by turn, translation and normal: two rows. */
static void add_transfer(normal_matrix *m, const psfm_view *v1, uint32_t k1, const psfm_view *v2,
                         uint32_t k2, const psfm_plane_motion *motion) {
    const double *x1 = v1->rays[k1], *x2 = v2->rays[k2];
    double y[3], z[3], along = psfm_dot3(motion->n1, x1);
    psfm_mat3_mul_vec(motion->R_21, x1, y);
    psfm_axpy3(y, along, motion->t_21, z);
    double depth = psfm_dot3(x2, z);
    if (!(depth > 0.0))
        return;
    for (int c = 0; c < 2; ++c) {
        double g[3], row[MAX_PARAMETERS];
        /* the two images' noise adds up */
        psfm_scale3(1.0 / (sqrt(2.0) * depth), v2->px_from_ray[k2] + 3 * c, g);
        psfm_cross3(y, g, row);
        psfm_scale3(along, g, row + 3);
        psfm_scale3(psfm_dot3(g, motion->t_21), x1, row + 6);
        add_row(m, row);
    }
}

double psfm_plane_motion_sigma(const psfm_motion_support *s, const psfm_plane_motion *motion) {
    normal_matrix m = {.n = 9};
    for (size_t k = 0; k < s->num_inliers; ++k) {
        const uint32_t *match = s->matches[s->inliers[k]];
        add_transfer(&m, s->view1, match[0], s->view2, match[1], motion);
    }
    return rotation_sigma(&m);
}

/* Direction of the plane straight ahead of camera 1. */
static void mean_ray(const psfm_motion_support *s, double n[3]) {
    memset(n, 0, 3 * sizeof *n);
    for (size_t k = 0; k < s->num_inliers; ++k)
        psfm_axpy3(n, 1.0, s->view1->rays[s->matches[s->inliers[k]][0]], n);
    psfm_normalize3(n);
}

/* Derivatives of the pixel in image 2 by turn and translation at t = 0, and what they miss. */
static void add_turn(normal_matrix *m, double b[6], const psfm_motion_support *s, size_t k,
                     const double R[9], const double n[3]) {
    const uint32_t *match = s->matches[s->inliers[k]];
    const double *x1 = s->view1->rays[match[0]], *x2 = s->view2->rays[match[1]];
    double y[3], off[3], along = psfm_dot3(n, x1);
    psfm_mat3_mul_vec(R, x1, y);
    double depth = psfm_dot3(x2, y);
    if (!(depth > 0.0))
        return;
    psfm_axpy3(x2, -1.0 / depth, y, off);
    for (int c = 0; c < 2; ++c) {
        double g[3], row[MAX_PARAMETERS];
        /* the two images' noise adds up */
        psfm_scale3(1.0 / sqrt(2.0), s->view2->px_from_ray[match[1]] + 3 * c, g);
        psfm_cross3(y, g, row);
        psfm_scale3(along, g, row + 3);
        for (int i = 0; i < 6; ++i) {
            row[i] /= depth;
            b[i] += row[i] * psfm_dot3(g, off);
        }
        add_row(m, row);
    }
}

double psfm_rotation_sigma(const psfm_motion_support *s, const double R_21[9], double *slack,
                           double ahead[3]) {
    normal_matrix m = {.n = 6};
    double A[MAX_PARAMETERS * MAX_PARAMETERS], step[6] = {0};
    mean_ray(s, ahead);
    for (size_t k = 0; k < s->num_inliers; ++k)
        add_turn(&m, step, s, k, R_21, ahead);
    pull_diagonal(&m);
    memcpy(A, m.A, sizeof A);
    *slack = PSFM_MAX_MOTION_SIGMA;
    if (!psfm_solve_spd(A, m.n, step))
        return PSFM_MAX_MOTION_SIGMA;
    *slack = fmin(fmax(3.0 * block_sigma(&m, 3), psfm_norm3(step + 3)), PSFM_MAX_MOTION_SIGMA);
    return fmin(fmax(block_sigma(&m, 0), psfm_norm3(step) / 3.0), PSFM_MAX_MOTION_SIGMA);
}

/* |dl / dpixel|^2 of l . ray, for the inverse of px on the tangent plane of the ray. */
static double rate_squared(const double px[6], const double l[3]) {
    double a = psfm_dot3(px, px), b = psfm_dot3(px, px + 3), c = psfm_dot3(px + 3, px + 3);
    double x = psfm_dot3(px, l), y = psfm_dot3(px + 3, l), det = a * c - b * b;
    double u = (c * x - b * y) / det, v = (a * y - b * x) / det;
    return u * u + v * v;
}

static void add_epipolar(normal_matrix *m, const psfm_view *v1, uint32_t k1, const psfm_view *v2,
                         uint32_t k2, const double R[9], const double t[3]) {
    const double *x1 = v1->rays[k1], *x2 = v2->rays[k2];
    double y[3], l2[3], l1[3], crossed[3], row[MAX_PARAMETERS];
    psfm_mat3_mul_vec(R, x1, y);
    psfm_cross3(t, y, l2);
    psfm_cross3(x2, t, crossed);
    psfm_mat3_tmul_vec(R, crossed, l1);
    double rate = rate_squared(v1->px_from_ray[k1], l1) + rate_squared(v2->px_from_ray[k2], l2);
    if (!(rate > 0.0))
        return;
    psfm_cross3(y, crossed, row);
    psfm_cross3(y, x2, row + 3);
    for (int k = 0; k < 6; ++k)
        row[k] /= sqrt(rate);
    add_row(m, row);
}

double psfm_essential_sigma(const psfm_motion_support *s, const double R_21[9],
                            const double t_21[3]) {
    normal_matrix m = {.n = 6};
    for (size_t k = 0; k < s->num_inliers; ++k) {
        const uint32_t *match = s->matches[s->inliers[k]];
        add_epipolar(&m, s->view1, match[0], s->view2, match[1], R_21, t_21);
    }
    return rotation_sigma(&m);
}
