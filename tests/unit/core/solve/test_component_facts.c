/* What holds models together, against removing every image and every pair in turn. */
#include "test_util.h"

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/base/union_find.h"
#include "core/solve/component_facts.h"

#define NONE UINT32_MAX
enum { MAX_NODES = 24, MAX_EDGES = 2 * MAX_NODES };

typedef struct {
    psfm_pose_graph graph;
    psfm_pose_solution solution;
    bool keep[MAX_EDGES];
} house;

static void begin_house(house *h, uint32_t num_nodes) {
    *h = (house){.graph.num_nodes = num_nodes};
    h->graph.edges = calloc(MAX_EDGES, sizeof *h->graph.edges);
}

static void add_edge(house *h, uint32_t node1, uint32_t node2, bool keep) {
    assert_true(node1 < node2 && h->graph.num_edges < MAX_EDGES);
    h->keep[h->graph.num_edges] = keep;
    h->graph.edges[h->graph.num_edges++] = (psfm_edge){.node1 = node1, .node2 = node2};
}

/* All images in one component, whatever their edges say: points may join them. */
static void end_house(psfm_context *ctx, house *h) {
    psfm_pose_solution *s = &h->solution;
    assert_ok(ctx, psfm_pose_graph_index(ctx, &h->graph));
    assert_ok(ctx, psfm_pose_solution_init(ctx, &h->graph, s));
    for (uint32_t e = 0; e < h->graph.num_edges; ++e)
        s->h[e] = e;
}

static void free_house(house *h) {
    psfm_pose_graph_free(&h->graph);
    psfm_pose_solution_free(&h->solution);
}

static bool is_inside(const house *h, uint32_t e) {
    const psfm_edge *edge = &h->graph.edges[e];
    const uint32_t *component = h->solution.poses.component;
    return h->keep[e] && component[edge->node1] != NONE &&
           component[edge->node1] == component[edge->node2];
}

/* Number of pieces of the kept edges without one edge and one node (NONE: with all); the node
 * itself does not count as a piece. */
static uint32_t count_pieces(const house *h, uint32_t without_edge, uint32_t without_node) {
    uint32_t parent[MAX_NODES], num = 0;
    psfm_sets_init(parent, h->graph.num_nodes);
    for (uint32_t e = 0; e < h->graph.num_edges; ++e) {
        const psfm_edge *edge = &h->graph.edges[e];
        if (is_inside(h, e) && e != without_edge && edge->node1 != without_node &&
            edge->node2 != without_node)
            psfm_sets_unite(parent, edge->node1, edge->node2);
    }
    for (uint32_t v = 0; v < h->graph.num_nodes; ++v)
        num += v != without_node && psfm_sets_find(parent, v) == v;
    return num;
}

static bool has(const uint32_t *list, uint32_t num, uint32_t id) {
    for (uint32_t k = 0; k < num; ++k)
        if (list[k] == id)
            return true;
    return false;
}

static void assert_true_facts(const house *h) {
    const psfm_pose_solution *s = &h->solution;
    uint32_t whole = count_pieces(h, NONE, NONE), degree[MAX_NODES] = {0};
    uint32_t num_cuts[MAX_NODES] = {0}, num_bridges[MAX_NODES] = {0}, num_edges[MAX_NODES] = {0};
    for (uint32_t e = 0; e < s->num_edges; ++e) {
        uint32_t node = h->graph.edges[e].node1, c = s->poses.component[node];
        if (!is_inside(h, e))
            continue;
        bool bridge = count_pieces(h, e, NONE) > whole;
        ++degree[node];
        ++degree[h->graph.edges[e].node2];
        ++num_edges[c];
        num_bridges[c] += bridge;
        assert_int_equal(has(s->components[c].bridges, s->components[c].num_bridges, e), bridge);
    }
    for (uint32_t v = 0; v < s->num_nodes; ++v) {
        uint32_t c = s->poses.component[v];
        if (c == NONE)
            continue;
        bool cut = degree[v] > 0 && count_pieces(h, NONE, v) > whole;
        num_cuts[c] += cut;
        assert_int_equal(has(s->components[c].cut_nodes, s->components[c].num_cut_nodes, v), cut);
    }
    for (uint32_t c = 0; c < s->num_components; ++c) {
        assert_int_equal(s->components[c].num_edges, num_edges[c]);
        assert_int_equal(s->components[c].num_bridges, num_bridges[c]);
        assert_int_equal(s->components[c].num_cut_nodes, num_cuts[c]);
        assert_true(s->components[c].graph_low <= s->components[c].tree_low);
        assert_true(s->components[c].tree_high <= s->components[c].graph_high);
        assert_true(isfinite(s->components[c].graph_high - s->components[c].graph_low));
    }
}

