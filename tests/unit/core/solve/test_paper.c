/* Positions from the tree, its extensions, and agreeing edges. */
#include "unit/core/solve/ring_util.h"

#include "core/base/alloc.h"
#include "core/solve/paper.h"
#include "core/solve/rigid_components.h"
#include "sfm/reconstruct_options.h"

typedef struct {
    ring r;
    psfm_reconstruct_options options;
    psfm_pose_solution solution;
} trial;

/* Solves a ring in which the essential matrices of some edges are wrong. */
static void run(psfm_context *ctx, uint64_t seed, uint32_t n, const uint32_t *bad, size_t num_bad,
                int positions, trial *t) {
    *t = (trial){0};
    ring_make(ctx, seed, n, &t->r);
    for (size_t k = 0; k < num_bad; ++k)
        ring_mislead(&t->r, bad[k]);
    psfm_reconstruct_options_init(PSFM_MODE_PAPER, &t->options);
    t->options.paper.positions = positions;
    assert_ok(ctx, psfm_skeleton_rotations(ctx, &t->options.skeleton, NULL, &t->r.graph, NULL,
                                           &t->solution));
    assert_ok(ctx, psfm_paper_positions(ctx, &t->options.skeleton, &t->options.paper, &t->r.graph,
                                        NULL, &t->solution));
    assert_ok(ctx, psfm_count_undetermined(ctx, &t->r.graph, t->solution.in_graph, &t->solution));
}

static void trial_free(trial *t) {
    psfm_pose_graph_free(&t->r.graph);
    psfm_pose_solution_free(&t->solution);
}

static uint32_t num_in_graph(const trial *t) {
    uint32_t num = 0;
    for (uint32_t e = 0; e < t->solution.num_edges; ++e)
        num += t->solution.in_graph[e];
    return num;
}

/* Largest error of the direction between two cameras, seen in one of them. */
static double worst_direction_deg(const trial *t) {
    const psfm_poses *poses = &t->solution.poses;
    double worst = 0.0;
    for (uint32_t i = 0; i < t->r.n; ++i)
        for (uint32_t j = i + 1; j < t->r.n; ++j) {
            double truth[3], found[3];
            psfm_sub3(t->r.center[i], t->r.center[j], truth);
            psfm_mat3_mul_vec(t->r.R[j], truth, truth);
            psfm_sub3(poses->center[i], poses->center[j], found);
            psfm_mat3_mul_vec(poses->cam_from_world[j], found, found);
            worst = fmax(worst, psfm_angle3(truth, found));
        }
    return psfm_degrees(worst);
}

/* A ring is bi-connected and leaves its scales open; extended until rigid it has its shape. Where
 * all edges agree rounding picks the tree, and LUD may stop early on what is just rigid; so most
 * rings are asked for, not each. */
static void until_rigid_positions_are_determined(void **state) {
    (void)state;
    enum { NUM = 10 };
    psfm_context *ctx = psfm_context_create();
    int num_right = 0;
    for (uint64_t seed = 0; seed < NUM; ++seed) {
        trial letter, rigid;
        run(ctx, seed, 30, NULL, 0, PSFM_POSITIONS_BICONNECTED, &letter);
        run(ctx, seed, 30, NULL, 0, PSFM_POSITIONS_RIGID, &rigid);
        assert_true(letter.solution.components[0].num_free > 0);
        assert_true(worst_direction_deg(&letter) > 5.0);
        assert_int_equal(rigid.solution.components[0].num_free, 0);
        assert_true(num_in_graph(&rigid) >= 43); /* (3 n - 4) / 2 */
        for (uint32_t e = 0; e < rigid.solution.num_edges; ++e)
            assert_true(rigid.solution.in_graph[e] || !letter.solution.in_graph[e]);
        num_right += worst_direction_deg(&rigid) < 0.1;
        trial_free(&letter);
        trial_free(&rigid);
    }
    assert_true(num_right >= 6);
    psfm_context_destroy(&ctx);
}

/* Edges whose essential matrix names the wrong decomposition come back by the other one. */
static void agreeing_edges_use_the_decomposition_that_agrees(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const uint32_t bad[] = {3, 11, 12, 30, 45};
    trial t;
    run(ctx, 5, 30, bad, 5, PSFM_POSITIONS_AGREEING, &t);
    assert_int_equal(num_in_graph(&t), 60);
    assert_int_equal(t.solution.components[0].num_free, 0);
    assert_below(worst_direction_deg(&t), 1e-3);
    for (int k = 0; k < 5; ++k)
        assert_true(t.r.graph.hypotheses[2 * bad[k] + 1].weight == 1.0);
    trial_free(&t);
    psfm_context_destroy(&ctx);
}

/* Where neither decomposition agrees the edge stays out. */
static void edges_that_never_agree_stay_out(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const uint32_t bad = 7;
    trial t = {0};
    ring_make(ctx, 6, 20, &t.r);
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    ring_falsify(&rng, 0.4, &t.r.graph.hypotheses[2 * bad + 1].motion);
    psfm_reconstruct_options_init(PSFM_MODE_PAPER, &t.options);
    assert_ok(ctx, psfm_skeleton_rotations(ctx, &t.options.skeleton, NULL, &t.r.graph, NULL,
                                           &t.solution));
    t.options.paper.positions = PSFM_POSITIONS_AGREEING;
    assert_ok(ctx, psfm_paper_positions(ctx, &t.options.skeleton, &t.options.paper, &t.r.graph,
                                        NULL, &t.solution));
    assert_false(t.solution.in_graph[bad]);
    assert_int_equal(num_in_graph(&t), 39);
    assert_below(worst_direction_deg(&t), 1e-3);
    trial_free(&t);
    psfm_context_destroy(&ctx);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    for (int positions = 0; positions < PSFM_NUM_POSITIONS; ++positions) {
        trial t;
        size_t n = 1;
        run(ctx, 5, 12, NULL, 0, positions, &t);
        for (;; ++n) {
            psfm_alloc_fail_after(n);
            psfm_status status = psfm_paper_positions(ctx, &t.options.skeleton, &t.options.paper,
                                                      &t.r.graph, NULL, &t.solution);
            psfm_alloc_fail_after(0);
            if (status == PSFM_OK)
                break;
            assert_int_equal(status, PSFM_ERR_MEMORY);
        }
        assert_true(n > 10);
        trial_free(&t);
    }
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(until_rigid_positions_are_determined),
        cmocka_unit_test(agreeing_edges_use_the_decomposition_that_agrees),
        cmocka_unit_test(edges_that_never_agree_stay_out),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("solve/paper", tests, NULL, NULL);
}
