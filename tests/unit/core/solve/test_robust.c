/* The engines' rotations and positions on graphs of known planes, without images. */
#include "test_util.h"

#include "core/linalg/angle.h"
#include "core/solve/robust.h"
#include "plane_graph.h"

enum { NUM_NODES = 9 };

static const test_plane floor_plane = {{0, 0, 1}, 0};
static const int seen[1] = {0};

/* A ring with two neighbours on either side, all on one floor. */
static plane_graph make_ring(uint64_t seed) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, NUM_NODES);
    for (uint32_t a = 0; a < NUM_NODES; ++a)
        for (uint32_t step = 1; step <= 2; ++step) {
            uint32_t b = (a + step) % NUM_NODES;
            plane_graph_add(&g, a < b ? a : b, a < b ? b : a, &floor_plane, seen, 1);
        }
    return g;
}

/* Puts a second motion after the true one of an edge's only plane: what the other decomposition
 * would be, with a rotation and a normal of its own. */
static void add_false_motion(plane_graph *g, uint32_t e, psfm_rng *rng) {
    psfm_pose_graph *p = &g->graph;
    uint32_t at = p->edges[e].hypothesis_end;
    memmove(&p->hypotheses[at + 1], &p->hypotheses[at],
            (p->num_hypotheses - at) * sizeof *p->hypotheses);
    p->hypotheses[at] = p->hypotheses[at - 1];
    double w[3], turn[9], R[9];
    for (int k = 0; k < 3; ++k)
        w[k] = psfm_rng_range(rng, 0.3, 0.8);
    psfm_rotation_exp(w, turn);
    psfm_plane_motion *m = &p->hypotheses[at].motion;
    psfm_mat3_mul(turn, m->R_21, R);
    memcpy(m->R_21, R, sizeof R);
    psfm_mat3_mul_vec(turn, m->n1, w);
    memcpy(m->n1, w, sizeof w);
    psfm_mat3_mul_vec(m->R_21, m->n1, m->n2);
    ++p->num_hypotheses;
    for (uint32_t k = e; k < p->num_edges; ++k) {
        p->edges[k].hypothesis_begin += k > e;
        ++p->edges[k].hypothesis_end;
        p->planes[k].hypothesis_begin += k > e;
        ++p->planes[k].hypothesis_end;
    }
}

/* Turns the motions of an edge by half a turn about the floor's normal: matched to the duplicate.
 */
static void match_to_duplicate(plane_graph *g, uint32_t e) {
    double turn[9] = {-1, 0, 0, 0, -1, 0, 0, 0, 1}, world[9], R[9];
    const psfm_edge *edge = &g->graph.edges[e];
    psfm_plane_motion *m = &g->graph.hypotheses[edge->hypothesis_begin].motion;
    psfm_mat3_mul(g->R[edge->node2], turn, world);
    psfm_mat3_mul_t(world, g->R[edge->node1], R);
    memcpy(m->R_21, R, sizeof R);
    double center[3], d[3];
    psfm_mat3_mul_vec(turn, g->center[edge->node1], center);
    psfm_sub3(center, g->center[edge->node2], d);
    psfm_mat3_mul_vec(g->R[edge->node2], d, m->t_21);
    psfm_scale3(1.0 / fabs(g->center[edge->node1][2]), m->t_21, m->t_21);
    psfm_mat3_mul_vec(m->R_21, m->n1, m->n2);
}

typedef struct {
    psfm_pose_solution solution;
    psfm_robust_edges edges;
} answer;

static answer solve(psfm_context *ctx, plane_graph *g) {
    psfm_skeleton_options base;
    psfm_robust_options options;
    psfm_timings timings = {0};
    answer a = {0};
    psfm_options_init(&psfm_essential_weight_option_table, &base.weight);
    psfm_options_init(&psfm_similarity_option_table, &base.similarity);
    psfm_options_init(&psfm_lud_option_table, &base.lud);
    psfm_options_init(&psfm_robust_control_option_table, &options.control);
    psfm_options_init(&psfm_ambiguity_option_table, &options.ambiguity);
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g->graph));
    assert_ok(ctx, psfm_robust_poses(ctx, &base, &options, &(psfm_robust_input){.graph = &g->graph},
                                     &timings, &a.solution, &a.edges));
    return a;
}

