#include "unit/core/posegraph/graph_util.h"

#include "core/base/alloc.h"

/* Five views; pairs: two planes (one with an inlier order that needs sorting) and a rotation; a
 * pure rotation; nothing; one plane with an essential matrix. View 4 has no pair. */
typedef struct {
    psfm_match_set set;
    psfm_match_pair pairs[4];
    psfm_view views[5];
    psfm_two_view two_views[4];
    psfm_homography homographies[5];
    uint32_t matches[4][2];
    uint32_t inliers[2][2];
} example;

static void make_example(example *x) {
    static const uint32_t matches[4][2] = {{3, 9}, {5, 2}, {7, 4}, {1, 8}};
    memset(x, 0, sizeof *x);
    memcpy(x->matches, matches, sizeof matches);
    x->inliers[0][0] = 1, x->inliers[0][1] = 3; /* matches (5, 2), (1, 8) */
    x->inliers[1][0] = 0, x->inliers[1][1] = 2; /* matches (3, 9), (7, 4) */
    static const uint32_t views[4][2] = {{0, 1}, {0, 2}, {1, 2}, {2, 3}};
    for (int p = 0; p < 4; ++p)
        x->pairs[p] = (psfm_match_pair){views[p][0], views[p][1], 4, x->matches};
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    for (int k = 0; k < 5; ++k) {
        psfm_homography *h = &x->homographies[k];
        *h = (psfm_homography){.inliers = x->inliers[k % 2], .num_inliers = 2, .rms_px = 0.5 + k};
        h->is_rotation = k == 2 || k == 3;
        h->num_motions = k == 1 || h->is_rotation ? 1 : 2;
        random_motion(&rng, &h->motions[0]);
        random_motion(&rng, &h->motions[1]);
    }
    x->two_views[0] = (psfm_two_view){.homographies = x->homographies, .num_homographies = 3};
    x->two_views[1] = (psfm_two_view){
        .kind = PSFM_PAIR_ROTATION, .homographies = x->homographies + 3, .num_homographies = 1};
    x->two_views[2] = (psfm_two_view){.kind = PSFM_PAIR_NO_HOMOGRAPHY};
    x->two_views[3] = (psfm_two_view){.homographies = x->homographies + 4, .num_homographies = 1};
    x->two_views[3].essential =
        (psfm_essential){.found = true, .plane_share = 0.75, .t_21 = {0, 0, 1}};
    psfm_mat3_identity(x->two_views[3].essential.R_21);
    x->set = (psfm_match_set){.views = x->views, .num_views = 5, .pairs = x->pairs, .num_pairs = 4};
}

