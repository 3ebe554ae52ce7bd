#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/rigidity/rigidity.h"

#define MAX_EDGES 512

typedef struct {
    uint32_t node1[MAX_EDGES], node2[MAX_EDGES];
    double weight[MAX_EDGES];
    psfm_edge_list list;
} graph;

/* A ring with chords: each node and the k after it. The plain ring comes first. */
static void make_ring(graph *g, uint32_t n, uint32_t k) {
    uint32_t m = 0;
    for (uint32_t step = 1; step <= k; ++step)
        for (uint32_t v = 0; v < n; ++v, ++m) {
            g->node1[m] = v;
            g->node2[m] = (v + step) % n;
        }
    g->list = (psfm_edge_list){n, m, g->node1, g->node2, g->weight};
}

static void make_random(graph *g, psfm_rng *rng, uint32_t n, uint32_t m) {
    for (uint32_t e = 0; e < m; ++e) {
        g->node1[e] = e + 1 < n ? e + 1 : (uint32_t)psfm_rng_below(rng, n);
        g->node2[e] = e + 1 < n ? (uint32_t)psfm_rng_below(rng, e + 1)
                                : (g->node1[e] + 1 + (uint32_t)psfm_rng_below(rng, n - 1)) % n;
    }
    g->list = (psfm_edge_list){n, m, g->node1, g->node2, g->weight};
}

static void draw_weights(graph *g, psfm_rng *rng) {
    for (uint32_t e = 0; e < g->list.num_edges; ++e)
        g->weight[e] = psfm_rng_range(rng, -1.0, 1.0);
}

/* What is free with the edges in use, after the exact test of the whole. */
static uint64_t num_free(psfm_context *ctx, const graph *g, const bool *used) {
    uint32_t node1[MAX_EDGES], node2[MAX_EDGES], num = 0;
    psfm_rigidity r;
    for (uint32_t e = 0; e < g->list.num_edges; ++e)
        if (used[e]) {
            node1[num] = g->node1[e];
            node2[num++] = g->node2[e];
        }
    psfm_topology topology = {g->list.num_nodes, num, node1, node2};
    assert_ok(ctx, psfm_rigidity_analyse(ctx, &topology, NULL, &r));
    uint64_t found = r.num_free;
    psfm_rigidity_free(&r);
    return found;
}

static uint32_t count(const bool *used, uint32_t num) {
    uint32_t sum = 0;
    for (uint32_t e = 0; e < num; ++e)
        sum += used[e];
    return sum;
}

/* A ring is bi-connected, and yet every edge can be stretched; the extension ends it. */
static void a_ring_becomes_rigid(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    graph g;
    bool used[MAX_EDGES] = {0};
    make_ring(&g, 46, 2);
    draw_weights(&g, &rng);
    for (uint32_t e = 0; e < 46; ++e)
        used[e] = true;
    assert_true(num_free(ctx, &g, used) == 3 * 46 - 4 - 2 * 46);
    assert_ok(ctx, psfm_rigid_extension(ctx, &g.list, -0.2, 0.2, used));
    assert_true(num_free(ctx, &g, used) == 0);
    assert_true(count(used, 92) >= 67 && count(used, 92) < 92);
    psfm_context_destroy(&ctx);
}

/* Each edge is taken exactly if the ones before it, in the order of widening, leave something free
 * that it determines; at the end nothing is free that the whole graph determines. */
static void takes_what_determines_something(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t round = 0; round < 30; ++round) {
        psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, round, 0);
        graph g;
        bool used[MAX_EDGES] = {0}, all[MAX_EDGES], before[MAX_EDGES] = {0};
        uint32_t n = 5 + (uint32_t)psfm_rng_below(&rng, 12), m = n + (uint32_t)round;
        make_random(&g, &rng, n, m);
        draw_weights(&g, &rng);
        for (uint32_t e = 0; e < m; ++e) {
            used[e] = before[e] = e + 1 < n;
            all[e] = true;
        }
        assert_ok(ctx, psfm_rigid_extension(ctx, &g.list, -0.3, 0.3, used));
        assert_true(num_free(ctx, &g, used) == num_free(ctx, &g, all));
        for (uint32_t step = n - 1; step < m; ++step) { /* the next one by widening */
            uint32_t next = UINT32_MAX;
            double least = INFINITY;
            for (uint32_t e = n - 1; e < m; ++e) {
                double widening = fmax(0.0, fabs(g.weight[e]) - 0.3);
                if (all[e] && widening < least) {
                    least = widening;
                    next = e;
                }
            }
            all[next] = false; /* seen */
            uint64_t was_free = num_free(ctx, &g, before);
            before[next] = true;
            assert_int_equal(used[next], num_free(ctx, &g, before) < was_free);
            before[next] = used[next];
        }
    }
    psfm_context_destroy(&ctx);
}

static void stops_where_edges_run_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    graph g = {0};
    bool used[MAX_EDGES] = {0};
    make_ring(&g, 6, 1);
    assert_ok(ctx, psfm_rigid_extension(ctx, &g.list, 0.0, 0.0, used));
    assert_int_equal(count(used, 6), 6);
    g.list = (psfm_edge_list){1, 0, g.node1, g.node2, g.weight};
    assert_ok(ctx, psfm_rigid_extension(ctx, &g.list, 0.0, 0.0, used));
    psfm_context_destroy(&ctx);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    graph g = {0};
    bool used[MAX_EDGES] = {0};
    size_t n = 1;
    make_ring(&g, 8, 2);
    for (;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = psfm_rigid_extension(ctx, &g.list, 0.0, 0.0, used);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
    }
    assert_true(n > 3);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_becomes_rigid),
        cmocka_unit_test(takes_what_determines_something),
        cmocka_unit_test(stops_where_edges_run_out),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("posegraph/rigid_extension", tests, NULL, NULL);
}
