#include "unit/core/posegraph/graph_util.h"

#include "core/posegraph/joint_choice.h"

enum { NODES = 24, KEYPOINTS = 200 };

/* A ring of cameras over one plane, each joined with the next two. Every homography has its true
 * decomposition and a false one, in random order; a false normal differs from edge to edge. */
typedef struct {
    psfm_pose_graph graph;
    uint32_t *truth; /* per plane: its true hypothesis */
} ring;

static void rotation_to_normal(psfm_rng *rng, const double normal[3], const double want[3],
                               double R[9]) {
    /* The rotation that takes `normal` to `want`, after a random turn about it. */
    double axis[3], turn[3], A[9], B[9];
    psfm_cross3(normal, want, axis);
    double angle = psfm_angle3(normal, want);
    psfm_normalize3(axis);
    psfm_scale3(angle, axis, axis);
    psfm_rotation_exp(axis, A);
    psfm_scale3(psfm_rng_range(rng, -3, 3), want, turn);
    psfm_rotation_exp(turn, B);
    psfm_mat3_mul(B, A, R);
}

static void random_view_normal(psfm_rng *rng, double n[3]) {
    n[0] = psfm_rng_range(rng, -0.6, 0.6);
    n[1] = psfm_rng_range(rng, -0.6, 0.6);
    n[2] = 1.0;
    psfm_normalize3(n);
}

static void set_motion(psfm_rng *rng, const double n1[3], const double n2[3],
                       psfm_plane_motion *motion) {
    memcpy(motion->n1, n1, sizeof motion->n1);
    rotation_to_normal(rng, n1, n2, motion->R_21);
    psfm_mat3_mul_vec(motion->R_21, motion->n1, motion->n2);
    psfm_rng_direction(rng, motion->t_21);
    psfm_scale3(0.3, motion->t_21, motion->t_21);
    motion->d2_over_d1 = 1.0;
}

static void jitter(psfm_rng *rng, const double n[3], double out[3]) {
    double d[3];
    psfm_rng_direction(rng, d);
    psfm_axpy3(n, 0.01, d, out);
    psfm_normalize3(out);
}

static ring make_ring(psfm_context *ctx, uint64_t seed) {
    ring r = {0};
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
    double normal[NODES][3];
    random_pose_graph(ctx, &rng, NODES, 2 * NODES, KEYPOINTS, &r.graph); /* memory to fill */
    psfm_pose_graph *g = &r.graph;
    for (uint32_t p = 0; p < g->num_planes; ++p) {
        free(g->planes[p].keypoints1);
        free(g->planes[p].keypoints2);
    }
    g->num_edges = g->num_planes = g->num_hypotheses = 0;
    r.truth = calloc(2 * NODES, sizeof *r.truth);
    for (int v = 0; v < NODES; ++v)
        random_view_normal(&rng, normal[v]);
    for (uint32_t k = 0; k < 2 * NODES; ++k) {
        uint32_t v = k % NODES, w = (v + 1 + k / NODES) % NODES, a = v < w ? v : w,
                 b = v < w ? w : v;
        g->edges[g->num_edges++] = (psfm_edge){.node1 = a,
                                               .node2 = b,
                                               .plane_begin = g->num_planes,
                                               .hypothesis_begin = g->num_hypotheses};
        uint32_t first = g->num_hypotheses, is_second = (uint32_t)psfm_rng_below(&rng, 2);
        uint32_t plane = g->num_planes;
        append_plane(g, &rng, 2, KEYPOINTS);
        free(g->planes[plane].keypoints1);
        free(g->planes[plane].keypoints2);
        g->planes[plane].num_inliers = KEYPOINTS / 2;
        g->planes[plane].keypoints1 = random_keypoints(&rng, KEYPOINTS / 2, KEYPOINTS);
        g->planes[plane].keypoints2 = random_keypoints(&rng, KEYPOINTS / 2, KEYPOINTS);
        double n1[3], n2[3];
        jitter(&rng, normal[a], n1);
        jitter(&rng, normal[b], n2);
        set_motion(&rng, n1, n2, &g->hypotheses[first + is_second].motion);
        random_view_normal(&rng, n1);
        random_view_normal(&rng, n2);
        set_motion(&rng, n1, n2, &g->hypotheses[first + !is_second].motion);
        r.truth[plane] = first + is_second;
    }
    assert_ok(ctx, psfm_pose_graph_index(ctx, g));
    return r;
}