static void builds_edges_planes_and_hypotheses(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    example x;
    psfm_pose_graph g;
    make_example(&x);
    assert_ok(ctx, psfm_pose_graph_build(ctx, &x.set, x.two_views, false, &g));
    assert_true(g.num_nodes == 5 && g.num_edges == 2 && g.num_planes == 3);
    assert_int_equal(g.num_hypotheses, 5);
    const psfm_edge *e = &g.edges[0], *f = &g.edges[1];
    assert_true(e->node1 == 0 && e->node2 == 1 && e->pair == 0 && !e->has_essential);
    assert_true(f->node1 == 2 && f->node2 == 3 && f->pair == 3 && f->has_essential);
    assert_true(f->essential_plane_share == 0.75 && f->essential_t_21[2] == 1.0 &&
                f->essential_R_21[8] == 1.0);
    assert_true(e->plane_begin == 0 && e->plane_end == 2 && f->plane_begin == 2);
    assert_true(e->hypothesis_end == 3 && f->hypothesis_begin == 3 && f->hypothesis_end == 5);
    const uint32_t *k1 = g.planes[0].keypoints1, *k2 = g.planes[0].keypoints2;
    assert_true(k1[0] == 1 && k1[1] == 5 && k2[0] == 2 && k2[1] == 8);
    k1 = g.planes[1].keypoints1, k2 = g.planes[1].keypoints2;
    assert_true(k1[0] == 3 && k1[1] == 7 && k2[0] == 4 && k2[1] == 9);
    assert_true(g.planes[1].rms_px == 1.5 && g.planes[1].edge == 0 && g.planes[2].edge == 1);
    for (uint32_t h = 0; h < 5; ++h) {
        static const uint32_t plane[] = {0, 0, 1, 2, 2};
        static const int homography[] = {0, 0, 1, 4, 4}, motion[] = {0, 1, 0, 0, 1};
        assert_int_equal(g.hypotheses[h].plane, plane[h]);
        assert_int_equal(g.hypotheses[h].edge, h < 3 ? 0 : 1);
        assert_memory_equal(&g.hypotheses[h].motion,
                            &x.homographies[homography[h]].motions[motion[h]],
                            sizeof(psfm_plane_motion));
        assert_close(g.hypotheses[h].weight, h < 3 ? 1.0 / 3.0 : 0.5, 1e-15);
    }
    static const size_t begin[] = {0, 1, 2, 3, 4, 4};
    static const uint32_t incident[] = {0, 0, 1, 1};
    assert_memory_equal(g.incident.begin, begin, sizeof begin);
    assert_memory_equal(g.incident.edge, incident, sizeof incident);
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* On request the pure rotation is an edge, too, without an essential matrix; the rotation beside
 * planes gives nothing, and neither does one whose essential matrix knows more. */
static void rotations_are_edges_on_request(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    example x;
    psfm_pose_graph g;
    make_example(&x);
    x.homographies[3].inliers = x.inliers[0];
    x.two_views[1].essential = (psfm_essential){.found = true, .is_degenerate = true};
    assert_ok(ctx, psfm_pose_graph_build(ctx, &x.set, x.two_views, true, &g));
    assert_true(g.num_edges == 3 && g.num_planes == 4 && g.num_hypotheses == 6);
    const psfm_edge *e = &g.edges[1];
    assert_true(e->is_rotation && !e->has_essential && e->pair == 1);
    assert_false(g.edges[0].is_rotation || g.edges[2].is_rotation);
    const psfm_edge_plane *plane = &g.planes[e->plane_begin]; /* matches (5, 2), (1, 8) */
    assert_true(plane->num_inliers == 2 && plane->keypoints1[0] == 1 && plane->keypoints1[1] == 5);
    assert_true(plane->partner[0] == 8 && plane->partner[1] == 2 && g.planes[0].partner == NULL);
    psfm_pose_graph_free(&g);
    x.two_views[1].essential.is_degenerate = false;
    assert_ok(ctx, psfm_pose_graph_build(ctx, &x.set, x.two_views, true, &g));
    assert_true(g.num_edges == 3 && g.num_planes == 3 && g.edges[1].has_essential);
    assert_false(g.edges[1].is_rotation);
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

static void normals_belong_to_their_camera(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    example x;
    psfm_pose_graph g;
    make_example(&x);
    assert_ok(ctx, psfm_pose_graph_build(ctx, &x.set, x.two_views, false, &g));
    for (uint32_t k = 0; k < g.num_hypotheses; ++k) {
        const psfm_hypothesis *h = &g.hypotheses[k];
        double n2[3];
        psfm_mat3_mul_vec(h->motion.R_21, psfm_hypothesis_normal(&g, h, g.edges[h->edge].node1),
                          n2);
        const double *other = psfm_hypothesis_normal(&g, h, g.edges[h->edge].node2);
        for (int c = 0; c < 3; ++c)
            assert_close(n2[c], other[c], 1e-14);
    }
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

static void refuses_inliers_outside_and_bad_motions(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    example x;
    psfm_pose_graph g;
    make_example(&x);
    x.inliers[1][1] = 4;
    assert_int_equal(psfm_pose_graph_build(ctx, &x.set, x.two_views, false, &g), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "views 0 and 1"));
    assert_null(g.edges);
    make_example(&x);
    x.homographies[4].motions[1].n2[0] = NAN;
    assert_int_equal(psfm_pose_graph_build(ctx, &x.set, x.two_views, false, &g), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "views 2 and 3"));
    psfm_context_destroy(&ctx);
}

static void empty_sets_give_empty_graphs(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_match_set none = {0}, views = {.num_views = 3};
    psfm_pose_graph g;
    uint32_t label[3], num;
    assert_ok(ctx, psfm_pose_graph_build(ctx, &none, NULL, false, &g));
    assert_ok(ctx, psfm_pose_graph_components(ctx, &g, NULL, label, &num));
    assert_true(g.num_edges == 0 && num == 0);
    psfm_pose_graph_free(&g);
    assert_ok(ctx, psfm_pose_graph_build(ctx, &views, NULL, false, &g));
    assert_ok(ctx, psfm_pose_graph_components(ctx, &g, NULL, label, &num));
    assert_true(num == 3 && label[0] == 0 && label[1] == 1 && label[2] == 2);
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

static void index_lists_edges_in_order(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    psfm_pose_graph g;
    random_pose_graph(ctx, &rng, 30, 200, 4, &g);
    size_t total = 0;
    for (uint32_t v = 0; v < 30; ++v) {
        size_t k = g.incident.begin[v];
        for (uint32_t e = 0; e < 200; ++e)
            if (g.edges[e].node1 == v || g.edges[e].node2 == v)
                assert_int_equal(g.incident.edge[k++], e);
        assert_int_equal(k, g.incident.begin[v + 1]);
        total += g.incident.begin[v + 1] - g.incident.begin[v];
    }
    assert_int_equal(total, 400);
    uint32_t good = g.edges[7].node2;
    g.edges[7].node2 = 30;
    assert_int_equal(psfm_pose_graph_index(ctx, &g), PSFM_ERR_ARGUMENT);
    g.edges[7].node2 = g.edges[7].node1;
    assert_int_equal(psfm_pose_graph_index(ctx, &g), PSFM_ERR_ARGUMENT);
    g.edges[7].node2 = good;
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* Labels by flooding, sizes by counting, order by definition. */
static void components_by_decreasing_size(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t round = 0; round < 100; ++round) {
        psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, round, 0);
        enum { N = 40 };
        psfm_pose_graph g;
        bool keep[60];
        uint32_t label[N], num, size[N] = {0}, first[N];
        random_pose_graph(ctx, &rng, N, 60, 4, &g);
        for (int e = 0; e < 60; ++e)
            keep[e] = psfm_rng_below(&rng, 2) == 0;
        assert_ok(ctx, psfm_pose_graph_components(ctx, &g, keep, label, &num));
        uint32_t flood[N];
        for (uint32_t v = 0; v < N; ++v)
            flood[v] = v;
        for (int pass = 0; pass < N; ++pass)
            for (uint32_t e = 0; e < 60; ++e)
                if (keep[e])
                    flood[g.edges[e].node1] = flood[g.edges[e].node2] =
                        flood[g.edges[e].node1] < flood[g.edges[e].node2] ? flood[g.edges[e].node1]
                                                                          : flood[g.edges[e].node2];
        for (uint32_t v = 0; v < N; ++v) {
            assert_true(label[v] < num);
            if (size[label[v]]++ == 0)
                first[label[v]] = v;
            for (uint32_t w = 0; w < v; ++w)
                assert_int_equal(label[v] == label[w], flood[v] == flood[w]);
        }
        for (uint32_t k = 0; k < num; ++k) {
            assert_true(size[k] > 0);
            assert_true(k == 0 || size[k - 1] > size[k] ||
                        (size[k - 1] == size[k] && first[k - 1] < first[k]));
        }
        psfm_pose_graph_free(&g);
    }
    psfm_context_destroy(&ctx);
}

static void survives_failing_allocations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, 1);
    example x;
    psfm_pose_graph g;
    make_example(&x);
    size_t n = 1;
    for (;; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = psfm_pose_graph_build(ctx, &x.set, x.two_views, false, &g);
        psfm_alloc_fail_after(0);
        if (status == PSFM_OK)
            break;
        assert_int_equal(status, PSFM_ERR_MEMORY);
        assert_null(g.edges);
    }
    assert_true(n > 8);
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_edges_planes_and_hypotheses),
        cmocka_unit_test(rotations_are_edges_on_request),
        cmocka_unit_test(normals_belong_to_their_camera),
        cmocka_unit_test(refuses_inliers_outside_and_bad_motions),
        cmocka_unit_test(empty_sets_give_empty_graphs),
        cmocka_unit_test(index_lists_edges_in_order),
        cmocka_unit_test(components_by_decreasing_size),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("posegraph/pose_graph", tests, NULL, NULL);
}
