#include "test_util.h"

#include "base/rng.h"
#include "linalg/eigen.h"

static void dense_decomposition_is_exact(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 30 };
    double A[N * N], V[N * N], w[N];
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int r = 0; r < N; ++r)
        for (int c = 0; c <= r; ++c)
            A[r * N + c] = A[c * N + r] = psfm_rng_normal(&rng);
    memcpy(V, A, sizeof A);
    assert_ok(ctx, psfm_eigen_symmetric(ctx, N, V, w));
    for (int k = 0; k < N; ++k) {
        assert_true(k == 0 || w[k - 1] <= w[k]);
        for (int r = 0; r < N; ++r) {
            double sum = 0.0;
            for (int c = 0; c < N; ++c)
                sum += A[r * N + c] * V[k * N + c];
            assert_close(sum, w[k] * V[k * N + r], 1e-12);
        }
        for (int j = 0; j < N; ++j) {
            double dot = 0.0;
            for (int r = 0; r < N; ++r)
                dot += V[k * N + r] * V[j * N + r];
            assert_close(dot, j == k, 1e-13);
        }
    }
    psfm_context_destroy(&ctx);
}

static void dense_reads_one_triangle_and_refuses_nan(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double A[4] = {2.0, NAN, 1.0, 2.0}, w[2]; /* by columns: entry (1, 0) is not read */
    assert_ok(ctx, psfm_eigen_symmetric(ctx, 2, A, w));
    assert_close(w[0], 1.0, 1e-14);
    assert_close(w[1], 3.0, 1e-14);
    double B[4] = {2.0, 1.0, NAN, 2.0};
    assert_int_equal(psfm_eigen_symmetric(ctx, 2, B, w), PSFM_ERR_ARGUMENT);
    assert_ok(ctx, psfm_eigen_symmetric(ctx, 0, NULL, NULL));
    psfm_context_destroy(&ctx);
}

/* A diagonal matrix in the basis of one Householder reflection I - 2 v v^T. */
typedef struct {
    uint32_t n;
    const double *diagonal, *v;
    double *work;
    int num_left; /* products until it fails; negative: never */
} operator_data;

static void reflect(const operator_data *o, const double *x, double *y) {
    double dot = 0.0;
    for (uint32_t i = 0; i < o->n; ++i)
        dot += o->v[i] * x[i];
    for (uint32_t i = 0; i < o->n; ++i)
        y[i] = x[i] - 2.0 * dot * o->v[i];
}

static psfm_status multiply(psfm_context *ctx, const double *x, double *y, void *user) {
    operator_data *o = user;
    if (o->num_left-- == 0)
        return psfm_fail(ctx, PSFM_ERR_CANCELLED, "enough");
    reflect(o, x, o->work);
    for (uint32_t i = 0; i < o->n; ++i)
        o->work[i] *= o->diagonal[i];
    reflect(o, o->work, y);
    return PSFM_OK;
}

enum { SIZE = 400 };

static void make_operator(operator_data *o, double *diagonal, double *v, double *work,
                          double *start) {
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    double norm = 0.0;
    for (int i = 0; i < SIZE; ++i) {
        diagonal[i] = 0.01 + 0.005 * i;
        v[i] = psfm_rng_normal(&rng);
        start[i] = psfm_rng_range(&rng, -1.0, 1.0);
        norm += v[i] * v[i];
    }
    for (int i = 0; i < SIZE; ++i)
        v[i] /= sqrt(norm);
    *o = (operator_data){SIZE, diagonal, v, work, -1};
}

static void arpack_finds_the_smallest(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double diagonal[SIZE], v[SIZE], work[SIZE], x[SIZE], again[SIZE], y[SIZE];
    operator_data o;
    psfm_eigen_result result;
    make_operator(&o, diagonal, v, work, x);
    memcpy(again, x, sizeof x);
    assert_ok(ctx, psfm_eigen_smallest(ctx, &(psfm_operator){SIZE, multiply, &o}, 1e-10, 300, x,
                                       &result));
    assert_true(result.converged && result.num_products > 20);
    assert_close(result.value, 0.01, 1e-11);
    assert_ok(ctx, multiply(ctx, x, y, &o));
    for (int i = 0; i < SIZE; ++i)
        assert_close(y[i], 0.01 * x[i], 1e-11);
    /* The eigenvector is column 0 of the reflection. */
    double sign = x[0] * (1.0 - 2.0 * v[0] * v[0]) < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < SIZE; ++i)
        assert_close(sign * x[i], (i == 0) - 2.0 * v[0] * v[i], 1e-8);
    assert_ok(ctx, psfm_eigen_smallest(ctx, &(psfm_operator){SIZE, multiply, &o}, 1e-10, 300, again,
                                       &result));
    assert_memory_equal(x, again, sizeof x);
    psfm_context_destroy(&ctx);
}

