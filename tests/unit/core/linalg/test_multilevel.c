#include "unit/core/linalg/weighted_graph.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/laplacian.h"
#include "core/linalg/multilevel.h"

static double norm(uint32_t n, const double *x) {
    double sum = 0.0;
    for (uint32_t i = 0; i < n; ++i)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* Number of steps x += T (b - L x) that take the residual of a random right-hand side down by 1e-8.
 * The plain iteration is the hardest test: no conjugate gradients to hide bad directions. */
static int count_steps(psfm_context *ctx, const psfm_csr *W, const double *mass, int min_levels) {
    uint32_t n = W->n;
    psfm_multilevel *m = NULL;
    double *b = calloc(n, sizeof *b), *x = calloc(n, sizeof *x), *t = calloc(n, sizeof *t);
    double mean = 0.0;
    assert_true(b != NULL && x != NULL && t != NULL);
    assert_ok(ctx, psfm_multilevel_create(ctx, W, mass, &m));
    assert_true(psfm_multilevel_num_levels(m) >= min_levels);
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, n, 0);
    for (uint32_t i = 0; i < n; ++i) {
        b[i] = psfm_rng_normal(&rng);
        mean += b[i] / n;
    }
    for (uint32_t i = 0; i < n; ++i)
        b[i] -= mean;
    double start = norm(n, b);
    int steps = 0;
    for (; steps < 200 && norm(n, b) > 1e-8 * start; ++steps) {
        assert_ok(ctx, psfm_multilevel_solve(ctx, m, 0, b, t));
        assert_ok(ctx, psfm_laplacian_residual(ctx, W, t, b, b));
    }
    psfm_multilevel_destroy(&m);
    assert_null(m);
    free(b);
    free(x);
    free(t);
    return steps;
}

static void converges_whatever_the_size(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    int steps[2];
    for (uint32_t k = 0; k < 2; ++k) {
        psfm_csr W;
        make_grid(k == 0 ? 40 : 160, 120, &W);
        double *mass = make_masses(W.n, 4.0);
        steps[k] = count_steps(ctx, &W, mass, 2);
        psfm_csr_free(&W);
        free(mass);
    }
    assert_true(steps[0] < 90 && steps[1] < 90); /* 76 and 73, and 77 at 1,000,000 nodes */
    psfm_csr path;
    make_path(60000, false, &path);
    double *mass = make_masses(path.n, 2.0);
    assert_true(count_steps(ctx, &path, mass, 5) < 50); /* 39, and 40 at 600,000 nodes */
    psfm_csr_free(&path);
    free(mass);
    psfm_context_destroy(&ctx);
}

/* Pairs tied to each other, and to the rest by little, in different blocks of rows: they defeat a
 * smoother that is plain Jacobi between blocks. */
static void pairs_across_blocks_converge(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 12000, PAIRS = 300 };
    link *links = calloc(N + 2 * PAIRS, sizeof *links);
    size_t num = 0;
    assert_non_null(links);
    /* A ring of all nodes but the first and the last PAIRS. */
    for (uint32_t i = PAIRS; i < N - PAIRS; ++i)
        links[num++] = (link){i, i + 1 < N - PAIRS ? i + 1 : PAIRS, 1.0};
    for (uint32_t k = 0; k < PAIRS; ++k) {
        links[num++] = (link){k, N - PAIRS + k, 1.0};
        links[num++] = (link){k, PAIRS + 30 * k, 1e-5};
    }
    psfm_csr W;
    make_weights(N, links, num, &W);
    double *mass = make_masses(N, 2.0);
    assert_true(count_steps(ctx, &W, mass, 3) < 80);
    psfm_csr_free(&W);
    free(mass);
    free(links);
    psfm_context_destroy(&ctx);
}

static void small_graphs_are_solved_exactly(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_csr W;
    make_grid(12, 9, &W);
    double *mass = make_masses(W.n, 4.0);
    assert_true(count_steps(ctx, &W, mass, 1) <= 2);
    psfm_csr_free(&W);
    free(mass);
    psfm_context_destroy(&ctx);
}

static void does_not_depend_on_the_number_of_threads(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_csr W;
    make_grid(150, 140, &W);
    double *mass = make_masses(W.n, 4.0), *x[2], *b = calloc(W.n, sizeof *b);
    assert_non_null(b);
    b[17] = 1.0;
    b[20000] = -1.0;
    for (int k = 0; k < 2; ++k) {
        psfm_multilevel *m;
        x[k] = calloc(W.n, sizeof *x[k]);
        assert_non_null(x[k]);
        psfm_context_set_threads(ctx, k == 0 ? 1 : 6);
        assert_ok(ctx, psfm_multilevel_create(ctx, &W, mass, &m));
        assert_ok(ctx, psfm_multilevel_solve(ctx, m, 0, b, x[k]));
        psfm_multilevel_destroy(&m);
    }
    assert_true(norm(W.n, x[0]) > 0.1);
    assert_memory_equal(x[0], x[1], W.n * sizeof *x[0]);
    free(x[0]);
    free(x[1]);
    free(b);
    free(mass);
    psfm_csr_free(&W);
    psfm_context_destroy(&ctx);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_csr W;
    make_path(3000, true, &W);
    double *mass = make_masses(W.n, 2.0);
    psfm_multilevel *m;
    size_t n = 1;
    for (;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = psfm_multilevel_create(ctx, &W, mass, &m);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
        assert_null(m);
    }
    assert_true(n > 30);
    psfm_multilevel_destroy(&m);
    psfm_csr_free(&W);
    free(mass);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converges_whatever_the_size),
        cmocka_unit_test(pairs_across_blocks_converge),
        cmocka_unit_test(small_graphs_are_solved_exactly),
        cmocka_unit_test(does_not_depend_on_the_number_of_threads),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("linalg/multilevel", tests, NULL, NULL);
}
