/* Derivatives and normal equations of the adjustment of planes against differences of what they are
 * derived from. */
#include "unit/core/calibration/plane_problem.h"

#include "core/linalg/order_statistics.h"

#define STEP 1e-5 /* of a difference */
#define FLAT 1e30 /* scale at which the loss is quadratic */

/* Four views of one plane and three of another; two views share a lens, which another sees both. */
typedef struct {
    rig rigs[2];
    plane_case c;
    psfm_plane_adjustment a;
    double weight[2];
} fixture;

/* Gives a homography what its matches could say of k1: any positive matrix of eleven
 * numbers that annihilates H will do. */
static void add_k1_sums(psfm_rng *rng, psfm_measured_plane *m) {
    for (int s = 0; s < 2; ++s) {
        double along = 0.0;
        for (int k = 0; k < 9; ++k) {
            m->k1.by_H[k][s] = 1e3 * psfm_rng_normal(rng);
            along += m->k1.by_H[k][s] * m->H[k];
        }
        for (int k = 0; k < 9; ++k)
            m->k1.by_H[k][s] -= along * m->H[k];
        m->k1.gradient[s] = 100.0 * psfm_rng_normal(rng);
        m->k1.normal[s][s] = 1e5;
    }
    m->k1.normal[0][1] = m->k1.normal[1][0] = 2e4;
    m->k1.gain = 1e4;
}

static void set_up(psfm_context *ctx, fixture *f, bool free_k1) {
    static const uint32_t groups[2][4] = {{0, 1, 1, 2}, {2, 3, 0, 0}};
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 31, free_k1);
    memset(f, 0, sizeof *f);
    for (int k = 0; k < 2; ++k) {
        rig *r = &f->rigs[k];
        r->num = k == 0 ? 4 : 3;
        r->sigma = 1e-3;
        for (size_t v = 0; v < r->num; ++v)
            r->f[v] = 0.9 + 0.1 * groups[k][v];
        place_ring(r, &rng);
        add_ring(r, &rng, 2, 2.5);
        for (size_t e = 0; e < r->num_planes; ++e)
            add_k1_sums(&rng, &r->planes[e]);
        add_plane(&f->c, r, groups[k]);
    }
    for (uint32_t g = 0; g < 4; ++g) {
        f->c.prior_log_focal[g] += 0.05;
        f->c.prior_sigma[g] = 0.02 + 0.01 * g;
        f->c.center_sigma[g] = 0.01 + 0.005 * g;
        f->c.k1[g] = 0.02 * psfm_rng_normal(&rng);
        f->c.prior_k1[g] = 0.01;
        f->c.prior_k1_sigma[g] = g == 1 ? 0.0 : 0.02; /* one is fixed */
    }
    f->c.p.k1 = free_k1 ? f->c.k1 : NULL;
    disturb(&f->c, &rng, 0.01);
    open_adjustment(ctx, &f->c, f->weight, &f->a);
    f->weight[0] = 0.7;
    f->weight[1] = 0.4;
    assert_true(psfm_plane_evaluate(&f->a, &f->a.now));
}

static void tear_down(fixture *f) {
    close_adjustment(&f->a);
    free_rig(&f->rigs[0]);
    free_rig(&f->rigs[1]);
}

/* Moves unknown u of the state, numbered as the equations are: lenses, then poses. */
static void move_unknown(const psfm_plane_adjustment *a, psfm_plane_state *s, size_t u, double by) {
    size_t dim = (size_t)a->eq.lens_dim, num = dim * a->p->num_groups;
    if (u < num) {
        *(u % dim == PSFM_LENS_FOCAL ? &s->log_focal[u / dim] : &s->k1[u / dim]) += by;
    } else {
        double step[6] = {0};
        step[(u - num) % 6] = by;
        move_sight(&s->poses[(u - num) / 6], step, step + 3);
    }
    assert_true(psfm_plane_evaluate(a, s));
}

/* A state to be moved, that starts where the adjustment is. */
static void copy_state(const psfm_plane_adjustment *a, psfm_plane_state *copy) {
    const psfm_plane_state *now = &a->now;
    memcpy(copy->poses, now->poses, MAX_POSES * sizeof *now->poses);
    memcpy(copy->log_focal, now->log_focal, MAX_POSES * sizeof *now->log_focal);
    memcpy(copy->k1, now->k1, MAX_POSES * sizeof *now->k1);
}

