/* The weakest weak_connection of graphs that can be counted by hand. */
#include "core/verdict/weak_connection.h"

#include "core/solve/pose_solution.h"
#include "test_util.h"

enum { NUM = 8, MOST = 32 };

typedef struct {
    psfm_context *ctx;
    psfm_pose_graph graph;
    bool accepted[MOST];
    uint32_t component[NUM];
    double weak_connection[NUM];
} fixture;

static void add(fixture *f, uint32_t a, uint32_t b, bool accepted) {
    f->accepted[f->graph.num_edges] = accepted;
    f->graph.edges[f->graph.num_edges++] = (psfm_edge){.node1 = a, .node2 = b};
}

/* Images 0 to 4 all joined, and so 5 to 7. */
static void make_fixture(fixture *f) {
    *f = (fixture){.ctx = psfm_context_create(), .graph.num_nodes = NUM};
    f->graph.edges = calloc(MOST, sizeof *f->graph.edges);
    for (uint32_t a = 0; a < NUM; ++a)
        for (uint32_t b = a + 1; b < NUM; ++b)
            if ((a < 5) == (b < 5))
                add(f, a, b, true);
}

static void find(fixture *f) {
    psfm_poses poses = {.num_views = NUM, .component = f->component};
    assert_ok(f->ctx, psfm_pose_graph_index(f->ctx, &f->graph));
    assert_ok(f->ctx, psfm_weak_connection_find(f->ctx, &f->graph, f->accepted, &poses, 0,
                                                f->weak_connection));
}

static void free_fixture(fixture *f) {
    psfm_pose_graph_free(&f->graph);
    psfm_context_destroy(&f->ctx);
}

static void test_two_against_one(void **state) {
    fixture f;
    (void)state;
    make_fixture(&f);
    add(&f, 0, 5, true); /* with no neighbour in common */
    add(&f, 1, 6, true);
    add(&f, 2, 7, false);
    find(&f);
    for (uint32_t v = 0; v < NUM; ++v) /* those outside the larger part */
        assert_close(f.weak_connection[v], v < 5 ? 0.0 : 1.5 / 2.5, 1e-12);
    free_fixture(&f);
}

static void test_a_triangle_across_makes_one_part(void **state) {
    fixture f;
    (void)state;
    make_fixture(&f);
    add(&f, 0, 5, true);
    add(&f, 0, 6, true); /* 0, 5 and 6 confirm each other */
    add(&f, 2, 7, false);
    find(&f);
    for (uint32_t v = 0; v < NUM; ++v)
        assert_close(f.weak_connection[v], 0.0, 0.0);
    free_fixture(&f);
}

static void test_other_components_stay(void **state) {
    fixture f;
    (void)state;
    make_fixture(&f);
    add(&f, 0, 5, true);
    for (uint32_t v = 5; v < NUM; ++v) {
        f.component[v] = 1;
        f.weak_connection[v] = 42.0;
    }
    find(&f);
    for (uint32_t v = 0; v < NUM; ++v)
        assert_close(f.weak_connection[v], v < 5 ? 0.0 : 42.0, 0.0);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_against_one),
        cmocka_unit_test(test_a_triangle_across_makes_one_part),
        cmocka_unit_test(test_other_components_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
