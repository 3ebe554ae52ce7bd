#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/sparse.h"

/* A x for triplets that each stand for an entry and its mirror. */
static void multiply(uint32_t n, size_t num, const uint32_t *row, const uint32_t *col,
                     const double *value, double shift, const double *x, double *y) {
    for (uint32_t v = 0; v < n; ++v)
        y[v] = shift * x[v];
    for (size_t k = 0; k < num; ++k) {
        y[row[k]] += value[k] * x[col[k]];
        if (row[k] != col[k])
            y[col[k]] += value[k] * x[row[k]];
    }
}

static void solves_random_systems_again_and_again(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 40, NUM = 300 };
    uint32_t row[NUM], col[NUM];
    double value[NUM], x[2 * N], b[2 * N], y[2 * N];
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (size_t k = 0; k < NUM; ++k) {
        row[k] = (uint32_t)psfm_rng_below(&rng, N); /* both triangles, with repeats */
        col[k] = (uint32_t)psfm_rng_below(&rng, N);
    }
    psfm_spd *spd = NULL;
    assert_ok(ctx, psfm_spd_create(ctx, N, NUM, row, col, &spd));
    for (int round = 0; round < 3; ++round) {
        for (size_t k = 0; k < NUM; ++k)
            value[k] = psfm_rng_range(&rng, -1, 1);
        for (size_t k = 0; k < 2 * N; ++k)
            x[k] = psfm_rng_normal(&rng);
        multiply(N, NUM, row, col, value, 50.0, x, b);
        multiply(N, NUM, row, col, value, 50.0, x + N, b + N);
        assert_ok(ctx, psfm_spd_factor(ctx, spd, value, 50.0));
        assert_ok(ctx, psfm_spd_solve(ctx, spd, 2, b, y));
        for (size_t k = 0; k < 2 * N; ++k)
            assert_close(x[k], y[k], 1e-12);
    }
    psfm_spd_destroy(&spd);
    assert_null(spd);
    psfm_context_destroy(&ctx);
}

static void refuses_an_indefinite_matrix(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    uint32_t row[] = {0, 1, 1}, col[] = {0, 0, 1};
    double value[] = {1.0, 2.0, 1.0}; /* eigenvalues 3 and -1 */
    psfm_spd *spd = NULL;
    assert_ok(ctx, psfm_spd_create(ctx, 2, 3, row, col, &spd));
    assert_int_equal(psfm_spd_factor(ctx, spd, value, 0.0), PSFM_ERR_NUMERIC);
    assert_ok(ctx, psfm_spd_factor(ctx, spd, value, 1.5));
    psfm_spd_destroy(&spd);
    uint32_t outside[] = {2};
    assert_int_equal(psfm_spd_create(ctx, 2, 1, outside, outside, &spd), PSFM_ERR_ARGUMENT);
    assert_null(spd);
    psfm_context_destroy(&ctx);
}

/* A random graph fills its factor; a band does not. The Laplacian with a small shift is solved to
 * the tolerance by conjugate gradients. */
static void heavy_fill_is_solved_iteratively(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 3000, NUM = 10 * N };
    uint32_t *row = calloc(NUM + N, sizeof *row), *col = calloc(NUM + N, sizeof *col);
    double *value = calloc(NUM + N, sizeof *value), *x = calloc(2 * N, sizeof *x);
    double *b = calloc(2 * N, sizeof *b);
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    for (int kind = 0; kind < 2; ++kind) {
        memset(value, 0, (NUM + N) * sizeof *value);
        for (uint32_t k = 0; k < NUM; ++k) {
            row[k] = k / 10;
            col[k] = kind == 0 ? (k / 10 + k % 10 + 1) % N : (uint32_t)psfm_rng_below(&rng, N);
            if (col[k] == row[k])
                continue;
            double w = psfm_rng_range(&rng, 0.1, 10);
            value[k] = -w;
            value[NUM + row[k]] += w;
            value[NUM + col[k]] += w;
        }
        for (uint32_t v = 0; v < N; ++v)
            row[NUM + v] = col[NUM + v] = v;
        psfm_spd *spd = NULL;
        assert_ok(ctx, psfm_spd_create(ctx, N, NUM + N, row, col, &spd));
        assert_int_equal(psfm_spd_allow_iterative(spd, 1e-12, 1000), kind == 1);
        for (uint32_t v = 0; v < 2 * N; ++v)
            x[v] = psfm_rng_normal(&rng);
        multiply(N, NUM + N, row, col, value, 0.1, x, b);
        multiply(N, NUM + N, row, col, value, 0.1, x + N, b + N);
        assert_ok(ctx, psfm_spd_factor(ctx, spd, value, 0.1));
        assert_ok(ctx, psfm_spd_solve(ctx, spd, 2, b, b));
        for (uint32_t v = 0; v < 2 * N; ++v)
            assert_close(b[v], x[v], 1e-9);
        psfm_spd_destroy(&spd);
    }
    free(row);
    free(col);
    free(value);
    free(x);
    free(b);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_random_systems_again_and_again),
        cmocka_unit_test(refuses_an_indefinite_matrix),
        cmocka_unit_test(heavy_fill_is_solved_iteratively),
    };
    return cmocka_run_group_tests_name("linalg/sparse", tests, NULL, NULL);
}
