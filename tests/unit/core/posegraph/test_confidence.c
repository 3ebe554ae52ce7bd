#include "unit/core/posegraph/graph_util.h"

#include "core/linalg/angle.h"
#include "core/posegraph/confidence.h"

/* Each plane has one positive weight, each edge's sum to 1. */
static void check_choice(const psfm_pose_graph *g) {
    for (uint32_t e = 0; e < g->num_edges; ++e) {
        double sum = 0.0;
        for (uint32_t p = g->edges[e].plane_begin; p < g->edges[e].plane_end; ++p) {
            int num_chosen = 0;
            for (uint32_t h = g->planes[p].hypothesis_begin; h < g->planes[p].hypothesis_end; ++h) {
                assert_true(g->hypotheses[h].weight >= 0.0);
                num_chosen += g->hypotheses[h].weight > 0.0;
                sum += g->hypotheses[h].weight;
            }
            assert_int_equal(num_chosen, 1);
        }
        assert_close(sum, 1.0, 1e-14);
    }
}

/* Eq. 4 with floor and inliers. */
static double weight_of(const psfm_pose_graph *g, uint32_t h, const double R[9],
                        const psfm_essential_weight_options *options) {
    double eps = psfm_degrees(psfm_rotation_angle(g->hypotheses[h].motion.R_21, R)) /
                 options->rotation_bandwidth_deg;
    double inliers = fmax(g->planes[g->hypotheses[h].plane].num_inliers, 1.0);
    return fmax(exp(-eps * eps), options->floor) * pow(inliers, options->inlier_power);
}

/* The weights of edge e are those of the formula with rotation R. */
static void check_formula(const psfm_pose_graph *g, uint32_t e, const double R[9],
                          const psfm_essential_weight_options *options) {
    double sum = 0.0;
    for (uint32_t p = g->edges[e].plane_begin; p < g->edges[e].plane_end; ++p) {
        double best = 0.0;
        for (uint32_t h = g->planes[p].hypothesis_begin; h < g->planes[p].hypothesis_end; ++h)
            best = fmax(best, weight_of(g, h, R, options));
        sum += best;
    }
    for (uint32_t h = g->edges[e].hypothesis_begin; h < g->edges[e].hypothesis_end; ++h)
        if (g->hypotheses[h].weight > 0.0)
            assert_close(g->hypotheses[h].weight, weight_of(g, h, R, options) / sum, 1e-12);
}

static void essential_weights_follow_the_formula(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t round = 0; round < 20; ++round) {
        psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, round, 0);
        psfm_pose_graph g;
        random_pose_graph(ctx, &rng, 10, 30, 20, &g);
        psfm_essential_weight_options options = {psfm_rng_range(&rng, 40.0, 120.0),
                                                 round % 2 == 0 ? 0.0 : 0.3, (double)(round % 3)};
        for (uint32_t e = 0; e < g.num_edges; ++e) {
            psfm_plane_motion motion;
            random_motion(&rng, &motion);
            g.edges[e].has_essential = true;
            memcpy(g.edges[e].essential_R_21, motion.R_21, sizeof motion.R_21);
        }
        assert_ok(ctx, psfm_weigh_by_essential(ctx, &options, &g));
        check_choice(&g);
        for (uint32_t e = 0; e < g.num_edges; ++e)
            check_formula(&g, e, g.edges[e].essential_R_21, &options);
        psfm_pose_graph_free(&g);
    }
    psfm_context_destroy(&ctx);
}

