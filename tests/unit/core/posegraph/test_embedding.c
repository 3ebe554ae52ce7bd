#include "unit/core/linalg/weighted_graph.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/eigen.h"
#include "core/posegraph/embedding.h"

#define PI 3.141592653589793

/* A ring of n nodes, each linked to the `reach` next ones, weights 1 or random. */
static void make_ring(uint32_t n, uint32_t reach, bool random, psfm_csr *S) {
    link *links = calloc((size_t)n * reach, sizeof *links);
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, n, reach);
    size_t num = 0;
    assert_non_null(links);
    for (uint32_t i = 0; i < n; ++i)
        for (uint32_t k = 1; k <= reach; ++k)
            links[num++] = (link){i, (i + k) % n, random ? psfm_rng_range(&rng, 0.2, 1.0) : 1.0};
    make_weights(n, links, num, S);
    free(links);
}

static double degree(const psfm_csr *S, uint32_t e) {
    double sum = 0.0;
    for (size_t k = S->row_begin[e]; k < S->row_begin[e + 1]; ++k)
        sum += S->value[k];
    return sum;
}

/* Checks (I - D^-1 S) h = lambda h, the norm, and the sign, for a matrix of one component. */
static void check_eigenvector(const psfm_csr *S, const psfm_embedding *m, double tolerance) {
    double norm = 0.0, mean = 0.0, sum = 0.0, largest = 0.0;
    assert_int_equal(m->num_components, 1);
    for (uint32_t e = 0; e < S->n; ++e)
        largest = fmax(largest, fabs(m->h[e]));
    bool sign_seen = false;
    for (uint32_t e = 0; e < S->n; ++e) {
        double d = degree(S, e), r = (1.0 - m->eigenvalue[0]) * m->h[e];
        for (size_t k = S->row_begin[e]; k < S->row_begin[e + 1]; ++k)
            r -= S->value[k] * m->h[S->col[k]] / d;
        sum += d * r * r;
        norm += d * m->h[e] * m->h[e];
        mean += d * m->h[e];
        if (!sign_seen && fabs(m->h[e]) > (1.0 - 1e-6) * largest) {
            assert_true(m->h[e] > 0.0);
            sign_seen = true;
        }
    }
    assert_close(norm, 1.0, 1e-11);
    assert_close(mean, 0.0, 1e-9 * S->n);
    assert_below(sqrt(sum), tolerance);
    assert_close(m->residual[0], sqrt(sum), 1e-13);
}

/* The two eigenvalues of I - D^-1/2 S D^-1/2 behind the first, which is moved beyond all others,
 * and the unit vector v of the lower one, by LAPACK. */
static void solve_dense(psfm_context *ctx, const psfm_csr *S, double values[2], double *v) {
    size_t n = S->n;
    double *A = calloc(n * n, sizeof *A), *w = calloc(n, sizeof *w), total = 0.0;
    assert_true(A != NULL && w != NULL);
    for (uint32_t e = 0; e < n; ++e)
        total += degree(S, e);
    for (uint32_t e = 0; e < n; ++e) {
        for (uint32_t f = 0; f < n; ++f)
            A[e * n + f] = (e == f) + 3.0 * sqrt(degree(S, e) * degree(S, f)) / total;
        for (size_t k = S->row_begin[e]; k < S->row_begin[e + 1]; ++k)
            A[e * n + S->col[k]] -= S->value[k] / sqrt(degree(S, e) * degree(S, S->col[k]));
    }
    assert_ok(ctx, psfm_eigen_symmetric(ctx, S->n, A, w));
    memcpy(values, w, 2 * sizeof *w);
    memcpy(v, A, n * sizeof *v);
    free(A);
    free(w);
}

/* Eigenvalue, and the angle to LAPACK's vector times the gap to the next eigenvalue: what a
 * residual bounds, whatever the gap. */
static void check_against_lapack(psfm_context *ctx, const psfm_csr *S) {
    psfm_embedding m;
    double values[2], *v = calloc(S->n, sizeof *v), along = 0.0, off = 0.0;
    assert_non_null(v);
    solve_dense(ctx, S, values, v);
    assert_ok(ctx, psfm_embedding_compute(ctx, S, NULL, &m));
    check_eigenvector(S, &m, fmax(1e-9 * m.eigenvalue[0], 1e-13));
    assert_close(m.eigenvalue[0], values[0], 1e-13);
    for (uint32_t e = 0; e < S->n; ++e)
        along += v[e] * m.h[e] * sqrt(degree(S, e));
    for (uint32_t e = 0; e < S->n; ++e) {
        double d = m.h[e] * sqrt(degree(S, e)) - along * v[e];
        off += d * d;
    }
    assert_below(sqrt(off) * (values[1] - values[0]), 1e-9);
    psfm_embedding_free(&m);
    free(v);
}

