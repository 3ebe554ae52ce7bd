#include "test_util.h"

#include "planarsfm/graph.h"

/* A square with both diagonals, and a node that hangs on it. */
static const uint32_t edges[7][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}, {1, 3}, {3, 4}};
static const double weight[7] = {1.0, 2.0, 9.0, 3.0, 4.0, 8.0, 2.5};

static psfm_graph make_graph(void) {
    return (psfm_graph){sizeof(psfm_graph), 5, 7, *edges, weight};
}

static void test_tree(void **state) {
    psfm_context *ctx = *state;
    psfm_graph graph = make_graph();
    const uint32_t expected[4] = {0, 1, 3, 6}, unconnected[1][2] = {{0, 1}};
    uint32_t tree[4], label[5], num;
    double range[2];
    assert_ok(ctx, psfm_min_range_tree(ctx, &graph, tree, range));
    /* Edges 1, 6, 3, 4 have a range of 2, from 2 to 4, as have 0, 1, 6, 3, which starts lower. */
    assert_memory_equal(tree, expected, sizeof tree);
    assert_true(range[0] == 1.0 && range[1] == 3.0);
    assert_ok(ctx, psfm_min_range_tree(ctx, &graph, tree, NULL));
    assert_ok(ctx, psfm_graph_components(ctx, &graph, label, &num));
    assert_int_equal(num, 1);
    psfm_graph parts = {sizeof parts, 3, 1, *unconnected, NULL};
    assert_ok(ctx, psfm_graph_components(ctx, &parts, label, &num));
    assert_true(num == 2 && label[1] == 0 && label[2] == 1);
    parts.weight = weight;
    assert_int_equal(psfm_min_range_tree(ctx, &parts, tree, range), PSFM_ERR_ARGUMENT);
}

static void test_extensions(void **state) {
    psfm_context *ctx = *state;
    psfm_graph graph = make_graph();
    const uint32_t tree[4] = {6, 3, 1, 0};
    bool in_graph[7], is_cut[5], is_bridge[7];
    uint32_t component[7], num;
    uint64_t num_free;
    double range[2];
    assert_ok(ctx,
              psfm_biconnected_extension(ctx, &graph, tree, in_graph, is_cut, is_bridge, range));
    assert_true(is_cut[3] && !is_cut[0] && is_bridge[6] && !is_bridge[0]);
    assert_true(in_graph[4] && range[0] == 1.0);
    assert_ok(ctx, psfm_biconnected_extension(ctx, &graph, tree, in_graph, NULL, NULL, NULL));
    assert_ok(ctx, psfm_find_rigid_components(ctx, &graph, component, &num, &num_free));
    assert_true(num == 2 && component[6] == 1 && component[0] == 0 && num_free == 1);
    assert_ok(ctx, psfm_find_rigid_components(ctx, &graph, component, &num, NULL));
    memset(in_graph, 0, sizeof in_graph);
    assert_ok(ctx, psfm_extend_rigidly(ctx, &graph, in_graph));
    assert_true(in_graph[6] && in_graph[0]);
}

/* A path of two: the eigenvector is (1, -1), of unit D-norm. */
static void test_embedding(void **state) {
    psfm_context *ctx = *state;
    size_t row_begin[4] = {0, 1, 2, 2};
    uint32_t col[2] = {1, 0}, component[3];
    double value[2] = {2.0, 2.0}, h[3];
    psfm_csr S = {3, row_begin, col, value};
    assert_ok(ctx, psfm_embed_similarity(ctx, &S, h, component));
    assert_close(h[0], 0.5, 1e-9);
    assert_close(h[1], -0.5, 1e-9);
    assert_true(h[2] == 0.0 && component[2] == 1);
    value[0] = 1.0; /* not symmetric */
    assert_int_equal(psfm_embed_similarity(ctx, &S, h, NULL), PSFM_ERR_ARGUMENT);
    value[0] = value[1] = -2.0;
    assert_int_equal(psfm_embed_similarity(ctx, &S, h, NULL), PSFM_ERR_ARGUMENT);
    value[0] = value[1] = 2.0;
    col[0] = 3;
    assert_int_equal(psfm_embed_similarity(ctx, &S, h, NULL), PSFM_ERR_ARGUMENT);
}

static void test_refusals(void **state) {
    psfm_context *ctx = *state;
    const uint32_t outside[1][2] = {{0, 5}}, no_tree[4] = {0, 1, 4, 6}, far[4] = {0, 1, 3, 7};
    const double nan[7] = {NAN};
    psfm_graph graph = make_graph(), bare = make_graph(), wrong = make_graph(), odd = make_graph();
    psfm_graph old = make_graph();
    uint32_t tree[4], num;
    bool mark[7];
    double h[3];
    psfm_csr S = {3, NULL, NULL, NULL};
    bare.weight = NULL;
    wrong.edges = *outside;
    wrong.num_edges = 1;
    odd.weight = nan;
    old.struct_size = 0;
    const psfm_status refused[] = {
        psfm_min_range_tree(NULL, &graph, tree, NULL),
        psfm_min_range_tree(ctx, NULL, tree, NULL),
        psfm_min_range_tree(ctx, &graph, NULL, NULL),
        psfm_min_range_tree(ctx, &bare, tree, NULL),
        psfm_min_range_tree(ctx, &wrong, tree, NULL),
        psfm_min_range_tree(ctx, &odd, tree, NULL),
        psfm_min_range_tree(ctx, &old, tree, NULL),
        psfm_graph_components(ctx, &graph, NULL, &num),
        psfm_graph_components(ctx, &graph, tree, NULL),
        psfm_biconnected_extension(ctx, &graph, NULL, mark, NULL, NULL, NULL),
        psfm_biconnected_extension(ctx, &graph, tree, NULL, NULL, NULL, NULL),
        psfm_biconnected_extension(ctx, &graph, no_tree, mark, NULL, NULL, NULL),
        psfm_biconnected_extension(ctx, &graph, far, mark, NULL, NULL, NULL),
        psfm_extend_rigidly(ctx, &graph, NULL),
        psfm_extend_rigidly(ctx, NULL, mark),
        psfm_find_rigid_components(ctx, &graph, NULL, &num, NULL),
        psfm_find_rigid_components(ctx, &graph, tree, NULL, NULL),
        psfm_embed_similarity(ctx, NULL, h, NULL),
        psfm_embed_similarity(ctx, &S, h, NULL),
        psfm_embed_similarity(ctx, &S, NULL, NULL),
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; ++k)
        if (refused[k] != PSFM_ERR_ARGUMENT)
            fail_msg("call %zu gave %s", k, psfm_status_name(refused[k]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_embedding),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
