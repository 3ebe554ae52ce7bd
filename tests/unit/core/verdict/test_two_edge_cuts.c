/* Cuts of one and two edges in graphs that can be counted by hand. */
#include "core/verdict/weak_connection.h"

#include "test_util.h"

enum { NUM = 12, MOST = 64 };

typedef struct {
    psfm_context *ctx;
    psfm_pose_graph graph;
    bool accepted[MOST];
    uint32_t component[NUM];
} fixture;

static void add(fixture *f, uint32_t a, uint32_t b, bool accepted) {
    f->accepted[f->graph.num_edges] = accepted;
    f->graph.edges[f->graph.num_edges++] =
        (psfm_edge){.node1 = a < b ? a : b, .node2 = a < b ? b : a};
}

/* A ring in which each image is matched with so many on either side. */
static void make_ring(fixture *f, uint32_t neighbours, bool closed) {
    *f = (fixture){.ctx = psfm_context_create(), .graph.num_nodes = NUM};
    f->graph.edges = calloc(MOST, sizeof *f->graph.edges);
    for (uint32_t v = 0; v < NUM; ++v)
        for (uint32_t k = 1; k <= neighbours; ++k)
            if (closed || v + k < NUM)
                add(f, v, (v + k) % NUM, true);
}

/* Counts and frees. */
static uint32_t count(fixture *f) {
    psfm_poses poses = {.num_views = NUM, .component = f->component};
    uint32_t found = UINT32_MAX;
    assert_ok(f->ctx, psfm_pose_graph_index(f->ctx, &f->graph));
    assert_ok(f->ctx, psfm_two_edge_cuts_count(f->ctx, &f->graph, f->accepted, &poses, 0, &found));
    psfm_pose_graph_free(&f->graph);
    psfm_context_destroy(&f->ctx);
    return found;
}

static void test_chains_and_rings_of_neighbours_are_thin(void **state) {
    fixture f;
    (void)state;
    make_ring(&f, 1, false);
    assert_int_equal(count(&f), NUM - 1);
    make_ring(&f, 1, true);
    assert_int_equal(count(&f), NUM);
}

static void test_triangles_confirm(void **state) {
    fixture f;
    (void)state;
    make_ring(&f, 2, false);
    assert_int_equal(count(&f), 0);
}

/* Triangles on either side, and between them edges that form rectangles only. */
static void test_three_edges_hold_two_do_not(void **state) {
    (void)state;
    for (uint32_t num = 1; num <= 4; ++num) {
        fixture f;
        make_ring(&f, 2, false);
        for (uint32_t e = 0; e < f.graph.num_edges; ++e) /* nothing between 5 and 6 */
            if ((f.graph.edges[e].node1 < 6) != (f.graph.edges[e].node2 < 6))
                f.graph.edges[e--] = f.graph.edges[--f.graph.num_edges];
        for (uint32_t k = 0; k < num; ++k)
            add(&f, k, 6 + k, true);
        assert_int_equal(count(&f), num < 3 ? num : 0);
    }
}

/* Where a rejected edge crosses as well, the runner-up weighs it against the two. */
static void test_a_contradicted_cut_is_not_silent(void **state) {
    fixture f;
    (void)state;
    make_ring(&f, 1, true);
    add(&f, 0, 6, false);
    add(&f, 3, 9, false);
    assert_int_equal(count(&f), NUM);
    make_ring(&f, 1, true);
    for (uint32_t v = 0; v < NUM; ++v)
        add(&f, v, (v + 3) % NUM, false);
    assert_int_equal(count(&f), 0);
}

static void test_other_components_do_not_count(void **state) {
    fixture f;
    (void)state;
    make_ring(&f, 1, false);
    for (uint32_t v = 4; v < NUM; ++v)
        f.component[v] = 1;
    assert_int_equal(count(&f), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains_and_rings_of_neighbours_are_thin),
        cmocka_unit_test(test_triangles_confirm),
        cmocka_unit_test(test_three_edges_hold_two_do_not),
        cmocka_unit_test(test_a_contradicted_cut_is_not_silent),
        cmocka_unit_test(test_other_components_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