/* Sum of the weighed residuals under a Cauchy loss, and the priors. */
static double cost_of(const psfm_plane_adjustment *a, const psfm_plane_state *s, double scale) {
    const psfm_plane_problem *p = a->p;
    double cost = 0.0, c2 = scale * scale;
    for (size_t e = 0; e < p->num_edges; ++e)
        cost += c2 * log1p(s->chi[e] * s->chi[e] / c2);
    for (size_t g = 0; g < p->num_groups; ++g) {
        cost += pow((s->log_focal[g] - p->prior_log_focal[g]) / p->prior_sigma[g], 2.0);
        if (p->k1 != NULL && p->prior_k1_sigma[g] > 0.0)
            cost += pow((s->k1[g] - p->prior_k1[g]) / p->prior_k1_sigma[g], 2.0);
    }
    return cost;
}

/* The right-hand side is minus half the derivative of the cost, under a robust loss, too. */
static void the_gradient_is_that_of_the_cost(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int free_k1 = 0; free_k1 < 2; ++free_k1)
        for (int robust = 0; robust < 2; ++robust) {
            fixture f, other;
            set_up(ctx, &f, free_k1);
            set_up(ctx, &other, free_k1);
            double scale = robust ? 3.0 : FLAT;
            psfm_plane_linearize(&f.a, scale, 1.0);
            for (size_t u = 0; u < num_unknowns(&f.a); ++u) {
                double cost[2];
                if (free_k1 && u == 2 * 1 + PSFM_LENS_K1)
                    continue; /* the one that is fixed does not follow its gradient */
                for (int k = 0; k < 2; ++k) {
                    copy_state(&f.a, &other.a.now);
                    move_unknown(&f.a, &other.a.now, u, k == 0 ? -STEP : STEP);
                    cost[k] = cost_of(&f.a, &other.a.now, fmin(scale, 1e7));
                }
                double slope = (cost[1] - cost[0]) / (2.0 * STEP);
                assert_close(-2.0 * f.a.eq.rhs[u], slope, 1e-4 * fabs(slope) + 1e-2);
            }
            tear_down(&f);
            tear_down(&other);
        }
    psfm_context_destroy(&ctx);
}

/* Derivative of an edge's eleven numbers by unknown u, by differences. */
static void find_derivative(const fixture *f, fixture *scratch, size_t e, size_t u,
                            double out[PSFM_EDGE_DIM]) {
    double H[9], h[9], length, d[2][PSFM_EDGE_DIM];
    for (int k = 0; k < 2; ++k) {
        copy_state(&f->a, &scratch->a.now);
        move_unknown(&f->a, &scratch->a.now, u, k == 0 ? -STEP : STEP);
        psfm_plane_predict(&scratch->a.now, &f->c.edges[e], H, h, &length, d[k]);
    }
    for (int k = 0; k < PSFM_EDGE_DIM; ++k)
        out[k] = (d[1][k] - d[0][k]) / (2.0 * STEP);
}

/* x^T A y for the information A of an edge's eleven numbers, written out. */
static double information_of(const psfm_measured_plane *m, const double x[PSFM_EDGE_DIM],
                             const double y[PSFM_EDGE_DIM]) {
    double sum = 0.0;
    for (int r = 0; r < 9; ++r)
        for (int c = 0; c < 9; ++c)
            sum += x[r] * m->information[9 * r + c] * y[c];
    for (int r = 0; r < 9; ++r)
        for (int s = 0; s < 2; ++s)
            sum += m->k1.by_H[r][s] * (x[r] * y[9 + s] + x[9 + s] * y[r]);
    for (int r = 0; r < 2; ++r)
        for (int s = 0; s < 2; ++s)
            sum += x[9 + r] * m->k1.normal[r][s] * y[9 + s];
    return sum;
}

/* Every entry, with weights of planes, a robust loss and a share; the priors are on the
 * diagonal. */
