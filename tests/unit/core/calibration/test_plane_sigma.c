/* Deviations of lenses against the inverse of the normal matrix, and against repeated draws. */
#include "unit/core/calibration/plane_problem.h"

#define SCALE 1e30 /* of a loss that is quadratic */

typedef struct {
    rig r;
    plane_case c;
    psfm_plane_adjustment a;
    double weight[1];
} fixture;

/* A ring with a lens a view, but the first two views share one. */
static void set_up(fixture *f, size_t neighbours, bool free_k1) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 33, 0);
    uint32_t group[MAX_POSES];
    memset(f, 0, sizeof *f);
    f->r.num = 6;
    f->r.sigma = 1e-3;
    for (uint32_t k = 0; k < f->r.num; ++k) {
        group[k] = k == 0 ? 0 : k - 1;
        f->r.f[k] = 0.9 + 0.1 * group[k];
    }
    place_ring(&f->r, &rng);
    add_ring(&f->r, &rng, neighbours, 2.5);
    for (size_t e = 0; e < f->r.num_planes; ++e)
        for (int s = 0; s < 2; ++s)
            f->r.planes[e].k1.normal[s][s] = 1e4;
    add_plane(&f->c, &f->r, group);
    for (size_t g = 0; g < f->c.p.num_groups; ++g)
        f->c.prior_k1_sigma[g] = 0.1;
    f->c.p.k1 = free_k1 ? f->c.k1 : NULL;
}

static void open(psfm_context *ctx, fixture *f) {
    open_adjustment(ctx, &f->c, f->weight, &f->a);
}

static void tear_down(fixture *f) {
    close_adjustment(&f->a);
    free_rig(&f->r);
}

/* Solves N x = b by elimination with pivots; N and b are used up. */
static void solve_dense(size_t n, double *N, double *b) {
    for (size_t k = 0; k < n; ++k)
        for (size_t i = k + 1; i < n; ++i) {
            double q = N[i * n + k] / N[k * n + k];
            for (size_t j = k; j < n; ++j)
                N[i * n + j] -= q * N[k * n + j];
            b[i] -= q * b[k];
        }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; ++j)
            b[k] -= N[k * n + j] * b[j];
        b[k] /= N[k * n + k];
    }
}

/* x of N x = rhs, N being the normal matrix for this share with what holds the four directions that
 * nothing tells. */
static void solve_equations(fixture *f, double share, double *rhs) {
    size_t n = num_unknowns(&f->a), first = f->a.eq.pattern.scalar_begin[f->c.p.num_groups];
    double *N = calloc(n * n, sizeof *N), largest = 0.0;
    psfm_plane_linearize(&f->a, SCALE, share);
    fill_dense(&f->a, N);
    for (size_t u = first; u < n; ++u)
        largest = fmax(largest, N[u * (n + 1)]);
    for (size_t u = first; u < n; ++u)
        N[u * (n + 1)] += 1e-9 * largest;
    solve_dense(n, N, rhs);
    free(N);
}

/* Variance of unknown u by noise: a column of the inverse. */
static double noise_variance(fixture *f, double share, size_t u) {
    double *unit = calloc(num_unknowns(&f->a), sizeof *unit);
    unit[u] = 1.0;
    solve_equations(f, share, unit);
    double variance = unit[u];
    free(unit);
    return variance;
}

static void find(psfm_context *ctx, fixture *f, double *sigma, double *k1_sigma) {
    assert_ok(ctx, psfm_plane_find_sigma(ctx, &f->a, SCALE, sigma, k1_sigma));
}

/* With principal points that are known. Twice as many homographies as views count for half. */
static void noise_is_the_inverse_of_the_normal_matrix(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (size_t neighbours = 1; neighbours < 3; ++neighbours)
        for (int free_k1 = 0; free_k1 < 2; ++free_k1) {
            fixture f;
            double sigma[MAX_POSES], k1_sigma[MAX_POSES] = {-1.0};
            set_up(&f, neighbours, free_k1);
            open(ctx, &f);
            find(ctx, &f, sigma, k1_sigma);
            double share = 1.0 / (double)neighbours;
            for (size_t g = 0; g < f.c.p.num_groups; ++g) {
                size_t dim = free_k1 ? 2 : 1;
                double expected = sqrt(noise_variance(&f, share, dim * g));
                assert_below(expected, 0.3);
                assert_close(sigma[g], expected, 1e-4 * expected);
                if (!free_k1)
                    continue;
                expected = sqrt(noise_variance(&f, share, dim * g + 1));
                assert_below(expected, 0.09);
                assert_close(k1_sigma[g], expected, 1e-4 * expected);
            }
            if (!free_k1)
                assert_true(k1_sigma[0] == -1.0); /* there are none to be written */
            tear_down(&f);
        }
    psfm_context_destroy(&ctx);
}

/* The variance that one principal point, displaced by one deviation along one axis, gives unknown
 * u: half the difference of the right-hand sides with it on either side. */
