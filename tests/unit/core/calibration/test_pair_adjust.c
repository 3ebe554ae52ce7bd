/* Joint adjustment of the lenses of pairs: exact ones, and what is known of them term by term. */
#include "unit/core/calibration/pair_of_lenses.h"

#include "core/base/rng.h"
#include "core/calibration/pair_adjust.h"

enum { GROUPS = 4, PAIRS = 6, DIM = PSFM_LENS_DIM };

/* Four lenses, each with every other one. */
typedef struct {
    photographs photos[PAIRS];
    psfm_measured_pair pairs[PAIRS];
    uint32_t group[PAIRS][2];
    psfm_lens_prior priors[GROUPS];
    double truth[GROUPS]; /* of log_factor */
    psfm_pair_problem problem;
} fixture;

static const double focal[GROUPS] = {1100.0, 950.0, 1250.0, 1000.0};

/* The rays are those of cameras of 1000 pixels. */
static void set_up(psfm_context *ctx, fixture *f, double noise_px, uint64_t seed) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 44, 0);
    const psfm_camera rough[2] = {lens(1000.0, 1000.0), lens(1000.0, 1000.0)};
    size_t num = 0;
    memset(f, 0, sizeof *f);
    for (uint32_t i = 0; i < GROUPS; ++i)
        for (uint32_t j = i + 1; j < GROUPS; ++j, ++num) {
            double w[3], t[3];
            psfm_camera first = lens(focal[i], focal[i]), second = lens(focal[j], focal[j]);
            bool swap = num % 2 == 1; /* the later lens is that of the first image */
            psfm_rng_direction(&rng, w);
            psfm_scale3(0.3, w, w);
            psfm_rng_direction(&rng, t);
            f->photos[num] = take_photographs(w, t, swap ? &second : &first,
                                              swap ? &first : &second, noise_px, seed + num);
            f->pairs[num] = measure(ctx, &f->photos[num], rough);
            f->group[num][0] = swap ? j : i;
            f->group[num][1] = swap ? i : j;
        }
    for (uint32_t g = 0; g < GROUPS; ++g) {
        f->truth[g] = log(focal[g] / 1000.0);
        f->priors[g] = (psfm_lens_prior){
            .scale = {1.0, 1.0}, .is_free = true, .sigma = 0.6, .center_sigma = 1e-6};
    }
    f->problem = (psfm_pair_problem){.num_pairs = PAIRS,
                                     .num_groups = GROUPS,
                                     .pairs = f->pairs,
                                     .group = (const uint32_t(*)[2])f->group,
                                     .priors = f->priors};
}

static void tear_down(fixture *f) {
    for (int k = 0; k < PAIRS; ++k)
        psfm_ray_pairs_free(&f->pairs[k].rays);
}

