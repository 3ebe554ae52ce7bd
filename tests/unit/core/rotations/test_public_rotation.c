#include "test_util.h"

#include "core/linalg/mat3.h"
#include "planarsfm/rotation.h"

/* Four cameras, all pairs; the last edge is wrong. */
typedef struct {
    double truth[4][9], R_21[6][9], R[4][9];
    psfm_graph graph;
} cameras;

static const uint32_t edges[6][2] = {{0, 1}, {1, 2}, {2, 3}, {0, 2}, {1, 3}, {0, 3}};

static cameras make_cameras(void) {
    cameras c = {.graph = {sizeof c.graph, 4, 6, *edges, NULL}};
    const double wrong[3] = {0.0, 0.0, 1.0};
    double turn[9], turned[9];
    for (int v = 0; v < 4; ++v) {
        const double w[3] = {0.2 * v, 0.1 * v * v, -0.1 * v};
        psfm_rotation_exp(w, c.truth[v]);
        psfm_mat3_identity(c.R[v]);
    }
    for (int e = 0; e < 6; ++e)
        psfm_mat3_mul_t(c.truth[edges[e][1]], c.truth[edges[e][0]], c.R_21[e]);
    psfm_rotation_exp(wrong, turn);
    psfm_mat3_mul(turn, c.R_21[5], turned);
    memcpy(c.R_21[5], turned, sizeof turned);
    return c;
}

static double largest_error(const cameras *c) {
    double worst = 0.0;
    for (int v = 0; v < 4; ++v)
        worst = fmax(worst, psfm_rotation_angle(c->R[v], c->truth[v]));
    return worst;
}

static void test_tree(void **state) {
    psfm_context *ctx = *state;
    cameras c = make_cameras();
    const uint32_t tree[3] = {0, 1, 2};
    double identity[9];
    bool reached[4];
    psfm_mat3_identity(identity);
    assert_ok(ctx, psfm_propagate_rotations(ctx, &c.graph, *c.R_21, 3, tree, 0, *c.R, reached));
    assert_true(reached[3]);
    assert_below(largest_error(&c), 1e-12);
    assert_ok(ctx, psfm_propagate_rotations(ctx, &c.graph, *c.R_21, 2, tree, 0, *c.R, reached));
    assert_false(reached[3]);
    assert_memory_equal(c.R[3], identity, sizeof identity);
    assert_ok(ctx, psfm_propagate_rotations(ctx, &c.graph, *c.R_21, 0, NULL, 1, *c.R, NULL));
}

static void test_averaging(void **state) {
    psfm_context *ctx = *state;
    cameras c = make_cameras();
    const double weight[6] = {1, 2, 3, 1, 1, 0};
    psfm_averaging_options angle = {.struct_size = sizeof angle, .loss = PSFM_ROTATION_ANGLE};
    psfm_averaging_result result = {.struct_size = sizeof result};
    double residual[6];
    assert_ok(ctx, psfm_chordal_rotations(ctx, &c.graph, *c.R_21, *c.R));
    assert_true(largest_error(&c) > 0.05); /* drawn by the wrong edge */
    assert_ok(ctx, psfm_average_rotations(ctx, &c.graph, *c.R_21, NULL, *c.R, residual, &result));
    assert_true(result.converged && result.iterations > 0 && result.scale_deg > 0.0);
    assert_below(largest_error(&c), 1e-6); /* robust */
    assert_close(residual[5], 1.0, 1e-6);
    assert_ok(ctx, psfm_average_rotations(ctx, &c.graph, *c.R_21, &angle, *c.R, NULL, NULL));
    assert_true(largest_error(&c) > 0.05);
    c.graph.weight = weight; /* which knows of the wrong edge */
    assert_ok(ctx, psfm_average_rotations(ctx, &c.graph, *c.R_21, &angle, *c.R, NULL, NULL));
    assert_below(largest_error(&c), 1e-6);
    assert_ok(ctx, psfm_chordal_rotations(ctx, &c.graph, *c.R_21, *c.R));
    assert_below(largest_error(&c), 1e-9);
}

