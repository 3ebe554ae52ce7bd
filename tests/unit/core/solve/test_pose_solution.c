/* Components of a solution on a graph that is known by hand: 0-1, 3-4-5-6, 7-8; image 2 is alone.
 */
#include "test_util.h"

#include "core/base/alloc.h"
#include "core/solve/pose_solution.h"

#define NONE UINT32_MAX
enum { NUM_NODES = 9, NUM_EDGES = 5 };

static psfm_edge edges[NUM_EDGES] = {{.node1 = 0, .node2 = 1},
                                     {.node1 = 3, .node2 = 4},
                                     {.node1 = 4, .node2 = 5},
                                     {.node1 = 5, .node2 = 6},
                                     {.node1 = 7, .node2 = 8}};
static const psfm_pose_graph graph = {
    .num_nodes = NUM_NODES, .edges = edges, .num_edges = NUM_EDGES};

static void assert_components(const psfm_pose_solution *s, const uint32_t expected[NUM_NODES]) {
    assert_memory_equal(s->poses.component, expected, NUM_NODES * sizeof *expected);
}

static void the_largest_component_comes_first(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_pose_solution s;
    assert_ok(ctx, psfm_pose_solution_init(ctx, &graph, &s));
    assert_int_equal(s.num_components, 3);
    assert_components(&s, (const uint32_t[]){1, 1, NONE, 0, 0, 0, 0, 2, 2});
    assert_int_equal(s.components[0].num_images, 4);
    assert_int_equal(s.components[2].num_images, 2);
    psfm_pose_solution_free(&s);
    psfm_context_destroy(&ctx);
}

/* Without 3-4 image 3 is alone and has no pose. */
static void dropped_edges_join_nothing(void **state) {
    (void)state;
    const bool keep[NUM_EDGES] = {true, false, true, true, true};
    psfm_context *ctx = psfm_context_create();
    psfm_pose_solution s;
    assert_ok(ctx, psfm_pose_solution_init(ctx, &graph, &s));
    s.components[0].num_free = 7;
    assert_ok(ctx, psfm_pose_solution_relabel(ctx, &graph, keep, &s));
    assert_int_equal(s.num_components, 3);
    assert_components(&s, (const uint32_t[]){1, 1, NONE, NONE, 0, 0, 0, 2, 2});
    assert_int_equal(s.components[0].num_images, 3);
    assert_int_equal(s.components[0].num_free, 0); /* forgotten */
    psfm_pose_solution_free(&s);
    psfm_context_destroy(&ctx);
}

/* The last pair only turns, and the chain of four does in places. */
static void a_panorama_is_no_component(void **state) {
    (void)state;
    const bool keep[NUM_EDGES] = {true, true, true, true, true};
    psfm_edge own[NUM_EDGES];
    psfm_pose_graph turned = graph;
    psfm_context *ctx = psfm_context_create();
    psfm_pose_solution s;
    memcpy(own, edges, sizeof own);
    own[1].is_rotation = own[3].is_rotation = own[4].is_rotation = true;
    turned.edges = own;
    assert_ok(ctx, psfm_pose_solution_init(ctx, &turned, &s));
    assert_ok(ctx, psfm_pose_solution_drop_still(ctx, &turned, keep, &s));
    assert_int_equal(s.num_components, 2);
    assert_components(&s, (const uint32_t[]){1, 1, NONE, 0, 0, 0, 0, NONE, NONE});
    psfm_pose_solution_free(&s);
    psfm_context_destroy(&ctx);
}

/* The chain of four keeps one image, the last pair gets image 2: it is the largest now. */
static void facts_follow_their_component(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_pose_solution s;
    assert_ok(ctx, psfm_pose_solution_init(ctx, &graph, &s));
    for (uint32_t c = 0; c < 3; ++c) {
        s.components[c].num_free = 10 + c;
        assert_ok(ctx, PSFM_ALLOC(ctx, 1, &s.components[c].bridges));
        s.components[c].bridges[0] = c;
    }
    s.poses.component[4] = s.poses.component[5] = s.poses.component[6] = NONE;
    s.poses.component[2] = 2;
    assert_ok(ctx, psfm_pose_solution_compact(ctx, &s));
    assert_int_equal(s.num_components, 2);
    assert_components(&s, (const uint32_t[]){1, 1, 0, NONE, NONE, NONE, NONE, 0, 0});
    assert_int_equal(s.components[0].num_images, 3);
    assert_int_equal(s.components[0].num_free, 12);
    assert_int_equal(s.components[0].bridges[0], 2);
    assert_int_equal(s.components[1].num_free, 11);
    psfm_pose_solution_free(&s);
    psfm_context_destroy(&ctx);
}

static void a_subgraph_has_its_own_numbers(void **state) {
    (void)state;
    const uint32_t component[NUM_NODES] = {1, 1, NONE, 0, 0, 0, 0, 2, 2};
    const bool keep[NUM_EDGES] = {true, true, false, true, true};
    const double value[NUM_EDGES] = {0.5, 1.5, 2.5, 3.5, 4.5};
    psfm_context *ctx = psfm_context_create();
    psfm_subgraph sub;
    psfm_edge_list list;
    double *weight = NULL;
    assert_ok(ctx, psfm_subgraph_extract(ctx, &graph, component, 0, keep, &sub));
    assert_ok(ctx, psfm_subgraph_weigh(ctx, &sub, value, &weight, &list));
    assert_int_equal(sub.num_nodes, 4);
    assert_memory_equal(sub.node, ((const uint32_t[]){3, 4, 5, 6}), 4 * sizeof *sub.node);
    assert_int_equal(list.num_edges, 2); /* 4-5 is not kept */
    assert_memory_equal(sub.edge, ((const uint32_t[]){1, 3}), 2 * sizeof *sub.edge);
    assert_memory_equal(list.node1, ((const uint32_t[]){0, 2}), 2 * sizeof *list.node1);
    assert_memory_equal(list.node2, ((const uint32_t[]){1, 3}), 2 * sizeof *list.node2);
    assert_true(list.weight[0] == 1.5 && list.weight[1] == 3.5);
    free(weight);
    psfm_subgraph_free(&sub);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_component_comes_first),
        cmocka_unit_test(dropped_edges_join_nothing),
        cmocka_unit_test(a_panorama_is_no_component),
        cmocka_unit_test(facts_follow_their_component),
        cmocka_unit_test(a_subgraph_has_its_own_numbers),
    };
    return cmocka_run_group_tests_name("solve/pose_solution", tests, NULL, NULL);
}
