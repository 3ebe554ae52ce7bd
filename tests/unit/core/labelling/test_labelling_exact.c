#include "test_util.h"

#include "core/base/rng.h"
#include "core/labelling/labelling_exact.h"

enum { MAX_NODES = 12, MAX_EDGES = 4 * MAX_NODES };

/* Values in steps of a quarter, so that sums are exact and ties occur. */
typedef struct {
    uint32_t node1[MAX_EDGES], node2[MAX_EDGES];
    double value[MAX_EDGES][4], own[MAX_NODES];
    bool fixed[MAX_NODES], flip[MAX_NODES];
    psfm_topology graph;
    psfm_adjacency adjacency;
    psfm_flip_problem asked;
} problem;

static double draw_value(psfm_rng *rng) {
    return 0.25 * (double)psfm_rng_below(rng, 9) - 1.0;
}

static void open_problem(psfm_context *ctx, uint64_t seed, problem *p) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 7);
    uint32_t n = 2 + (uint32_t)(seed % (MAX_NODES - 1)),
             num = (uint32_t)psfm_rng_below(&rng, 3 * n);
    for (uint32_t e = 0; e < num; ++e) {
        uint32_t ends[2];
        psfm_rng_sample(&rng, n, 2, ends);
        p->node1[e] = ends[0];
        p->node2[e] = ends[1];
        for (int s = 0; s < 4; ++s)
            p->value[e][s] = draw_value(&rng);
    }
    for (uint32_t v = 0; v < n; ++v) {
        p->own[v] = draw_value(&rng);
        p->fixed[v] = psfm_rng_uniform(&rng) < 0.2;
    }
    p->graph = (psfm_topology){n, num, p->node1, p->node2};
    assert_ok(ctx, psfm_adjacency_init(ctx, &p->graph, NULL, num, &p->adjacency));
    p->asked = (psfm_flip_problem){&p->graph, &p->adjacency, (const double(*)[4])p->value, p->own};
}

/* The most that flips gain, by trying all; with `differ`, those that flip something. */
static double exhaust(const problem *p, bool differ) {
    uint32_t n = p->graph.num_nodes;
    double most = -INFINITY;
    for (uint32_t bits = differ ? 1 : 0; bits < 1u << n; ++bits) {
        bool flip[MAX_NODES], allowed = true;
        for (uint32_t v = 0; v < n; ++v) {
            flip[v] = bits >> v & 1;
            allowed = allowed && !(flip[v] && p->fixed[v]);
        }
        if (allowed)
            most = fmax(most, psfm_flips_sum(&p->asked, flip) - psfm_flips_sum(&p->asked, NULL));
    }
    return most;
}

/* The flips gain the most there is, and none of them could as well be left. */
static void check_flips(problem *p, bool differ, double gain) {
    double most = exhaust(p, differ), sum = psfm_flips_sum(&p->asked, p->flip);
    uint32_t num = 0;
    if (!isfinite(most)) {
        assert_true(gain == -INFINITY);
        return;
    }
    assert_close(gain, most, 1e-12);
    assert_close(sum - psfm_flips_sum(&p->asked, NULL), most, 1e-12);
    for (uint32_t v = 0; v < p->graph.num_nodes; ++v) {
        assert_false(p->flip[v] && p->fixed[v]);
        num += p->flip[v];
        if (!p->flip[v] || differ)
            continue;
        p->flip[v] = false;
        assert_true(psfm_flips_sum(&p->asked, p->flip) < sum - 1e-12);
        p->flip[v] = true;
    }
    assert_true(!differ || num > 0);
}

