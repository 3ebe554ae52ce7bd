#include "test_util.h"

#include "core/linalg/mat3.h"
#include "planarsfm/posegraph.h"

static const uint32_t first[3][2] = {{0, 0}, {1, 1}, {2, 2}}, second[2][2] = {{4, 3}, {3, 4}};

static psfm_plane_motion make_motion(double angle, double nx, double nz) {
    const double w[3] = {0.0, angle, 0.0};
    psfm_plane_motion m = {.t_21 = {1.0, 0.0, 0.0}, .n1 = {nx, 0.0, nz}, .d2_over_d1 = 1.0};
    psfm_rotation_exp(w, m.R_21);
    psfm_mat3_mul_vec(m.R_21, m.n1, m.n2);
    return m;
}

/* Three images, three edges; the first edge has two homographies. */
static psfm_multigraph *make_graph(psfm_context *ctx) {
    psfm_multigraph *graph = psfm_multigraph_create(3);
    psfm_plane_motion two[2] = {make_motion(0.1, 0.0, 1.0), make_motion(0.3, 1.0, 0.0)};
    assert_ok(ctx, psfm_multigraph_add_edge(ctx, graph, 0, 1, two[1].R_21));
    assert_ok(ctx, psfm_multigraph_add_homography(ctx, graph, 2, two, 3, *first));
    assert_ok(ctx, psfm_multigraph_add_homography(ctx, graph, 1, &two[1], 2, *second));
    assert_ok(ctx, psfm_multigraph_add_edge(ctx, graph, 1, 2, NULL));
    assert_ok(ctx, psfm_multigraph_add_homography(ctx, graph, 2, two, 3, *first));
    assert_ok(ctx, psfm_multigraph_add_edge(ctx, graph, 0, 2, NULL));
    return graph;
}

static void test_confidence(void **state) {
    psfm_context *ctx = *state;
    psfm_multigraph *graph = make_graph(ctx);
    psfm_confidence_options linear = {.struct_size = sizeof linear, .inlier_power = 1.0};
    psfm_confidence_options none = {.struct_size = sizeof none, .inlier_power = -1.0};
    uint32_t edges[3][2], edge[5], homography[5];
    double weight[5];
    assert_int_equal(psfm_multigraph_num_edges(graph), 3);
    assert_int_equal(psfm_multigraph_num_hypotheses(graph), 5);
    assert_ok(ctx, psfm_multigraph_edges(ctx, graph, *edges));
    assert_true(edges[1][0] == 1 && edges[1][1] == 2);
    assert_ok(ctx, psfm_multigraph_hypotheses(ctx, graph, edge, homography, NULL, weight));
    assert_true(edge[2] == 0 && homography[2] == 1 && edge[3] == 1 && homography[3] == 0);
    assert_close(weight[0], 1.0 / 3.0, 1e-15);
    /* Both homographies hold the essential's motion, by three inliers and by two. */
    assert_ok(ctx, psfm_confidence(ctx, graph, &linear));
    assert_ok(ctx, psfm_multigraph_hypotheses(ctx, graph, NULL, NULL, NULL, weight));
    assert_close(weight[0], 0.0, 0.0);
    assert_close(weight[1], 0.6, 1e-12);
    assert_close(weight[2], 0.4, 1e-12);
    assert_true(weight[3] == 1.0 && weight[4] == 0.0); /* no essential: the first */
    assert_ok(ctx, psfm_confidence(ctx, graph, &none));
    assert_ok(ctx, psfm_multigraph_hypotheses(ctx, graph, NULL, NULL, NULL, weight));
    assert_close(weight[2], 0.5, 1e-12);
    psfm_multigraph_destroy(&graph);
    assert_null(graph);
    psfm_multigraph_destroy(&graph);
}

