/* What the tests of focal lengths from planes share. */
#ifndef PSFM_TESTS_PLANE_RIG_H
#define PSFM_TESTS_PLANE_RIG_H

#include "test_util.h"

#include "core/base/rng.h"
#include "core/calibration/focal_planes.h"
#include "core/linalg/mat3.h"

/* Views of a plane z = 0, or of a slope beside it, with known truth, and the homographies between
 * them as measurements: a grid of points is seen with noise, and the homography is one Gauss-Newton
 * step from the truth. */
#define DETERMINED 0.04 /* standard deviation of log f below which it is called so */
#define MAX_VIEWS 160
#define GRID 12 /* points along either side */
#define STRIP 3 /* rows of the grid that two planes share at their edge */

typedef struct {
    size_t num;
    double f[MAX_VIEWS], R[MAX_VIEWS][9], c[MAX_VIEWS][3];
    double middle[MAX_VIEWS][2]; /* principal point, from where it is taken for */
    double sigma;                /* noise in units of the longer side */
    psfm_measured_plane planes[2 * MAX_VIEWS];
    size_t num_planes;
    uint32_t next_keypoint; /* of another plane */
    double slope, edge;     /* the plane is z = slope (y - edge) */
} rig;

static inline void look_at(rig *r, size_t k, const double center[3], const double target[3],
                           double roll) {
    double *R = r->R[k], up[3] = {0, 0, 1}, x[3], y[3], z[3], w[3] = {0, 0, roll}, E[9], base[9];
    memcpy(r->c[k], center, sizeof r->c[k]);
    psfm_sub3(target, center, z);
    psfm_normalize3(z);
    if (fabs(z[2]) > 0.999)
        up[1] = 1.0, up[2] = 0.0;
    psfm_cross3(z, up, x);
    psfm_normalize3(x);
    psfm_cross3(z, x, y);
    for (int i = 0; i < 3; ++i) {
        base[i] = x[i];
        base[3 + i] = y[i];
        base[6 + i] = z[i];
    }
    psfm_rotation_exp(w, E);
    psfm_mat3_mul(E, base, R);
}

/* The map from the plane to a view. */
static inline void plane_map(const rig *r, size_t k, double G[9]) {
    const double *R = r->R[k];
    double t[3];
    psfm_mat3_mul_vec(R, r->c[k], t);
    for (int i = 0; i < 3; ++i) {
        double f = i < 2 ? r->f[k] : 1.0;
        G[3 * i] = f * R[3 * i];
        G[3 * i + 1] = f * (R[3 * i + 1] + r->slope * R[3 * i + 2]);
        G[3 * i + 2] = -f * (t[i] + r->slope * r->edge * R[3 * i + 2]);
    }
    for (int i = 0; i < 6; ++i)
        G[i] += r->middle[k][i / 3] * G[6 + i % 3];
}

static inline void apply(const double H[9], const double x[2], double y[2]) {
    double in[3] = {x[0], x[1], 1.0}, out[3];
    psfm_mat3_mul_vec(H, in, out);
    y[0] = out[0] / out[2];
    y[1] = out[1] / out[2];
}

/* Normal equations of the transfer error at H, whitened by noise in both images. */
static inline void normal_equations(const double H[9], const double (*x1)[2], const double (*x2)[2],
                                    size_t num, double sigma, double A[81], double g[9]) {
    memset(A, 0, 81 * sizeof *A);
    memset(g, 0, 9 * sizeof *g);
    for (size_t k = 0; k < num; ++k) {
        double X[3] = {x1[k][0], x1[k][1], 1.0}, y[3], u[2], J[2][9] = {{0}}, B[2][2], C[4], r[2];
        psfm_mat3_mul_vec(H, X, y);
        u[0] = y[0] / y[2];
        u[1] = y[1] / y[2];
        for (int i = 0; i < 2; ++i) {
            r[i] = x2[k][i] - u[i];
            for (int c = 0; c < 3; ++c) {
                J[i][3 * i + c] = X[c] / y[2];
                J[i][6 + c] = -u[i] * X[c] / y[2];
            }
            for (int c = 0; c < 2; ++c)
                B[i][c] = (H[3 * i + c] - u[i] * H[6 + c]) / y[2];
        }
        C[0] = 1 + B[0][0] * B[0][0] + B[0][1] * B[0][1];
        C[3] = 1 + B[1][0] * B[1][0] + B[1][1] * B[1][1];
        C[1] = B[0][0] * B[1][0] + B[0][1] * B[1][1];
        double det = (C[0] * C[3] - C[1] * C[1]) * sigma * sigma;
        double W[2][2] = {{C[3] / det, -C[1] / det}, {-C[1] / det, C[0] / det}};
        for (int a = 0; a < 9; ++a)
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) {
                    g[a] += J[i][a] * W[i][j] * r[j];
                    for (int b = 0; b < 9; ++b)
                        A[9 * a + b] += J[i][a] * W[i][j] * J[j][b];
                }
    }
}

/* Solves (A + trace(A) h h^T) s = g by elimination; A is positive definite but for h. */
static inline void solve9(const double A[81], const double h[9], const double g[9], double s[9]) {
    double M[9][10], trace = 0.0;
    for (int i = 0; i < 9; ++i)
        trace += A[10 * i];
    for (int i = 0; i < 9; ++i) {
        for (int j = 0; j < 9; ++j)
            M[i][j] = A[9 * i + j] + trace * h[i] * h[j];
        M[i][9] = g[i];
    }
    for (int k = 0; k < 9; ++k)
        for (int i = k + 1; i < 9; ++i) {
            double q = M[i][k] / M[k][k];
            for (int j = k; j < 10; ++j)
                M[i][j] -= q * M[k][j];
        }
    for (int k = 8; k >= 0; --k) {
        s[k] = M[k][9];
        for (int j = k + 1; j < 9; ++j)
            s[k] -= M[k][j] * s[j];
        s[k] /= M[k][k];
    }
}

