/* The views of a rig as a problem of the adjustment of planes, with their true values. */
#ifndef PSFM_TESTS_PLANE_PROBLEM_H
#define PSFM_TESTS_PLANE_PROBLEM_H

#include "unit/core/calibration/plane_rig.h"

#include "core/calibration/plane_adjust_internal.h"

enum { MAX_POSES = 24, MAX_EDGES = 80 };

/* The arrays of a problem; it stays where it was made, and so do the rigs that it was made of. */
typedef struct {
    psfm_plane_pose poses[MAX_POSES];
    psfm_plane_edge edges[MAX_EDGES];
    double log_focal[MAX_POSES], prior_log_focal[MAX_POSES], prior_sigma[MAX_POSES];
    double center_sigma[MAX_POSES], k1[MAX_POSES];
    double prior_k1[MAX_POSES], prior_k1_sigma[MAX_POSES];
    psfm_plane_problem p;
} plane_case;

/* The true pose of view k against the plane z = 0. */
static inline psfm_plane_pose true_sight(const rig *r, size_t k, uint32_t group, uint32_t plane) {
    psfm_plane_pose s = {.group = group, .plane = plane};
    memcpy(s.R, r->R[k], sizeof s.R);
    psfm_mat3_mul_vec(r->R[k], r->c[k], s.t);
    psfm_scale3(-1.0, s.t, s.t);
    return s;
}

/* Adds all views and homographies of a rig as one more plane. group is per view. */
static inline void add_plane(plane_case *c, const rig *r, const uint32_t *group) {
    size_t first = c->p.num_poses;
    for (size_t k = 0; k < r->num; ++k) {
        uint32_t g = group[k];
        c->poses[first + k] = true_sight(r, k, g, (uint32_t)c->p.num_planes);
        c->log_focal[g] = c->prior_log_focal[g] = log(r->f[k]);
        c->prior_sigma[g] = 0.6;
        c->p.num_groups = g + 1 > c->p.num_groups ? g + 1 : c->p.num_groups;
    }
    for (size_t e = 0; e < r->num_planes; ++e)
        c->edges[c->p.num_edges++] =
            (psfm_plane_edge){&r->planes[e], (uint32_t)first + r->planes[e].view1,
                              (uint32_t)first + r->planes[e].view2};
    c->p.num_poses += r->num;
    ++c->p.num_planes;
    c->p.poses = c->poses;
    c->p.edges = c->edges;
    c->p.log_focal = c->log_focal;
    c->p.prior_log_focal = c->prior_log_focal;
    c->p.prior_sigma = c->prior_sigma;
    c->p.center_sigma = c->center_sigma;
    c->p.prior_k1 = c->prior_k1;
    c->p.prior_k1_sigma = c->prior_k1_sigma;
}

/* Turns a pose by w, and moves it by `shift` of its distance: the unknowns of the adjustment. */
static inline void move_sight(psfm_plane_pose *s, const double w[3], const double shift[3]) {
    double E[9], R[9], t[3], length = psfm_norm3(s->t);
    psfm_rotation_exp(w, E);
    psfm_mat3_mul(E, s->R, R);
    psfm_mat3_mul_vec(E, s->t, t);
    psfm_axpy3(t, length, shift, s->t);
    memcpy(s->R, R, sizeof R);
}

/* Takes all unknowns off their true values. */
static inline void disturb(plane_case *c, psfm_rng *rng, double by) {
    for (size_t k = 0; k < c->p.num_poses; ++k) {
        double step[6];
        for (int i = 0; i < 6; ++i)
            step[i] = by * psfm_rng_normal(rng);
        move_sight(&c->poses[k], step, step + 3);
    }
    for (size_t g = 0; g < c->p.num_groups; ++g)
        c->log_focal[g] += by * psfm_rng_normal(rng);
}

/* An adjustment at the values of a problem, as the parts of psfm_plane_adjust find it: its arrays
 * are those of the caller's `weight`, one a plane, and of the state. */
static inline void open_adjustment(psfm_context *ctx, const plane_case *c, double *weight,
                                   psfm_plane_adjustment *a) {
    *a = (psfm_plane_adjustment){.p = &c->p, .weight = weight};
    psfm_plane_state *s = &a->now;
    s->poses = calloc(MAX_POSES, sizeof *s->poses);
    s->log_focal = calloc(MAX_POSES, sizeof *s->log_focal);
    s->k1 = calloc(MAX_POSES, sizeof *s->k1);
    s->G = calloc(MAX_POSES, sizeof *s->G);
    s->G_inverse = calloc(MAX_POSES, sizeof *s->G_inverse);
    s->chi = calloc(MAX_EDGES, sizeof *s->chi);
    memcpy(s->poses, c->poses, c->p.num_poses * sizeof *s->poses);
    memcpy(s->log_focal, c->log_focal, c->p.num_groups * sizeof *s->log_focal);
    if (c->p.k1 != NULL)
        memcpy(s->k1, c->k1, c->p.num_groups * sizeof *s->k1);
    for (size_t k = 0; k < c->p.num_planes; ++k)
        weight[k] = 1.0;
    assert_true(psfm_plane_evaluate(a, s));
    assert_ok(ctx, psfm_plane_equations_init(ctx, &c->p, &a->eq));
}

static inline void close_adjustment(psfm_plane_adjustment *a) {
    psfm_plane_equations_free(&a->eq);
    free(a->now.poses);
    free(a->now.log_focal);
    free(a->now.k1);
    free(a->now.G);
    free(a->now.G_inverse);
    free(a->now.chi);
}

/* Number of unknowns. */
static inline size_t num_unknowns(const psfm_plane_adjustment *a) {
    return a->eq.pattern.scalar_begin[a->eq.pattern.num_blocks];
}

/* The normal matrix, n x n. */
static inline void fill_dense(const psfm_plane_adjustment *a, double *N) {
    const psfm_block_pattern *pattern = &a->eq.pattern;
    size_t n = num_unknowns(a);
    memset(N, 0, n * n * sizeof *N);
    for (uint32_t row = 0; row < pattern->num_blocks; ++row)
        for (size_t k = pattern->row_begin[row]; k < pattern->row_begin[row + 1]; ++k) {
            uint32_t col = pattern->col[k], first = pattern->scalar_begin[col];
            size_t width = pattern->scalar_begin[col + 1] - first;
            for (size_t i = pattern->scalar_begin[row]; i < pattern->scalar_begin[row + 1]; ++i)
                for (size_t j = 0; j < width; ++j) {
                    double x = a->eq.normal[k][(i - pattern->scalar_begin[row]) * width + j];
                    N[i * n + first + j] = N[(first + j) * n + i] = x;
                }
        }
}

#endif
