#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/base/union_find.h"
#include "core/posegraph/min_range_tree.h"

#define MAX_NODES 64
#define MAX_EDGES 400

typedef struct {
    uint32_t node1[MAX_EDGES], node2[MAX_EDGES];
    double weight[MAX_EDGES];
    psfm_edge_list list;
} graph;

/* Random edges, parallel ones among them. Weights from {0 .. num_weights - 1}; distinct if 0. */
static void make_graph(graph *g, psfm_rng *rng, uint32_t n, uint32_t m, size_t num_weights) {
    for (uint32_t e = 0; e < m; ++e) {
        g->node1[e] = (uint32_t)psfm_rng_below(rng, n);
        g->node2[e] = (g->node1[e] + 1 + (uint32_t)psfm_rng_below(rng, n - 1)) % n;
        g->weight[e] =
            num_weights > 0 ? (double)psfm_rng_below(rng, num_weights) - 2.0 : psfm_rng_normal(rng);
    }
    g->list = (psfm_edge_list){n, m, g->node1, g->node2, g->weight};
}

static void make_connected_graph(graph *g, psfm_rng *rng, uint32_t n, uint32_t m) {
    make_graph(g, rng, n, m, 0);
    for (uint32_t e = 0; e + 1 < n; ++e) {
        g->node1[e] = e + 1;
        g->node2[e] = (uint32_t)psfm_rng_below(rng, e + 1);
    }
}

static bool spans(const graph *g, const uint32_t *edges, uint32_t num) {
    uint32_t parent[MAX_NODES], joined = 0;
    psfm_sets_init(parent, g->list.num_nodes);
    for (uint32_t k = 0; k < num; ++k)
        joined += psfm_sets_unite(parent, g->node1[edges[k]], g->node2[edges[k]]);
    return joined + 1 == g->list.num_nodes && joined == num;
}

/* Range of the best tree by trying every set of n - 1 edges; false if none spans. */
static bool brute_force(const graph *g, double *best, double *best_low) {
    uint32_t n = g->list.num_nodes, m = g->list.num_edges;
    bool found = false;
    for (uint32_t set = 0; set < (1u << m); ++set) {
        uint32_t edges[16], num = 0;
        double low = INFINITY, high = -INFINITY;
        for (uint32_t e = 0; e < m && num < n; ++e) {
            if ((set >> e & 1) == 0)
                continue;
            edges[num++] = e;
            low = fmin(low, g->weight[e]);
            high = fmax(high, g->weight[e]);
        }
        if (num + 1 != n || !spans(g, edges, num))
            continue;
        if (!found || high - low < *best || (high - low == *best && low < *best_low)) {
            *best = high - low;
            *best_low = low;
        }
        found = true;
    }
    return found;
}

/* The paper's Algorithm 1: Kruskal upward from every lower bound. Marks the best tree's edges. */
static bool algorithm1(const graph *g, double *best, double *best_low, bool *in_best) {
    uint32_t n = g->list.num_nodes, m = g->list.num_edges;
    uint32_t order[MAX_EDGES], parent[MAX_NODES];
    bool found = false;
    for (uint32_t k = 0; k < m; ++k) {
        uint32_t at = k; /* insertion sort, stable */
        for (; at > 0 && g->weight[order[at - 1]] > g->weight[k]; --at)
            order[at] = order[at - 1];
        order[at] = k;
    }
    for (uint32_t from = 0; from < m; ++from) {
        bool in_tree[MAX_EDGES] = {false};
        uint32_t joined = 0;
        double high = 0.0, low = g->weight[order[from]];
        psfm_sets_init(parent, n);
        for (uint32_t k = from; k < m && joined + 1 < n; ++k) {
            uint32_t e = order[k];
            if (!psfm_sets_unite(parent, g->node1[e], g->node2[e]))
                continue;
            in_tree[e] = true;
            high = g->weight[e];
            ++joined;
        }
        if (joined + 1 < n)
            break;
        if (!found || high - low < *best) {
            *best = high - low;
            *best_low = low;
            memcpy(in_best, in_tree, sizeof in_tree);
        }
        found = true;
    }
    return found;
}

static void check_range(const graph *g, const psfm_spanning_tree *tree) {
    assert_int_equal(tree->num_edges, g->list.num_nodes - 1);
    assert_true(spans(g, tree->edges, tree->num_edges));
    double low = INFINITY, high = -INFINITY;
    for (uint32_t k = 0; k < tree->num_edges; ++k) {
        assert_true(k == 0 || tree->edges[k - 1] < tree->edges[k]);
        low = fmin(low, g->weight[tree->edges[k]]);
        high = fmax(high, g->weight[tree->edges[k]]);
    }
    assert_true(tree->low == low && tree->high == high);
}