static void add_center_variances(fixture *f, double share, uint32_t group, int axis,
                                 double *variance) {
    size_t n = num_unknowns(&f->a);
    uint64_t signs[MAX_POSES][2] = {{0}};
    double *rhs = calloc(2 * n, sizeof *rhs);
    psfm_plane_displace(&f->a, SCALE, share, (const uint64_t(*)[2])signs, 0, 1, rhs);
    signs[group][axis] = 1;
    psfm_plane_displace(&f->a, SCALE, share, (const uint64_t(*)[2])signs, 0, 1, rhs + n);
    for (size_t u = 0; u < n; ++u)
        rhs[u] = 0.5 * (rhs[n + u] - rhs[u]);
    solve_equations(f, share, rhs);
    for (size_t u = 0; u < n; ++u)
        variance[u] += rhs[u] * rhs[u];
    free(rhs);
}

/* All of them. Each call draws 64 signs of theirs, so that the variances of many calls are, in the
 * mean, the sum. */
static void principal_points_are_added_to_noise(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { CALLS = 40 };
    fixture f;
    double sigma[MAX_POSES], variance[200] = {0.0}, mean[MAX_POSES] = {0.0};
    set_up(&f, 2, false);
    for (size_t g = 0; g < f.c.p.num_groups; ++g)
        f.c.center_sigma[g] = 0.002 * (double)(g + 1);
    open(ctx, &f);
    for (uint64_t seed = 0; seed < CALLS; ++seed) {
        psfm_context_set_seed(ctx, seed);
        find(ctx, &f, sigma, NULL);
        for (size_t g = 0; g < f.c.p.num_groups; ++g)
            mean[g] += sigma[g] * sigma[g] / CALLS;
    }
    for (uint32_t g = 0; g < f.c.p.num_groups; ++g)
        for (int axis = 0; axis < 2; ++axis)
            add_center_variances(&f, 0.5, g, axis, variance);
    for (size_t g = 0; g < f.c.p.num_groups; ++g) {
        double noise = noise_variance(&f, 0.5, g), both = noise + variance[g];
        assert_true(variance[g] > noise); /* so that it is seen */
        assert_close(mean[g] / both, 1.0, 4.0 * sqrt(2.0 / (64.0 * CALLS)));
    }
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* Where nothing is measured, and where a deviation would be larger than what was known before. */
static void nothing_is_known_less_than_before(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int nothing = 0; nothing < 2; ++nothing) {
        fixture f;
        double sigma[MAX_POSES], k1_sigma[MAX_POSES];
        set_up(&f, 1, true);
        for (size_t g = 0; g < f.c.p.num_groups; ++g) {
            f.c.prior_sigma[g] = nothing ? 0.6 : 1e-5;
            f.c.prior_k1_sigma[g] = nothing ? 0.2 : 1e-5;
            f.c.center_sigma[g] = 100.0;
        }
        for (size_t e = 0; nothing && e < f.r.num_planes; ++e) {
            memset(f.r.planes[e].information, 0, sizeof f.r.planes[e].information);
            memset(&f.r.planes[e].k1, 0, sizeof f.r.planes[e].k1);
        }
        open(ctx, &f);
        find(ctx, &f, sigma, k1_sigma);
        for (size_t g = 0; g < f.c.p.num_groups; ++g) {
            assert_close(sigma[g], f.c.prior_sigma[g], 1e-7 * f.c.prior_sigma[g]);
            assert_close(k1_sigma[g], f.c.prior_k1_sigma[g], 1e-4 * f.c.prior_k1_sigma[g]);
        }
        tear_down(&f);
    }
    psfm_context_destroy(&ctx);
}

/* Errors of a ring's focal lengths in their deviations. As many homographies as views, with noise
 * of their own each: nothing is fixed to be dependent. */
static void errors_are_as_large_as_their_deviations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double squares = 0.0;
    enum { DRAWS = 40, VIEWS = 12 };
    for (uint64_t draw = 0; draw < DRAWS; ++draw) {
        psfm_rng rng = psfm_rng_make(draw, PSFM_RNG_TEST, 34, 0);
        rig r = {.num = VIEWS, .sigma = 0.5 / 1280.0};
        plane_case c = {0};
        psfm_plane_fit fit;
        double sigma[MAX_POSES];
        uint32_t group[VIEWS];
        for (uint32_t k = 0; k < VIEWS; ++k) {
            r.f[k] = psfm_rng_range(&rng, 0.8, 1.25);
            group[k] = k;
        }
        place_ring(&r, &rng);
        add_ring(&r, &rng, 1, 2.5);
        add_plane(&c, &r, group);
        assert_ok(ctx, psfm_plane_adjust(ctx, &c.p, PSFM_PLANE_GROWN, sigma, NULL, &fit));
        for (size_t k = 0; k < VIEWS; ++k)
            squares += pow((c.log_focal[k] - log(r.f[k])) / sigma[k], 2.0) / (VIEWS * DRAWS);
        free_rig(&r);
    }
    assert_below(fabs(sqrt(squares) - 1.0), 0.2);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_the_inverse_of_the_normal_matrix),
        cmocka_unit_test(principal_points_are_added_to_noise),
        cmocka_unit_test(nothing_is_known_less_than_before),
        cmocka_unit_test(errors_are_as_large_as_their_deviations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