/* Far from the essential matrix at a narrow bandwidth every plain exponential would be 0. */
static void narrow_bandwidths_keep_the_nearest(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    psfm_pose_graph g;
    random_pose_graph(ctx, &rng, 10, 30, 20, &g);
    psfm_essential_weight_options options = {.rotation_bandwidth_deg = 0.01};
    for (uint32_t e = 0; e < g.num_edges; ++e) {
        g.edges[e].has_essential = true;
        psfm_mat3_identity(g.edges[e].essential_R_21);
    }
    assert_ok(ctx, psfm_weigh_by_essential(ctx, &options, &g));
    for (uint32_t e = 0; e < g.num_edges; ++e) {
        uint32_t nearest = g.edges[e].hypothesis_begin;
        double smallest = INFINITY;
        for (uint32_t h = g.edges[e].hypothesis_begin; h < g.edges[e].hypothesis_end; ++h) {
            double angle =
                psfm_rotation_angle(g.hypotheses[h].motion.R_21, g.edges[e].essential_R_21);
            nearest = angle < smallest ? h : nearest;
            smallest = fmin(smallest, angle);
        }
        assert_close(g.hypotheses[nearest].weight, 1.0, 1e-9);
    }
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* Two decompositions of one homography exclude each other: their mean is neither. Without an
 * essential matrix the first stands for its homography, and inliers weigh. */
static void without_essential_the_first_decomposition_stands(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    psfm_essential_weight_options options = {1.0, 1e-3, 1.0};
    psfm_pose_graph g;
    random_pose_graph(ctx, &rng, 10, 30, 20, &g);
    assert_ok(ctx, psfm_weigh_by_essential(ctx, &options, &g));
    check_choice(&g);
    for (uint32_t p = 0; p < g.num_planes; ++p) {
        const psfm_edge *edge = &g.edges[g.planes[p].edge];
        double sum = 0.0;
        for (uint32_t q = edge->plane_begin; q < edge->plane_end; ++q)
            sum += fmax(g.planes[q].num_inliers, 1.0);
        assert_close(g.hypotheses[g.planes[p].hypothesis_begin].weight,
                     fmax(g.planes[p].num_inliers, 1.0) / sum, 1e-14);
    }
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

static void given_rotations_weigh_the_selected_edges(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 0, 0);
    psfm_essential_weight_options options = {60.0, 0.1, 1.0};
    psfm_pose_graph g;
    double R[30][9];
    bool select[30];
    random_pose_graph(ctx, &rng, 10, 30, 20, &g);
    for (uint32_t e = 0; e < g.num_edges; ++e) {
        psfm_plane_motion motion;
        random_motion(&rng, &motion);
        memcpy(R[e], motion.R_21, sizeof R[e]);
        select[e] = e % 2 == 0;
        for (uint32_t h = g.edges[e].hypothesis_begin; h < g.edges[e].hypothesis_end; ++h)
            g.hypotheses[h].weight = 0.25;
    }
    assert_ok(ctx, psfm_weigh_by_rotation(ctx, &options, (const double(*)[9])R, select, &g));
    for (uint32_t e = 0; e < g.num_edges; ++e) {
        if (select[e])
            check_formula(&g, e, R[e], &options);
        for (uint32_t h = g.edges[e].hypothesis_begin; h < g.edges[e].hypothesis_end; ++h)
            assert_true(select[e] || g.hypotheses[h].weight == 0.25);
    }
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

static void random_weights_follow_their_seed(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    psfm_pose_graph g;
    random_pose_graph(ctx, &rng, 50, 2000, 4, &g);
    double *first = malloc(g.num_hypotheses * sizeof *first);
    assert_non_null(first);
    assert_ok(ctx, psfm_weigh_randomly(ctx, 11, &g));
    check_choice(&g);
    for (uint32_t h = 0; h < g.num_hypotheses; ++h)
        first[h] = g.hypotheses[h].weight;
    assert_ok(ctx, psfm_weigh_randomly(ctx, 12, &g));
    int num_changed = 0;
    for (uint32_t h = 0; h < g.num_hypotheses; ++h)
        num_changed += g.hypotheses[h].weight != first[h];
    assert_true(num_changed > 1500);
    assert_ok(ctx, psfm_weigh_randomly(ctx, 11, &g));
    for (uint32_t h = 0; h < g.num_hypotheses; ++h)
        assert_true(g.hypotheses[h].weight == first[h]);
    /* Of two decompositions either is chosen about as often. */
    int num_pairs = 0, num_first = 0;
    for (uint32_t p = 0; p < g.num_planes; ++p) {
        bool is_pair = g.planes[p].hypothesis_end - g.planes[p].hypothesis_begin == 2;
        num_pairs += is_pair;
        num_first += is_pair && g.hypotheses[g.planes[p].hypothesis_begin].weight > 0.0;
    }
    assert_close(num_first, num_pairs / 2.0, 2.5 * sqrt(num_pairs));
    free(first);
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

static void refuses_bad_numbers(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 0, 0);
    psfm_pose_graph g;
    random_pose_graph(ctx, &rng, 4, 3, 20, &g);
    psfm_essential_weight_options options = {NAN, 0.0, 0.0};
    assert_int_equal(psfm_weigh_by_essential(ctx, &options, &g), PSFM_ERR_ARGUMENT);
    g.edges[2].has_essential = true;
    g.edges[2].essential_R_21[4] = NAN;
    assert_int_equal(psfm_weigh_by_essential(ctx, NULL, &g), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "edge 2"));
    psfm_pose_graph_free(&g);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(essential_weights_follow_the_formula),
        cmocka_unit_test(narrow_bandwidths_keep_the_nearest),
        cmocka_unit_test(without_essential_the_first_decomposition_stands),
        cmocka_unit_test(given_rotations_weigh_the_selected_edges),
        cmocka_unit_test(random_weights_follow_their_seed),
        cmocka_unit_test(refuses_bad_numbers),
    };
    return cmocka_run_group_tests_name("posegraph/confidence", tests, NULL, NULL);
}