static void the_normal_matrix_is_made_of_products_of_derivatives(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int free_k1 = 0; free_k1 < 2; ++free_k1) {
        fixture f, scratch;
        set_up(ctx, &f, free_k1);
        set_up(ctx, &scratch, free_k1);
        const double scale = 4.0, share = 0.6;
        size_t n = num_unknowns(&f.a), dim = (size_t)f.a.eq.lens_dim;
        double *N = calloc(n * n, sizeof *N), *expected = calloc(n * n, sizeof *expected);
        double(*D)[PSFM_EDGE_DIM] = calloc(n, sizeof *D);
        psfm_plane_linearize(&f.a, FLAT, 1.0); /* of which nothing must be left */
        psfm_plane_linearize(&f.a, scale, share);
        fill_dense(&f.a, N);
        for (size_t e = 0; e < f.c.p.num_edges; ++e) {
            const psfm_plane_edge *edge = &f.c.edges[e];
            double x = f.a.now.chi[e] / scale;
            double weight = share * f.weight[f.c.poses[edge->pose1].plane] / (1.0 + x * x);
            for (size_t u = 0; u < n; ++u)
                find_derivative(&f, &scratch, e, u, D[u]);
            for (size_t u = 0; u < n; ++u)
                for (size_t v = 0; v < n; ++v)
                    expected[u * n + v] += weight * information_of(edge->measured, D[u], D[v]);
        }
        for (size_t g = 0; g < 4; ++g) {
            expected[dim * g * (n + 1)] += 1.0 / (f.c.prior_sigma[g] * f.c.prior_sigma[g]);
            if (free_k1 && g != 1) /* the one that is fixed has any large number */
                expected[(2 * g + 1) * (n + 1)] +=
                    1.0 / (f.c.prior_k1_sigma[g] * f.c.prior_k1_sigma[g]);
        }
        for (size_t u = 0; u < n; ++u)
            for (size_t v = 0; v < n; ++v) {
                double size = sqrt(expected[u * (n + 1)] * expected[v * (n + 1)]);
                if (free_k1 && u == 3 && v == 3)
                    assert_true(N[u * n + v] > 1e6 * expected[u * n + v]);
                else
                    assert_close(N[u * n + v], expected[u * n + v], 1e-6 * size);
            }
        free(N);
        free(expected);
        free(D);
        tear_down(&f);
        tear_down(&scratch);
    }
    psfm_context_destroy(&ctx);
}

/* The homography of an edge whose principal points are elsewhere by `center` in side 0 or 1. */
static void displaced_residual(const fixture *f, size_t e, int side, int axis, double center,
                               double d[PSFM_EDGE_DIM]) {
    const psfm_plane_edge *edge = &f->c.edges[e];
    double H[9], h[9], length, C[9], moved[9], norm = 0.0, sign = 0.0;
    psfm_plane_predict(&f->a.now, edge, H, h, &length, d);
    psfm_mat3_identity(C);
    C[3 * axis + 2] = side == 0 ? -center : center;
    if (side == 0)
        psfm_mat3_mul(H, C, moved);
    else
        psfm_mat3_mul(C, H, moved);
    for (int k = 0; k < 9; ++k) {
        norm += moved[k] * moved[k];
        sign += moved[k] * edge->measured->H[k];
    }
    for (int k = 0; k < 9; ++k)
        d[k] = (sign < 0.0 ? -1.0 : 1.0) * moved[k] / sqrt(norm) - edge->measured->H[k];
}

static void displaced_principal_points_move_the_right_hand_side(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { FIRST = 3, NUM = 2 };
    const uint64_t signs[4][2] = {{0x08, 0x10}, {0x18, 0x00}, {0x10, 0x08}, {0x00, 0x18}};
    fixture f, scratch;
    set_up(ctx, &f, true);
    set_up(ctx, &scratch, true);
    size_t n = num_unknowns(&f.a);
    double *rhs = calloc(NUM * n, sizeof *rhs), *expected = calloc(NUM * n, sizeof *expected);
    double *size = calloc(n, sizeof *size);
    rhs[5] = 7.0; /* it is added to */
    expected[5] = 7.0;
    psfm_plane_displace(&f.a, 4.0, 0.6, signs, FIRST, NUM, rhs);
    for (size_t e = 0; e < f.c.p.num_edges; ++e) {
        const psfm_plane_edge *edge = &f.c.edges[e];
        double x = f.a.now.chi[e] / 4.0;
        double weight = 0.6 * f.weight[f.c.poses[edge->pose1].plane] / (1.0 + x * x);
        for (int k = 0; k < 4; ++k) {
            uint32_t g = f.c.poses[k < 2 ? edge->pose1 : edge->pose2].group;
            double d[2][PSFM_EDGE_DIM], by[PSFM_EDGE_DIM], D[PSFM_EDGE_DIM];
            for (int s = 0; s < 2; ++s)
                displaced_residual(&f, e, k / 2, k % 2, s == 0 ? -STEP : STEP, d[s]);
            for (int i = 0; i < PSFM_EDGE_DIM; ++i)
                by[i] = (d[1][i] - d[0][i]) / (2.0 * STEP);
            for (size_t u = 0; u < n; ++u) {
                find_derivative(&f, &scratch, e, u, D);
                double add = weight * f.c.center_sigma[g] * information_of(edge->measured, D, by);
                size[u] += fabs(add);
                for (int s = 0; s < NUM; ++s)
                    expected[(size_t)s * n + u] += signs[g][k % 2] >> (FIRST + s) & 1 ? add : -add;
            }
        }
    }
    for (size_t u = 0; u < NUM * n; ++u)
        assert_close(rhs[u], expected[u], 1e-6 * size[u % n] + 1e-9);
    free(rhs);
    free(expected);
    free(size);
    tear_down(&f);
    tear_down(&scratch);
    psfm_context_destroy(&ctx);
}

