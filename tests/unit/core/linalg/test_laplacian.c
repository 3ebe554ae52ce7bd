#include "unit/core/linalg/weighted_graph.h"

#include "core/base/rng.h"
#include "core/linalg/laplacian.h"

static void equals_the_definition(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 9000 }; /* three blocks of rows */
    link *links = calloc(3 * N, sizeof *links);
    double *x = calloc(N, sizeof *x), *y = calloc(N, sizeof *y), *z = calloc(N, sizeof *z);
    double *b = calloc(N, sizeof *b), *expected = calloc(N, sizeof *expected);
    assert_true(links != NULL && x && y && z && b && expected);
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (uint32_t k = 0; k < 3 * N; ++k) {
        uint32_t i = k % N, step = k / N == 0 ? 1 : k / N == 1 ? 17 : 4321;
        links[k] = (link){i, (i + step) % N, psfm_rng_uniform(&rng)};
    }
    for (uint32_t i = 0; i < N; ++i) {
        x[i] = psfm_rng_normal(&rng);
        b[i] = psfm_rng_normal(&rng);
    }
    for (uint32_t k = 0; k < 3 * N; ++k) {
        expected[links[k].a] += links[k].weight * (x[links[k].a] - x[links[k].b]);
        expected[links[k].b] += links[k].weight * (x[links[k].b] - x[links[k].a]);
    }
    psfm_csr W;
    make_weights(N, links, 3 * N, &W);
    psfm_context_set_threads(ctx, 1);
    assert_ok(ctx, psfm_laplacian_mul(ctx, &W, x, y));
    psfm_context_set_threads(ctx, 5);
    assert_ok(ctx, psfm_laplacian_mul(ctx, &W, x, z));
    assert_memory_equal(y, z, N * sizeof *y);
    for (uint32_t i = 0; i < N; ++i)
        assert_close(y[i], expected[i], 1e-13);
    assert_ok(ctx, psfm_laplacian_residual(ctx, &W, x, b, z));
    for (uint32_t i = 0; i < N; ++i)
        assert_close(z[i], b[i] - expected[i], 1e-13);
    psfm_csr_free(&W);
    free(links);
    free(x);
    free(y);
    free(z);
    free(b);
    free(expected);
    psfm_context_destroy(&ctx);
}

/* Constants are in the kernel, to the last bit. */
static void constants_vanish(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double x[50], y[50];
    psfm_csr W;
    make_path(50, true, &W);
    for (int i = 0; i < 50; ++i)
        x[i] = 0.1;
    assert_ok(ctx, psfm_laplacian_mul(ctx, &W, x, y));
    for (int i = 0; i < 50; ++i)
        assert_true(y[i] == 0.0);
    psfm_csr_free(&W);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_definition),
        cmocka_unit_test(constants_vanish),
    };
    return cmocka_run_group_tests_name("linalg/laplacian", tests, NULL, NULL);
}
