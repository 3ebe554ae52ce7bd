/* Walks along a wall that repeats: some baselines are off by one repetition. */
#include "core/positions/position_shift.h"

#include <math.h>
#include <string.h>

#include "core/base/rng.h"
#include "core/linalg/vec3.h"
#include "test_util.h"

enum { NODES = 12, NEIGHBOURS = 3, EDGES = NODES * NEIGHBOURS };

static const double bay[3] = {3.0, 0.2, 0.0};

typedef struct {
    psfm_context *ctx;
    double truth[NODES][3], centers[NODES][3];
    psfm_weighted_baseline edges[EDGES];
    uint32_t num_edges;
} walk;

static void make_walk(walk *w) {
    *w = (walk){.ctx = psfm_context_create()};
    for (uint32_t v = 0; v < NODES; ++v) {
        w->truth[v][0] = 2.0 * v;
        w->truth[v][1] = 0.3 * sin(v);
        memcpy(w->centers[v], w->truth[v], sizeof *w->truth);
    }
    for (uint32_t a = 0; a < NODES; ++a) {
        for (uint32_t b = a + 1; b < NODES && b <= a + NEIGHBOURS; ++b) {
            psfm_weighted_baseline *edge = &w->edges[w->num_edges++];
            *edge = (psfm_weighted_baseline){.a = a, .b = b, .weight = 1.0 + 0.01 * a};
            psfm_sub3(w->truth[a], w->truth[b], edge->baseline);
        }
    }
}

/* Matches an edge with the next repetition. */
static void falsify(walk *w, uint32_t edge, double times) {
    psfm_axpy3(w->edges[edge].baseline, times, bay, w->edges[edge].baseline);
}

static double value(const walk *w, const double (*centers)[3]) {
    double sum = 0.0;
    for (uint32_t k = 0; k < w->num_edges; ++k) {
        const psfm_weighted_baseline *edge = &w->edges[k];
        double between[3], off[3];
        psfm_sub3(centers[edge->a], centers[edge->b], between);
        psfm_sub3(edge->baseline, between, off);
        sum += edge->weight * psfm_baseline_agreement(off, psfm_norm3(edge->baseline));
    }
    return sum;
}

static bool shift(walk *w) {
    const psfm_shift_problem problem = {w->edges, w->num_edges, NODES, 7};
    bool moved = false;
    assert_ok(w->ctx, psfm_centers_shift(w->ctx, &problem, w->centers[0], &moved));
    return moved;
}

static double worst_error(const walk *w) {
    double worst = 0.0;
    for (uint32_t v = 0; v < NODES; ++v) {
        double own[3], true_one[3], off[3];
        psfm_sub3(w->centers[v], w->centers[0], own);
        psfm_sub3(w->truth[v], w->truth[0], true_one);
        psfm_sub3(own, true_one, off);
        worst = fmax(worst, psfm_norm3(off));
    }
    return worst;
}

static void test_half_of_a_walk_moves_back(void **state) {
    walk w;
    (void)state;
    make_walk(&w);
    falsify(&w, 4, 1.0);
    falsify(&w, 17, -1.0);
    for (uint32_t v = 5; v < NODES; ++v)
        psfm_axpy3(w.centers[v], 1.0, bay, w.centers[v]);
    assert_true(shift(&w));
    assert_below(worst_error(&w), 1e-12);
    assert_false(shift(&w));
    psfm_context_destroy(&w.ctx);
}

/* Edges that are wrong each in its own way ask for nothing together. */
static void test_wild_edges_move_nothing(void **state) {
    psfm_rng rng = psfm_rng_make(5, 0, 0, 0);
    walk w;
    (void)state;
    make_walk(&w);
    for (uint32_t k = 0; k < w.num_edges; k += 4)
        for (int i = 0; i < 3; ++i)
            w.edges[k].baseline[i] += 10.0 * psfm_rng_normal(&rng);
    assert_false(shift(&w));
    assert_close(worst_error(&w), 0.0, 0.0);
    psfm_context_destroy(&w.ctx);
}

/* The largest value of all sets that one repetition could move, by trying each. */
static double best_by_force(const walk *w) {
    double best = 0.0;
    for (uint32_t set = 0; set < 1u << NODES; ++set) {
        double centers[NODES][3];
        for (uint32_t v = 0; v < NODES; ++v)
            psfm_axpy3(w->centers[v], set >> v & 1u ? 1.0 : 0.0, bay, centers[v]);
        best = fmax(best, value(w, (const double(*)[3])centers));
    }
    return best;
}

static void test_no_other_set_is_better(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 20; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, 0, 0, 0);
        walk w;
        make_walk(&w);
        for (uint32_t k = 0; k < w.num_edges; ++k)
            if (psfm_rng_uniform(&rng) < 0.3)
                falsify(&w, k, psfm_rng_uniform(&rng) < 0.5 ? 1.0 : -1.0);
        for (uint32_t v = 0; v < NODES; ++v)
            if (psfm_rng_uniform(&rng) < 0.5)
                psfm_axpy3(w.centers[v], 1.0, bay, w.centers[v]);
        double before = value(&w, (const double(*)[3])w.centers), best = best_by_force(&w);
        bool moved = shift(&w);
        double after = value(&w, (const double(*)[3])w.centers);
        assert_true(moved == (best > before + 0.6));
        assert_true(!moved || after > best - 1e-9);
        psfm_context_destroy(&w.ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_of_a_walk_moves_back),
        cmocka_unit_test(test_wild_edges_move_nothing),
        cmocka_unit_test(test_no_other_set_is_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
