#include "unit/core/posegraph/graph_util.h"

#include "core/base/alloc.h"
#include "core/posegraph/similarity.h"

/* Keypoints in both lists, by looking for each in the other. */
static uint32_t count_common(const uint32_t *a, uint32_t num_a, const uint32_t *b, uint32_t num_b) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < num_a; ++i) {
        bool found = i > 0 && a[i] == a[i - 1];
        for (uint32_t j = 0; j < num_b && !found; ++j) {
            found = a[i] == b[j];
            count += found;
        }
    }
    return count;
}

static uint32_t overlap(const psfm_pose_graph *g, const psfm_edge_plane *p,
                        const psfm_edge_plane *q, uint32_t s) {
    return count_common(
        g->edges[p->edge].node1 == s ? p->keypoints1 : p->keypoints2, p->num_inliers,
        g->edges[q->edge].node1 == s ? q->keypoints1 : q->keypoints2, q->num_inliers);
}

/* The camera two edges share, UINT32_MAX if they share none or two. */
static uint32_t shared_camera(const psfm_edge *e, const psfm_edge *f) {
    bool at1 = e->node1 == f->node1 || e->node1 == f->node2;
    bool at2 = e->node2 == f->node1 || e->node2 == f->node2;
    return at1 == at2 ? UINT32_MAX : at1 ? e->node1 : e->node2;
}

/* The formula, term by term; *has_entry tells if any term has overlap and weight. */
static double formula(const psfm_pose_graph *g, uint32_t e, uint32_t f, double bandwidth,
                      bool *has_entry) {
    double numerator = 0.0, denominator = 0.0;
    uint32_t s = shared_camera(&g->edges[e], &g->edges[f]);
    *has_entry = false;
    if (s == UINT32_MAX)
        return 0.0;
    for (uint32_t i = g->edges[e].hypothesis_begin; i < g->edges[e].hypothesis_end; ++i) {
        for (uint32_t j = g->edges[f].hypothesis_begin; j < g->edges[f].hypothesis_end; ++j) {
            const psfm_hypothesis *p = &g->hypotheses[i], *q = &g->hypotheses[j];
            uint32_t O = overlap(g, &g->planes[p->plane], &g->planes[q->plane], s);
            if (O == 0)
                continue;
            const double *a = g->edges[e].node1 == s ? p->motion.n1 : p->motion.n2;
            const double *b = g->edges[f].node1 == s ? q->motion.n1 : q->motion.n2;
            double angle = psfm_angle3(a, b) / bandwidth;
            numerator += O * p->weight * q->weight * exp(-angle * angle);
            denominator += O * p->weight * q->weight;
        }
    }
    *has_entry = denominator > 0.0;
    return *has_entry ? numerator / denominator : 0.0;
}

static void check_against_formula(const psfm_pose_graph *g, const psfm_csr *S,
                                  const psfm_similarity_options *options, size_t *num_entries) {
    assert_int_equal(S->n, g->num_edges);
    for (uint32_t e = 0; e < g->num_edges; ++e) {
        size_t k = S->row_begin[e];
        for (uint32_t f = 0; f < g->num_edges; ++f) {
            bool has_entry;
            double value = formula(g, e, f, options->normal_bandwidth_rad, &has_entry);
            if (shared_camera(&g->edges[e], &g->edges[f]) != UINT32_MAX) {
                value = fmax(value, options->floor);
                has_entry = has_entry || options->floor > 0.0;
            } else if (e == f) {
                value = options->self;
                has_entry = options->self > 0.0;
            }
            bool is_stored = k < S->row_begin[e + 1] && S->col[k] == f;
            assert_int_equal(is_stored, has_entry);
            if (is_stored)
                assert_close(S->value[k++], value, 1e-13);
        }
        assert_true(k == S->row_begin[e + 1]);
    }
    *num_entries = S->row_begin[S->n];
}

static const psfm_similarity_options plain = {1.0, 0.0, 0.0};

static void equals_the_formula(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    size_t total = 0;
    for (uint64_t round = 0; round < 40; ++round) {
        psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, round, 0);
        psfm_pose_graph g;
        psfm_csr S;
        /* Up to 400 keypoints, so that bit sets have several words; few, so that some are empty. */
        random_pose_graph(ctx, &rng, 8, 24, round % 2 == 0 ? 400 : 12, &g);
        psfm_similarity_options options = {psfm_rng_range(&rng, 0.3, 1.5),
                                           round % 4 < 2 ? 0.0 : 1.0, round % 5 < 3 ? 0.0 : 0.01};
        size_t num_entries;
        assert_ok(ctx, psfm_similarity_build(ctx, &g, &options, &S));
        check_against_formula(&g, &S, &options, &num_entries);
        total += num_entries;
        psfm_csr_free(&S);
        psfm_pose_graph_free(&g);
    }
    assert_true(total > 40 * 50);
    psfm_context_destroy(&ctx);
}

