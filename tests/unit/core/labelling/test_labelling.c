#include "test_util.h"

#include "core/base/rng.h"
#include "core/labelling/labelling.h"

enum { MAX_NODES = 2025, MAX_EDGES = 8 * MAX_NODES };

typedef struct {
    uint32_t node1[MAX_EDGES], node2[MAX_EDGES];
    double value[MAX_EDGES][4];
    bool truth[MAX_NODES], label[MAX_NODES];
    psfm_topology graph;
} problem;

static double score(const problem *p, const bool *label) {
    double sum = 0;
    for (uint32_t e = 0; e < p->graph.num_edges; ++e)
        sum += p->value[e][2 * label[p->node1[e]] + label[p->node2[e]]];
    return sum;
}

/* A random graph with a value for each state of each edge, some edges parallel, some nodes alone.
 */
static void random_problem(uint64_t seed, uint32_t n, problem *p) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
    uint32_t num = (uint32_t)psfm_rng_below(&rng, 3 * n);
    for (uint32_t e = 0; e < num; ++e) {
        uint32_t ends[2];
        psfm_rng_sample(&rng, n, 2, ends);
        p->node1[e] = ends[0];
        p->node2[e] = ends[1];
        for (int s = 0; s < 4; ++s)
            p->value[e][s] = psfm_rng_uniform(&rng);
    }
    for (uint32_t v = 0; v < n; ++v)
        p->label[v] = psfm_rng_uniform(&rng) < 0.5;
    p->graph = (psfm_topology){n, num, p->node1, p->node2};
}

/* The largest sum of all labellings, and of those that differ from `label` but not at node 0. */
static void exhaust(const problem *p, const bool *label, double *best, double *next) {
    bool x[MAX_NODES] = {0};
    uint32_t n = p->graph.num_nodes;
    *best = *next = -INFINITY;
    for (uint32_t bits = 0; bits < 1u << n; ++bits) {
        bool same = true;
        for (uint32_t v = 0; v < n; ++v) {
            x[v] = bits >> v & 1;
            same = same && x[v] == label[v];
        }
        double sum = score(p, x);
        *best = fmax(*best, sum);
        if (!same && x[0] == label[0])
            *next = fmax(*next, sum);
    }
}

static void solve(psfm_context *ctx, const psfm_labelling_options *options, problem *p,
                  psfm_labelling_result *result) {
    double before = score(p, p->label);
    psfm_labelling_problem asked = {&p->graph, (const double(*)[4])p->value, 0};
    assert_ok(ctx, psfm_labelling_best(ctx, &asked, options, p->label, result));
    assert_close(result->score, score(p, p->label), 1e-9 * (1 + fabs(result->score)));
    assert_close(result->gain, result->score - before, 1e-9 * (1 + fabs(result->score)));
    assert_true(result->gain >= 0.0);
}

/* On 400 small graphs: how often the largest sum is missed. */
static int count_missed(psfm_context *ctx, const psfm_labelling_options *options, bool exact) {
    int missed = 0;
    problem *p = calloc(1, sizeof *p);
    for (uint32_t seed = 0; seed < 400; ++seed) {
        psfm_labelling_result result;
        bool flip[MAX_NODES], fixed[MAX_NODES] = {true};
        double best, next;
        random_problem(seed, 2 + seed % 13, p);
        solve(ctx, options, p, &result);
        assert_true(result.exact || !exact);
        exhaust(p, p->label, &best, &next);
        assert_true(result.score <= best + 1e-9);
        missed += result.score < best - 1e-9;
        psfm_labelling_problem asked = {&p->graph, (const double(*)[4])p->value, 0};
        assert_ok(ctx,
                  psfm_labelling_runner_up(ctx, &asked, p->label, fixed, options, flip, &result));
        assert_true(result.score <= next + 1e-9);
        missed += result.score < next - 1e-9;
        assert_false(flip[0]);
        for (uint32_t v = 0; v < p->graph.num_nodes; ++v)
            p->label[v] ^= flip[v];
        assert_close(score(p, p->label), result.score, 1e-9);
    }
    free(p);
    return missed;
}

