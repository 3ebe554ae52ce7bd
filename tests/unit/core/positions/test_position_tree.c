#include "test_util.h"

#include "core/base/rng.h"
#include "core/base/union_find.h"
#include "core/positions/position_tree.h"

enum { MAX_NODES = 6, MAX_EDGES = 10 };

typedef struct {
    uint32_t num_nodes, num_edges;
    psfm_weighted_baseline edges[MAX_EDGES];
} problem;

/* Baselines that contradict each other, so that centres agree with a spanning tree and no more. */
static void make_random(psfm_rng *rng, uint32_t num_nodes, problem *p) {
    p->num_nodes = num_nodes;
    p->num_edges = (uint32_t)psfm_rng_below(rng, MAX_EDGES + 1);
    for (uint32_t e = 0; e < p->num_edges; ++e) {
        uint32_t ends[2];
        psfm_rng_sample(rng, num_nodes, 2, ends);
        p->edges[e] = (psfm_weighted_baseline){
            .a = ends[0], .b = ends[1], .weight = psfm_rng_range(rng, 0.1, 1.0)};
        for (int i = 0; i < 3; ++i)
            p->edges[e].baseline[i] = psfm_rng_normal(rng);
    }
}

/* The largest weight of a spanning tree, by trying all sets of edges; -1 if there is none. */
static double exhaust(const problem *p) {
    double most = -1.0;
    for (uint32_t bits = 0; bits < 1u << p->num_edges; ++bits) {
        uint32_t parent[MAX_NODES], joined = 1, num = 0;
        double weight = 0.0;
        psfm_sets_init(parent, p->num_nodes);
        for (uint32_t e = 0; e < p->num_edges; ++e) {
            if (!(bits >> e & 1))
                continue;
            ++num;
            joined += psfm_sets_unite(parent, p->edges[e].a, p->edges[e].b);
            weight += p->edges[e].weight;
        }
        if (joined == p->num_nodes && num + 1 == p->num_nodes)
            most = fmax(most, weight);
    }
    return most;
}

static double sum_of_agreeing(const problem *p, const double (*centers)[3]) {
    double sum = 0.0;
    for (uint32_t e = 0; e < p->num_edges; ++e) {
        const psfm_weighted_baseline *edge = &p->edges[e];
        double off = 0.0;
        for (int i = 0; i < 3; ++i)
            off = fmax(off, fabs(centers[edge->a][i] - centers[edge->b][i] - edge->baseline[i]));
        sum += off < 1e-12 ? edge->weight : 0.0;
    }
    return sum;
}

static void centers_agree_with_the_heaviest_tree(void **state) {
    int spanned = 0;
    for (uint32_t seed = 0; seed < 300; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
        double centers[MAX_NODES][3];
        bool spans = false;
        problem p;
        make_random(&rng, 2 + seed % (MAX_NODES - 1), &p);
        for (uint32_t v = 0; v < MAX_NODES; ++v)
            centers[v][0] = 77.0;
        assert_ok(*state, psfm_centers_along_tree(*state, p.num_nodes, p.edges, p.num_edges,
                                                  centers[0], &spans));
        double most = exhaust(&p);
        assert_int_equal(spans, most >= 0.0);
        if (spans)
            assert_close(sum_of_agreeing(&p, (const double(*)[3])centers), most, 1e-12);
        assert_true(centers[0][0] == (spans ? 0.0 : 77.0));
        spanned += spans;
    }
    assert_true(spanned > 100 && spanned < 290);
}

static void a_ruler_stands_for_the_length(void **state) {
    (void)state;
    psfm_weighted_baseline edge = {.baseline = {3, 0, 4}};
    assert_close(psfm_baseline_ruler(&edge), 5.0, 1e-15);
    edge.ruler = 2.0;
    assert_close(psfm_baseline_ruler(&edge), 2.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centers_agree_with_the_heaviest_tree),
        cmocka_unit_test(a_ruler_stands_for_the_length),
    };
    return cmocka_run_group_tests_name("positions/position_tree", tests, open_context,
                                       close_context);
}