static void equals_brute_force_on_small_graphs(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    int num_connected = 0, num_disconnected = 0;
    for (uint64_t round = 0; round < 6000; ++round) {
        psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, round, 0);
        graph g;
        uint32_t n = 2 + (uint32_t)psfm_rng_below(&rng, 5);
        uint32_t m = (uint32_t)psfm_rng_below(&rng, 11);
        make_graph(&g, &rng, n, m, round % 3 == 0 ? 0 : 5);
        double best = 0.0, low = 0.0;
        psfm_spanning_tree tree;
        bool exists = brute_force(&g, &best, &low);
        psfm_status status = psfm_spanning_tree_min_range(ctx, &g.list, &tree);
        assert_int_equal(status, exists ? PSFM_OK : PSFM_ERR_ARGUMENT);
        if (exists) {
            check_range(&g, &tree);
            assert_true(tree.high - tree.low == best && tree.low == low);
            ++num_connected;
        } else {
            assert_null(tree.edges);
            ++num_disconnected;
        }
        psfm_spanning_tree_free(&tree);
    }
    assert_true(num_connected > 2000 && num_disconnected > 1000);
    psfm_context_destroy(&ctx);
}

static void equals_algorithm1_on_larger_graphs(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t round = 0; round < 150; ++round) {
        psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, round, 0);
        graph g;
        uint32_t n = 2 + (uint32_t)psfm_rng_below(&rng, MAX_NODES - 1);
        uint32_t m = n - 1 + (uint32_t)psfm_rng_below(&rng, MAX_EDGES - n);
        make_connected_graph(&g, &rng, n, m);
        double best = 0.0, low = 0.0;
        bool in_best[MAX_EDGES];
        psfm_spanning_tree tree;
        assert_true(algorithm1(&g, &best, &low, in_best));
        assert_ok(ctx, psfm_spanning_tree_min_range(ctx, &g.list, &tree));
        check_range(&g, &tree);
        assert_true(tree.high - tree.low == best && tree.low == low);
        for (uint32_t k = 0; k < tree.num_edges; ++k) /* distinct weights: the same tree */
            assert_true(in_best[tree.edges[k]]);
        psfm_spanning_tree_free(&tree);
    }
    psfm_context_destroy(&ctx);
}

static void one_node_two_nodes_and_parallel_edges(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_spanning_tree tree;
    psfm_edge_list one = {.num_nodes = 1};
    assert_ok(ctx, psfm_spanning_tree_min_range(ctx, &one, &tree));
    assert_true(tree.num_edges == 0 && tree.low == 0.0 && tree.high == 0.0);
    psfm_spanning_tree_free(&tree);
    uint32_t a[] = {0, 1, 0, 0}, b[] = {1, 0, 1, 1};
    double weight[] = {3.0, -1.0, 3.0, -1.0};
    psfm_edge_list two = {2, 4, a, b, weight};
    assert_ok(ctx, psfm_spanning_tree_min_range(ctx, &two, &tree));
    assert_true(tree.num_edges == 1 && tree.edges[0] == 1 && tree.low == -1.0);
    psfm_spanning_tree_free(&tree);
    two.num_edges = 0;
    assert_int_equal(psfm_spanning_tree_min_range(ctx, &two, &tree), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "not connected"));
    psfm_context_destroy(&ctx);
}

static void refuses_loops_bad_nodes_and_bad_weights(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_spanning_tree tree;
    uint32_t a[] = {0}, b[] = {1}, far[] = {2};
    double weight[] = {1.0}, nan[] = {NAN}, infinite[] = {INFINITY};
    psfm_edge_list loop = {2, 1, a, a, weight}, outside = {2, 1, a, far, weight};
    psfm_edge_list no_number = {2, 1, a, b, nan}, too_large = {2, 1, a, b, infinite};
    psfm_edge_list no_nodes = {.num_nodes = 0};
    const psfm_edge_list *bad[] = {&loop, &outside, &no_number, &too_large, &no_nodes};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
        assert_int_equal(psfm_spanning_tree_min_range(ctx, bad[k], &tree), PSFM_ERR_ARGUMENT);
        assert_int_equal(psfm_spanning_tree_random(ctx, bad[k], 1, &tree), PSFM_ERR_ARGUMENT);
        assert_null(tree.edges);
    }
    /* Weights whose difference overflows still have a tree. */
    uint32_t c[] = {0, 1}, d[] = {1, 2};
    double huge[] = {-1.7e308, 1.7e308};
    psfm_edge_list wide = {3, 2, c, d, huge};
    assert_ok(ctx, psfm_spanning_tree_min_range(ctx, &wide, &tree));
    assert_int_equal(tree.num_edges, 2);
    psfm_spanning_tree_free(&tree);
    psfm_context_destroy(&ctx);
}

