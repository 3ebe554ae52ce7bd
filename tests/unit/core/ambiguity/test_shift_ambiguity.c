/* Runner-ups of walks along a wall that repeats. */
#include "core/ambiguity/shift_ambiguity.h"

#include <math.h>
#include <string.h>

#include "core/base/rng.h"
#include "core/linalg/vec3.h"
#include "core/positions/position_shift.h"
#include "test_util.h"

enum { NODES = 10, NEIGHBOURS = 3, EDGES = NODES * NEIGHBOURS, FIRST_NODE = 100, FIRST_EDGE = 500 };

#define MAX_RATIO 0.6
#define SEARCH_RATIO 0.8 /* as in shift_ambiguity.c */

static const double bay[3] = {3.0, 0.2, 0.0};

/* The walk's nodes and edges have larger numbers in the graph. */
typedef struct {
    psfm_context *ctx;
    double R[FIRST_NODE + NODES][9], center[FIRST_NODE + NODES][3];
    psfm_placed_nodes nodes;
    psfm_weighted_baseline edges[EDGES];
    uint32_t edge[EDGES], node[NODES];
    psfm_known_baselines known;
    psfm_ambiguities found;
} walk;

static void make_walk(walk *w) {
    *w = (walk){.ctx = psfm_context_create()};
    uint32_t num = 0;
    for (uint32_t v = 0; v < NODES; ++v) {
        double *R = w->R[FIRST_NODE + v], *center = w->center[FIRST_NODE + v];
        R[0] = R[5] = 1.0; /* a quarter turn about x */
        R[7] = -1.0;
        center[0] = 2.0 * v;
        center[1] = 0.3 * sin(v);
        w->node[v] = FIRST_NODE + v;
    }
    for (uint32_t a = 0; a < NODES; ++a) {
        for (uint32_t b = a + 1; b < NODES && b <= a + NEIGHBOURS; ++b) {
            psfm_weighted_baseline *edge = &w->edges[num];
            *edge = (psfm_weighted_baseline){.a = a, .b = b, .weight = 1.0 + 0.01 * a};
            psfm_sub3(w->center[FIRST_NODE + a], w->center[FIRST_NODE + b], edge->baseline);
            w->edge[num] = FIRST_EDGE + num;
            ++num;
        }
    }
    w->nodes = (psfm_placed_nodes){FIRST_NODE + NODES, (const double(*)[9])w->R,
                                   (const double(*)[3])w->center};
    w->known = (psfm_known_baselines){w->edges, w->edge, num, w->node, NODES};
}

static void free_walk(walk *w) {
    psfm_ambiguities_free(&w->found);
    psfm_context_destroy(&w->ctx);
}

static void find(walk *w) {
    assert_ok(w->ctx,
              psfm_shift_ambiguities_find(w->ctx, &w->known, &w->nodes, MAX_RATIO, &w->found));
}

/* Lets an edge say that what follows node b, itself included, is a bay further on. */
static void falsify(walk *w, uint32_t edge, double times) {
    psfm_axpy3(w->edges[edge].baseline, -times, bay, w->edges[edge].baseline);
}

/* Six edges cross the gap before node 6; falsifies so many of them, no two at a node first. */
static void falsify_gap(walk *w, uint32_t num) {
    static const uint32_t ends[3][2] = {{5, 6}, {4, 7}, {3, 6}};
    for (uint32_t k = 0; k < w->known.num_edges; ++k)
        for (uint32_t i = 0; i < num; ++i)
            if (w->edges[k].a == ends[i][0] && w->edges[k].b == ends[i][1])
                falsify(w, k, 1.0);
}

static void nothing_asks_nothing_shifts(void **state) {
    walk w;
    (void)state;
    make_walk(&w);
    find(&w);
    assert_int_equal(w.found.num, 0);
    free_walk(&w);
}