/* With a double smallest eigenvalue any vector of its plane will do, but always the same one. */
static void arpack_is_deterministic_on_double_eigenvalues(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double diagonal[SIZE], v[SIZE], work[SIZE], start[SIZE], x[SIZE], again[SIZE], y[SIZE];
    operator_data o;
    psfm_eigen_result result;
    make_operator(&o, diagonal, v, work, start);
    diagonal[1] = diagonal[0];
    memcpy(x, start, sizeof x);
    memcpy(again, start, sizeof x);
    assert_ok(
        ctx, psfm_eigen_smallest(ctx, &(psfm_operator){SIZE, multiply, &o}, 1e-9, 300, x, &result));
    assert_true(result.converged);
    assert_ok(ctx, psfm_eigen_smallest(ctx, &(psfm_operator){SIZE, multiply, &o}, 1e-9, 300, again,
                                       &result));
    assert_memory_equal(x, again, sizeof x);
    assert_ok(ctx, multiply(ctx, x, y, &o));
    for (int i = 0; i < SIZE; ++i)
        assert_close(y[i], 0.01 * x[i], 1e-10);
    psfm_context_destroy(&ctx);
}

/* Three distinct eigenvalues: the Krylov space ends after three steps, and rounding errors lead on.
 * The result is right and does not depend on what ran before. */
static void arpack_survives_a_small_krylov_space(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double diagonal[SIZE], v[SIZE], work[SIZE], start[SIZE], x[SIZE], again[SIZE], y[SIZE];
    operator_data o;
    psfm_eigen_result result;
    make_operator(&o, diagonal, v, work, start);
    for (int i = 0; i < SIZE; ++i)
        diagonal[i] = i < 5 ? 0.5 : i < 200 ? 1.0 : 2.0;
    memcpy(x, start, sizeof x);
    memcpy(again, start, sizeof x);
    assert_ok(
        ctx, psfm_eigen_smallest(ctx, &(psfm_operator){SIZE, multiply, &o}, 1e-9, 300, x, &result));
    assert_true(result.converged);
    assert_ok(ctx, multiply(ctx, x, y, &o));
    for (int i = 0; i < SIZE; ++i)
        assert_close(y[i], 0.5 * x[i], 1e-9);
    assert_ok(ctx, psfm_eigen_smallest(ctx, &(psfm_operator){SIZE, multiply, &o}, 1e-9, 300, again,
                                       &result));
    assert_memory_equal(x, again, sizeof x);
    psfm_context_destroy(&ctx);
}

/* A start that is an eigenvector to the last bit: ARPACK would go on from a random vector, drawn
 * from a generator that remembers earlier calls. That is reported, not used. */
static void arpack_does_not_go_on_at_random(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double diagonal[SIZE], v[SIZE], work[SIZE], x[SIZE];
    operator_data o;
    psfm_eigen_result result;
    make_operator(&o, diagonal, v, work, x);
    memset(v, 0, sizeof v);
    memset(x, 0, sizeof x);
    x[7] = 1.0;
    assert_ok(
        ctx, psfm_eigen_smallest(ctx, &(psfm_operator){SIZE, multiply, &o}, 1e-9, 300, x, &result));
    assert_false(result.converged);
    assert_true(x[7] == 1.0);
    psfm_context_destroy(&ctx);
}

static void arpack_reports_failures(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double diagonal[SIZE], v[SIZE], work[SIZE], x[SIZE];
    operator_data o;
    psfm_eigen_result result;
    make_operator(&o, diagonal, v, work, x);
    assert_ok(ctx,
              psfm_eigen_smallest(ctx, &(psfm_operator){SIZE, multiply, &o}, 1e-12, 1, x, &result));
    assert_false(result.converged);
    o.num_left = 10;
    assert_int_equal(
        psfm_eigen_smallest(ctx, &(psfm_operator){SIZE, multiply, &o}, 1e-9, 300, x, &result),
        PSFM_ERR_CANCELLED);
    assert_int_equal(
        psfm_eigen_smallest(ctx, &(psfm_operator){20, multiply, &o}, 1e-9, 300, x, &result),
        PSFM_ERR_ARGUMENT);
    /* And it works again afterwards. */
    o.num_left = -1;
    assert_ok(
        ctx, psfm_eigen_smallest(ctx, &(psfm_operator){SIZE, multiply, &o}, 1e-9, 300, x, &result));
    assert_true(result.converged);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_decomposition_is_exact),
        cmocka_unit_test(dense_reads_one_triangle_and_refuses_nan),
        cmocka_unit_test(arpack_finds_the_smallest),
        cmocka_unit_test(arpack_is_deterministic_on_double_eigenvalues),
        cmocka_unit_test(arpack_survives_a_small_krylov_space),
        cmocka_unit_test(arpack_does_not_go_on_at_random),
        cmocka_unit_test(arpack_reports_failures),
    };
    return cmocka_run_group_tests_name("linalg/eigen", tests, NULL, NULL);
}
