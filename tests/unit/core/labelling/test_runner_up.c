#include "test_util.h"

#include "core/base/rng.h"
#include "core/labelling/runner_up.h"

enum { MAX_NODES = 40, MAX_EDGES = 4 * MAX_NODES, MOVES = 2 };

/* A graph whose edges have a value as things stand, and others if one end is moved. A move of the
 * first end is worth what the inverse move of the second is. */
typedef struct {
    uint32_t node1[MAX_EDGES], node2[MAX_EDGES];
    double now[MAX_EDGES], moved[MAX_EDGES][MOVES];
    bool agrees[MAX_EDGES];
    psfm_topology graph;
} problem;

static void weigh(const void *data, int move, double (*value)[4]) {
    const problem *p = data;
    for (uint32_t e = 0; e < p->graph.num_edges; ++e) {
        value[e][0] = value[e][3] = p->now[e];
        value[e][1] = p->moved[e][move];
        value[e][2] = p->moved[e][1 - move];
    }
}

static void find_runner_ups(psfm_context *ctx, const problem *p, double max_ratio,
                            psfm_runner_ups *out) {
    psfm_runner_up_problem asked = {.graph = &p->graph,
                                    .agrees = p->agrees,
                                    .unit = 2.0,
                                    .search_ratio = 0.8,
                                    .max_ratio = max_ratio,
                                    .num_moves = MOVES,
                                    .weigh = weigh,
                                    .data = p};
    assert_ok(ctx, psfm_runner_ups_find(ctx, &asked, out));
}

static void add_edge(problem *p, uint32_t node1, uint32_t node2, double now, double moved) {
    uint32_t e = p->graph.num_edges++;
    p->node1[e] = node1;
    p->node2[e] = node2;
    p->now[e] = now;
    p->moved[e][0] = moved;
    p->moved[e][1] = 0.0;
    p->agrees[e] = now > 0.0;
}

/* Connected by edges that agree, with others between. */
static void make_connected(psfm_rng *rng, uint32_t num_nodes, problem *p) {
    p->graph = (psfm_topology){num_nodes, 0, p->node1, p->node2};
    for (uint32_t v = 1; v < num_nodes; ++v)
        add_edge(p, (uint32_t)psfm_rng_below(rng, v), v, psfm_rng_range(rng, 1.0, 3.0), 0.0);
    for (uint32_t k = 0; k < 2 * num_nodes; ++k) {
        uint32_t ends[2];
        psfm_rng_sample(rng, num_nodes, 2, ends);
        double now = psfm_rng_uniform(rng) < 0.5 ? psfm_rng_range(rng, 1.0, 3.0) : 0.0;
        add_edge(p, ends[0], ends[1], now, now > 0.0 ? 0.0 : psfm_rng_range(rng, 0.5, 3.0));
    }
}

/* What a move of this set costs, as the search counts. */
static double cost_of(const problem *p, const bool *set, int move) {
    double cost = 0.0;
    for (uint32_t e = 0; e < p->graph.num_edges; ++e)
        if (set[p->node1[e]] != set[p->node2[e]])
            cost += 0.8 * p->now[e] - p->moved[e][set[p->node2[e]] ? move : 1 - move];
    return cost;
}

static double exhaust(const problem *p) {
    bool set[MAX_NODES] = {false};
    double least = INFINITY;
    for (uint32_t bits = 1; bits < 1u << (p->graph.num_nodes - 1); ++bits) {
        for (uint32_t v = 1; v < p->graph.num_nodes; ++v)
            set[v] = bits >> (v - 1) & 1;
        for (int move = 0; move < MOVES; ++move)
            least = fmin(least, cost_of(p, set, move));
    }
    return least;
}