static void flips_equal_exhaustive_search(void **state) {
    problem *p = calloc(1, sizeof *p);
    int none = 0;
    for (uint64_t seed = 0; seed < 500; ++seed) {
        psfm_elimination order;
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 1, 7);
        open_problem(*state, seed, p);
        assert_ok(*state, psfm_eliminate(*state, &p->graph, &p->adjacency, p->fixed, MAX_NODES,
                                         &rng, &order));
        for (int differ = 0; differ < 2; ++differ) {
            double gain = NAN;
            assert_ok(*state, psfm_flips_best(*state, &p->asked, &order, differ, p->flip, &gain));
            check_flips(p, differ, gain);
            none += !differ && gain == 0.0;
        }
        psfm_elimination_free(&order);
        psfm_adjacency_free(&p->adjacency);
    }
    assert_true(none > 10);
    free(p);
}

/* Of sets that gain the same the one that flips less: here nothing, though all would gain as much.
 */
static void ties_leave_things_as_they_are(void **state) {
    problem *p = calloc(1, sizeof *p);
    psfm_elimination order;
    psfm_rng rng = psfm_rng_make(0, PSFM_RNG_TEST, 2, 7);
    double gain = NAN;
    for (uint32_t v = 0; v + 1 < MAX_NODES; ++v) {
        p->node1[v] = v;
        p->node2[v] = v + 1;
        p->value[v][0] = p->value[v][3] = 1.0;
    }
    p->graph = (psfm_topology){MAX_NODES, MAX_NODES - 1, p->node1, p->node2};
    assert_ok(*state, psfm_adjacency_init(*state, &p->graph, NULL, MAX_NODES - 1, &p->adjacency));
    p->asked = (psfm_flip_problem){&p->graph, &p->adjacency, (const double(*)[4])p->value, p->own};
    assert_ok(*state,
              psfm_eliminate(*state, &p->graph, &p->adjacency, NULL, MAX_NODES, &rng, &order));
    assert_ok(*state, psfm_flips_best(*state, &p->asked, &order, false, p->flip, &gain));
    assert_true(gain == 0.0);
    for (uint32_t v = 0; v < MAX_NODES; ++v)
        assert_false(p->flip[v]);
    psfm_elimination_free(&order);
    psfm_adjacency_free(&p->adjacency);
    free(p);
}

/* What the bound promises, for all flips of small problems: none gains more than it, and those that
 * gain keep the ends of every edge together that has at least *most left. */
static void the_bound_holds_for_all_flips(void **state) {
    problem *p = calloc(1, sizeof *p);
    int bound_edges = 0, shown = 0;
    for (uint64_t seed = 0; seed < 300; ++seed) {
        double left[MAX_EDGES], most = NAN;
        open_problem(*state, seed, p);
        for (uint32_t e = 0; e < p->graph.num_edges; ++e)
            p->value[e][0] += 1.0; /* most edges are content */
        memset(p->own, 0, sizeof p->own);
        assert_ok(*state, psfm_flips_bound(*state, &p->asked, left, &most));
        shown += most == 0.0;
        for (uint32_t bits = 1; bits < 1u << p->graph.num_nodes; ++bits) {
            bool flip[MAX_NODES];
            for (uint32_t v = 0; v < p->graph.num_nodes; ++v)
                flip[v] = bits >> v & 1;
            double gain = psfm_flips_sum(&p->asked, flip) - psfm_flips_sum(&p->asked, NULL);
            assert_true(gain <= most + 1e-12);
            for (uint32_t e = 0; gain > 1e-12 && e < p->graph.num_edges; ++e)
                if (left[e] >= most) {
                    assert_true(flip[p->node1[e]] == flip[p->node2[e]]);
                    ++bound_edges;
                }
        }
        psfm_adjacency_free(&p->adjacency);
    }
    assert_true(shown > 5);
    assert_true(bound_edges > 100);
    free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flips_equal_exhaustive_search),
        cmocka_unit_test(ties_leave_things_as_they_are),
        cmocka_unit_test(the_bound_holds_for_all_flips),
    };
    return cmocka_run_group_tests_name("labelling/labelling_exact", tests, open_context,
                                       close_context);
}