/* Two of six want the rest of the walk a bay further on. */
static void four_edges_decide(void **state) {
    walk w;
    (void)state;
    make_walk(&w);
    falsify_gap(&w, 2);
    find(&w);
    assert_int_equal(w.found.num, 1);
    const psfm_ambiguity *a = &w.found.item[0];
    assert_int_equal(a->kind, PSFM_AMBIGUITY_SHIFT);
    assert_true(a->cut.decided);
    assert_int_equal(a->cut.num_nodes, NODES - 6);
    for (uint32_t k = 0; k < a->cut.num_nodes; ++k)
        assert_int_equal(a->cut.node[k], FIRST_NODE + 6 + k);
    assert_int_equal(a->cut.num_agreeing, 4);
    assert_int_equal(a->cut.num_opposing, 2);
    assert_true(a->cut.edge[0] >= FIRST_EDGE);
    const double *ruler = w.edges[a->ruler - FIRST_EDGE].baseline;
    assert_close(a->shift * psfm_norm3(ruler), psfm_norm3(bay), 1e-9);
    assert_close(a->direction[0], bay[0] / psfm_norm3(bay), 1e-9); /* and y became -z */
    assert_close(a->direction[2], -bay[1] / psfm_norm3(bay), 1e-9);
    assert_int_equal(w.found.part[FIRST_NODE], UINT32_MAX); /* nothing is cut */
    free_walk(&w);
}

/* Three of six: the photographs do not tell. */
static void an_even_gap_is_cut(void **state) {
    walk w;
    (void)state;
    make_walk(&w);
    falsify_gap(&w, 3);
    find(&w);
    assert_true(w.found.num >= 1);
    assert_false(w.found.item[0].cut.decided);
    assert_int_equal(w.found.item[0].cut.num_nodes, NODES - 6);
    for (uint32_t v = 0; v < NODES; ++v)
        assert_int_equal(w.found.part[FIRST_NODE + v], w.found.part[FIRST_NODE + (v < 6 ? 0 : 6)]);
    assert_true(w.found.part[FIRST_NODE] != w.found.part[FIRST_NODE + 6]);
    assert_int_equal(w.found.part[0], UINT32_MAX); /* not of the walk */
    free_walk(&w);
}

/* What speaks for and against the move of a set, as the runner-up weighs it. */
static double value_of(const walk *w, uint32_t set, double times) {
    double value[EDGES][4], shift[3], sum = 0.0;
    const psfm_shift_problem problem = {w->edges, w->known.num_edges, NODES, 0};
    psfm_scale3(times, bay, shift);
    psfm_shift_weigh(&problem, w->center[FIRST_NODE], shift, value);
    for (uint32_t k = 0; k < w->known.num_edges; ++k) {
        uint32_t state = 2 * (set >> w->edges[k].a & 1u) + (set >> w->edges[k].b & 1u);
        double common = fmin(value[k][0], fmax(value[k][1], value[k][2]));
        if (state == 1 || state == 2)
            sum += fmax(0.0, value[k][state] - common) - SEARCH_RATIO * (value[k][0] - common);
    }
    return sum;
}

static void no_other_set_is_weaker(void **state) {
    (void)state;
    uint32_t tried = 0;
    for (uint32_t seed = 0; seed < 20; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, 0, 0, 0);
        walk w;
        make_walk(&w);
        for (uint32_t k = 0; k < w.known.num_edges; ++k)
            if (psfm_rng_uniform(&rng) < 0.15)
                falsify(&w, k, psfm_rng_uniform(&rng) < 0.5 ? 1.0 : -1.0);
        find(&w);
        double best = -INFINITY;
        for (uint32_t set = 1; set < (1u << NODES) - 1; ++set)
            best = fmax(best, fmax(value_of(&w, set, 1.0), value_of(&w, set, -1.0)));
        if (w.found.num > 0) {
            const psfm_runner_up *cut = &w.found.item[0].cut;
            uint32_t set = 0;
            for (uint32_t k = 0; k < cut->num_nodes; ++k)
                set |= 1u << (cut->node[k] - FIRST_NODE);
            assert_close(fmax(value_of(&w, set, 1.0), value_of(&w, set, -1.0)), best, 1e-9);
            ++tried;
        }
        free_walk(&w);
    }
    assert_true(tried > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asks_nothing_shifts),
        cmocka_unit_test(four_edges_decide),
        cmocka_unit_test(an_even_gap_is_cut),
        cmocka_unit_test(no_other_set_is_weaker),
    };
    return cmocka_run_group_tests_name("ambiguity/shift_ambiguity", tests, NULL, NULL);
}