static void an_open_chain_hangs_on_every_pair(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    house h;
    begin_house(&h, 8);
    for (uint32_t v = 0; v + 1 < 8; ++v)
        add_edge(&h, v, v + 1, true);
    add_edge(&h, 0, 7, false); /* would close it, but contradicts */
    end_house(ctx, &h);
    for (uint32_t e = 0; e < 8; ++e)
        h.solution.similarity_component[e] = e / 3;
    assert_ok(ctx, psfm_component_facts_find(ctx, &h.graph, h.keep, &h.solution));
    const psfm_component_facts *facts = h.solution.components;
    assert_int_equal(facts->num_edges, 7);
    assert_int_equal(facts->num_bridges, 7);
    assert_int_equal(facts->num_cut_nodes, 6);
    assert_int_equal(facts->num_similarity_components, 3);
    assert_true(facts->tree_low == 0.0 && facts->tree_high == 6.0);
    assert_true(facts->graph_low == 0.0 && facts->graph_high == 6.0);
    assert_ok(ctx, psfm_component_facts_find(ctx, &h.graph, NULL, &h.solution)); /* closed */
    assert_int_equal(facts->num_edges, 8);
    assert_int_equal(facts->num_bridges, 0);
    assert_int_equal(facts->num_cut_nodes, 0);
    assert_true(facts->tree_low == 0.0 && facts->tree_high == 6.0 && facts->graph_high == 7.0);
    free_house(&h);
    psfm_context_destroy(&ctx);
}

/* Two triangles that points join: no pair between them is kept, and none holds them together. */
static void pieces_are_looked_at_one_by_one(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    house h;
    begin_house(&h, 8);
    for (uint32_t first = 0; first < 6; first += 3) {
        add_edge(&h, first, first + 1, true);
        add_edge(&h, first, first + 2, true);
        add_edge(&h, first + 1, first + 2, true);
    }
    add_edge(&h, 2, 3, false);
    add_edge(&h, 5, 6, true);  /* a pair hangs on the second triangle */
    add_edge(&h, 6, 7, false); /* an image that points alone hold */
    end_house(ctx, &h);
    assert_ok(ctx, psfm_component_facts_find(ctx, &h.graph, h.keep, &h.solution));
    const psfm_component_facts *facts = h.solution.components;
    assert_int_equal(h.solution.num_components, 1);
    assert_true(facts->num_bridges == 1 && facts->bridges[0] == 7);
    assert_true(facts->num_cut_nodes == 1 && facts->cut_nodes[0] == 5);
    assert_true(facts->tree_low == 0.0 && facts->tree_high == 7.0);
    assert_true_facts(&h);
    bool none[MAX_EDGES] = {false};
    assert_ok(ctx, psfm_component_facts_find(ctx, &h.graph, none, &h.solution));
    assert_true(facts->num_edges == 0 && facts->num_bridges == 0 && facts->num_cut_nodes == 0);
    assert_true(facts->tree_low == 0.0 && facts->graph_high == 0.0);
    free_house(&h);
    psfm_context_destroy(&ctx);
}

static bool is_pair(const house *h, uint32_t node1, uint32_t node2) {
    for (uint32_t e = 0; e < h->graph.num_edges; ++e)
        if (h->graph.edges[e].node1 == node1 && h->graph.edges[e].node2 == node2)
            return true;
    return false;
}

/* A random tree and some more pairs; a fifth is not kept, an eighth of the images has no pose. */
static void make_random_house(psfm_context *ctx, uint64_t seed, house *h) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
    uint32_t n = 2 + (uint32_t)psfm_rng_below(&rng, MAX_NODES - 1);
    begin_house(h, n);
    for (uint32_t v = 1; v < n; ++v)
        add_edge(h, (uint32_t)psfm_rng_below(&rng, v), v, psfm_rng_below(&rng, 5) > 0);
    for (size_t k = psfm_rng_below(&rng, n); k > 0; --k) {
        uint32_t b = 1 + (uint32_t)psfm_rng_below(&rng, n - 1);
        uint32_t a = (uint32_t)psfm_rng_below(&rng, b);
        if (!is_pair(h, a, b))
            add_edge(h, a, b, psfm_rng_below(&rng, 5) > 0);
    }
    end_house(ctx, h);
    uint32_t *component = h->solution.poses.component;
    for (uint32_t v = 0; v < n; ++v)
        component[v] = psfm_rng_below(&rng, 8) > 0 ? component[v] : NONE;
    assert_ok(ctx, psfm_pose_solution_compact(ctx, &h->solution));
}

static void agrees_with_removing_everything_in_turn(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 500; ++seed) {
        house h;
        make_random_house(ctx, seed, &h);
        assert_ok(ctx, psfm_component_facts_find(ctx, &h.graph, h.keep, &h.solution));
        assert_true_facts(&h);
        free_house(&h);
    }
    psfm_context_destroy(&ctx);
}

static void survives_every_failing_allocation(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    house h;
    make_random_house(ctx, 7, &h);
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; ++n) {
        psfm_alloc_fail_after(n);
        status = psfm_component_facts_find(ctx, &h.graph, h.keep, &h.solution);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
    }
    assert_true_facts(&h);
    free_house(&h);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_chain_hangs_on_every_pair),
        cmocka_unit_test(pieces_are_looked_at_one_by_one),
        cmocka_unit_test(agrees_with_removing_everything_in_turn),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