/* What is said of the cut is what its edges say. */
static void check_cut(const problem *p, const psfm_runner_up *r) {
    bool set[MAX_NODES] = {false};
    uint32_t agreeing = 0;
    double now = 0.0, moved = 0.0;
    int move = r->back ? 1 - r->move : r->move;
    for (uint32_t k = 0; k < r->num_nodes; ++k) {
        assert_true(k == 0 || r->node[k] > r->node[k - 1]);
        set[r->node[k]] = true;
    }
    assert_false(set[r->reference]);
    assert_true(2 * r->num_nodes <= p->graph.num_nodes);
    for (uint32_t e = 0; e < p->graph.num_edges; ++e) {
        if (set[p->node1[e]] == set[p->node2[e]])
            continue;
        now += p->now[e];
        moved += p->moved[e][set[p->node2[e]] ? move : 1 - move];
        if (p->agrees[e])
            assert_int_equal(r->edge[agreeing++], e);
    }
    assert_int_equal(r->num_agreeing, agreeing);
    assert_close(r->agreeing, now / 2.0, 1e-12);
    assert_close(r->opposing, moved / 2.0, 1e-12);
}

static void equals_exhaustive_search(void **state) {
    problem *p = calloc(1, sizeof *p);
    for (uint64_t seed = 0; seed < 200; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 8);
        psfm_runner_ups found;
        make_connected(&rng, 2 + (uint32_t)(seed % 11), p);
        find_runner_ups(*state, p, 1.0, &found);
        assert_int_equal(found.num, 1);
        check_cut(p, &found.item[0]);
        assert_true(found.item[0].decided);
        assert_close(2.0 * (0.8 * found.item[0].agreeing - found.item[0].opposing), exhaust(p),
                     1e-9);
        psfm_runner_ups_free(&found);
    }
    free(p);
}

static void add_ring(problem *p, uint32_t first, uint32_t num) {
    for (uint32_t k = 0; k < num; ++k) {
        add_edge(p, first + k, first + (k + 1) % num, 2.0, 0.0);
        add_edge(p, first + k, first + (k + 2) % num, 2.0, 0.0);
    }
}

/* Three tight rings, the second on the first by one edge that another contradicts, the third on the
 * second by many: one undecided cut, and both sides of it are parts. */
static void an_undecided_cut_divides(void **state) {
    problem *p = calloc(1, sizeof *p);
    psfm_runner_ups found;
    p->graph = (psfm_topology){30, 0, p->node1, p->node2};
    add_ring(p, 0, 14);
    add_ring(p, 14, 8);
    add_ring(p, 22, 8);
    add_edge(p, 3, 15, 2.0, 0.0);
    add_edge(p, 5, 16, 0.0, 2.0);
    for (uint32_t k = 0; k < 8; ++k)
        add_edge(p, 14 + k, 22 + k, 2.0, 0.0);
    find_runner_ups(*state, p, 0.8, &found);
    assert_int_equal(found.num, 1);
    check_cut(p, &found.item[0]);
    assert_false(found.item[0].decided);
    assert_int_equal(found.item[0].num_nodes, 14);
    assert_int_equal(found.item[0].num_agreeing, 1);
    assert_int_equal(found.item[0].num_opposing, 1);
    for (uint32_t v = 0; v < 30; ++v)
        assert_true((found.part[v] == found.part[0]) == (v < 14));
    assert_true(found.part[0] != UINT32_MAX && found.part[29] == found.part[14]);
    psfm_runner_ups_free(&found);
    free(p);
}

static void evidence_ratio_is_bounded(void **state) {
    (void)state;
    assert_close(psfm_evidence_ratio(0, 0), 1.0, 0.0);
    assert_close(psfm_evidence_ratio(1, 5), 1.0, 0.0);
    assert_close(psfm_evidence_ratio(9.5, 0), 0.05, 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_exhaustive_search),
        cmocka_unit_test(an_undecided_cut_divides),
        cmocka_unit_test(evidence_ratio_is_bounded),
    };
    return cmocka_run_group_tests_name("labelling/runner_up", tests, open_context, close_context);
}
