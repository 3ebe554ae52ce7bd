/* The robust engine on scenes matched to their duplicates, beside what the truth is worth. */
#include "test_util.h"

#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "core/solve/rotation_candidates.h"
#include "rotation_score.h"
#include "sfm/reconstruct_options.h"
#include "synth/scene.h"

/* An arena some of whose pairs are matched to its half-turned duplicate, solved up to the rotations
 * and split where the photographs do not tell. */
typedef struct {
    psfm_scene scene;
    psfm_reconstruct_options options;
    psfm_two_view *two_views;
    psfm_pose_graph graph;
    psfm_pose_solution solution;
    psfm_robust_edges edges;
} solved;

static void solve(psfm_context *ctx, int num_cameras, double duplicates, uint64_t seed, solved *s) {
    psfm_scene_options options;
    psfm_timings timings = {0};
    *s = (solved){0};
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = num_cameras;
    options.duplicates = duplicates;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, seed, &options, &s->scene));
    psfm_reconstruct_options_init(PSFM_MODE_ROBUST, &s->options);
    s->options.robust.ambiguity.models = PSFM_AMBIGUOUS_SPLIT;
    const psfm_match_set *set = &s->scene.matches;
    assert_ok(ctx, psfm_two_views_make(ctx, set, &s->options.two_view, &s->two_views));
    assert_ok(ctx, psfm_pose_graph_build(ctx, set, s->two_views, true, &s->graph));
    assert_ok(ctx, psfm_robust_poses(ctx, &s->options.skeleton, &s->options.robust,
                                     &(psfm_robust_input){.graph = &s->graph}, &timings,
                                     &s->solution, &s->edges));
}

static void free_solved(solved *s) {
    psfm_robust_edges_free(&s->edges);
    psfm_pose_solution_free(&s->solution);
    psfm_pose_graph_free(&s->graph);
    psfm_two_views_free(&s->two_views, s->scene.matches.num_pairs);
    psfm_scene_free(&s->scene);
}

/* The sum of supports at the true rotations, with the typicality of those found. */
static double score_of_truth(psfm_context *ctx, solved *s) {
    uint32_t n = s->graph.num_nodes, m = s->graph.num_edges;
    double *confidence = calloc(s->graph.num_hypotheses, sizeof *confidence), score;
    double(*truth)[9] = calloc(n, sizeof *truth);
    uint32_t *ends = calloc(2 * (size_t)m, sizeof *ends);
    uint32_t *chosen = calloc(m, sizeof *chosen), *other = calloc(m, sizeof *other);
    psfm_candidate_list list;
    for (uint32_t e = 0; e < m; ++e) {
        ends[e] = s->graph.edges[e].node1;
        ends[m + e] = s->graph.edges[e].node2;
    }
    for (uint32_t v = 0; v < n; ++v)
        psfm_rotation_from_quat(s->scene.truth.images[v].cam_from_world_q, truth[v]);
    psfm_topology topology = {n, m, ends, ends + m};
    assert_ok(ctx, psfm_joint_choice(ctx, &s->graph, confidence));
    assert_ok(ctx, psfm_candidate_list_make(ctx, &s->graph, 1.0, confidence, &list));
    psfm_rotation_candidates candidates = psfm_candidate_list_view(&list);
    const psfm_rotation_problem problem = {&topology, &candidates, 0};
    assert_ok(ctx, score_rotations(ctx, &problem, NULL, s->solution.poses.cam_from_world, chosen,
                                   &score));
    assert_ok(ctx, score_rotations(ctx, &problem, chosen, truth, other, &score));
    psfm_candidate_list_free(&list);
    free(confidence);
    free(truth);
    free(ends);
    free(chosen);
    free(other);
    return score;
}

/* Neighbours in one model that are turned against each other by more than drift explains. */
static int count_turned(const solved *s) {
    const psfm_poses *poses = &s->solution.poses;
    int num = 0;
    for (uint32_t v = 1; v < s->graph.num_nodes; ++v) {
        double R[9], exact1[9], exact2[9], exact[9];
        if (!psfm_share_world(poses, v - 1, v))
            continue;
        psfm_mat3_mul_t(poses->cam_from_world[v], poses->cam_from_world[v - 1], R);
        psfm_rotation_from_quat(s->scene.truth.images[v - 1].cam_from_world_q, exact1);
        psfm_rotation_from_quat(s->scene.truth.images[v].cam_from_world_q, exact2);
        psfm_mat3_mul_t(exact2, exact1, exact);
        num += psfm_rotation_angle(R, exact) > psfm_radians(20.0);
    }
    return num;
}

static void the_search_is_never_below_the_truth(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static const int sizes[] = {36, 60, 100, 200};
    for (int k = 0; k < 4; ++k)
        for (int percent = 15; percent <= 30; percent += 15) {
            solved s;
            solve(ctx, sizes[k], percent / 100.0, (uint64_t)k, &s);
            double truth = score_of_truth(ctx, &s);
            print_message("%d cameras, %d %% duplicates: found %.3f, truth %.3f\n", sizes[k],
                          percent, s.edges.consensus.score, truth);
            assert_true(s.edges.consensus.score >= truth * (1.0 - 1e-9));
            assert_int_equal(count_turned(&s), 0); /* what cannot be told is split */
            free_solved(&s);
        }
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_is_never_below_the_truth),
    };
    return cmocka_run_group_tests_name("solve/robust_duplicates", tests, NULL, NULL);
}