static void exact_pairs_give_exact_lenses(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    double log_factor[GROUPS] = {0.0}, excess[PAIRS];
    psfm_pair_fit fit = {.excess = excess};
    set_up(ctx, &f, 0.0, 1);
    for (int k = 0; k < PAIRS; ++k) /* of a thousandth of a pixel */
        f.pairs[k].weight = 1e6;
    f.priors[3] = (psfm_lens_prior){.scale = {1.0, 1.0}, .sigma = 1e-3, .log_factor = f.truth[3]};
    assert_ok(ctx, psfm_pair_adjust(ctx, &f.problem, 40, log_factor, NULL, &fit));
    for (int g = 0; g < GROUPS; ++g)
        assert_close(log_factor[g], f.truth[g], 1e-6);
    for (int k = 0; k < PAIRS; ++k)
        assert_below(excess[k], 1e-3);
    assert_close(fit.variance, 1.0, 0.0);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* The lower median of the free lenses' log f; there are two of them at least. */
static double lower_median(const fixture *f, const double *log_factor) {
    double sorted[GROUPS];
    size_t num = 0;
    for (size_t g = 0; g < GROUPS; ++g)
        if (f->priors[g].is_free) {
            size_t k = num++;
            double x = log_factor[g] + 0.5 * log(f->priors[g].scale[0] * f->priors[g].scale[1]);
            for (; k > 0 && sorted[k - 1] > x; --k)
                sorted[k] = sorted[k - 1];
            sorted[k] = x;
        }
    return sorted[(num - 1) / 2];
}

/* Of the pairs under a Cauchy loss, and of the priors: free lenses about their median. */
static void costs_are_made_of_their_terms(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    double log_factor[GROUPS], excess[PAIRS], expected = 0.0, sum = 0.0;
    psfm_pair_fit fit = {.excess = excess};
    set_up(ctx, &f, 0.5, 2);
    f.priors[1].is_free = false;
    f.priors[1].log_factor = f.truth[1] + 0.02;
    f.priors[1].sigma = 0.01;
    for (int g = 0; g < GROUPS; ++g)
        log_factor[g] = f.truth[g] + 0.03 * (g - 1);
    assert_ok(ctx, psfm_pair_adjust(ctx, &f.problem, 0, log_factor, NULL, &fit));
    for (uint32_t k = 0; k < PAIRS; ++k) {
        const psfm_camera rough[2] = {lens(1000.0, 1000.0), lens(1000.0, 1000.0)};
        psfm_pair_lenses l =
            lenses_of(rough, exp(log_factor[f.group[k][0]]), exp(log_factor[f.group[k][1]]));
        psfm_motion motion;
        assert_true(psfm_pair_motion_start(&f.pairs[k], &l, &motion));
        double cost = psfm_pair_motion_refine(&f.pairs[k], &l, 100, &motion);
        assert_close(excess[k], cost - f.pairs[k].free_cost, 1e-3 * excess[k] + 1e-3);
        expected += 9.0 * log(1.0 + excess[k] / 9.0);
        sum += excess[k];
    }
    double median = lower_median(&f, log_factor);
    for (int g = 0; g < GROUPS; ++g) {
        double off = g == 1 ? (log_factor[1] - f.priors[1].log_factor) / 0.01
                            : (log_factor[g] - median) / 0.6;
        expected += off * off;
    }
    assert_true(sum > 100.0); /* so that the loss matters */
    assert_close(fit.cost, expected, 1e-9 * expected);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* The least variance whose cut sum, over the equations that are left, is itself: two a pair, less
 * one for each lens that is free. */
static void the_variance_explains_what_is_left(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    double log_factor[GROUPS], excess[PAIRS];
    psfm_pair_fit fit = {.excess = excess};
    set_up(ctx, &f, 0.5, 3);
    for (int known = 0; known < 2; ++known) {
        const double left = 2.0 * PAIRS - (known ? GROUPS - 1 : GROUPS);
        double variance = 1.0;
        f.priors[0].sigma = known ? 0.05 : 0.6;
        for (int g = 0; g < GROUPS; ++g)
            log_factor[g] = f.truth[g] + 0.01 * (g - 1);
        assert_ok(ctx, psfm_pair_adjust(ctx, &f.problem, 0, log_factor, NULL, &fit));
        for (int round = 0; round < 1000; ++round) {
            double sum = 0.0;
            for (int k = 0; k < PAIRS; ++k)
                sum += fmin(excess[k], 8.0 * variance);
            variance = fmax(1.0, sum / left);
        }
        assert_true(variance > 2.0);
        assert_close(fit.variance / variance, 1.0, 2e-3);
    }
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* The focal length of a lens that is in no pair takes no equation. */
static void lenses_without_pairs_do_not_matter(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(ctx, &f, 0.5, 3);
    static const int chosen[PAIRS] = {0, 1, 3, 0, 1, 3}; /* of lenses 0, 1 and 2 */
    psfm_measured_pair pairs[PAIRS];
    uint32_t group[PAIRS][2];
    double variance[2];
    for (int k = 0; k < PAIRS; ++k) {
        pairs[k] = f.pairs[chosen[k]];
        memcpy(group[k], f.group[chosen[k]], sizeof group[k]);
    }
    f.problem.pairs = pairs;
    f.problem.group = (const uint32_t(*)[2])group;
    for (int k = 0; k < 2; ++k) {
        double log_factor[GROUPS];
        psfm_pair_fit fit = {0};
        for (int g = 0; g < GROUPS; ++g)
            log_factor[g] = g < 3 ? f.truth[g] + 0.01 * (g - 1) : f.truth[1];
        f.problem.num_groups = k == 0 ? GROUPS : GROUPS - 1;
        assert_ok(ctx, psfm_pair_adjust(ctx, &f.problem, 0, log_factor, NULL, &fit));
        variance[k] = fit.variance;
    }
    assert_true(variance[1] > 2.0);
    assert_close(variance[0] / variance[1], 1.0, 1e-9);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* Solves N x = b in place; N is symmetric and positive definite. */
static void solve_dense(int n, double N[][(GROUPS + 1) * DIM], double *b) {
    for (int k = 0; k < n; ++k)
        for (int i = k + 1; i < n; ++i) {
            double q = N[i][k] / N[k][k];
            for (int j = k; j < n; ++j)
                N[i][j] -= q * N[k][j];
            b[i] -= q * b[k];
        }
    for (int k = n; k-- > 0;) {
        for (int j = k + 1; j < n; ++j)
            b[k] -= N[k][j] * b[j];
        b[k] /= N[k][k];
    }
}

/* Adds a measurement of x[a] - x[b] (or of x[a] alone, b < 0) that gave `value`. */
static void add_measurement(double N[][(GROUPS + 1) * DIM], double *rhs, int a, int b, double value,
                            double sigma) {
    double w = 1.0 / (sigma * sigma);
    N[a][a] += w;
    rhs[a] += w * value;
    if (b < 0)
        return;
    N[b][b] += w;
    N[a][b] -= w;
    N[b][a] -= w;
    rhs[b] -= w * value;
}

/* The normal equations of all unknowns about the values there are: log f, principal point and k1
 * of each lens, and a common log f and k1. */
static void make_equations(const fixture *f, const double *log_factor, const double *weight,
                           double N[][(GROUPS + 1) * DIM], double *rhs) {
    const int common = GROUPS * DIM;
    memset(N, 0, (GROUPS + 1) * DIM * sizeof *N);
    memset(rhs, 0, (GROUPS + 1) * DIM * sizeof *rhs);
    for (int k = 0; k < PAIRS; ++k) {
        const psfm_camera rough[2] = {lens(1000.0, 1000.0), lens(1000.0, 1000.0)};
        const uint32_t *g = f->group[k];
        psfm_pair_lenses l = lenses_of(rough, exp(log_factor[g[0]]), exp(log_factor[g[1]]));
        psfm_motion motion;
        psfm_lens_information at;
        assert_true(psfm_pair_motion_start(&f->pairs[k], &l, &motion));
        psfm_pair_motion_refine(&f->pairs[k], &l, 15, &motion);
        assert_true(psfm_pair_information(&f->pairs[k], &l, &motion, true, &at));
        for (int i = 0; i < 2 * DIM; ++i) {
            rhs[(int)g[i / DIM] * DIM + i % DIM] -= weight[k] * at.g[i];
            for (int j = 0; j < 2 * DIM; ++j)
                N[(int)g[i / DIM] * DIM + i % DIM][(int)g[j / DIM] * DIM + j % DIM] +=
                    weight[k] * at.N[i][j];
        }
    }
    for (int g = 0; g < GROUPS; ++g) {
        const psfm_lens_prior *prior = &f->priors[g];
        double median = lower_median(f, log_factor);
        int first = g * DIM;
        if (prior->is_free)
            add_measurement(N, rhs, first, common, median - log_factor[g], prior->sigma);
        else
            add_measurement(N, rhs, first, -1, prior->log_factor - log_factor[g], prior->sigma);
        for (int k = PSFM_LENS_CENTER; k < PSFM_LENS_K1; ++k)
            add_measurement(N, rhs, first + k, -1, 0.0, prior->center_sigma);
        if (prior->k1_sigma > 0.0)
            add_measurement(N, rhs, first + PSFM_LENS_K1, common + PSFM_LENS_K1, prior->k1,
                            prior->k1_sigma);
        else
            add_measurement(N, rhs, first + PSFM_LENS_K1, -1, 0.0, 1e-6);
    }
    add_measurement(N, rhs, common + PSFM_LENS_FOCAL, -1, 0.0, 1.0);
    add_measurement(N, rhs, common + PSFM_LENS_K1, -1, 0.0, 0.3);
    for (int k = PSFM_LENS_CENTER; k < PSFM_LENS_K1; ++k) /* there is none */
        add_measurement(N, rhs, common + k, -1, 0.0, 1.0);
}

static void posteriors_are_those_of_all_unknowns(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    enum { ALL = (GROUPS + 1) * DIM };
    double log_factor[GROUPS], N[ALL][ALL], rhs[ALL], x[ALL], deviation[ALL];
    psfm_lens_posterior posterior[GROUPS];
    psfm_pair_fit fit = {0};
    const double weight[PAIRS] = {1.0, 0.5, 0.8, 0.3, 1.0, 0.9};
    set_up(ctx, &f, 0.5, 4);
    f.problem.weight = weight;
    for (int g = 0; g < GROUPS; ++g) {
        log_factor[g] = f.truth[g] + 0.002 * (g - 1);
        f.priors[g].center_sigma = 0.004;
        f.priors[g].k1_sigma = g == 2 ? 0.0 : 0.1;
        f.priors[g].k1 = 0.02 * g;
    }
    f.priors[1].is_free = false;
    f.priors[1].log_factor = f.truth[1] + 0.003;
    f.priors[1].sigma = 0.01;
    assert_ok(ctx, psfm_pair_adjust(ctx, &f.problem, 0, log_factor, posterior, &fit));
    make_equations(&f, log_factor, weight, N, x);
    solve_dense(ALL, N, x);
    for (int u = 0; u < ALL; ++u) {
        make_equations(&f, log_factor, weight, N, rhs);
        memset(rhs, 0, sizeof rhs);
        rhs[u] = 1.0;
        solve_dense(ALL, N, rhs);
        deviation[u] = sqrt(rhs[u]);
    }
    for (int g = 0; g < GROUPS; ++g) {
        assert_close(posterior[g].sigma / deviation[g * DIM], 1.0, 1e-6);
        if (g == 2)
            continue; /* its k1 is fixed */
        assert_close(posterior[g].k1_sigma / deviation[g * DIM + PSFM_LENS_K1], 1.0, 1e-6);
        assert_close(posterior[g].k1, x[g * DIM + PSFM_LENS_K1],
                     1e-5 * deviation[g * DIM + PSFM_LENS_K1]);
    }
    assert_below(fabs(posterior[2].k1), 1e-6);
    assert_close(fit.common_k1, x[ALL - DIM + PSFM_LENS_K1], 1e-6);
    assert_close(fit.common_k1_sigma / deviation[ALL - DIM + PSFM_LENS_K1], 1.0, 1e-6);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* Errors of free lenses in their deviations, over draws of noise. */
static void errors_are_as_large_as_their_deviations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { DRAWS = 30 };
    double squares = 0.0;
    for (uint64_t seed = 0; seed < DRAWS; ++seed) {
        fixture f;
        double log_factor[GROUPS] = {0.0};
        psfm_lens_posterior posterior[GROUPS];
        psfm_pair_fit fit = {0};
        set_up(ctx, &f, 0.5, 100 * seed);
        assert_ok(ctx, psfm_pair_adjust(ctx, &f.problem, 30, log_factor, posterior, &fit));
        for (int g = 0; g < GROUPS; ++g)
            squares +=
                pow((log_factor[g] - f.truth[g]) / posterior[g].sigma, 2.0) / (GROUPS * DRAWS);
        tear_down(&f);
    }
    assert_below(fabs(sqrt(squares) - 1.0), 0.3);
    psfm_context_destroy(&ctx);
}

/* Both images of a pair by one camera. */
static void a_shared_lens_is_one_unknown(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    double log_factor[GROUPS] = {0.1, 0.1, 0.1, 0.1};
    psfm_lens_posterior posterior[GROUPS];
    psfm_pair_fit fit = {0};
    const psfm_camera rough[2] = {lens(1000.0, 1000.0), lens(1000.0, 1000.0)};
    const psfm_camera own = lens(1200.0, 1200.0);
    set_up(ctx, &f, 0.0, 5);
    for (uint32_t k = 0; k < PAIRS; ++k) {
        const double w[3] = {0.1 * k, 0.2, -0.1 * k}, t[3] = {1.0, 0.2 * k - 0.5, 0.3};
        psfm_ray_pairs_free(&f.pairs[k].rays);
        f.photos[k] = take_photographs(w, t, &own, &own, 0.0, k);
        f.pairs[k] = measure(ctx, &f.photos[k], rough);
        f.group[k][0] = f.group[k][1] = 2;
    }
    assert_ok(ctx, psfm_pair_adjust(ctx, &f.problem, 40, log_factor, posterior, &fit));
    assert_close(log_factor[2], log(1.2), 1e-4);
    assert_below(posterior[2].sigma, 0.02);
    for (int g = 0; g < GROUPS; ++g)
        if (g != 2) /* nothing is said of the others */
            assert_true(posterior[g].sigma > 0.5);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

static void threads_make_no_difference(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    double log_factor[2][GROUPS] = {{0.0}};
    psfm_lens_posterior posterior[2][GROUPS];
    set_up(ctx, &f, 0.5, 6);
    for (int k = 0; k < 2; ++k) {
        psfm_pair_fit fit = {0};
        psfm_context_set_threads(ctx, k == 0 ? 1 : 3);
        assert_ok(ctx, psfm_pair_adjust(ctx, &f.problem, 20, log_factor[k], posterior[k], &fit));
    }
    assert_memory_equal(log_factor[0], log_factor[1], sizeof log_factor[0]);
    assert_memory_equal(posterior[0], posterior[1], sizeof posterior[0]);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_pairs_give_exact_lenses),
        cmocka_unit_test(costs_are_made_of_their_terms),
        cmocka_unit_test(the_variance_explains_what_is_left),
        cmocka_unit_test(lenses_without_pairs_do_not_matter),
        cmocka_unit_test(posteriors_are_those_of_all_unknowns),
        cmocka_unit_test(errors_are_as_large_as_their_deviations),
        cmocka_unit_test(a_shared_lens_is_one_unknown),
        cmocka_unit_test(threads_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
