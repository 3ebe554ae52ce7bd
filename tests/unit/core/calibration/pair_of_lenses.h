/* Two photographs of a cloud of points by cameras whose lenses can be anything, as one measured
 * pair. */
#ifndef PSFM_TESTS_PAIR_OF_LENSES_H
#define PSFM_TESTS_PAIR_OF_LENSES_H

#include "test_util.h"

#include "core/calibration/pair_motion.h"
#include "core/linalg/mat3.h"
#include "planarsfm/camera.h"

enum { PAIR_POINTS = 120, PAIR_LONGER = 1000 };

/* X2 = R_21 X1 + t_21; the keypoints are those of the cameras `lenses`. */
typedef struct {
    double R_21[9], t_21[3];
    psfm_camera lenses[2];
    size_t num;
    double xy[2][PAIR_POINTS][2];
} photographs;

static inline psfm_camera lens(double fx, double fy) {
    return (psfm_camera){.model = PSFM_CAMERA_OPENCV,
                         .width = PAIR_LONGER,
                         .height = 800,
                         .params = {fx, fy, 500.0, 400.0}};
}

/* A point that both see: z of the first camera between 2 and 6. */
static inline void add_point(photographs *p, psfm_rng *rng, double noise_px) {
    double X[2][3], xy[2][2];
    X[0][2] = psfm_rng_range(rng, 2.0, 6.0);
    X[0][0] = psfm_rng_range(rng, -0.4, 0.4) * X[0][2];
    X[0][1] = psfm_rng_range(rng, -0.3, 0.3) * X[0][2];
    psfm_mat3_mul_vec(p->R_21, X[0], X[1]);
    psfm_axpy3(X[1], 1.0, p->t_21, X[1]);
    for (int side = 0; side < 2; ++side) {
        if (!psfm_camera_project(&p->lenses[side], X[side], xy[side]))
            return;
        for (int k = 0; k < 2; ++k)
            xy[side][k] += noise_px * psfm_rng_normal(rng);
        if (!(xy[side][0] > 0 && xy[side][0] < PAIR_LONGER && xy[side][1] > 0 && xy[side][1] < 800))
            return;
    }
    memcpy(p->xy[0][p->num], xy[0], sizeof xy[0]);
    memcpy(p->xy[1][p->num++], xy[1], sizeof xy[1]);
}

/* Cameras that turn by w and move by t. */
static inline photographs take_photographs(const double w[3], const double t[3],
                                           const psfm_camera *first, const psfm_camera *second,
                                           double noise_px, uint64_t seed) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 41, 0);
    photographs p = {.lenses = {*first, *second}};
    psfm_rotation_exp(w, p.R_21);
    memcpy(p.t_21, t, sizeof p.t_21);
    for (int tries = 0; p.num < PAIR_POINTS; ++tries) {
        assert_true(tries < 100 * PAIR_POINTS);
        add_point(&p, &rng, noise_px);
    }
    return p;
}

/* The rays of the keypoints under these cameras. */
static inline psfm_ray_pairs rays_under(psfm_context *ctx, const photographs *p,
                                        const psfm_camera cameras[2]) {
    static double ray[2][PAIR_POINTS][3], px[2][PAIR_POINTS][6];
    static uint32_t match_idx[PAIR_POINTS];
    psfm_correspondences c = {p->num, ray[0], ray[1], px[0], px[1], match_idx};
    psfm_ray_pairs rays;
    double again[2];
    for (size_t k = 0; k < p->num; ++k)
        for (int side = 0; side < 2; ++side) {
            assert_true(psfm_camera_unproject(&cameras[side], p->xy[side][k], ray[side][k]));
            assert_true(
                psfm_camera_project_jacobian(&cameras[side], ray[side][k], again, px[side][k]));
        }
    assert_ok(ctx, psfm_ray_pairs_init(ctx, &c, NULL, &rays));
    assert_int_equal(rays.num, p->num);
    return rays;
}

/* The fundamental matrix of the truth, refined; weight 4 is that of half a pixel. */
static inline psfm_measured_pair measure(psfm_context *ctx, const photographs *p,
                                         const psfm_camera cameras[2]) {
    psfm_measured_pair m = {.view2 = 1, .weight = 4.0, .rays = rays_under(ctx, p, cameras)};
    psfm_motion motion;
    memcpy(motion.R_21, p->R_21, sizeof motion.R_21);
    memcpy(motion.t_21, p->t_21, sizeof motion.t_21);
    psfm_normalize3(motion.t_21);
    psfm_essential_from_motion(&motion, m.F);
    for (int k = 0; k < 9; ++k) /* ray_true ~ diag(f / f_true, .., 1) ray */
        m.F[k] *= (k / 3 < 2 ? cameras[1].params[k / 3] / p->lenses[1].params[k / 3] : 1.0) *
                  (k % 3 < 2 ? cameras[0].params[k % 3] / p->lenses[0].params[k % 3] : 1.0);
    m.free_cost =
        m.weight * psfm_fundamental_refine(&m.rays, m.rays.num_blocks, psfm_pair_loss, 100, m.F);
    return m;
}

/* The lenses of rays of these cameras, whose focal lengths are longer by these factors. */
static inline psfm_pair_lenses lenses_of(const psfm_camera cameras[2], double factor1,
                                         double factor2) {
    psfm_pair_lenses l = {.factor = {factor1, factor2}};
    for (int side = 0; side < 2; ++side)
        for (int k = 0; k < 2; ++k)
            l.scale[side][k] = cameras[side].params[k] / PAIR_LONGER;
    return l;
}

#endif