/* Rings, chains, cliques (one eigenvalue n - 1 times over), and three chains on threads, two of
 * which are nearly as weak as each other. */
static void agrees_with_lapack(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static const uint32_t sizes[] = {7, 26, 60, 240, 1300};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        uint32_t n = sizes[k];
        psfm_csr graphs[4];
        link *links = calloc(n, sizeof *links);
        assert_non_null(links);
        make_ring(n, 3, true, &graphs[0]);
        make_path(n, false, &graphs[1]);
        make_ring(n < 100 ? n : 100, ((n < 100 ? n : 100) - 1) / 2, false, &graphs[2]);
        for (uint32_t i = 0; i + 1 < n; ++i)
            links[i] = (link){i, i + 1, i == n / 4 ? 2e-9 : i == n / 2 ? 3e-9 : 1.0};
        make_weights(n, links, n - 1, &graphs[3]);
        for (int g = 0; g < 4; ++g) {
            check_against_lapack(ctx, &graphs[g]);
            psfm_csr_free(&graphs[g]);
        }
        free(links);
    }
    psfm_context_destroy(&ctx);
}

/* All weights equal: the eigenvalue is double. One vector is settled on, always the same, whatever
 * else was computed before. */
static void symmetric_rings_are_embedded_the_same_way_twice(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 400 };
    psfm_csr S, other;
    psfm_embedding m, again, between;
    make_ring(N, 2, false, &S);
    make_ring(77, 3, true, &other);
    double expected = 1.0 - 0.5 * (cos(2.0 * PI / N) + cos(4.0 * PI / N));
    assert_ok(ctx, psfm_embedding_compute(ctx, &S, NULL, &m));
    assert_ok(ctx, psfm_embedding_compute(ctx, &other, NULL, &between));
    psfm_context_set_seed(ctx, 99);
    assert_ok(ctx, psfm_embedding_compute(ctx, &S, NULL, &again));
    check_eigenvector(&S, &m, 1e-9);
    assert_close(m.eigenvalue[0] / expected, 1.0, 1e-9);
    assert_memory_equal(m.h, again.h, N * sizeof *m.h);
    psfm_embedding_free(&m);
    psfm_embedding_free(&again);
    psfm_embedding_free(&between);
    psfm_csr_free(&S);
    psfm_csr_free(&other);
    psfm_context_destroy(&ctx);
}

/* Edges 0, 3, 6, .. form a ring; 1, 4, 7, .. a shorter one; 2 and 5 a pair; the rest are alone. */
static void components_are_embedded_apart(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 120, LONG = 40, SHORT = 30 };
    link links[LONG + SHORT + 1];
    size_t num = 0;
    for (uint32_t i = 0; i < LONG; ++i)
        links[num++] = (link){3 * i, 3 * ((i + 1) % LONG), 0.5 + 0.01 * i};
    for (uint32_t i = 0; i < SHORT; ++i)
        links[num++] = (link){3 * i + 1, 3 * ((i + 1) % SHORT) + 1, 1.0 - 0.02 * i};
    links[num++] = (link){2, 5, 0.25};
    psfm_csr S, alone;
    psfm_embedding m, part;
    make_weights(N, links, num, &S);
    assert_ok(ctx, psfm_embedding_compute(ctx, &S, NULL, &m));
    assert_int_equal(m.num_components, 3 + (N - LONG - SHORT - 2));
    for (uint32_t e = 0; e < N; ++e) {
        bool is_long = e % 3 == 0, is_short = e % 3 == 1 && e < 3 * SHORT;
        bool is_pair = e == 2 || e == 5;
        if (is_long || is_short || is_pair) {
            assert_int_equal(m.component[e], is_long ? 0 : is_short ? 1 : 2);
        } else {
            assert_true(m.component[e] > 2 && m.h[e] == 0.0);
            assert_true(isnan(m.eigenvalue[m.component[e]]));
            assert_true(isnan(m.residual[m.component[e]]));
        }
    }
    /* Two edges: h = +-1 / sqrt(2 D), eigenvalue 2. */
    assert_close(m.eigenvalue[2], 2.0, 1e-14);
    assert_close(m.h[2], sqrt(2.0), 1e-13);
    assert_close(m.h[5], -sqrt(2.0), 1e-13);
    /* The long ring gets what it would get alone. */
    for (uint32_t i = 0; i < LONG; ++i)
        links[i] = (link){i, (i + 1) % LONG, 0.5 + 0.01 * i};
    make_weights(LONG, links, LONG, &alone);
    assert_ok(ctx, psfm_embedding_compute(ctx, &alone, NULL, &part));
    for (uint32_t i = 0; i < LONG; ++i)
        assert_close(m.h[3 * i], part.h[i], 1e-12);
    assert_close(m.eigenvalue[0], part.eigenvalue[0], 1e-14);
    psfm_embedding_free(&m);
    psfm_embedding_free(&part);
    psfm_csr_free(&S);
    psfm_csr_free(&alone);
    psfm_context_destroy(&ctx);
}

