#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/base/union_find.h"
#include "core/posegraph/biconnect.h"

#define MAX_NODES 128
#define MAX_EDGES 512

typedef struct {
    uint32_t node1[MAX_EDGES], node2[MAX_EDGES];
    double weight[MAX_EDGES];
    psfm_edge_list list;
} graph;

/* A random tree first, then random edges; weights of few values, so that ties occur. */
static void make_graph(graph *g, psfm_rng *rng, uint32_t n, uint32_t m) {
    for (uint32_t e = 0; e < m; ++e) {
        if (e + 1 < n) {
            g->node1[e] = e + 1;
            g->node2[e] = (uint32_t)psfm_rng_below(rng, e + 1);
        } else {
            g->node1[e] = (uint32_t)psfm_rng_below(rng, n);
            g->node2[e] = (g->node1[e] + 1 + (uint32_t)psfm_rng_below(rng, n - 1)) % n;
        }
        g->weight[e] = (double)psfm_rng_below(rng, 20);
    }
    g->list = (psfm_edge_list){n, m, g->node1, g->node2, g->weight};
}

/* Number of parts of the marked edges without one node and one edge (UINT32_MAX: none). With
 * `u`, `v`: whether these two are joined. */
static uint32_t count_parts(const graph *g, const bool *used, uint32_t without_node,
                            uint32_t without_edge, uint32_t u, uint32_t v, bool *joined) {
    uint32_t parent[MAX_NODES], parts = g->list.num_nodes - (without_node != UINT32_MAX);
    psfm_sets_init(parent, g->list.num_nodes);
    for (uint32_t e = 0; e < g->list.num_edges; ++e)
        if (used[e] && e != without_edge && g->node1[e] != without_node &&
            g->node2[e] != without_node)
            parts -= psfm_sets_unite(parent, g->node1[e], g->node2[e]);
    if (joined != NULL)
        *joined = psfm_sets_find(parent, u) == psfm_sets_find(parent, v);
    return parts;
}

static bool is_cut_node(const graph *g, const bool *used, uint32_t node) {
    return count_parts(g, used, node, UINT32_MAX, 0, 0, NULL) > 1;
}

static bool is_bridge(const graph *g, const bool *used, uint32_t edge) {
    return used[edge] && count_parts(g, used, UINT32_MAX, edge, 0, 0, NULL) > 1;
}

static bool is_biconnected(const graph *g, const bool *used) {
    for (uint32_t v = 0; v < g->list.num_nodes; ++v)
        if (is_cut_node(g, used, v))
            return false;
    return true;
}

/* Two nodes are in different blocks if some other node separates them. */
static bool are_separable(const graph *g, const bool *used, uint32_t u, uint32_t v) {
    for (uint32_t x = 0; x < g->list.num_nodes; ++x) {
        bool joined = true;
        if (x != u && x != v)
            count_parts(g, used, x, UINT32_MAX, u, v, &joined);
        if (!joined)
            return true;
    }
    return false;
}

static double widening(const graph *g, const psfm_spanning_tree *tree, uint32_t e) {
    return fmax(0.0, fmax(tree->low - g->weight[e], g->weight[e] - tree->high));
}

/* The same procedure, everything recomputed by removing nodes. */
static void extend_naively(const graph *g, const psfm_spanning_tree *tree, bool *used) {
    bool tried[MAX_EDGES] = {false};
    memset(used, 0, MAX_EDGES * sizeof *used);
    for (uint32_t k = 0; k < tree->num_edges; ++k)
        used[tree->edges[k]] = tried[tree->edges[k]] = true;
    while (!is_biconnected(g, used)) {
        uint32_t best = UINT32_MAX;
        for (uint32_t e = 0; e < g->list.num_edges; ++e)
            if (!tried[e] && (best == UINT32_MAX || widening(g, tree, e) < widening(g, tree, best)))
                best = e;
        if (best == UINT32_MAX)
            break;
        tried[best] = true;
        used[best] = are_separable(g, used, g->node1[best], g->node2[best]);
    }
}

