/* Weights, embedding and tree on a ring with known truth. */
#include "unit/core/solve/ring_util.h"

#include "core/solve/planar_sfm.h"
#include "sfm/reconstruct_options.h"

static psfm_skeleton_options paper_options(void) {
    psfm_reconstruct_options options;
    psfm_reconstruct_options_init(PSFM_MODE_PAPER, &options);
    return options.skeleton;
}

static void range_of_tree(const psfm_pose_solution *s, double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (uint32_t e = 0; e < s->num_edges; ++e) {
        if (!s->in_tree[e])
            continue;
        *low = fmin(*low, s->h[e]);
        *high = fmax(*high, s->h[e]);
    }
}

/* How many of the edges lie in the range of the tree. */
static uint32_t count_inside(const psfm_pose_solution *s, const uint32_t *edges, uint32_t num) {
    double low, high;
    uint32_t inside = 0;
    range_of_tree(s, &low, &high);
    for (uint32_t k = 0; k < num; ++k)
        inside += s->h[edges[k]] >= low && s->h[edges[k]] <= high;
    return inside;
}

static double worst_rotation_deg(const ring *r, const psfm_pose_solution *s) {
    double worst = 0.0;
    for (uint32_t v = 1; v < r->n; ++v) {
        double R_true[9], R[9];
        psfm_mat3_mul_t(r->R[v], r->R[0], R_true);
        psfm_mat3_mul_t(s->poses.cam_from_world[v], s->poses.cam_from_world[0], R);
        worst = fmax(worst, psfm_rotation_angle(R, R_true));
    }
    return psfm_degrees(worst);
}

static psfm_pose_solution solve(psfm_context *ctx, const psfm_skeleton_options *options, ring *r) {
    psfm_pose_solution s = {0};
    assert_ok(ctx, psfm_skeleton_rotations(ctx, options, NULL, &r->graph, NULL, &s));
    return s;
}

/* An edge whose normals disagree with those of all its neighbours is pruned, wherever it is; with
 * S_ee = 0 its h would be the mean of its neighbours', in the middle of things. */
static void an_edge_that_disagrees_is_outside_the_range(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_skeleton_options options = paper_options(), without = paper_options();
    without.similarity.self = without.similarity.floor = 0.0;
    uint32_t inside_without = 0;
    for (uint32_t bad = 0; bad < 40; bad += 3) {
        ring r;
        ring_make(ctx, bad, 20, &r);
        ring_mislead(&r, bad);
        psfm_pose_solution s = solve(ctx, &options, &r), t = solve(ctx, &without, &r);
        assert_int_equal(count_inside(&s, &bad, 1), 0);
        assert_below(worst_rotation_deg(&r, &s), 1e-6);
        inside_without += count_inside(&t, &bad, 1);
        psfm_pose_solution_free(&s);
        psfm_pose_solution_free(&t);
        psfm_pose_graph_free(&r.graph);
    }
    assert_true(inside_without >= 7); /* of 14 */
    psfm_context_destroy(&ctx);
}

static void several_of_them_are_outside_too(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_skeleton_options options = paper_options();
    const uint32_t bad[] = {1, 8, 17, 24, 37};
    for (uint64_t seed = 0; seed < 10; ++seed) {
        ring r;
        ring_make(ctx, seed, 20, &r);
        for (int k = 0; k < 5; ++k)
            ring_mislead(&r, bad[k]);
        psfm_pose_solution s = solve(ctx, &options, &r);
        assert_int_equal(count_inside(&s, bad, 5), 0);
        assert_below(worst_rotation_deg(&r, &s), 1e-6);
        psfm_pose_solution_free(&s);
        psfm_pose_graph_free(&r.graph);
    }
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edge_that_disagrees_is_outside_the_range),
        cmocka_unit_test(several_of_them_are_outside_too),
    };
    return cmocka_run_group_tests_name("solve/planar_sfm", tests, NULL, NULL);
}