static inline void normalize9(double h[9]) {
    double norm = 0.0;
    for (int k = 0; k < 9; ++k)
        norm += h[k] * h[k];
    for (int k = 0; k < 9; ++k)
        h[k] /= sqrt(norm);
}

/* Adds the homography between views i < j. The pairs of a keypoint number are one point. */
static inline void add_pair(rig *r, psfm_rng *rng, size_t i, size_t j, double half) {
    psfm_measured_plane *m = &r->planes[r->num_planes++];
    double G1[9], G2[9], inverse[9], x1[GRID * GRID][2], x2[GRID * GRID][2], g[9], s[9];
    double shift = r->slope != 0.0 ? 2.0 * half * (GRID - STRIP) / (GRID - 1.0) : 0.0;
    *m = (psfm_measured_plane){.view1 = (uint32_t)i, .view2 = (uint32_t)j, .num = GRID * GRID};
    plane_map(r, i, G1);
    plane_map(r, j, G2);
    assert_true(psfm_mat3_inverse(G1, inverse));
    psfm_mat3_mul(G2, inverse, m->H);
    normalize9(m->H);
    for (int side = 0; side < 2; ++side)
        m->keypoints[side] = malloc(GRID * GRID * sizeof(uint32_t));
    for (uint32_t k = 0; k < GRID * GRID; ++k) {
        double X[2] = {half * (2.0 * (k % GRID) / (GRID - 1.0) - 1.0),
                       half * (2.0 * (k / GRID) / (GRID - 1.0) - 1.0) + shift};
        apply(G1, X, x1[k]);
        apply(G2, X, x2[k]);
        for (int a = 0; a < 2; ++a) {
            x1[k][a] += r->sigma * psfm_rng_normal(rng);
            x2[k][a] += r->sigma * psfm_rng_normal(rng);
        }
        m->keypoints[0][k] = m->keypoints[1][k] = r->next_keypoint + k;
        if (k % 18 == 0)
            for (int a = 0; a < 2; ++a) {
                m->samples[0][k / 18][a] = x1[k][a];
                m->samples[1][k / 18][a] = x2[k][a];
            }
    }
    double noise = fmax(r->sigma, 1e-9);
    for (int step = 0; step < 3; ++step) {
        normal_equations(m->H, (const double(*)[2])x1, (const double(*)[2])x2, GRID * GRID, noise,
                         m->information, g);
        if (!(r->sigma > 0.0))
            break;
        solve9(m->information, m->H, g, s);
        for (int k = 0; k < 9; ++k)
            m->H[k] += s[k];
        normalize9(m->H);
    }
}

/* Every view with its next `neighbours`, round the ring. */
static inline void add_ring(rig *r, psfm_rng *rng, size_t neighbours, double half) {
    for (size_t i = 0; i < r->num; ++i)
        for (size_t d = 1; d <= neighbours; ++d) {
            size_t j = (i + d) % r->num;
            if (2 * d < r->num || (2 * d == r->num && i < j))
                add_pair(r, rng, i < j ? i : j, i < j ? j : i, half);
        }
    r->next_keypoint += GRID * GRID;
}

/* Cameras round the plane at various heights. */
static inline void place_ring(rig *r, psfm_rng *rng) {
    for (size_t k = 0; k < r->num; ++k) {
        double angle = 2.0 * M_PI * (double)k / (double)r->num;
        double center[3] = {9.0 * cos(angle), 7.0 * sin(angle), psfm_rng_range(rng, 3.0, 6.0)};
        double target[3] = {psfm_rng_range(rng, -1, 1), psfm_rng_range(rng, -1, 1), 0.0};
        look_at(r, k, center, target, 0.05 * psfm_rng_normal(rng));
    }
}

static inline void free_rig(rig *r) {
    for (size_t k = 0; k < r->num_planes; ++k) {
        free(r->planes[k].keypoints[0]);
        free(r->planes[k].keypoints[1]);
    }
}

/* Keypoint k is at column k % GRID and row k / GRID in every view. */
static inline psfm_measured_planes measured_by(rig *r) {
    static double xy[2 * GRID * GRID][2];
    static psfm_view views[MAX_VIEWS];
    for (uint32_t k = 0; k < 2 * GRID * GRID; ++k) {
        xy[k][0] = 60.0 * (k % GRID);
        xy[k][1] = 60.0 * (k / GRID);
    }
    for (size_t v = 0; v < MAX_VIEWS; ++v)
        views[v] = (psfm_view){.num_keypoints = 2 * GRID * GRID, .keypoints = xy};
    return (psfm_measured_planes){r->planes, r->num_planes, views};
}

/* Runs the estimation with a group per view, or one for all. */
static inline psfm_focal_estimate estimate(psfm_context *ctx, rig *r, bool shared,
                                           const double *known) {
    static const double unknown[MAX_VIEWS];
    uint32_t group[MAX_VIEWS];
    for (uint32_t k = 0; k < MAX_VIEWS; ++k)
        group[k] = shared ? 0 : k;
    psfm_measured_planes measured = measured_by(r);
    psfm_focal_input input = {.num_views = r->num,
                              .num_groups = shared ? 1 : r->num,
                              .group = group,
                              .known = known == NULL ? unknown : known};
    psfm_focal_estimate out;
    assert_ok(ctx, psfm_focal_from_planes(ctx, &measured, &input, NULL, &out));
    return out;
}

#endif
