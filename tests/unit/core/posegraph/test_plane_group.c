#include "plane_graph.h"

#include "core/posegraph/plane_group.h"

static const test_plane planes[] = {{{0, 0, 1}, 0}, {{1, 0, 0}, 8}, {{0, 1, 0}, 9}};

static void joins_what_is_one_plane(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, 8);
    for (uint32_t v = 0; v + 1 < 8; ++v) /* floor everywhere, each wall in half of the edges */
        plane_graph_add(&g, v, v + 1, planes, v < 4 ? (int[]){0, 1} : (int[]){0, 2}, 2);
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g.graph));
    psfm_plane_groups groups;
    assert_ok(ctx, psfm_plane_groups_find(ctx, &g.graph, NULL, &groups));
    assert_int_equal(groups.num_groups, 3);
    for (uint32_t p = 0; p < g.graph.num_planes; ++p)
        assert_int_equal(groups.group[p], p % 2 == 0 ? 0 : g.graph.planes[p].edge < 4 ? 1 : 2);
    psfm_plane_groups_free(&groups);

    /* Without the edge in the middle the floor falls apart, and its planes have no group. */
    bool keep[7] = {true, true, true, false, true, true, true};
    assert_ok(ctx, psfm_plane_groups_find(ctx, &g.graph, keep, &groups));
    assert_int_equal(groups.num_groups, 4);
    assert_int_equal(groups.group[6], UINT32_MAX);
    psfm_plane_groups_free(&groups);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

static void normals_and_edges_keep_planes_apart(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, 3);
    plane_graph_add(&g, 0, 1, planes, (int[]){0}, 1);
    plane_graph_add(&g, 1, 2, planes, (int[]){1}, 1);
    for (uint32_t i = 0; i < TEST_POINTS; ++i) /* the same keypoints, another normal */
        g.graph.planes[1].keypoints1[i] = i;
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g.graph));
    psfm_plane_groups groups;
    assert_ok(ctx, psfm_plane_groups_find(ctx, &g.graph, NULL, &groups));
    assert_int_equal(groups.num_groups, 2);
    psfm_plane_groups_free(&groups);
    g.graph.hypotheses[1].weight = 0.0; /* not chosen */
    assert_ok(ctx, psfm_plane_groups_find(ctx, &g.graph, NULL, &groups));
    assert_int_equal(groups.num_groups, 1);
    assert_int_equal(groups.group[1], UINT32_MAX);
    psfm_plane_groups_free(&groups);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* Tilts the normal of an edge and shortens its baseline to a hundredth. */
static void weaken(plane_graph *g, uint32_t edge, double tilt) {
    psfm_plane_motion *m = &g->graph.hypotheses[g->graph.edges[edge].hypothesis_begin].motion;
    double turn[9], n[3];
    psfm_rotation_exp((double[3]){tilt, 0, 0}, turn);
    psfm_mat3_mul_vec(turn, m->n1, n);
    memcpy(m->n1, n, sizeof n);
    psfm_mat3_mul_vec(m->R_21, n, m->n2);
    psfm_scale3(0.01, m->t_21, m->t_21);
}

/* Two short baselines in a row have normals that are off to different sides; what is about them
 * tells that it is one plane. A wall there stays another one. */
static void goes_on_across_short_baselines(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int is_wall = 0; is_wall < 2; ++is_wall) {
        psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
        plane_graph g = plane_graph_cameras(&rng, 8);
        for (uint32_t v = 0; v + 1 < 8; ++v)
            plane_graph_add(&g, v, v + 1, planes, v < 4 || !is_wall ? (int[]){0} : (int[]){1}, 1);
        for (uint32_t e = 0; e < 7; ++e) /* the same keypoints everywhere */
            for (uint32_t i = 0; i < TEST_POINTS; ++i)
                g.graph.planes[e].keypoints1[i] = g.graph.planes[e].keypoints2[i] = i;
        weaken(&g, 3, 0.2);
        weaken(&g, 4, -0.2);
        assert_ok(ctx, psfm_pose_graph_index(ctx, &g.graph));
        psfm_plane_groups groups;
        assert_ok(ctx, psfm_plane_groups_find(ctx, &g.graph, NULL, &groups));
        assert_int_equal(groups.num_groups, is_wall ? 2 : 1);
        psfm_plane_groups_free(&groups);
        plane_graph_free(&g);
    }
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_what_is_one_plane),
        cmocka_unit_test(normals_and_edges_keep_planes_apart),
        cmocka_unit_test(goes_on_across_short_baselines),
    };
    return cmocka_run_group_tests_name("posegraph/plane_group", tests, NULL, NULL);
}
