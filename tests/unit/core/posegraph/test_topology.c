#include "test_util.h"

#include "core/posegraph/topology.h"

static const uint32_t node1[] = {0, 3, 4, 1, 1}, node2[] = {2, 5, 3, 2, 0};
static const psfm_topology graph = {7, 5, node1, node2};

static void components_are_numbered_by_their_lowest_node(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    uint32_t label[7], num;
    assert_ok(ctx, psfm_topology_components(ctx, &graph, NULL, label, &num));
    const uint32_t expected[] = {0, 0, 0, 1, 1, 1, 2};
    assert_int_equal(num, 3);
    assert_memory_equal(label, expected, sizeof expected);
    const bool keep[] = {true, true, false, false, false};
    assert_ok(ctx, psfm_topology_components(ctx, &graph, keep, label, &num));
    const uint32_t kept[] = {0, 1, 0, 2, 3, 2, 4};
    assert_int_equal(num, 5);
    assert_memory_equal(label, kept, sizeof kept);
    psfm_context_destroy(&ctx);
}

static void adjacency_lists_ascend(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_adjacency a;
    assert_ok(ctx, psfm_adjacency_init(ctx, &graph, NULL, graph.num_edges, &a));
    const size_t begin[] = {0, 2, 4, 6, 8, 9, 10, 10, 10};
    const uint32_t edge[] = {0, 4, 3, 4, 0, 3, 1, 2, 2, 1};
    assert_memory_equal(a.begin, begin, 8 * sizeof *begin);
    assert_memory_equal(a.edge, edge, sizeof edge);
    psfm_adjacency_free(&a);
    const uint32_t subset[] = {1, 3};
    assert_ok(ctx, psfm_adjacency_init(ctx, &graph, subset, 2, &a));
    assert_int_equal(a.begin[7], 4);
    assert_int_equal(a.edge[a.begin[5]], 1);
    assert_int_equal(psfm_topology_other(&graph, 1, 5), 3);
    psfm_adjacency_free(&a);
    assert_null(a.edge);
    psfm_context_destroy(&ctx);
}

static void bad_edges_are_refused(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const uint32_t a[] = {0, 1}, outside[] = {1, 3}, loop[] = {2, 1};
    psfm_topology bad = {3, 2, a, outside};
    assert_int_equal(psfm_topology_check(ctx, &bad), PSFM_ERR_ARGUMENT);
    bad.node2 = loop;
    assert_int_equal(psfm_topology_check(ctx, &bad), PSFM_ERR_ARGUMENT);
    assert_ok(ctx, psfm_topology_check(ctx, &graph));
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_are_numbered_by_their_lowest_node),
        cmocka_unit_test(adjacency_lists_ascend),
        cmocka_unit_test(bad_edges_are_refused),
    };
    return cmocka_run_group_tests_name("posegraph/topology", tests, NULL, NULL);
}
