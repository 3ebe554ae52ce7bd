#include "unit/core/linalg/weighted_graph.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/fiedler.h"
#include "core/linalg/laplacian.h"

#define PI 3.141592653589793

/* |M^-1/2 (L x - lambda M x)|, and the norm of x and its product with the constants checked. */
static double residual(psfm_context *ctx, const psfm_csr *W, const double *mass, const double *x,
                       double lambda) {
    double *y = malloc(W->n * sizeof *y), sum = 0.0, norm = 0.0, mean = 0.0, total = 0.0;
    assert_non_null(y);
    assert_ok(ctx, psfm_laplacian_mul(ctx, W, x, y));
    for (uint32_t i = 0; i < W->n; ++i) {
        double r = y[i] - lambda * mass[i] * x[i];
        sum += r * r / mass[i];
        norm += mass[i] * x[i] * x[i];
        mean += mass[i] * x[i];
        total += mass[i];
    }
    assert_close(norm, 1.0, 1e-11);
    assert_close(mean / sqrt(total), 0.0, 1e-11);
    free(y);
    return sqrt(sum);
}

/* Solves and checks everything that holds for any graph. */
static double *solve(psfm_context *ctx, const psfm_csr *W, const double *mass, double *lambda) {
    double *x = malloc(W->n * sizeof *x);
    psfm_fiedler_result result;
    assert_non_null(x);
    assert_ok(ctx,
              psfm_fiedler(ctx, W, mass, &(psfm_fiedler_options){1e-8, 300, NULL}, x, &result));
    assert_true(result.converged);
    assert_true(residual(ctx, W, mass, x, result.value) <= fmax(2e-8 * result.value, 1e-13));
    *lambda = result.value;
    return x;
}

/* A path's second eigenvalue is 2 - 2 cos(pi / n), its vector cos(pi (i + 1/2) / n). */
static void finds_the_vector_of_a_path(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static const uint32_t sizes[] = {2, 3, 10, 999, 5000, 60000};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
        uint32_t n = sizes[k];
        psfm_csr W;
        double lambda, s = sin(0.5 * PI / n), expected = 4.0 * s * s;
        make_path(n, false, &W);
        double *mass = make_masses(n, 1.0), *x = solve(ctx, &W, mass, &lambda);
        assert_close(lambda / expected, 1.0, 1e-9);
        double sign = x[0] < 0.0 ? -1.0 : 1.0, scale = sqrt(2.0 / n);
        for (uint32_t i = 0; i < n; ++i)
            assert_close(sign * x[i] / scale, cos(PI * (i + 0.5) / n), 1e-5);
        psfm_csr_free(&W);
        free(mass);
        free(x);
    }
    psfm_context_destroy(&ctx);
}

/* On a ring the eigenvalue is double, 2 - 2 cos(2 pi / n), and the vector any shifted cosine. */
static void finds_a_vector_of_a_ring(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static const uint32_t sizes[] = {5, 800, 30000};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
        uint32_t n = sizes[k];
        psfm_csr W;
        double lambda, s = sin(PI / n), expected = 4.0 * s * s, a = 0.0, b = 0.0;
        make_path(n, true, &W);
        double *mass = make_masses(n, 1.0), *x = solve(ctx, &W, mass, &lambda);
        assert_close(lambda / expected, 1.0, 1e-9);
        for (uint32_t i = 0; i < n; ++i) {
            a += x[i] * cos(2.0 * PI * i / n) * sqrt(2.0 / n);
            b += x[i] * sin(2.0 * PI * i / n) * sqrt(2.0 / n);
        }
        assert_close(a * a + b * b, 1.0, 1e-9);
        psfm_csr_free(&W);
        free(mass);
        free(x);
    }
    psfm_context_destroy(&ctx);
}

/* A grid that is nearly square has two eigenvalues close to each other; the lower one is wanted. */
static void tells_close_eigenvalues_apart(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_csr W;
    make_grid(101, 100, &W);
    double *mass = make_masses(W.n, 1.0), lambda, s = sin(0.5 * PI / 101);
    double *x = solve(ctx, &W, mass, &lambda);
    assert_close(lambda / (4.0 * s * s), 1.0, 1e-9); /* the other is 2 % larger */
    psfm_csr_free(&W);
    free(mass);
    free(x);
    psfm_context_destroy(&ctx);
}

/* Masses that are not the degrees: a path whose right half is ten times as heavy, against the same
 * problem solved by bisection on its recurrence. */
static double path_value(uint32_t n, const double *mass) {
    double low = 0.0, high = 4.0;
    for (int step = 0; step < 200; ++step) {
        /* Number of negative pivots of L - lambda M = number of eigenvalues below lambda. */
        double lambda = 0.5 * (low + high), pivot = 0.0;
        int below = 0;
        for (uint32_t i = 0; i < n; ++i) {
            double diagonal = (i > 0) + (i + 1 < n) - lambda * mass[i];
            pivot = i == 0 ? diagonal : diagonal - 1.0 / pivot;
            below += pivot < 0.0;
        }
        if (below >= 2)
            high = lambda;
        else
            low = lambda;
    }
    return low;
}

