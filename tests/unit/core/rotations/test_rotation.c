#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/rotations/rotation.h"

static void random_rotation(psfm_rng *rng, double R[9]) {
    double w[3];
    psfm_rng_direction(rng, w);
    psfm_scale3(psfm_rng_range(rng, 0, M_PI), w, w);
    psfm_rotation_exp(w, R);
}

/* A random tree with the exact relative rotations of random cameras, and edges either way round.
 * The tree is half of the edges; the others carry nonsense that must not be used. */
static void recovers_the_cameras_of_a_tree(void **state) {
    (void)state;
    enum { N = 2000, EDGES = 2 * (N - 1) };
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    double(*truth)[9] = calloc(N, sizeof *truth), (*R)[9] = calloc(N, sizeof *R);
    psfm_relative_pose *poses = calloc(EDGES, sizeof *poses);
    uint32_t *node1 = calloc(EDGES, sizeof *node1), *node2 = calloc(EDGES, sizeof *node2);
    uint32_t *tree = calloc(N, sizeof *tree);
    bool reached[N];
    for (uint32_t v = 0; v < N; ++v)
        random_rotation(&rng, truth[v]);
    for (uint32_t e = 0; e < EDGES; ++e) {
        uint32_t child = e / 2 + 1, parent = (uint32_t)psfm_rng_below(&rng, child);
        bool swap = psfm_rng_below(&rng, 2) == 1;
        node1[e] = swap ? child : parent;
        node2[e] = swap ? parent : child;
        if (e % 2 == 0)
            random_rotation(&rng, poses[e].R_21);
        else
            psfm_mat3_mul_t(truth[node2[e]], truth[node1[e]], poses[e].R_21);
        if (e % 2 == 1)
            tree[e / 2] = e;
    }
    psfm_topology graph = {N, EDGES, node1, node2};
    const uint32_t root = 77;
    assert_ok(ctx, psfm_rotations_propagate(
                       ctx, &graph, poses, &(psfm_spanning_tree){.edges = tree, .num_edges = N - 1},
                       root, R, reached));
    for (uint32_t v = 0; v < N; ++v) {
        double expected[9];
        psfm_mat3_mul_t(truth[v], truth[root], expected);
        assert_true(reached[v]);
        assert_below(psfm_rotation_angle(R[v], expected), 1e-12);
    }
    psfm_context_destroy(&ctx);
    free(truth);
    free(R);
    free(poses);
    free(node1);
    free(node2);
    free(tree);
}

static void nodes_out_of_reach_stay_untouched(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    uint32_t node1[] = {0, 2}, node2[] = {1, 3}, tree[] = {0, 1};
    psfm_relative_pose poses[2] = {0};
    psfm_mat3_identity(poses[0].R_21);
    psfm_mat3_identity(poses[1].R_21);
    double R[4][9] = {{0}};
    bool reached[4];
    R[2][4] = 42.0;
    psfm_topology graph = {4, 2, node1, node2};
    assert_ok(ctx, psfm_rotations_propagate(ctx, &graph, poses,
                                            &(psfm_spanning_tree){.edges = tree, .num_edges = 2}, 1,
                                            R, reached));
    assert_true(reached[0] && reached[1] && !reached[2] && !reached[3]);
    assert_true(R[2][4] == 42.0 && R[0][0] == 1.0);
    assert_ok(ctx, psfm_rotations_propagate(ctx, &graph, poses,
                                            &(psfm_spanning_tree){.edges = NULL, .num_edges = 0}, 3,
                                            R, reached));
    assert_true(!reached[0] && !reached[2] && reached[3]);
    assert_int_equal(psfm_rotations_propagate(ctx, &graph, poses,
                                              &(psfm_spanning_tree){.edges = tree, .num_edges = 2},
                                              4, R, reached),
                     PSFM_ERR_ARGUMENT);
    uint32_t missing[] = {2};
    assert_int_equal(psfm_rotations_propagate(
                         ctx, &graph, poses,
                         &(psfm_spanning_tree){.edges = missing, .num_edges = 1}, 0, R, reached),
                     PSFM_ERR_ARGUMENT);
    psfm_context_destroy(&ctx);
}

/* A chain of 100 000 products must not lose its orthogonality. */
static void long_chains_stay_rotations(void **state) {
    (void)state;
    enum { N = 100000 };
    psfm_context *ctx = psfm_context_create();
    double w[3] = {0.1, -0.2, 0.15}, total[3], expected[9], E[9], I[9];
    psfm_relative_pose *poses = calloc(N, sizeof *poses);
    uint32_t *node1 = calloc(N, sizeof *node1), *node2 = calloc(N, sizeof *node2);
    uint32_t *tree = calloc(N, sizeof *tree);
    double(*R)[9] = calloc(N, sizeof *R);
    bool *reached = calloc(N, sizeof *reached);
    for (uint32_t e = 0; e + 1 < N; ++e) {
        psfm_rotation_exp(w, poses[e].R_21);
        node1[e] = e;
        node2[e] = e + 1;
        tree[e] = e;
    }
    psfm_topology graph = {N, N - 1, node1, node2};
    assert_ok(ctx, psfm_rotations_propagate(
                       ctx, &graph, poses, &(psfm_spanning_tree){.edges = tree, .num_edges = N - 1},
                       0, R, reached));
    psfm_scale3(N - 1, w, total);
    psfm_rotation_exp(total, expected);
    assert_below(psfm_rotation_angle(R[N - 1], expected), 1e-10);
    psfm_mat3_mul_t(R[N - 1], R[N - 1], E);
    psfm_mat3_identity(I);
    for (int k = 0; k < 9; ++k)
        assert_close(E[k], I[k], 1e-14);
    psfm_context_destroy(&ctx);
    free(poses);
    free(node1);
    free(node2);
    free(tree);
    free(R);
    free(reached);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recovers_the_cameras_of_a_tree),
        cmocka_unit_test(nodes_out_of_reach_stay_untouched),
        cmocka_unit_test(long_chains_stay_rotations),
    };
    return cmocka_run_group_tests_name("rotations/rotation", tests, NULL, NULL);
}