/* Two groups with few and weak links between them end up on either side. */
static void groups_are_moved_apart(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 300, GOOD = 240 };
    link *links = calloc((size_t)N * 12, sizeof *links);
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    size_t num = 0;
    assert_non_null(links);
    for (uint32_t i = 0; i < N; ++i) {
        uint32_t first = i < GOOD ? 0 : GOOD, size = i < GOOD ? GOOD : N - GOOD;
        for (uint32_t k = 1; k <= 10; ++k)
            links[num++] =
                (link){i, first + (i - first + k * k) % size, psfm_rng_range(&rng, 0.5, 1.0)};
        if (i < 5)
            links[num++] = (link){i, GOOD + 7 * i, 1e-3};
    }
    psfm_csr S;
    make_weights(N, links, num, &S);
    psfm_embedding m;
    assert_ok(ctx, psfm_embedding_compute(ctx, &S, NULL, &m));
    for (uint32_t e = 0; e < N; ++e)
        assert_true(e < GOOD ? m.h[e] < -0.005 : m.h[e] > 0.02); /* the fewer, the farther */
    psfm_embedding_free(&m);
    psfm_csr_free(&S);
    free(links);
    psfm_context_destroy(&ctx);
}

/* Similarities over two hundred orders of magnitude: what is below the floor does not join. */
static void vanishing_similarities_do_not_join(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    link links[] = {{0, 1, 1.0},    {1, 2, 0.5},   {2, 3, 1e-60}, {3, 4, 1e-3},
                    {4, 5, 1e-150}, {5, 6, 1e-20}, {6, 7, 1e-90}};
    psfm_csr S;
    psfm_embedding m;
    make_weights(8, links, sizeof links / sizeof links[0], &S);
    assert_ok(ctx, psfm_embedding_compute(ctx, &S, NULL, &m));
    assert_int_equal(m.num_components, 2);
    for (uint32_t e = 0; e < 8; ++e) {
        assert_int_equal(m.component[e], e < 5 ? 0 : 1);
        assert_true(isfinite(m.h[e]));
    }
    assert_true(m.h[3] * m.h[0] < 0.0 && m.residual[0] < 1e-13 && m.residual[1] < 1e-13);
    psfm_embedding_free(&m);
    psfm_csr_free(&S);
    psfm_context_destroy(&ctx);
}

/* Groups that next to nothing joins, similarities within them over many powers of ten: two scenes
 * in one set. The lowest eigenvalue is below rounding, and the embedding tells the groups apart. */
static void make_hardly_joined(uint64_t seed, psfm_csr *S) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 5, 5);
    const uint32_t n = 100 + (uint32_t)psfm_rng_below(&rng, 100);
    const uint32_t groups = 2 + (uint32_t)psfm_rng_below(&rng, 4);
    const double share = psfm_rng_range(&rng, 0.02, 0.1);
    const double between = pow(10.0, -psfm_rng_range(&rng, 0.0, 40.0));
    link *links = calloc((size_t)n * n / 2, sizeof *links);
    size_t num = 0;
    assert_non_null(links);
    for (uint32_t i = 0; i < n; ++i)
        for (uint32_t j = i + 1; j < n; ++j) {
            if (psfm_rng_range(&rng, 0.0, 1.0) >= share)
                continue;
            double weight = pow(10.0, 20.0 * log(psfm_rng_range(&rng, 1e-9, 1.0)));
            links[num++] = (link){i, j, i % groups == j % groups ? weight : weight * between};
        }
    make_weights(n, links, num, S);
    free(links);
}

static void hardly_joined_groups_are_embedded(void **state) {
    (void)state;
    static const uint64_t seeds[] = {195, 198, 339, 371, 414, 451, 516, 1252}; /* failed once */
    psfm_context *ctx = psfm_context_create();
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; ++k) {
        psfm_csr S;
        psfm_embedding m;
        make_hardly_joined(seeds[k], &S);
        assert_ok(ctx, psfm_embedding_compute(ctx, &S, NULL, &m));
        assert_true(m.residual[0] < 1e-6);
        for (uint32_t e = 0; e < S.n; ++e)
            assert_true(isfinite(m.h[e]));
        psfm_embedding_free(&m);
        psfm_csr_free(&S);
    }
    psfm_context_destroy(&ctx);
}