static void respects_masses(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 4000 };
    psfm_csr W;
    make_path(N, false, &W);
    double *mass = make_masses(N, 1.0), lambda;
    for (uint32_t i = N / 2; i < N; ++i)
        mass[i] = 10.0;
    double *x = solve(ctx, &W, mass, &lambda);
    assert_close(lambda / path_value(N, mass), 1.0, 1e-8);
    psfm_csr_free(&W);
    free(mass);
    free(x);
    psfm_context_destroy(&ctx);
}

/* A part that hangs on the rest by a thread is told from it: lambda is that of the two-node graph
 * of the parts, and x is constant on either. */
static void finds_a_part_on_a_thread(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 20000, PART = 3 };
    link *links = calloc(N + 10, sizeof *links);
    size_t num = 0;
    assert_non_null(links);
    for (uint32_t i = 0; i + PART < N; ++i)
        links[num++] = (link){i, (i + 1) % (N - PART), 1.0};
    links[num++] = (link){N - 3, N - 2, 1.0};
    links[num++] = (link){N - 2, N - 1, 1.0};
    links[num++] = (link){5000, N - 1, 1e-11};
    psfm_csr W;
    make_weights(N, links, num, &W);
    double *mass = make_masses(N, 2.0), lambda;
    double *x = solve(ctx, &W, mass, &lambda);
    double expected = 1e-11 * (1.0 / (2.0 * PART) + 1.0 / (2.0 * (N - PART)));
    assert_close(lambda / expected, 1.0, 1e-4);
    for (uint32_t i = 0; i < N; ++i)
        assert_close(x[i] / x[N - 1], i < N - PART ? -(double)PART / (N - PART) : 1.0, 1e-6);
    psfm_csr_free(&W);
    free(mass);
    free(x);
    free(links);
    psfm_context_destroy(&ctx);
}

static void does_not_depend_on_the_number_of_threads(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_csr W;
    make_grid(170, 150, &W);
    double *mass = make_masses(W.n, 4.0), *x[2], lambda[2];
    for (int k = 0; k < 2; ++k) {
        psfm_context_set_threads(ctx, k == 0 ? 1 : 6);
        x[k] = solve(ctx, &W, mass, &lambda[k]);
    }
    assert_true(lambda[0] == lambda[1]);
    assert_memory_equal(x[0], x[1], W.n * sizeof *x[0]);
    free(x[0]);
    free(x[1]);
    free(mass);
    psfm_csr_free(&W);
    psfm_context_destroy(&ctx);
}

static int stop_at_once(const char *stage, size_t done, size_t total, void *user) {
    (void)done;
    (void)user;
    assert_string_equal(stage, "test");
    assert_int_equal(total, 100);
    return 1;
}

static void can_be_cancelled_and_cut_short(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_csr W;
    make_grid(60, 50, &W);
    double *mass = make_masses(W.n, 4.0), *x = malloc(W.n * sizeof *x);
    psfm_fiedler_result result;
    assert_non_null(x);
    assert_ok(ctx, psfm_fiedler(ctx, &W, mass, &(psfm_fiedler_options){1e-8, 2, NULL}, x, &result));
    assert_false(result.converged);
    assert_true(residual(ctx, &W, mass, x, result.value) < 10.0 * result.value);
    psfm_context_set_progress(ctx, stop_at_once, NULL);
    assert_int_equal(
        psfm_fiedler(ctx, &W, mass, &(psfm_fiedler_options){1e-8, 300, "test"}, x, &result),
        PSFM_ERR_CANCELLED);
    free(x);
    free(mass);
    psfm_csr_free(&W);
    psfm_context_destroy(&ctx);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    psfm_csr W;
    make_path(1100, true, &W);
    double *mass = make_masses(W.n, 2.0), *x = malloc(W.n * sizeof *x);
    psfm_fiedler_result result;
    assert_non_null(x);
    size_t n = 1;
    for (;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status =
            psfm_fiedler(ctx, &W, mass, &(psfm_fiedler_options){1e-6, 300, NULL}, x, &result);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
    }
    assert_true(n > 40);
    free(x);
    free(mass);
    psfm_csr_free(&W);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_vector_of_a_path),
        cmocka_unit_test(finds_a_vector_of_a_ring),
        cmocka_unit_test(tells_close_eigenvalues_apart),
        cmocka_unit_test(respects_masses),
        cmocka_unit_test(finds_a_part_on_a_thread),
        cmocka_unit_test(does_not_depend_on_the_number_of_threads),
        cmocka_unit_test(can_be_cancelled_and_cut_short),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("linalg/fiedler", tests, NULL, NULL);
}