/* Largest error over all pairs of images: rotation in radians, distance as a share of the true one
 * after the first pair has set the scale. */
static void check_poses(const plane_graph *g, const psfm_pose_solution *s, double tolerance) {
    const psfm_poses *poses = &s->poses;
    double d[3], scale = 0.0;
    for (uint32_t a = 0; a < g->num_nodes; ++a) {
        assert_true(psfm_has_pose(poses, a));
        for (uint32_t b = 0; b < a; ++b) {
            double R[9], exact[9];
            psfm_mat3_mul_t(poses->cam_from_world[a], poses->cam_from_world[b], R);
            psfm_mat3_mul_t(g->R[a], g->R[b], exact);
            assert_below(psfm_rotation_angle(R, exact), tolerance);
            psfm_sub3(g->center[a], g->center[b], d);
            double wanted = psfm_norm3(d);
            psfm_sub3(poses->center[a], poses->center[b], d);
            scale = scale == 0.0 ? wanted / psfm_norm3(d) : scale;
            assert_close(scale * psfm_norm3(d), wanted, tolerance * wanted);
        }
    }
}

static void free_answer(answer *a) {
    psfm_pose_solution_free(&a->solution);
    psfm_robust_edges_free(&a->edges);
}

static void true_motions_give_true_poses(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    plane_graph g = make_ring(1);
    answer a = solve(ctx, &g);
    check_poses(&g, &a.solution, 1e-6);
    assert_int_equal(a.edges.groups.num_groups, 1);
    for (uint32_t e = 0; e < g.graph.num_edges; ++e)
        assert_true(a.edges.accepted[e]);
    free_answer(&a);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

static void false_decompositions_are_left(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 1, 0);
        plane_graph g = make_ring(seed);
        for (uint32_t e = 0; e < g.graph.num_edges; ++e)
            add_false_motion(&g, e, &rng);
        answer a = solve(ctx, &g);
        check_poses(&g, &a.solution, 1e-6);
        for (uint32_t e = 0; e < g.graph.num_edges; ++e) {
            uint32_t first = g.graph.edges[e].hypothesis_begin;
            assert_true(g.graph.hypotheses[first].weight > 0.0);
            assert_true(g.graph.hypotheses[first + 1].weight == 0.0);
        }
        free_answer(&a);
        plane_graph_free(&g);
    }
    psfm_context_destroy(&ctx);
}

static void pairs_matched_to_a_duplicate_are_rejected(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    plane_graph g = make_ring(2);
    match_to_duplicate(&g, 4);
    match_to_duplicate(&g, 11);
    answer a = solve(ctx, &g);
    check_poses(&g, &a.solution, 1e-6);
    for (uint32_t e = 0; e < g.graph.num_edges; ++e)
        assert_int_equal(a.edges.accepted[e], e != 4 && e != 11);
    free_answer(&a);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* What is known of an edge's baseline does not depend on how many components there are. */
static void components_keep_their_baselines(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, 8);
    for (uint32_t first = 0; first < 8; first += 4)
        for (uint32_t a = first; a < first + 4; ++a)
            for (uint32_t b = a + 1; b < first + 4; ++b)
                plane_graph_add(&g, a, b, &floor_plane, seen, 1);
    answer a = solve(ctx, &g);
    assert_int_equal(a.solution.num_components, 2);
    for (uint32_t e = 0; e < g.graph.num_edges; ++e)
        assert_int_equal(a.edges.baseline[e], a.edges.baseline[0]);
    free_answer(&a);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_motions_give_true_poses),
        cmocka_unit_test(false_decompositions_are_left),
        cmocka_unit_test(pairs_matched_to_a_duplicate_are_rejected),
        cmocka_unit_test(components_keep_their_baselines),
    };
    return cmocka_run_group_tests_name("solve/robust", tests, NULL, NULL);
}