static void equals_exhaustive_search(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    assert_int_equal(count_missed(ctx, NULL, true), 0);
    psfm_context_destroy(&ctx);
}

/* The search that takes over where tables grow too large, made to on graphs that can be checked. */
static void search_seldom_misses_the_best(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_labelling_options options = psfm_labelling_defaults;
    options.exact_width = 0;
    options.search_width = 2;
    assert_true(count_missed(ctx, &options, false) <= 4);
    psfm_context_destroy(&ctx);
}

/* Edges that ask for equal or different labels by the truth, a share of them falsely. */
static void plant(psfm_rng *rng, double wrong, problem *p, uint32_t num_nodes, uint32_t num_edges) {
    for (uint32_t v = 0; v < num_nodes; ++v)
        p->truth[v] = psfm_rng_uniform(rng) < 0.5;
    for (uint32_t e = 0; e < num_edges; ++e) {
        bool differ = p->truth[p->node1[e]] ^ p->truth[p->node2[e]];
        differ ^= psfm_rng_uniform(rng) < wrong;
        double weight = psfm_rng_range(rng, 0.5, 1.0);
        for (int s = 0; s < 4; ++s)
            p->value[e][s] = (s == 1 || s == 2) == differ ? weight : 0.0;
    }
    memset(p->label, 0, sizeof p->label);
    p->graph = (psfm_topology){num_nodes, num_edges, p->node1, p->node2};
}

static void make_ring(psfm_rng *rng, uint32_t n, uint32_t neighbours, double wrong, problem *p) {
    for (uint32_t v = 0; v < n; ++v) {
        for (uint32_t k = 0; k < neighbours; ++k) {
            p->node1[neighbours * v + k] = v;
            p->node2[neighbours * v + k] = (v + 1 + k) % n;
        }
    }
    plant(rng, wrong, p, n, neighbours * n);
}

static void rings_are_exact(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    problem *p = calloc(1, sizeof *p);
    for (uint32_t n = 100; n <= 2000; n = n < 500 ? n + 200 : n + 500)
        for (uint32_t neighbours = 1; neighbours <= 4; ++neighbours) {
            psfm_rng rng = psfm_rng_make(n, PSFM_RNG_TEST, neighbours, 0);
            psfm_labelling_result result;
            make_ring(&rng, n, neighbours, 0.3, p);
            solve(ctx, NULL, p, &result);
            assert_true(result.exact);
            assert_true(result.score >= score(p, p->truth) - 1e-9);
        }
    free(p);
    psfm_context_destroy(&ctx);
}

/* A grid with diagonals: far too wide for exact tables. */
static void make_grid(psfm_rng *rng, uint32_t side, double wrong, problem *p) {
    uint32_t num = 0;
    for (uint32_t v = 0; v < side * side; ++v) {
        bool right = v % side + 1 < side, down = v / side + 1 < side;
        uint32_t to[3] = {v + 1, v + side, v + side + 1};
        bool there[3] = {right, down, right && down};
        for (int k = 0; k < 3; ++k)
            if (there[k]) {
                p->node1[num] = v;
                p->node2[num++] = to[k];
            }
    }
    plant(rng, wrong, p, side * side, num);
}

static void grids_are_not_below_the_truth(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    problem *p = calloc(1, sizeof *p);
    for (uint32_t side = 10; side <= 45; side += 7)
        for (int wrong = 5; wrong <= 25; wrong += 10) {
            psfm_rng rng = psfm_rng_make(side, PSFM_RNG_TEST, (uint64_t)wrong, 1);
            psfm_labelling_result result;
            make_grid(&rng, side, wrong / 100.0, p);
            solve(ctx, NULL, p, &result);
            assert_true(result.score >= score(p, p->truth) - 1e-9);
        }
    free(p);
    psfm_context_destroy(&ctx);
}

/* The truth of a grid in which few edges are wrong: that nothing is better is shown, not searched.
 */