static void hypotheses_without_weight_do_not_count(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    psfm_pose_graph g;
    psfm_csr S;
    random_pose_graph(ctx, &rng, 6, 20, 50, &g);
    for (uint32_t h = 0; h < g.num_hypotheses; ++h)
        if (h % 3 == 0 || g.hypotheses[h].edge == 4) /* edge 4 has none left */
            g.hypotheses[h].weight = 0.0;
    size_t num_entries;
    assert_ok(ctx, psfm_similarity_build(ctx, &g, &plain, &S));
    check_against_formula(&g, &S, &plain, &num_entries);
    assert_true(S.row_begin[4] == S.row_begin[5] && num_entries > 20);
    psfm_csr_free(&S);
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* A keypoint that is matched twice is one keypoint. */
static void repeated_keypoints_count_once(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    psfm_pose_graph g;
    psfm_csr S;
    random_pose_graph(ctx, &rng, 5, 14, 80, &g);
    for (uint32_t p = 0; p < g.num_planes; ++p)
        for (uint32_t k = 1; k < g.planes[p].num_inliers; k += 3)
            g.planes[p].keypoints1[k] = g.planes[p].keypoints1[k - 1];
    size_t num_entries;
    assert_ok(ctx, psfm_similarity_build(ctx, &g, &plain, &S));
    check_against_formula(&g, &S, &plain, &num_entries);
    psfm_csr_free(&S);
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* A camera in the middle of two edges, as their second and first end: the normals agree only if
 * each is taken in the frame of that camera. */
static void normals_are_compared_in_the_shared_camera(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    psfm_pose_graph g;
    psfm_csr S;
    random_pose_graph(ctx, &rng, 3, 2, 2, &g);
    for (uint32_t p = 0; p < g.num_planes; ++p)
        g.planes[p].num_inliers = 1;
    for (uint32_t p = 0; p < g.num_planes; ++p)
        g.planes[p].keypoints1[0] = g.planes[p].keypoints2[0] = 0;
    g.edges[0].node1 = 0;
    g.edges[0].node2 = g.edges[1].node1 = 1;
    g.edges[1].node2 = 2;
    for (uint32_t h = 0; h < g.num_hypotheses; ++h) {
        psfm_plane_motion *motion = &g.hypotheses[h].motion;
        double *in_shared = g.hypotheses[h].edge == 0 ? motion->n2 : motion->n1;
        psfm_rng_direction(&rng, g.hypotheses[h].edge == 0 ? motion->n1 : motion->n2);
        in_shared[0] = 0.6, in_shared[1] = 0.0, in_shared[2] = 0.8;
    }
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g));
    assert_ok(ctx, psfm_similarity_build(ctx, &g, NULL, &S));
    assert_int_equal(S.row_begin[2], 2);
    assert_close(S.value[0], 1.0, 1e-14);
    assert_close(S.value[1], 1.0, 1e-14);
    psfm_csr_free(&S);
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

static void does_not_depend_on_the_number_of_threads(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    psfm_pose_graph g;
    psfm_csr S[2];
    random_pose_graph(ctx, &rng, 300, 6000, 60, &g);
    for (int k = 0; k < 2; ++k) {
        psfm_context_set_threads(ctx, k == 0 ? 1 : 7);
        assert_ok(ctx, psfm_similarity_build(ctx, &g, NULL, &S[k]));
    }
    size_t num = S[0].row_begin[S[0].n];
    assert_true(num > 50000 && num == S[1].row_begin[S[1].n]);
    assert_memory_equal(S[0].row_begin, S[1].row_begin, (S[0].n + 1) * sizeof *S[0].row_begin);
    assert_memory_equal(S[0].col, S[1].col, num * sizeof *S[0].col);
    assert_memory_equal(S[0].value, S[1].value, num * sizeof *S[0].value);
    psfm_csr_free(&S[0]);
    psfm_csr_free(&S[1]);
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

static void empty_and_bad_graphs(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 0, 0);
    psfm_pose_graph g = {.num_nodes = 3};
    psfm_csr S;
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g));
    assert_ok(ctx, psfm_similarity_build(ctx, &g, NULL, &S));
    assert_true(S.n == 0 && S.row_begin[0] == 0);
    psfm_csr_free(&S);
    psfm_pose_graph_free(&g);
    random_pose_graph(ctx, &rng, 5, 10, 20, &g);
    psfm_similarity_options options = {0.0, 0.0, 0.0};
    assert_int_equal(psfm_similarity_build(ctx, &g, &options, &S), PSFM_ERR_ARGUMENT);
    double *bad[] = {&g.hypotheses[3].weight, &g.hypotheses[3].motion.n2[1]};
    for (size_t k = 0; k < 2; ++k) {
        double good = *bad[k];
        *bad[k] = NAN;
        assert_int_equal(psfm_similarity_build(ctx, &g, NULL, &S), PSFM_ERR_ARGUMENT);
        assert_non_null(strstr(psfm_context_message(ctx), "edge"));
        assert_null(S.row_begin);
        *bad[k] = good;
    }
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 0, 0);
    psfm_pose_graph g;
    psfm_csr S;
    random_pose_graph(ctx, &rng, 5, 10, 20, &g);
    size_t n = 1;
    for (;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = psfm_similarity_build(ctx, &g, NULL, &S);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
        assert_null(S.row_begin);
    }
    assert_true(n > 10);
    psfm_csr_free(&S);
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_formula),
        cmocka_unit_test(hypotheses_without_weight_do_not_count),
        cmocka_unit_test(repeated_keypoints_count_once),
        cmocka_unit_test(normals_are_compared_in_the_shared_camera),
        cmocka_unit_test(does_not_depend_on_the_number_of_threads),
        cmocka_unit_test(empty_and_bad_graphs),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("posegraph/similarity", tests, NULL, NULL);
}
