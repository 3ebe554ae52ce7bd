/* Candidates and weights, recomputed by hand for three edges: two planes and an essential matrix,
 * one plane, an essential matrix alone. */
#include "test_util.h"

#include "core/solve/rotation_candidates.h"

static psfm_edge_plane planes[3] = {{.num_inliers = 60}, {.num_inliers = 40}, {.num_inliers = 25}};
static psfm_hypothesis hypotheses[4];
static psfm_edge edges[3];
static psfm_pose_graph graph = {.num_nodes = 4,
                                .edges = edges,
                                .num_edges = 3,
                                .planes = planes,
                                .num_planes = 3,
                                .hypotheses = hypotheses,
                                .num_hypotheses = 4};

/* Rotations are told apart by their first number. */
static void make_graph(void) {
    for (int h = 0; h < 4; ++h)
        hypotheses[h].motion.R_21[0] = h;
    edges[0] = (psfm_edge){.plane_end = 2,
                           .hypothesis_end = 3,
                           .has_essential = true,
                           .essential_R_21 = {100},
                           .essential_inliers = 120,
                           .essential_plane_share = 0.75}; /* 30 off the planes: in full */
    edges[1] =
        (psfm_edge){.plane_begin = 2, .plane_end = 3, .hypothesis_begin = 3, .hypothesis_end = 4};
    edges[2] = (psfm_edge){.plane_begin = 3,
                           .plane_end = 3,
                           .hypothesis_begin = 4,
                           .hypothesis_end = 4,
                           .has_essential = true,
                           .essential_R_21 = {300},
                           .essential_inliers = 50};
}

static void inliers_are_those_of_planes_first(void **state) {
    (void)state;
    make_graph();
    assert_true(psfm_edge_num_inliers(&graph, &edges[0]) == 100.0);
    assert_true(psfm_edge_num_inliers(&graph, &edges[1]) == 25.0);
    assert_true(psfm_edge_num_inliers(&graph, &edges[2]) == 50.0);
}

static void only_points_off_planes_count_for_an_essential_matrix(void **state) {
    (void)state;
    make_graph();
    assert_true(psfm_edge_essential_confidence(&edges[0]) == 1.0);
    assert_true(psfm_edge_essential_confidence(&edges[1]) == 0.0);
    assert_true(psfm_edge_essential_confidence(&edges[2]) == 1.0);
    edges[0].essential_plane_share = 0.875;
    assert_close(psfm_edge_essential_confidence(&edges[0]), 0.5, 1e-15);
    edges[0].essential_plane_share = 1.0;
    assert_true(psfm_edge_essential_confidence(&edges[0]) == 0.0);
}

static void every_edge_lists_its_candidates(void **state) {
    (void)state;
    const double confidence[4] = {0.1, 0.2, 0.3, 0.4};
    const double R[6] = {0, 1, 2, 100, 3, 300}, expected[6] = {0.1, 0.2, 0.3, 1.0, 0.4, 1.0};
    psfm_context *ctx = psfm_context_create();
    psfm_candidate_list list;
    make_graph();
    hypotheses[3].sigma_rad = 0.01;
    edges[2].essential_sigma_rad = 0.02;
    edges[2].missing_share = 0.4;
    assert_ok(ctx, psfm_candidate_list_make(ctx, &graph, 3.0, confidence, &list));
    psfm_rotation_candidates view = psfm_candidate_list_view(&list);
    assert_memory_equal(view.begin, ((const uint32_t[]){0, 4, 5, 6}), 4 * sizeof *view.begin);
    for (int k = 0; k < 6; ++k) {
        assert_true(view.R_21[k][0] == R[k]);
        assert_close(view.confidence[k], expected[k], 1e-15);
    }
    /* the root of inliers over their median, 50, and the fourth power of what is not absent */
    assert_close(view.weight[0], sqrt(2.0), 1e-15);
    assert_close(view.weight[1], sqrt(0.5), 1e-15);
    assert_close(view.weight[2], 0.1296, 1e-15);
    assert_close(view.sigma_rad[3], 0.0, 0.0);
    assert_close(view.sigma_rad[4], 0.03, 1e-15);
    assert_close(view.sigma_rad[5], 0.06, 1e-15);
    psfm_candidate_list_free(&list);
    psfm_context_destroy(&ctx);
}

/* One edge of very many inliers is not worth all the others: at most as that of four times the
 * median. */
static void weights_are_limited(void **state) {
    (void)state;
    const double confidence[4] = {0};
    psfm_context *ctx = psfm_context_create();
    psfm_candidate_list list;
    make_graph();
    planes[0].num_inliers = 1000000;
    edges[2].essential_inliers = 1;
    assert_ok(ctx, psfm_candidate_list_make(ctx, &graph, 1.0, confidence, &list));
    assert_close(list.weight[0], 2.0, 1e-15);
    assert_close(list.weight[2], 0.2, 1e-15);
    psfm_candidate_list_free(&list);
    planes[0].num_inliers = 60;
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inliers_are_those_of_planes_first),
        cmocka_unit_test(only_points_off_planes_count_for_an_essential_matrix),
        cmocka_unit_test(every_edge_lists_its_candidates),
        cmocka_unit_test(weights_are_limited),
    };
    return cmocka_run_group_tests_name("solve/rotation_candidates", tests, NULL, NULL);
}
