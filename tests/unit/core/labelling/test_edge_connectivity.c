#include "test_util.h"

#include "core/base/rng.h"
#include "core/labelling/edge_connectivity.h"

enum { MAX_NODES = 400, MAX_EDGES = 4 * MAX_NODES };

typedef struct {
    uint32_t node1[MAX_EDGES], node2[MAX_EDGES], group[MAX_NODES], num;
    double weight[MAX_EDGES];
    psfm_topology graph;
} problem;

static void find_groups(psfm_context *ctx, double least, problem *p) {
    psfm_adjacency adjacency;
    assert_ok(ctx, psfm_adjacency_init(ctx, &p->graph, NULL, p->graph.num_edges, &adjacency));
    assert_ok(ctx,
              psfm_heavy_groups(ctx, &p->graph, &adjacency, p->weight, least, p->group, &p->num));
    psfm_adjacency_free(&adjacency);
}

static double cut(const problem *p, uint32_t bits) {
    double sum = 0;
    for (uint32_t e = 0; e < p->graph.num_edges; ++e)
        sum += (bits >> p->node1[e] & 1) != (bits >> p->node2[e] & 1) ? p->weight[e] : 0.0;
    return sum;
}

/* Random graphs, some edges parallel, some of no weight: no cut lighter than asked for divides a
 * group, by looking at all of them. */
static void only_heavy_cuts_divide_groups(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    problem *p = calloc(1, sizeof *p);
    int joined = 0, apart = 0;
    for (uint32_t seed = 0; seed < 300; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
        uint32_t n = 2 + seed % 9, m = (uint32_t)psfm_rng_below(&rng, 4 * n);
        double least = psfm_rng_range(&rng, 0.5, 3.0);
        for (uint32_t e = 0; e < m; ++e) {
            uint32_t ends[2];
            psfm_rng_sample(&rng, n, 2, ends);
            p->node1[e] = ends[0];
            p->node2[e] = ends[1];
            p->weight[e] = fmax(0.0, psfm_rng_range(&rng, -0.3, 1.0));
        }
        p->graph = (psfm_topology){n, m, p->node1, p->node2};
        find_groups(ctx, least, p);
        for (uint32_t bits = 1; bits + 1 < 1u << n; ++bits) {
            if (cut(p, bits) >= least - 1e-12)
                continue;
            for (uint32_t v = 1; v < n; ++v)
                for (uint32_t u = 0; u < v; ++u)
                    assert_false(p->group[u] == p->group[v] && (bits >> u & 1) != (bits >> v & 1));
        }
        joined += p->num < n;
        apart += p->num > 1;
    }
    assert_true(joined > 100 && apart > 100);
    free(p);
    psfm_context_destroy(&ctx);
}

/* A torus of unit edges with diagonals is held by more than four everywhere, though no edge is
 * heavy; a node that hangs on it by two edges is a group of its own. */
static void a_torus_is_one_group(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    problem *p = calloc(1, sizeof *p);
    enum { SIDE = 19, NUM = SIDE * SIDE };
    uint32_t m = 0;
    for (uint32_t v = 0; v < NUM; ++v) {
        uint32_t right = v / SIDE * SIDE + (v + 1) % SIDE;
        p->node1[m] = p->node1[m + 1] = p->node1[m + 2] = v;
        p->node2[m++] = right;
        p->node2[m++] = (v + SIDE) % NUM;
        p->node2[m++] = (right + SIDE) % NUM;
    }
    p->node1[m] = p->node1[m + 1] = NUM;
    p->node2[m++] = 3;
    p->node2[m++] = 200;
    for (uint32_t e = 0; e < m; ++e)
        p->weight[e] = 1.0;
    p->graph = (psfm_topology){NUM + 1, m, p->node1, p->node2};
    find_groups(ctx, 4.0, p);
    assert_int_equal(p->num, 2);
    assert_true(p->group[NUM] != p->group[0]);
    find_groups(ctx, 2.0, p);
    assert_int_equal(p->num, 1);
    free(p);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_heavy_cuts_divide_groups),
        cmocka_unit_test(a_torus_is_one_group),
    };
    return cmocka_run_group_tests_name("labelling/edge_connectivity", tests, NULL, NULL);
}
