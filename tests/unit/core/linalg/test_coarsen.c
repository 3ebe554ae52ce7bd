#include "unit/core/linalg/weighted_graph.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/coarsen.h"

static double weight_between(const psfm_csr *W, uint32_t i, uint32_t j) {
    double sum = 0.0;
    for (size_t k = W->row_begin[i]; k < W->row_begin[i + 1]; ++k)
        sum += W->col[k] == j ? W->value[k] : 0.0;
    return sum;
}

static void contraction_sums_weights_and_masses(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t round = 0; round < 20; ++round) {
        psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, round, 0);
        enum { N = 60, GROUPS = 9 };
        link links[N * 3];
        double mass[N], mass_coarse[GROUPS], dense[GROUPS][GROUPS] = {{0}}, sum[GROUPS] = {0};
        uint32_t group[N];
        psfm_csr W, C;
        for (uint32_t i = 0; i < N; ++i) {
            group[i] = i < GROUPS ? i : (uint32_t)psfm_rng_below(&rng, GROUPS);
            mass[i] = psfm_rng_range(&rng, 1.0, 2.0);
            sum[group[i]] += mass[i];
            for (uint32_t k = 0; k < 3; ++k)
                links[3 * i + k] = (link){i, (i + 1 + 7 * k) % N, psfm_rng_uniform(&rng)};
        }
        make_weights(N, links, (size_t)N * 3, &W);
        for (uint32_t i = 0; i < N; ++i)
            for (size_t k = W.row_begin[i]; k < W.row_begin[i + 1]; ++k)
                if (group[i] != group[W.col[k]])
                    dense[group[i]][group[W.col[k]]] += W.value[k];
        assert_ok(ctx, psfm_coarsen_contract(ctx, &W, mass, group, GROUPS, &C, mass_coarse));
        assert_int_equal(C.n, GROUPS);
        for (uint32_t a = 0; a < GROUPS; ++a) {
            assert_close(mass_coarse[a], sum[a], 1e-12);
            size_t num = 0;
            for (uint32_t b = 0; b < GROUPS; ++b) {
                assert_close(weight_between(&C, a, b), dense[a][b], 1e-12);
                num += dense[a][b] > 0.0;
            }
            assert_true(C.row_begin[a + 1] - C.row_begin[a] == num); /* each once */
        }
        psfm_csr_free(&W);
        psfm_csr_free(&C);
    }
    psfm_context_destroy(&ctx);
}

/* Every node has a group, groups are numbered without gaps, connected, and much fewer. */
static void groups_are_connected_and_few(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_csr W;
    make_grid(60, 50, &W);
    double *mass = make_masses(W.n, 4.0);
    uint32_t *group = malloc(W.n * sizeof *group), *seen = calloc(W.n, sizeof *seen), num;
    assert_true(group != NULL && seen != NULL);
    assert_ok(ctx, psfm_coarsen_group(ctx, &W, mass, group, &num));
    assert_true(num > W.n / 16 && num < W.n / 2);
    for (uint32_t i = 0; i < W.n; ++i) {
        assert_true(group[i] < num);
        ++seen[group[i]];
        bool has_mate = false;
        for (size_t k = W.row_begin[i]; k < W.row_begin[i + 1]; ++k)
            has_mate = has_mate || group[W.col[k]] == group[i];
        assert_true(has_mate);
    }
    for (uint32_t g = 0; g < num; ++g)
        assert_true(seen[g] >= 2);
    free(group);
    free(seen);
    free(mass);
    psfm_csr_free(&W);
    psfm_context_destroy(&ctx);
}

/* A node tied to the rest by far less than its mass suggests stays by itself. */
static void slow_nodes_stay_by_themselves(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 41 };
    link links[N];
    uint32_t group[N], num;
    for (uint32_t i = 0; i + 1 < N; ++i)
        links[i] = (link){i, (i + 1) % (N - 1), 1.0};
    links[N - 1] = (link){0, N - 1, 1e-6};
    psfm_csr W;
    make_weights(N, links, N, &W);
    double *mass = make_masses(N, 2.0);
    assert_ok(ctx, psfm_coarsen_group(ctx, &W, mass, group, &num));
    for (uint32_t i = 0; i + 1 < N; ++i)
        assert_int_not_equal(group[i], group[N - 1]);
    mass[N - 1] = 1e-6; /* as light as its link: not slow any more */
    assert_ok(ctx, psfm_coarsen_group(ctx, &W, mass, group, &num));
    assert_int_equal(group[0], group[N - 1]);
    free(mass);
    psfm_csr_free(&W);
    psfm_context_destroy(&ctx);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_csr W, C;
    make_grid(6, 5, &W);
    double *mass = make_masses(W.n, 4.0), mass_coarse[30];
    uint32_t group[30], num;
    size_t n = 1;
    for (;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = psfm_coarsen_group(ctx, &W, mass, group, &num);
        if (status == PSFM_OK)
            status = psfm_coarsen_contract(ctx, &W, mass, group, num, &C, mass_coarse);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
    }
    assert_true(n > 7);
    psfm_csr_free(&C);
    psfm_csr_free(&W);
    free(mass);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contraction_sums_weights_and_masses),
        cmocka_unit_test(groups_are_connected_and_few),
        cmocka_unit_test(slow_nodes_stay_by_themselves),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("linalg/coarsen", tests, NULL, NULL);
}
