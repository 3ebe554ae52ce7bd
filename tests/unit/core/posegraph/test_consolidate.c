#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/posegraph/consolidate.h"

static void random_rotation(psfm_rng *rng, double max_angle, double R[9]) {
    double w[3];
    psfm_rng_direction(rng, w);
    psfm_scale3(psfm_rng_range(rng, 0, max_angle), w, w);
    psfm_rotation_exp(w, R);
}

static psfm_hypothesis hypothesis(const double R[9], const double t[3], double weight) {
    psfm_hypothesis h = {.weight = weight};
    memcpy(h.motion.R_21, R, sizeof h.motion.R_21);
    memcpy(h.motion.t_21, t, sizeof h.motion.t_21);
    return h;
}

/* A graph of one edge with these hypotheses, consolidated. */
static psfm_relative_pose consolidate(psfm_hypothesis *hypotheses, uint32_t num) {
    psfm_context *ctx = psfm_context_create();
    psfm_edge edge = {.node2 = 1, .hypothesis_end = num};
    psfm_pose_graph graph = {.num_nodes = 2,
                             .edges = &edge,
                             .num_edges = 1,
                             .hypotheses = hypotheses,
                             .num_hypotheses = num};
    psfm_relative_pose pose;
    assert_ok(ctx, psfm_consolidate(ctx, &graph, &pose));
    psfm_context_destroy(&ctx);
    return pose;
}

static void one_hypothesis_passes_through(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    double R[9], t[3] = {0, -3, 4}, other[9];
    random_rotation(&rng, 3.0, R);
    random_rotation(&rng, 3.0, other);
    psfm_hypothesis h[2] = {hypothesis(R, t, 0.4), hypothesis(other, t, 0.0)};
    psfm_relative_pose pose = consolidate(h, 2);
    assert_below(psfm_rotation_angle(pose.R_21, R), 1e-14);
    assert_close(pose.t_21[1], -0.6, 1e-15);
    assert_close(pose.t_21[2], 0.8, 1e-15);
}

/* Two rotations of equal weight about one axis average to the middle, with weights 3 : 1 of small
 * angles to the quarter; translation lengths do not count. */
static void mean_lies_between(void **state) {
    (void)state;
    double w[3] = {0.02, -0.01, 0.03}, zero[3] = {0}, A[9], B[9], back[3];
    double ta[3] = {5, 0, 0}, tb[3] = {0, 0.1, 0};
    psfm_rotation_exp(zero, A);
    psfm_rotation_exp(w, B);
    psfm_hypothesis h[2] = {hypothesis(A, ta, 1.0), hypothesis(B, tb, 1.0)};
    psfm_relative_pose pose = consolidate(h, 2);
    psfm_rotation_log(pose.R_21, back);
    for (int k = 0; k < 3; ++k)
        assert_close(back[k], 0.5 * w[k], 1e-15);
    assert_close(pose.t_21[0], sqrt(0.5), 1e-15);
    assert_close(pose.t_21[1], sqrt(0.5), 1e-15);
    h[0].weight = 3.0;
    pose = consolidate(h, 2);
    psfm_rotation_log(pose.R_21, back);
    for (int k = 0; k < 3; ++k)
        assert_close(back[k], 0.25 * w[k], 1e-6);
    assert_close(pose.t_21[0], 3 * sqrt(0.1), 1e-15);
}

static void undetermined_means_take_the_heaviest(void **state) {
    (void)state;
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    double R[2][9], t[2][3] = {{1, 0, 0}, {0, 2, 0}};
    random_rotation(&rng, 3.0, R[0]);
    random_rotation(&rng, 3.0, R[1]);
    psfm_hypothesis h[2] = {hypothesis(R[0], t[0], 0.0), hypothesis(R[1], t[1], 0.0)};
    psfm_relative_pose pose = consolidate(h, 2); /* all weights zero: the first */
    assert_memory_equal(pose.R_21, R[0], sizeof R[0]);
    assert_true(pose.t_21[0] == 1.0);
    /* Four half turns and the identity cancel to zero. */
    double flips[4][9] = {{1, 0, 0, 0, 1, 0, 0, 0, 1},
                          {1, 0, 0, 0, -1, 0, 0, 0, -1},
                          {-1, 0, 0, 0, 1, 0, 0, 0, -1},
                          {-1, 0, 0, 0, -1, 0, 0, 0, 1}};
    psfm_hypothesis f[4];
    for (int k = 0; k < 4; ++k)
        f[k] = hypothesis(flips[k], t[1], 1.0);
    pose = consolidate(f, 4);
    assert_memory_equal(pose.R_21, flips[0], sizeof flips[0]);
    assert_true(pose.t_21[1] == 1.0);
}

static void opposite_directions_give_none(void **state) {
    (void)state;
    double R[9], t[2][3] = {{1, 2, 3}, {-2, -4, -6}}, none[3] = {0};
    psfm_mat3_identity(R);
    psfm_hypothesis h[2] = {hypothesis(R, t[0], 0.5), hypothesis(R, t[1], 0.5)};
    psfm_relative_pose pose = consolidate(h, 2);
    assert_memory_equal(pose.t_21, none, sizeof none);
    h[1] = hypothesis(R, none, 0.5); /* a rotation has no direction and does not dilute */
    pose = consolidate(h, 2);
    assert_close(psfm_norm3(pose.t_21), 1.0, 1e-15);
    pose = consolidate(NULL, 0);
    assert_close(psfm_mat3_det(pose.R_21), 1.0, 0.0);
    assert_memory_equal(pose.t_21, none, sizeof none);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    enum { EDGES = 5000 };
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    psfm_hypothesis *h = calloc(2 * EDGES, sizeof *h);
    psfm_edge *edges = calloc(EDGES, sizeof *edges);
    psfm_relative_pose *pose[2];
    for (uint32_t k = 0; k < 2 * EDGES; ++k) {
        random_rotation(&rng, 1.0, h[k].motion.R_21);
        psfm_rng_direction(&rng, h[k].motion.t_21);
        h[k].weight = psfm_rng_uniform(&rng);
        edges[k / 2].hypothesis_begin = k / 2 * 2;
        edges[k / 2].hypothesis_end = k / 2 * 2 + 2;
    }
    psfm_pose_graph graph = {.edges = edges, .num_edges = EDGES, .hypotheses = h};
    psfm_context *ctx = psfm_context_create();
    for (int run = 0; run < 2; ++run) {
        pose[run] = calloc(EDGES, sizeof *pose[run]);
        psfm_context_set_threads(ctx, run == 0 ? 1 : 7);
        assert_ok(ctx, psfm_consolidate(ctx, &graph, pose[run]));
    }
    assert_memory_equal(pose[0], pose[1], EDGES * sizeof *pose[0]);
    assert_close(psfm_norm3(pose[0][EDGES - 1].t_21), 1.0, 1e-14);
    psfm_context_destroy(&ctx);
    free(pose[0]);
    free(pose[1]);
    free(edges);
    free(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_hypothesis_passes_through),
        cmocka_unit_test(mean_lies_between),
        cmocka_unit_test(undetermined_means_take_the_heaviest),
        cmocka_unit_test(opposite_directions_give_none),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests_name("posegraph/consolidate", tests, NULL, NULL);
}
