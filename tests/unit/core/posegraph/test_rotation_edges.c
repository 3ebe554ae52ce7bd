/* What rotations take from the edges beside them. Keypoints of plane p are p * TEST_POINTS + 0, 1,
 * ... in all images. */
#include "plane_graph.h"

#include "core/posegraph/rotation_edges.h"

/* A floor, a wall, and another floor that is higher. */
static const test_plane planes[] = {{{0, 0, 1}, 0}, {{1, 0, 0}, -9}, {{0, 0, 1}, 1.2}};

/* Adds the edge (a, b) as a rotation that shows the first num[p] keypoints of each plane. */
static void add_rotation(plane_graph *g, uint32_t a, uint32_t b, const uint32_t num[3]) {
    psfm_pose_graph *p = &g->graph;
    psfm_edge_plane *plane = &p->planes[p->num_planes];
    uint32_t e = p->num_edges;
    plane_graph_add(g, a, b, planes, (int[]){0}, 1);
    p->edges[e].is_rotation = true;
    psfm_plane_motion *m = &p->hypotheses[plane->hypothesis_begin].motion;
    memset(m->n1, 0, sizeof m->n1);
    memset(m->n2, 0, sizeof m->n2);
    assert_below(psfm_norm3(m->t_21), 1e-15);
    free(plane->keypoints1);
    free(plane->keypoints2);
    plane->keypoints1 = calloc(3 * TEST_POINTS, sizeof(uint32_t));
    plane->keypoints2 = calloc(3 * TEST_POINTS, sizeof(uint32_t));
    plane->partner = calloc(3 * TEST_POINTS, sizeof(uint32_t));
    plane->num_inliers = 0;
    for (uint32_t k = 0; k < 3; ++k)
        for (uint32_t i = 0; i < num[k]; ++i) {
            uint32_t at = plane->num_inliers++;
            plane->keypoints1[at] = plane->keypoints2[at] = plane->partner[at] =
                k * TEST_POINTS + i;
        }
}

/* Cameras in one place from `first` to `last`. */
static plane_graph make_cameras(uint32_t n, uint32_t first, uint32_t last) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, n);
    for (uint32_t v = first; v <= last; ++v)
        memcpy(g.center[v], g.center[first], sizeof *g.center);
    return g;
}

static psfm_plane_groups find_groups(psfm_context *ctx, plane_graph *g) {
    psfm_plane_groups groups;
    bool keep[16];
    memset(keep, true, sizeof keep);
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g->graph));
    assert_ok(ctx, psfm_rotation_edges_find_planes(ctx, keep, 4, &g->graph));
    assert_ok(ctx, psfm_plane_groups_find(ctx, &g->graph, keep, &groups));
    return groups;
}

/* 0-1 and 3-4 see the floor, 1-2 and 2-3 are rotations that also show some of the wall. */
static void planes_go_on_across(void **state) {
    plane_graph g = make_cameras(5, 1, 3);
    plane_graph_add(&g, 0, 1, planes, (int[]){0, 1}, 2);
    add_rotation(&g, 1, 2, (uint32_t[]){20, 10, 0});
    add_rotation(&g, 2, 3, (uint32_t[]){15, 10, 5});
    plane_graph_add(&g, 3, 4, planes, (int[]){0}, 1);
    psfm_plane_groups groups = find_groups(*state, &g);
    assert_int_equal(groups.group[2], groups.group[0]); /* plane 1 is the wall of the first edge */
    assert_int_equal(groups.group[3], groups.group[0]);
    assert_int_equal(groups.group[4], groups.group[0]);
    assert_int_not_equal(groups.group[1], groups.group[0]);
    assert_int_equal(g.graph.planes[2].num_inliers, 20);
    assert_int_equal(g.graph.planes[3].num_inliers, 15);
    const psfm_plane_motion *m = &g.graph.hypotheses[g.graph.planes[3].hypothesis_begin].motion;
    const psfm_plane_motion truth = true_motion(&g, 2, 3, &planes[0]);
    for (int k = 0; k < 3; ++k) {
        assert_close(m->n1[k], truth.n1[k], 1e-12);
        assert_close(m->n2[k], truth.n2[k], 1e-12);
    }
    psfm_plane_groups_free(&groups);
    plane_graph_free(&g);
}

/* The other edge sees a floor that is as level, and of which the rotation shows as much: it has the
 * same normal and another distance, and is not taken for the first. */
static void parallel_planes_stay_apart(void **state) {
    plane_graph g = make_cameras(4, 1, 2);
    plane_graph_add(&g, 0, 1, planes, (int[]){0}, 1);
    add_rotation(&g, 1, 2, (uint32_t[]){25, 0, 20});
    plane_graph_add(&g, 2, 3, planes, (int[]){2}, 1);
    psfm_plane_groups groups = find_groups(*state, &g);
    assert_int_equal(groups.group[1], groups.group[0]);
    assert_int_not_equal(groups.group[2], groups.group[0]);
    psfm_plane_groups_free(&groups);
    plane_graph_free(&g);
}

static void what_nobody_else_sees_has_no_plane(void **state) {
    plane_graph g = make_cameras(3, 1, 2);
    plane_graph_add(&g, 0, 1, planes, (int[]){0}, 1);
    add_rotation(&g, 1, 2, (uint32_t[]){3, 20, 0});
    psfm_plane_groups groups = find_groups(*state, &g);
    assert_int_equal(groups.group[1], UINT32_MAX);
    assert_int_equal(g.graph.planes[1].num_inliers, 23);
    psfm_plane_groups_free(&groups);
    plane_graph_free(&g);
}

/* 0-1-2 and 3-4 are connected by others; rotations lead from 2 to 3, from 0 to 4, which comes too
 * late, from 0 to 1, and on to 5. */
static void only_what_rotations_connect_is_one_place(void **state) {
    psfm_edge edges[] = {{.node1 = 0, .node2 = 1},
                         {.node1 = 1, .node2 = 2},
                         {.node1 = 3, .node2 = 4},
                         {.node1 = 2, .node2 = 3, .is_rotation = true},
                         {.node1 = 0, .node2 = 4, .is_rotation = true},
                         {.node1 = 0, .node2 = 1, .is_rotation = true},
                         {.node1 = 3, .node2 = 5, .is_rotation = true}};
    const psfm_pose_graph graph = {.num_nodes = 6, .edges = edges, .num_edges = 7};
    const bool keep[7] = {true, true, true, false, true, true, true};
    uint32_t label[6];
    assert_ok(*state, psfm_rotation_edges_join(*state, &graph, NULL, label));
    assert_memory_equal(label, ((const uint32_t[]){0, 1, 2, 2, 4, 2}), sizeof label);
    assert_ok(*state, psfm_rotation_edges_join(*state, &graph, keep, label));
    assert_memory_equal(label, ((const uint32_t[]){0, 1, 2, 3, 0, 3}), sizeof label);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_go_on_across),
        cmocka_unit_test(parallel_planes_stay_apart),
        cmocka_unit_test(what_nobody_else_sees_has_no_plane),
        cmocka_unit_test(only_what_rotations_connect_is_one_place),
    };
    return cmocka_run_group_tests_name("posegraph/rotation_edges", tests, open_context,
                                       close_context);
}