static void check_lists(const graph *g, const bool *used, const psfm_biconnected *b) {
    uint32_t num_edges = 0, num_bridges = 0, num_cuts = 0;
    double low = INFINITY, high = -INFINITY;
    for (uint32_t e = 0; e < g->list.num_edges; ++e) {
        if (!used[e])
            continue;
        assert_true(num_edges < b->num_edges && b->edges[num_edges] == e);
        ++num_edges;
        low = fmin(low, g->weight[e]);
        high = fmax(high, g->weight[e]);
        if (is_bridge(g, used, e)) {
            assert_true(num_bridges < b->num_bridges && b->bridges[num_bridges] == e);
            ++num_bridges;
        }
    }
    for (uint32_t v = 0; v < g->list.num_nodes; ++v) {
        if (is_cut_node(g, used, v)) {
            assert_true(num_cuts < b->num_cut_nodes && b->cut_nodes[num_cuts] == v);
            ++num_cuts;
        }
    }
    assert_int_equal(num_edges, b->num_edges);
    assert_int_equal(num_bridges, b->num_bridges);
    assert_int_equal(num_cuts, b->num_cut_nodes);
    assert_true(b->low == low && b->high == high);
}

static void equals_naive_extension(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    int num_biconnected = 0, num_left_cut = 0;
    for (uint64_t round = 0; round < 3000; ++round) {
        psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, round, 0);
        graph g;
        uint32_t n = 2 + (uint32_t)psfm_rng_below(&rng, 10);
        make_graph(&g, &rng, n, n - 1 + (uint32_t)psfm_rng_below(&rng, 2 * n));
        psfm_spanning_tree tree;
        psfm_biconnected b;
        bool used[MAX_EDGES];
        if (round % 2 == 0)
            assert_ok(ctx, psfm_spanning_tree_min_range(ctx, &g.list, &tree));
        else
            assert_ok(ctx, psfm_spanning_tree_random(ctx, &g.list, round, &tree));
        assert_ok(ctx, psfm_biconnect(ctx, &g.list, &tree, &b));
        extend_naively(&g, &tree, used);
        check_lists(&g, used, &b);
        num_biconnected += b.num_cut_nodes == 0 && n > 2;
        num_left_cut += b.num_cut_nodes > 0;
        psfm_spanning_tree_free(&tree);
        psfm_biconnected_free(&b);
    }
    assert_true(num_biconnected > 500 && num_left_cut > 500);
    psfm_context_destroy(&ctx);
}

/* Larger ones: what separates the result also separates the whole graph, nothing else does. */
static void cuts_are_those_of_the_whole_graph(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t round = 0; round < 60; ++round) {
        psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, round, 0);
        graph g;
        uint32_t n = 60 + (uint32_t)psfm_rng_below(&rng, 60);
        make_graph(&g, &rng, n, n + (uint32_t)psfm_rng_below(&rng, 2 * n));
        psfm_spanning_tree tree;
        psfm_biconnected b;
        bool used[MAX_EDGES] = {false}, all[MAX_EDGES];
        memset(all, 1, sizeof all);
        assert_ok(ctx, psfm_spanning_tree_min_range(ctx, &g.list, &tree));
        assert_ok(ctx, psfm_biconnect(ctx, &g.list, &tree, &b));
        for (uint32_t k = 0; k < b.num_edges; ++k)
            used[b.edges[k]] = true;
        for (uint32_t k = 0; k < tree.num_edges; ++k)
            assert_true(used[tree.edges[k]]);
        check_lists(&g, used, &b);
        for (uint32_t v = 0; v < n; ++v)
            assert_int_equal(is_cut_node(&g, used, v), is_cut_node(&g, all, v));
        psfm_spanning_tree_free(&tree);
        psfm_biconnected_free(&b);
    }
    psfm_context_destroy(&ctx);
}