/* Solutions of the factored equations have the damped matrix. */
static void damping_goes_onto_the_diagonal(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(ctx, &f, true);
    const double damping = 0.3;
    size_t n = num_unknowns(&f.a);
    double *N = calloc(n * n, sizeof *N), largest = 0.0;
    psfm_plane_linearize(&f.a, FLAT, 1.0);
    fill_dense(&f.a, N);
    assert_ok(ctx, psfm_plane_factor(ctx, &f.a, damping));
    assert_ok(ctx, psfm_block_spd_solve(ctx, f.a.eq.spd, 1, f.a.eq.rhs, f.a.eq.step));
    for (size_t u = 8; u < n; ++u) /* of the poses, for the four directions that nothing tells */
        largest = fmax(largest, N[u * (n + 1)]);
    for (size_t u = 0; u < n; ++u) {
        double sum = damping * N[u * (n + 1)] * f.a.eq.step[u], size = 0.0;
        sum += u >= 8 ? 1e-9 * largest * f.a.eq.step[u] : 0.0;
        for (size_t v = 0; v < n; ++v) {
            sum += N[u * n + v] * f.a.eq.step[v];
            size += fabs(N[u * n + v] * f.a.eq.step[v]);
        }
        assert_close(sum, f.a.eq.rhs[u], 1e-11 * size);
    }
    free(N);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* A homography has no sign: one that was measured with the other is the same one. */
static void signs_of_homographies_do_not_matter(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(ctx, &f, false);
    double before[MAX_EDGES];
    memcpy(before, f.a.now.chi, sizeof before);
    for (size_t e = 0; e < f.rigs[0].num_planes; e += 2)
        for (int k = 0; k < 9; ++k)
            f.rigs[0].planes[e].H[k] *= -1.0;
    assert_true(psfm_plane_evaluate(&f.a, &f.a.now));
    for (size_t e = 0; e < f.c.p.num_edges; ++e)
        assert_close(f.a.now.chi[e], before[e], 1e-12 * before[e]);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* A plane through the camera's centre is a line; numbers that are none are no residual. */
static void views_of_no_area_and_infinite_ones_are_refused(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(ctx, &f, false);
    psfm_plane_pose *s = &f.a.now.poses[2], right = *s;
    for (int k = 0; k < 3; ++k) /* between r1 and r2 */
        s->t[k] = right.R[3 * k] + 2.0 * right.R[3 * k + 1];
    assert_false(psfm_plane_evaluate(&f.a, &f.a.now));
    *s = right;
    s->t[1] = INFINITY;
    assert_false(psfm_plane_evaluate(&f.a, &f.a.now));
    *s = right;
    f.a.now.log_focal[1] = NAN;
    assert_false(psfm_plane_evaluate(&f.a, &f.a.now));
    f.a.now.log_focal[1] = 0.0;
    assert_true(psfm_plane_evaluate(&f.a, &f.a.now));
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_cost),
        cmocka_unit_test(the_normal_matrix_is_made_of_products_of_derivatives),
        cmocka_unit_test(displaced_principal_points_move_the_right_hand_side),
        cmocka_unit_test(damping_goes_onto_the_diagonal),
        cmocka_unit_test(signs_of_homographies_do_not_matter),
        cmocka_unit_test(views_of_no_area_and_infinite_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