static void what_is_best_on_a_grid_is_known_to_be(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    problem *p = calloc(1, sizeof *p);
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 2);
    psfm_labelling_result result;
    make_grid(&rng, 45, 0.02, p);
    memcpy(p->label, p->truth, sizeof p->label);
    solve(ctx, NULL, p, &result);
    assert_true(result.exact);
    assert_true(result.gain == 0.0);
    free(p);
    psfm_context_destroy(&ctx);
}

/* Small graphs that start from the truth, some of which something is better than: whatever is said
 * to be best is. */
static void only_what_is_best_is_said_to_be(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    problem *p = calloc(1, sizeof *p);
    psfm_labelling_options options = psfm_labelling_defaults;
    options.exact_width = 0;
    int known = 0, bettered = 0;
    for (uint32_t seed = 0; seed < 400; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 3);
        psfm_labelling_result result;
        double best, next;
        make_ring(&rng, 12, 3, 0.2, p);
        memcpy(p->label, p->truth, sizeof p->label);
        solve(ctx, &options, p, &result);
        exhaust(p, p->label, &best, &next);
        assert_true(!result.exact || result.score >= best - 1e-9);
        known += result.exact;
        bettered += result.gain > 0.0;
    }
    assert_true(known > 100);
    assert_true(bettered > 20);
    free(p);
    psfm_context_destroy(&ctx);
}

/* The same with tables too narrow for the graph, but not for what is left of it once bound nodes
 * are contracted. Values differ by which end flips. */
static void what_is_bound_is_contracted(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    problem *p = calloc(1, sizeof *p);
    psfm_labelling_options options = psfm_labelling_defaults;
    options.exact_width = 3;
    int known = 0, bettered = 0;
    for (uint32_t seed = 0; seed < 400; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 4);
        psfm_labelling_result result;
        double best, next;
        make_ring(&rng, 12, 4, 0.1, p);
        for (uint32_t e = 0; e < p->graph.num_edges; ++e)
            for (int s = 0; s < 4; ++s)
                p->value[e][s] *= psfm_rng_range(&rng, 0.9, 1.0);
        for (uint32_t v = 0; v < 12; ++v)
            p->label[v] = p->truth[v] ^ (v < seed % 4);
        solve(ctx, &options, p, &result);
        exhaust(p, p->label, &best, &next);
        assert_true(!result.exact || result.score >= best - 1e-9);
        known += result.exact;
        bettered += result.exact && result.gain > 0.0;
    }
    assert_true(known > 100);
    assert_true(bettered > 20);
    free(p);
    psfm_context_destroy(&ctx);
}

/* A grid of which some squares are turned, up to a quarter of it: exact, as wide as it is. */
static void turned_squares_of_a_grid_are_exact(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    problem *p = calloc(1, sizeof *p);
    enum { SIDE = 45 };
    static const uint32_t square[4][3] = {{3, 4, 2}, {20, 6, 5}, {10, 20, 22}, {40, 2, 1}};
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 5);
    psfm_labelling_result result;
    make_grid(&rng, SIDE, 0.01, p);
    memcpy(p->label, p->truth, sizeof p->label);
    for (int k = 0; k < 4; ++k)
        for (uint32_t i = 0; i < square[k][2]; ++i)
            for (uint32_t j = 0; j < square[k][2]; ++j)
                p->label[(square[k][0] + i) * SIDE + square[k][1] + j] ^= true;
    solve(ctx, NULL, p, &result);
    assert_true(result.exact);
    assert_true(result.score >= score(p, p->truth) - 1e-9);
    free(p);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_exhaustive_search),
        cmocka_unit_test(search_seldom_misses_the_best),
        cmocka_unit_test(rings_are_exact),
        cmocka_unit_test(grids_are_not_below_the_truth),
        cmocka_unit_test(what_is_best_on_a_grid_is_known_to_be),
        cmocka_unit_test(only_what_is_best_is_said_to_be),
        cmocka_unit_test(what_is_bound_is_contracted),
        cmocka_unit_test(turned_squares_of_a_grid_are_exact),
    };
    return cmocka_run_group_tests_name("labelling/labelling", tests, NULL, NULL);
}
