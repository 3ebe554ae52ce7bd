#include "test_util.h"

#include "core/base/rng.h"
#include "core/labelling/elimination_order.h"

enum { MAX_NODES = 200, MAX_EDGES = 4 * MAX_NODES };

typedef struct {
    uint32_t node1[MAX_EDGES], node2[MAX_EDGES];
    bool fixed[MAX_NODES];
    psfm_topology graph;
} problem;

static void make_random_graph(psfm_rng *rng, uint32_t num_nodes, problem *p) {
    uint32_t num = (uint32_t)psfm_rng_below(rng, 3 * num_nodes);
    for (uint32_t e = 0; e < num; ++e) {
        uint32_t ends[2];
        psfm_rng_sample(rng, num_nodes, 2, ends);
        p->node1[e] = ends[0];
        p->node2[e] = ends[1];
    }
    for (uint32_t v = 0; v < num_nodes; ++v)
        p->fixed[v] = psfm_rng_uniform(rng) < 0.1;
    p->graph = (psfm_topology){num_nodes, num, p->node1, p->node2};
}

static void make_ring(uint32_t num_nodes, problem *p) {
    for (uint32_t v = 0; v < num_nodes; ++v) {
        p->node1[v] = v;
        p->node2[v] = (v + 1) % num_nodes;
    }
    p->graph = (psfm_topology){num_nodes, num_nodes, p->node1, p->node2};
}

static void eliminate(psfm_context *ctx, const problem *p, const bool *fixed, int width,
                      psfm_elimination *out) {
    psfm_adjacency adjacency;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    assert_ok(ctx, psfm_adjacency_init(ctx, &p->graph, NULL, p->graph.num_edges, &adjacency));
    assert_ok(ctx, psfm_eliminate(ctx, &p->graph, &adjacency, fixed, width, &rng, out));
    psfm_adjacency_free(&adjacency);
}

/* Eliminates in the same order on a matrix of neighbours: every scope must be the neighbours that
 * are there, of larger rank, and the order must name each node once or not at all. */
static void check_order(const problem *p, const bool *fixed, int width, const psfm_elimination *o) {
    static bool joined[MAX_NODES][MAX_NODES];
    uint32_t n = p->graph.num_nodes;
    memset(joined, 0, sizeof joined);
    for (uint32_t e = 0; e < p->graph.num_edges; ++e) {
        uint32_t u = p->node1[e], v = p->node2[e];
        joined[u][v] = joined[v][u] = o->rank[u] != UINT32_MAX && o->rank[v] != UINT32_MAX;
    }
    uint32_t num_ranked = 0;
    for (uint32_t v = 0; v < n; ++v) {
        num_ranked += o->rank[v] != UINT32_MAX;
        assert_true(fixed == NULL || !fixed[v] || o->rank[v] == UINT32_MAX);
    }
    assert_int_equal(num_ranked, o->num);
    size_t entries = 0;
    for (uint32_t k = 0; k < o->num; ++k) {
        uint32_t v = o->node[k];
        size_t size = o->begin[k + 1] - o->begin[k], neighbours = 0;
        const uint32_t *scope = o->scope == NULL ? NULL : o->scope + o->begin[k];
        assert_int_equal(o->rank[v], k);
        assert_true(size <= (size_t)width);
        for (uint32_t u = 0; u < n; ++u)
            neighbours += joined[v][u];
        assert_int_equal(size, neighbours);
        for (size_t i = 0; i < size; ++i) {
            assert_true(joined[v][scope[i]] && o->rank[scope[i]] > k);
            for (size_t j = 0; j < i; ++j)
                joined[scope[i]][scope[j]] = joined[scope[j]][scope[i]] = true;
        }
        for (uint32_t u = 0; u < n; ++u)
            joined[v][u] = joined[u][v] = false;
        entries += (size_t)1 << size;
    }
    assert_int_equal(o->num_entries, entries);
}

static void scopes_are_the_neighbours_left(void **state) {
    problem *p = calloc(1, sizeof *p);
    int narrow = 0;
    for (uint32_t seed = 0; seed < 200; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
        psfm_elimination order;
        int width = 1 + (int)(seed % 6);
        make_random_graph(&rng, 2 + seed % 60, p);
        for (int with_fixed = 0; with_fixed < 2; ++with_fixed) {
            const bool *fixed = with_fixed ? p->fixed : NULL;
            eliminate(*state, p, fixed, width, &order);
            check_order(p, fixed, width, &order);
            narrow += order.num < p->graph.num_nodes;
            psfm_elimination_free(&order);
        }
    }
    assert_true(narrow > 50);
    free(p);
}

/* Trees have width 1, rings 2; with less a ring loses one node, and only one. */
static void trees_and_rings_have_their_width(void **state) {
    problem *p = calloc(1, sizeof *p);
    psfm_elimination order;
    make_ring(MAX_NODES, p);
    eliminate(*state, p, NULL, 2, &order);
    assert_int_equal(order.num, MAX_NODES);
    psfm_elimination_free(&order);
    eliminate(*state, p, NULL, 1, &order);
    assert_int_equal(order.num, MAX_NODES - 1);
    psfm_elimination_free(&order);
    p->graph.num_edges = MAX_NODES - 1;
    eliminate(*state, p, NULL, 1, &order);
    assert_int_equal(order.num, MAX_NODES);
    psfm_elimination_free(&order);
    free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_are_the_neighbours_left),
        cmocka_unit_test(trees_and_rings_have_their_width),
    };
    return cmocka_run_group_tests_name("labelling/elimination_order", tests, open_context,
                                       close_context);
}
