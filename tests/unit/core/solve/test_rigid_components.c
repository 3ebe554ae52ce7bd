/* Splitting models where nothing determines a scale. */
#include "test_util.h"

#include "core/solve/rigid_components.h"

#define NONE UINT32_MAX

/* Cameras in a chain; camera k and k + 1 share two points of their own, and consecutive pairs one
 * more point if `tied`. Planes: one per edge, all of one group if `plane`. */
typedef struct {
    psfm_pose_graph graph;
    psfm_robust_edges edges;
    psfm_structure structure;
    psfm_pose_solution solution;
    bool alone[8];
} chain;

static void see(psfm_structure *st, uint32_t first, uint32_t last) {
    size_t end = st->tracks.begin[st->num_points];
    for (uint32_t v = first; v <= last; ++v)
        st->tracks.view[end++] = v;
    st->tracks.begin[++st->num_points] = end;
}

static void make_chain(psfm_context *ctx, uint32_t n, bool tied, bool plane, chain *c) {
    *c = (chain){0};
    c->graph.num_nodes = n;
    c->graph.num_edges = c->graph.num_planes = n - 1;
    c->graph.edges = calloc(n, sizeof *c->graph.edges);
    c->graph.planes = calloc(n, sizeof *c->graph.planes);
    c->edges.accepted = calloc(n, sizeof(bool));
    c->edges.groups.group = calloc(n, sizeof(uint32_t));
    c->edges.groups.num_groups = 1;
    psfm_structure *st = &c->structure;
    st->tracks.begin = calloc(4 * (size_t)n, sizeof *st->tracks.begin);
    st->tracks.view = calloc(12 * (size_t)n, sizeof *st->tracks.view);
    for (uint32_t e = 0; e + 1 < n; ++e) {
        c->graph.edges[e] =
            (psfm_edge){.node1 = e, .node2 = e + 1, .plane_begin = e, .plane_end = e + 1};
        c->edges.accepted[e] = true;
        c->edges.groups.group[e] = plane ? 0 : NONE;
        see(st, e, e + 1);
        see(st, e, e + 1);
        if (tied && e + 2 < n)
            see(st, e, e + 2);
    }
    assert_ok(ctx, psfm_pose_graph_index(ctx, &c->graph));
    assert_ok(ctx, psfm_pose_solution_init(ctx, &c->graph, &c->solution));
    assert_int_equal(c->solution.num_components, 1);
    assert_ok(ctx, psfm_split_undetermined(ctx, &c->graph, &c->edges, &c->structure, &c->solution,
                                           c->alone));
}

static void free_chain(chain *c) {
    psfm_pose_graph_free(&c->graph);
    psfm_robust_edges_free(&c->edges);
    psfm_structure_free(&c->structure);
    psfm_pose_solution_free(&c->solution);
}

/* Pairs that only share a camera can be scaled against each other. */
static void pairs_without_common_points_are_split(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    chain c;
    make_chain(ctx, 5, false, false, &c);
    assert_int_equal(c.solution.num_components, 2);
    assert_int_equal(c.solution.poses.component[0], c.solution.poses.component[1]);
    assert_int_equal(c.solution.poses.component[2], c.solution.poses.component[3]);
    assert_int_not_equal(c.solution.poses.component[0], c.solution.poses.component[2]);
    assert_int_equal(c.solution.poses.component[4], NONE);
    assert_true(c.alone[4]);
    assert_false(c.alone[0]);
    for (int k = 0; k < 2; ++k) {
        assert_true(c.solution.components[k].is_split);
        assert_int_equal(c.solution.components[k].num_images, 2);
    }
    free_chain(&c);
    psfm_context_destroy(&ctx);
}

static void one_common_point_ties_two_pairs(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    chain c;
    make_chain(ctx, 5, true, false, &c);
    assert_int_equal(c.solution.num_components, 1);
    assert_int_equal(c.solution.components[0].num_images, 5);
    assert_false(c.solution.components[0].is_split);
    for (int v = 0; v < 5; ++v)
        assert_false(c.alone[v]);
    free_chain(&c);
    psfm_context_destroy(&ctx);
}

static void one_common_plane_ties_all(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    chain c;
    make_chain(ctx, 5, false, true, &c);
    assert_int_equal(c.solution.num_components, 1);
    assert_int_equal(c.solution.components[0].num_images, 5);
    free_chain(&c);
    psfm_context_destroy(&ctx);
}

/* Cameras 2 and 3 of five stand in one place. The plane ties all; if it ends there, nothing ties
 * the last pair to the first three. */
static void a_rotation_ties_by_its_plane(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int ends = 0; ends < 2; ++ends) {
        chain c;
        make_chain(ctx, 5, false, true, &c);
        c.graph.edges[2].is_rotation = true;
        c.edges.groups.group[2] = ends ? NONE : 0;
        c.edges.groups.group[3] = ends ? 1 : 0;
        c.edges.groups.num_groups = 2;
        c.structure.num_points = 0;
        assert_ok(ctx, psfm_split_undetermined(ctx, &c.graph, &c.edges, &c.structure, &c.solution,
                                               c.alone));
        assert_int_equal(c.solution.num_components, ends ? 2 : 1);
        assert_int_equal(c.solution.components[0].num_images, ends ? 3 : 5);
        free_chain(&c);
    }
    psfm_context_destroy(&ctx);
}

/* A chain of directions leaves one scale per edge open but the first; a triangle none. */
static void directions_alone_are_counted(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    chain c;
    make_chain(ctx, 4, true, false, &c);
    assert_ok(ctx, psfm_count_undetermined(ctx, &c.graph, NULL, &c.solution));
    assert_int_equal(c.solution.components[0].num_free, 2);
    c.graph.edges[1].node1 = 0; /* 0-1, 0-2, 2-3 */
    c.graph.edges[2].node1 = 1; /* 1-3 */
    assert_ok(ctx, psfm_count_undetermined(ctx, &c.graph, NULL, &c.solution));
    assert_int_equal(c.solution.components[0].num_free, 2);
    c.graph.edges[2].node2 = 2; /* 0-1, 0-2, 1-2: a triangle; 3 is gone */
    c.solution.poses.component[3] = NONE;
    assert_ok(ctx, psfm_count_undetermined(ctx, &c.graph, NULL, &c.solution));
    assert_int_equal(c.solution.components[0].num_free, 0);
    free_chain(&c);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_without_common_points_are_split),
        cmocka_unit_test(one_common_point_ties_two_pairs),
        cmocka_unit_test(one_common_plane_ties_all),
        cmocka_unit_test(a_rotation_ties_by_its_plane),
        cmocka_unit_test(directions_alone_are_counted),
    };
    return cmocka_run_group_tests_name("solve/rigid_components", tests, NULL, NULL);
}