static void does_not_depend_on_the_number_of_threads(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_csr S;
    psfm_embedding m[2];
    make_ring(20000, 4, true, &S);
    for (int k = 0; k < 2; ++k) {
        psfm_context_set_threads(ctx, k == 0 ? 1 : 5);
        assert_ok(ctx, psfm_embedding_compute(ctx, &S, NULL, &m[k]));
    }
    check_eigenvector(&S, &m[0], fmax(1e-8 * m[0].eigenvalue[0], 1e-13));
    assert_memory_equal(m[0].h, m[1].h, S.n * sizeof *m[0].h);
    psfm_embedding_free(&m[0]);
    psfm_embedding_free(&m[1]);
    psfm_csr_free(&S);
    psfm_context_destroy(&ctx);
}

static void says_what_does_not_converge(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_csr S;
    psfm_embedding m;
    const psfm_embedding_options options = {1e-6, 1};
    make_ring(4000, 2, true, &S);
    assert_int_equal(psfm_embedding_compute(ctx, &S, &options, &m), PSFM_ERR_NUMERIC);
    assert_non_null(strstr(psfm_context_message(ctx), "4000 edges did not converge"));
    assert_null(m.h);
    psfm_csr_free(&S);
    psfm_context_destroy(&ctx);
}

static void refuses_bad_matrices(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_csr S;
    psfm_embedding m;
    make_ring(40, 2, true, &S);
    static const double bad[] = {NAN, -1.0, INFINITY, 0.123};
    for (size_t k = 0; k < 4; ++k) { /* the last one is merely not symmetric */
        double good = S.value[11];
        S.value[11] = bad[k];
        assert_int_equal(psfm_embedding_compute(ctx, &S, NULL, &m), PSFM_ERR_ARGUMENT);
        assert_null(m.h);
        S.value[11] = good;
    }
    uint32_t col = S.col[5];
    S.col[5] = 40;
    assert_int_equal(psfm_embedding_compute(ctx, &S, NULL, &m), PSFM_ERR_ARGUMENT);
    S.col[5] = col;
    psfm_csr_free(&S);
    /* An entry whose mirror is missing, above and below the diagonal. */
    size_t row_begin[] = {0, 0, 1, 1}, row_begin_up[] = {0, 1, 1, 1};
    uint32_t cols[] = {0}, cols_up[] = {1};
    double values[] = {1.0};
    psfm_csr below = {3, row_begin, cols, values}, above = {3, row_begin_up, cols_up, values};
    assert_int_equal(psfm_embedding_compute(ctx, &below, NULL, &m), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_embedding_compute(ctx, &above, NULL, &m), PSFM_ERR_ARGUMENT);
    psfm_context_destroy(&ctx);
}

static void empty_matrices_are_fine(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    size_t row_begin[] = {0, 0, 0};
    psfm_csr none = {.n = 0, .row_begin = row_begin}, two = {.n = 2, .row_begin = row_begin};
    psfm_embedding m;
    assert_ok(ctx, psfm_embedding_compute(ctx, &none, NULL, &m));
    assert_int_equal(m.num_components, 0);
    psfm_embedding_free(&m);
    assert_ok(ctx, psfm_embedding_compute(ctx, &two, NULL, &m));
    assert_true(m.num_components == 2 && m.h[0] == 0.0 && m.component[1] == 1);
    psfm_embedding_free(&m);
    psfm_context_destroy(&ctx);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    psfm_csr S;
    psfm_embedding m;
    size_t n = 1;
    make_ring(50, 2, true, &S);
    for (;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = psfm_embedding_compute(ctx, &S, NULL, &m);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
        assert_null(m.h);
    }
    assert_true(n > 12);
    psfm_embedding_free(&m);
    psfm_csr_free(&S);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_lapack),
        cmocka_unit_test(symmetric_rings_are_embedded_the_same_way_twice),
        cmocka_unit_test(components_are_embedded_apart),
        cmocka_unit_test(groups_are_moved_apart),
        cmocka_unit_test(vanishing_similarities_do_not_join),
        cmocka_unit_test(hardly_joined_groups_are_embedded),
        cmocka_unit_test(does_not_depend_on_the_number_of_threads),
        cmocka_unit_test(says_what_does_not_converge),
        cmocka_unit_test(refuses_bad_matrices),
        cmocka_unit_test(empty_matrices_are_fine),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("posegraph/embedding", tests, NULL, NULL);
}
