/* What the tests of this layer share. */
#ifndef PSFM_TESTS_TWOVIEW_UTIL_H
#define PSFM_TESTS_TWOVIEW_UTIL_H

#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/matches/ray_pairs.h"
#include "test_util.h"
#include "two_view_scene.h"

/* A motion and a plane in units of its distance from camera 1, both cameras on one side of it:
 * H = R + t n^T, det H > 0. */
typedef struct {
    double R_21[9], t_21[3], n1[3], H_21[9];
} motion_case;

static inline motion_case make_motion_case(const double R[9], const double t[3],
                                           const double n[3]) {
    motion_case m;
    memcpy(m.R_21, R, sizeof m.R_21);
    memcpy(m.t_21, t, sizeof m.t_21);
    memcpy(m.n1, n, sizeof m.n1);
    for (int k = 0; k < 9; ++k)
        m.H_21[k] = R[k] + t[k / 3] * n[k % 3];
    return m;
}

/* Rotation up to max_angle, |t| = length, a normal within 60 degrees of the z axis. */
static inline motion_case random_motion_case(psfm_rng *rng, double max_angle, double length) {
    const double axis[3] = {0, 0, 1};
    for (;;) {
        double w[3], R[9], t[3], n[3];
        psfm_rng_direction(rng, w);
        psfm_scale3(psfm_rng_range(rng, 0.0, max_angle), w, w);
        psfm_rotation_exp(w, R);
        psfm_rng_direction(rng, t);
        psfm_scale3(length, t, t);
        scene_cap(rng, axis, 1.0, n);
        motion_case m = make_motion_case(R, t, n);
        if (psfm_mat3_det(m.H_21) > 0.05)
            return m;
    }
}

/* Unit rays of points on the plane, in front of both cameras, within about 60 degrees. */
static inline void draw_rays(psfm_rng *rng, const motion_case *m, int num, double (*ray1)[3],
                             double (*ray2)[3]) {
    for (int k = 0; k < num; ++k) {
        double x[3] = {psfm_rng_range(rng, -0.6, 0.6), psfm_rng_range(rng, -0.6, 0.6), 1.0};
        psfm_normalize3(x);
        if (psfm_dot3(m->n1, x) < 0.05) {
            --k;
            continue;
        }
        memcpy(ray1[k], x, sizeof x);
        psfm_mat3_mul_vec(m->H_21, x, ray2[k]);
        psfm_normalize3(ray2[k]);
    }
}

/* Compares matrices after scaling both to norm 1 and the same sign. */
static inline void assert_same_up_to_scale(const double A[9], const double B[9], double tolerance) {
    double a = 0.0, b = 0.0, ab = 0.0;
    for (int k = 0; k < 9; ++k) {
        a += A[k] * A[k];
        b += B[k] * B[k];
        ab += A[k] * B[k];
    }
    for (int k = 0; k < 9; ++k)
        assert_close(A[k] / sqrt(a), copysign(1.0, ab) * B[k] / sqrt(b), tolerance);
}

static inline psfm_ray_pairs pairs_of(const scene *s) {
    psfm_ray_pairs pairs;
    psfm_rng rng = psfm_rng_make(11, PSFM_RNG_TEST, 0, 0);
    assert_ok(NULL, psfm_ray_pairs_init(NULL, &s->c, &rng, &pairs));
    return pairs;
}

static inline psfm_correspondences correspondences_alloc(size_t n) {
    psfm_correspondences c = {n,
                              calloc(n + 1, sizeof *c.ray1),
                              calloc(n + 1, sizeof *c.ray2),
                              calloc(n + 1, sizeof *c.px1),
                              calloc(n + 1, sizeof *c.px2),
                              calloc(n + 1, sizeof *c.match_idx)};
    for (size_t i = 0; i < n; ++i)
        c.match_idx[i] = (uint32_t)i;
    return c;
}

static inline void correspondences_drop(psfm_correspondences *c) {
    free(c->ray1);
    free(c->ray2);
    free(c->px1);
    free(c->px2);
    free(c->match_idx);
}

/* px_from_ray of a camera with the same resolution everywhere, in pixels per radian. */
static inline void angular_pixels(const double ray[3], double resolution, double px[6]) {
    double axis[3] = {fabs(ray[0]) < 0.7, fabs(ray[0]) >= 0.7, 0};
    psfm_cross3(ray, axis, px);
    psfm_normalize3(px);
    psfm_cross3(ray, px, px + 3);
    for (int k = 0; k < 6; ++k)
        px[k] *= resolution;
}

/* Degrees between two motions: rotation and direction of translation, the larger. */
static inline double motion_error_deg(const double R_a[9], const double t_a[3], const double R_b[9],
                                      const double t_b[3]) {
    return psfm_degrees(fmax(psfm_rotation_angle(R_a, R_b), psfm_angle3(t_a, t_b)));
}

#endif