/* A ring whose tree is a chain: the closing edge is enough, however far it lies. */
static void closes_a_ring(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    uint32_t a[] = {0, 1, 2, 3, 0}, b[] = {1, 2, 3, 4, 4};
    double weight[] = {0.0, 0.1, 0.2, 0.1, 9.0};
    psfm_edge_list ring = {5, 5, a, b, weight};
    psfm_spanning_tree tree;
    psfm_biconnected out;
    assert_ok(ctx, psfm_spanning_tree_min_range(ctx, &ring, &tree));
    assert_ok(ctx, psfm_biconnect(ctx, &ring, &tree, &out));
    assert_true(out.num_edges == 5 && out.num_cut_nodes == 0 && out.num_bridges == 0);
    assert_true(out.low == 0.0 && out.high == 9.0);
    psfm_biconnected_free(&out);
    psfm_spanning_tree_free(&tree);
    psfm_context_destroy(&ctx);
}

static void one_and_two_nodes(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_edge_list one = {.num_nodes = 1};
    psfm_spanning_tree tree = {0};
    psfm_biconnected out;
    assert_ok(ctx, psfm_biconnect(ctx, &one, &tree, &out));
    assert_true(out.num_edges == 0 && out.num_cut_nodes == 0 && out.num_bridges == 0);
    psfm_biconnected_free(&out);
    /* Two nodes are bi-connected as they are; a parallel edge joins no two blocks. */
    uint32_t a[] = {0, 0}, b[] = {1, 1};
    double weight[] = {1.0, 1.0};
    psfm_edge_list two = {2, 2, a, b, weight};
    assert_ok(ctx, psfm_spanning_tree_min_range(ctx, &two, &tree));
    assert_ok(ctx, psfm_biconnect(ctx, &two, &tree, &out));
    assert_true(out.num_edges == 1 && out.num_cut_nodes == 0 && out.num_bridges == 1);
    psfm_biconnected_free(&out);
    psfm_spanning_tree_free(&tree);
    psfm_context_destroy(&ctx);
}

static void refuses_what_is_no_tree(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    uint32_t a[] = {0, 0, 1, 2}, b[] = {1, 1, 2, 3};
    double weight[] = {1.0, 1.0, 1.0, 1.0};
    psfm_edge_list g = {4, 4, a, b, weight};
    uint32_t cycle[] = {0, 1, 2}, outside[] = {0, 2, 9}, few[] = {0, 2}, twice[] = {0, 0, 2};
    psfm_spanning_tree bad[] = {
        {cycle, 3, 1.0, 1.0}, {outside, 3, 1.0, 1.0}, {few, 2, 1.0, 1.0}, {twice, 3, 1.0, 1.0}};
    for (size_t k = 0; k < 4; ++k) {
        psfm_biconnected out;
        assert_int_equal(psfm_biconnect(ctx, &g, &bad[k], &out), PSFM_ERR_ARGUMENT);
        assert_null(out.edges);
    }
    psfm_context_destroy(&ctx);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    graph g;
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    make_graph(&g, &rng, 12, 30);
    psfm_spanning_tree tree;
    psfm_biconnected out;
    assert_ok(ctx, psfm_spanning_tree_min_range(ctx, &g.list, &tree));
    size_t n = 1;
    for (;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = psfm_biconnect(ctx, &g.list, &tree, &out);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
        assert_null(out.edges);
    }
    assert_true(n > 8);
    psfm_biconnected_free(&out);
    psfm_spanning_tree_free(&tree);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_naive_extension),
        cmocka_unit_test(cuts_are_those_of_the_whole_graph),
        cmocka_unit_test(closes_a_ring),
        cmocka_unit_test(one_and_two_nodes),
        cmocka_unit_test(refuses_what_is_no_tree),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("posegraph/biconnect", tests, NULL, NULL);
}