static void test_consensus(void **state) {
    psfm_context *ctx = *state;
    cameras c = make_cameras();
    const uint32_t begin[7] = {0, 1, 2, 3, 4, 5, 6}, tree[3] = {5, 0, 1};
    psfm_edge_candidates candidates = {sizeof candidates, begin, *c.R_21, NULL, NULL};
    uint32_t chosen[6], num;
    assert_ok(ctx, psfm_propagate_rotations(ctx, &c.graph, *c.R_21, 3, tree, 0, *c.R, NULL));
    assert_ok(ctx, psfm_find_rotation_consensus(ctx, &c.graph, &candidates, *c.R, chosen, &num));
    assert_int_equal(num, 5);
    assert_true(chosen[5] == UINT32_MAX && chosen[4] == 4);
}

static void test_refusals(void **state) {
    psfm_context *ctx = *state;
    cameras c = make_cameras(), skewed = make_cameras(), negative = make_cameras();
    const uint32_t begin[7] = {0, 1, 2, 3, 4, 5, 6}, tree[3] = {0, 1, 9};
    const double weight[6] = {-1.0};
    psfm_edge_candidates candidates = {sizeof candidates, begin, *c.R_21, NULL, NULL};
    psfm_edge_candidates none = {sizeof none, NULL, *c.R_21, NULL, NULL};
    psfm_edge_candidates unsure = {sizeof unsure, begin, *c.R_21, weight, NULL};
    psfm_averaging_options bad = {.struct_size = sizeof bad, .loss = 3};
    uint32_t chosen[6];
    skewed.R_21[2][0] += 0.1;
    negative.graph.weight = weight;
    const psfm_status refused[] = {
        psfm_propagate_rotations(NULL, &c.graph, *c.R_21, 2, tree, 0, *c.R, NULL),
        psfm_propagate_rotations(ctx, NULL, *c.R_21, 2, tree, 0, *c.R, NULL),
        psfm_propagate_rotations(ctx, &c.graph, NULL, 2, tree, 0, *c.R, NULL),
        psfm_propagate_rotations(ctx, &c.graph, *c.R_21, 2, NULL, 0, *c.R, NULL),
        psfm_propagate_rotations(ctx, &c.graph, *c.R_21, 2, tree, 0, NULL, NULL),
        psfm_propagate_rotations(ctx, &c.graph, *c.R_21, 2, tree, 4, *c.R, NULL),
        psfm_propagate_rotations(ctx, &c.graph, *c.R_21, 3, tree, 0, *c.R, NULL),
        psfm_chordal_rotations(ctx, &c.graph, NULL, *c.R),
        psfm_chordal_rotations(ctx, &c.graph, *c.R_21, NULL),
        psfm_chordal_rotations(ctx, &c.graph, *skewed.R_21, *c.R),
        psfm_chordal_rotations(ctx, &negative.graph, *c.R_21, *c.R),
        psfm_average_rotations(ctx, NULL, *c.R_21, NULL, *c.R, NULL, NULL),
        psfm_average_rotations(ctx, &c.graph, NULL, NULL, *c.R, NULL, NULL),
        psfm_average_rotations(ctx, &c.graph, *c.R_21, NULL, NULL, NULL, NULL),
        psfm_average_rotations(ctx, &c.graph, *c.R_21, &bad, *c.R, NULL, NULL),
        psfm_find_rotation_consensus(ctx, &c.graph, NULL, *c.R, chosen, NULL),
        psfm_find_rotation_consensus(ctx, &c.graph, &none, *c.R, chosen, NULL),
        psfm_find_rotation_consensus(ctx, &c.graph, &unsure, *c.R, chosen, NULL),
        psfm_find_rotation_consensus(ctx, &c.graph, &candidates, NULL, chosen, NULL),
        psfm_find_rotation_consensus(ctx, &c.graph, &candidates, *c.R, NULL, NULL),
        psfm_find_rotation_consensus(ctx, NULL, &candidates, *c.R, chosen, NULL),
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; ++k)
        if (refused[k] != PSFM_ERR_ARGUMENT)
            fail_msg("call %zu gave %s", k, psfm_status_name(refused[k]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_averaging),
        cmocka_unit_test(test_consensus),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
