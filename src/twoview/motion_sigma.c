/* Rotations of pairs and what they are worth.
 *
 * Through a long lens rays are nearly parallel. What two such images tell is nearly an affine map,
 * and a small turn about the object looks like a small shift: the rotation of a pair is then known
 * to some degrees only, however many matches agree. The normal matrix of the matches says so: its
 * inverse is the covariance of all parameters for noise of one pixel, of which the block of the
 * rotation counts here. With y = R x1 and a turn w of R, dy = w x y.
 *
 *   plane:     z = y + t (n . x1) in the frame of camera 2, pixels P2 z / (x2 . z);
 *              dz = w x y + dt (n . x1) + t (dn . x1)
 *   essential: c = x2 . (t x y), Sampson's error c / |dc / dpixels|;
 *              dc = w . (y x (x2 x t)) + dt . (y x x2)
 *
 * Scale is free in both (t against n; |t|): a slight pull keeps the matrix regular and, as scale
 * does not change with the rotation, leaves its block alone. */
#include "twoview/motion_sigma.h"

#include <math.h>
#include <string.h>

#include "linalg/mat3.h"
#include "twoview/least_squares.h"

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

/* Root of the trace of the rotation's block of the inverse. */
static double rotation_sigma(normal_matrix *m) {
    const double pull = 1e-10;
    double most = 0.0, trace = 0.0;
    int n = m->n;
    for (int k = 0; k < n; ++k)
        most = fmax(most, m->A[k * n + k]);
    for (int k = 0; k < n; ++k)
        m->A[k * n + k] += pull * most;
    for (int k = 0; k < 3; ++k) {
        double A[MAX_PARAMETERS * MAX_PARAMETERS], b[MAX_PARAMETERS] = {0};
        memcpy(A, m->A, sizeof A);
        b[k] = 1.0;
        if (!psfm_solve_spd(A, n, b))
            return PSFM_MAX_MOTION_SIGMA;
        trace += b[k];
    }
    return fmin(sqrt(fmax(trace, 0.0)), PSFM_MAX_MOTION_SIGMA);
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