/* Two edges that share image 1 and the plane z there; the third shares no keypoint. */
static void test_similarity(void **state) {
    psfm_context *ctx = *state;
    psfm_multigraph *graph = psfm_multigraph_create(3);
    psfm_plane_motion m = make_motion(0.0, 0.0, 1.0), tilted = make_motion(0.0, 0.6, 0.8);
    psfm_similarity_settings bare = {sizeof bare, 1.0, -1.0, -1.0};
    psfm_csr S = {0};
    assert_ok(ctx, psfm_multigraph_add_edge(ctx, graph, 0, 1, NULL));
    assert_ok(ctx, psfm_multigraph_add_homography(ctx, graph, 1, &m, 3, *first));
    assert_ok(ctx, psfm_multigraph_add_edge(ctx, graph, 1, 2, NULL));
    assert_ok(ctx, psfm_multigraph_add_homography(ctx, graph, 1, &tilted, 3, *first));
    assert_ok(ctx, psfm_similarity(ctx, graph, &bare, &S));
    double angle = acos(0.8);
    assert_int_equal(S.n, 2);
    assert_int_equal(S.row_begin[2], 2);
    assert_int_equal(S.col[0], 1);
    assert_close(S.value[0], exp(-angle * angle), 1e-12);
    psfm_csr_free(&S);
    assert_ok(ctx, psfm_similarity(ctx, graph, NULL, &S)); /* with S_ee = 1 */
    assert_int_equal(S.row_begin[2], 4);
    assert_close(S.value[0], 1.0, 0.0);
    psfm_csr_free(&S);
    psfm_multigraph_destroy(&graph);
}

static void test_relative_poses(void **state) {
    psfm_context *ctx = *state;
    psfm_multigraph *graph = make_graph(ctx);
    const double weight[5] = {0.5, 0.5, 0.0, 1.0, 0.0};
    double R[3][9], t[3][3];
    psfm_plane_motion middle = make_motion(0.2, 0.0, 1.0);
    assert_ok(ctx, psfm_multigraph_set_weights(ctx, graph, weight));
    assert_ok(ctx, psfm_relative_poses(ctx, graph, *R, *t));
    assert_below(psfm_rotation_angle(R[0], middle.R_21), 1e-9);
    assert_close(t[0][0], 1.0, 1e-12);
    assert_close(psfm_norm3(t[2]), 0.0, 0.0); /* nothing is known of the third */
    psfm_multigraph_destroy(&graph);
}

static void test_refusals(void **state) {
    psfm_context *ctx = *state;
    psfm_multigraph *graph = make_graph(ctx);
    psfm_plane_motion m = make_motion(0.0, 0.0, 1.0);
    const double weight[5] = {-1.0};
    double numbers[27];
    uint32_t ends[6];
    psfm_csr S;
    psfm_confidence_options bad = {.struct_size = sizeof bad, .rotation_bandwidth_deg = -1.0};
    const psfm_status refused[] = {
        psfm_multigraph_add_edge(ctx, NULL, 0, 1, NULL),
        psfm_multigraph_add_edge(NULL, graph, 0, 1, NULL),
        psfm_multigraph_add_edge(ctx, graph, 1, 1, NULL),
        psfm_multigraph_add_edge(ctx, graph, 0, 3, NULL),
        psfm_multigraph_add_homography(ctx, NULL, 1, &m, 3, *first),
        psfm_multigraph_add_homography(ctx, graph, 1, NULL, 3, *first),
        psfm_multigraph_add_homography(ctx, graph, 1, &m, 3, NULL),
        psfm_multigraph_add_homography(ctx, graph, 3, &m, 3, *first),
        psfm_multigraph_add_homography(ctx, graph, 1, &m, 0, *first),
        psfm_multigraph_edges(ctx, graph, NULL),
        psfm_multigraph_edges(ctx, NULL, ends),
        psfm_multigraph_hypotheses(ctx, NULL, NULL, NULL, NULL, NULL),
        psfm_multigraph_set_weights(ctx, graph, NULL),
        psfm_multigraph_set_weights(ctx, graph, weight),
        psfm_confidence(ctx, NULL, NULL),
        psfm_confidence(ctx, graph, &bad),
        psfm_similarity(ctx, NULL, NULL, &S),
        psfm_similarity(ctx, graph, NULL, NULL),
        psfm_relative_poses(ctx, NULL, numbers, numbers),
        psfm_relative_poses(ctx, graph, NULL, numbers),
        psfm_relative_poses(ctx, graph, numbers, NULL),
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; ++k)
        if (refused[k] != PSFM_ERR_ARGUMENT)
            fail_msg("call %zu gave %s", k, psfm_status_name(refused[k]));
    assert_int_equal(psfm_multigraph_num_edges(NULL), 0);
    assert_int_equal(psfm_multigraph_num_hypotheses(NULL), 0);
    psfm_multigraph_destroy(NULL);
    psfm_multigraph_destroy(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_confidence),
        cmocka_unit_test(test_similarity),
        cmocka_unit_test(test_relative_poses),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