static void free_ring(ring *r) {
    psfm_pose_graph_free(&r->graph);
    free(r->truth);
}

static void finds_the_common_normal(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 20; ++seed) {
        ring r = make_ring(ctx, seed);
        double *confidence = calloc(r.graph.num_hypotheses, sizeof *confidence);
        assert_ok(ctx, psfm_joint_choice(ctx, &r.graph, confidence));
        for (uint32_t p = 0; p < r.graph.num_planes; ++p) {
            assert_true(confidence[r.truth[p]] > 0.9);
            uint32_t first = r.graph.planes[p].hypothesis_begin;
            assert_close(confidence[first] + confidence[first + 1], 1.0, 1e-12);
            assert_close(r.graph.hypotheses[first].weight + r.graph.hypotheses[first + 1].weight,
                         1.0, 1e-12);
        }
        free(confidence);
        free_ring(&r);
    }
    psfm_context_destroy(&ctx);
}

/* On a single pair nothing but the essential matrix can tell, and it counts only as far as points
 * off the plane support it. */
static void asks_the_essential_matrix(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    ring r = make_ring(ctx, 1);
    r.graph.num_edges = r.graph.num_planes = 1;
    r.graph.num_hypotheses = 2;
    for (uint32_t p = 1; p < 2 * NODES; ++p) {
        free(r.graph.planes[p].keypoints1);
        free(r.graph.planes[p].keypoints2);
    }
    assert_ok(ctx, psfm_pose_graph_index(ctx, &r.graph));
    double confidence[2];
    psfm_edge *edge = &r.graph.edges[0];
    assert_ok(ctx, psfm_joint_choice(ctx, &r.graph, confidence));
    assert_close(confidence[0], 0.5, 1e-12);
    edge->has_essential = true;
    edge->essential_inliers = 100;
    memcpy(edge->essential_R_21, r.graph.hypotheses[r.truth[0]].motion.R_21,
           sizeof edge->essential_R_21);
    edge->essential_plane_share = 1.0;
    assert_ok(ctx, psfm_joint_choice(ctx, &r.graph, confidence));
    assert_close(confidence[0], 0.5, 1e-12);
    edge->essential_plane_share = 0.5;
    assert_ok(ctx, psfm_joint_choice(ctx, &r.graph, confidence));
    assert_true(confidence[r.truth[0]] > 0.9);
    free_ring(&r);
    psfm_context_destroy(&ctx);
}

static void ignores_the_number_of_threads(void **state) {
    (void)state;
    double *first = NULL;
    for (int threads = 1; threads <= 4; ++threads) {
        psfm_context *ctx = psfm_context_create();
        psfm_context_set_threads(ctx, threads);
        ring r = make_ring(ctx, 5);
        double *confidence = calloc(r.graph.num_hypotheses, sizeof *confidence);
        assert_ok(ctx, psfm_joint_choice(ctx, &r.graph, confidence));
        if (first == NULL)
            first = confidence;
        else {
            assert_memory_equal(first, confidence, r.graph.num_hypotheses * sizeof *first);
            free(confidence);
        }
        free_ring(&r);
        psfm_context_destroy(&ctx);
    }
    free(first);
}

/* A plane may have lost all of its inliers. */
static void an_empty_plane_has_a_weight(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    ring r = make_ring(ctx, 1);
    const psfm_edge *edge = &r.graph.edges[3];
    r.graph.planes[edge->plane_begin].num_inliers = 0;
    assert_ok(ctx, psfm_joint_choice(ctx, &r.graph, NULL));
    double sum = 0.0;
    for (uint32_t h = edge->hypothesis_begin; h < edge->hypothesis_end; ++h)
        sum += r.graph.hypotheses[h].weight;
    assert_close(sum, 1.0, 1e-12);
    free_ring(&r);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_common_normal),
        cmocka_unit_test(asks_the_essential_matrix),
        cmocka_unit_test(ignores_the_number_of_threads),
        cmocka_unit_test(an_empty_plane_has_a_weight),
    };
    return cmocka_run_group_tests_name("posegraph/joint_choice", tests, NULL, NULL);
}