static void random_tree_follows_its_seed(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    graph g;
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    make_connected_graph(&g, &rng, 40, 200);
    int num_different = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        psfm_spanning_tree tree, again, other;
        assert_ok(ctx, psfm_spanning_tree_random(ctx, &g.list, seed, &tree));
        assert_ok(ctx, psfm_spanning_tree_random(ctx, &g.list, seed, &again));
        assert_ok(ctx, psfm_spanning_tree_random(ctx, &g.list, seed + 100, &other));
        check_range(&g, &tree);
        size_t bytes = tree.num_edges * sizeof *tree.edges;
        assert_memory_equal(tree.edges, again.edges, bytes);
        num_different += memcmp(tree.edges, other.edges, bytes) != 0;
        psfm_spanning_tree_free(&tree);
        psfm_spanning_tree_free(&again);
        psfm_spanning_tree_free(&other);
    }
    assert_int_equal(num_different, 20);
    psfm_context_destroy(&ctx);
}

/* On a triangle each of the three trees comes up a third of the time. */
static void random_tree_is_uniform_on_a_triangle(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    uint32_t a[] = {0, 1, 0}, b[] = {1, 2, 2};
    double weight[] = {1.0, 2.0, 3.0};
    psfm_edge_list triangle = {3, 3, a, b, weight};
    int left_out[3] = {0, 0, 0};
    for (uint64_t seed = 0; seed < 3000; ++seed) {
        psfm_spanning_tree tree;
        assert_ok(ctx, psfm_spanning_tree_random(ctx, &triangle, seed, &tree));
        assert_int_equal(tree.num_edges, 2);
        ++left_out[3 - tree.edges[0] - tree.edges[1]];
        psfm_spanning_tree_free(&tree);
    }
    for (int k = 0; k < 3; ++k)
        assert_close(left_out[k], 1000, 130); /* five standard deviations */
    psfm_context_destroy(&ctx);
}

static void random_forest_of_a_disconnected_graph(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    uint32_t a[] = {0, 3, 0}, b[] = {1, 4, 1};
    double weight[] = {1.0, 5.0, 2.0};
    psfm_edge_list g = {5, 3, a, b, weight};
    psfm_spanning_tree tree;
    assert_ok(ctx, psfm_spanning_tree_random(ctx, &g, 7, &tree));
    assert_int_equal(tree.num_edges, 2);
    assert_int_equal(tree.edges[0] == 0 ? tree.edges[1] : tree.edges[0], 1);
    assert_true(tree.high == 5.0);
    psfm_spanning_tree_free(&tree);
    psfm_context_destroy(&ctx);
}

/* A long path with every weight order the sweep can meet, and a graph where each new edge drops
 * an old one. */
static void large_graphs_stay_exact(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    enum { N = 20000 };
    uint32_t *a = malloc(2 * N * sizeof *a), *b = malloc(2 * N * sizeof *b);
    double *weight = malloc(2 * N * sizeof *weight);
    assert_true(a != NULL && b != NULL && weight != NULL);
    /* A path with weights 0 .. N - 2, and a parallel copy of it 10 N higher, tighter by half. */
    for (uint32_t k = 0; k + 1 < N; ++k) {
        a[2 * k] = a[2 * k + 1] = k;
        b[2 * k] = b[2 * k + 1] = k + 1;
        weight[2 * k] = k;
        weight[2 * k + 1] = 10.0 * N + 0.5 * k;
    }
    psfm_edge_list path = {N, 2 * (N - 1), a, b, weight};
    psfm_spanning_tree tree;
    assert_ok(ctx, psfm_spanning_tree_min_range(ctx, &path, &tree));
    assert_int_equal(tree.num_edges, N - 1);
    assert_true(tree.low == 10.0 * N && tree.high == 10.0 * N + 0.5 * (N - 2));
    psfm_spanning_tree_free(&tree);
    free(a);
    free(b);
    free(weight);
    psfm_context_destroy(&ctx);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    graph g;
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    make_connected_graph(&g, &rng, 10, 30);
    psfm_spanning_tree tree;
    size_t n = 1;
    for (;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = psfm_spanning_tree_min_range(ctx, &g.list, &tree);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
        assert_null(tree.edges);
    }
    assert_true(n > 5);
    psfm_spanning_tree_free(&tree);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_brute_force_on_small_graphs),
        cmocka_unit_test(equals_algorithm1_on_larger_graphs),
        cmocka_unit_test(one_node_two_nodes_and_parallel_edges),
        cmocka_unit_test(refuses_loops_bad_nodes_and_bad_weights),
        cmocka_unit_test(random_tree_follows_its_seed),
        cmocka_unit_test(random_tree_is_uniform_on_a_triangle),
        cmocka_unit_test(random_forest_of_a_disconnected_graph),
        cmocka_unit_test(large_graphs_stay_exact),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("posegraph/min_range_tree", tests, NULL, NULL);
}
