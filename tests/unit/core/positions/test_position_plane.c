#include "plane_graph.h"

#include "core/linalg/sim3.h"
#include "core/positions/position_plane.h"

static const test_plane planes[] = {{{0, 0, 1}, 0}, {{1, 0, 0}, 8}, {{0, 1, 0}, 9}};

static uint32_t num_wrong; /* edges that the last solve() called wrong */

/* Solves and returns the largest position error after alignment, as a share of the extent. */
static double solve(psfm_context *ctx, const plane_graph *g, const bool *keep,
                    psfm_position_plane_stats *stats) {
    uint32_t n = g->num_nodes;
    bool *posed = malloc(n * sizeof *posed);
    double(*centers)[3] = calloc(n, sizeof *centers), worst = 0;
    psfm_relative_pose *poses = calloc(g->graph.num_edges, sizeof *poses);
    psfm_baseline_kind *kind = calloc(g->graph.num_edges, sizeof *kind);
    psfm_plane_groups groups;
    psfm_sim3 s;
    memset(posed, true, n * sizeof *posed);
    assert_ok(ctx, psfm_plane_groups_find(ctx, &g->graph, keep, &groups));
    assert_ok(ctx, psfm_consolidate(ctx, &g->graph, poses));
    psfm_known_baselines known;
    psfm_position_plane_input input = {
        &g->graph, keep, posed, &groups, poses, (const double(*)[9])g->R, 1.0};
    assert_ok(ctx, psfm_positions_plane(ctx, &input, centers, kind, &known, stats));
    psfm_known_baselines_free(&known);
    assert_ok(ctx, psfm_sim3_fit_robust(ctx, n, (const double(*)[3])centers,
                                        (const double(*)[3])g->center, &s));
    for (uint32_t v = 0; v < n; ++v) {
        double moved[3];
        psfm_sim3_apply(&s, centers[v], moved);
        psfm_sub3(moved, g->center[v], moved);
        worst = fmax(worst, psfm_norm3(moved) / 10);
    }
    num_wrong = 0;
    for (uint32_t e = 0; e < g->graph.num_edges; ++e)
        num_wrong += kind[e] == PSFM_BASELINE_WRONG;
    psfm_plane_groups_free(&groups);
    free(posed);
    free(centers);
    free(poses);
    free(kind);
    return worst;
}

/* Makes a rotation of an edge: its cameras have one place. */
static void make_rotation(plane_graph *g, uint32_t e, bool has_plane) {
    psfm_plane_motion *m = &g->graph.hypotheses[g->graph.edges[e].hypothesis_begin].motion;
    g->graph.edges[e].is_rotation = true;
    g->graph.edges[e].slack = 0.01;
    memcpy(g->graph.edges[e].ahead, m->n1, sizeof m->n1);
    if (!has_plane)
        memset(m->n1, 0, sizeof m->n1);
}

/* Two chains that a rotation joins, which carries the floor on or knows no plane. Without one the
 * second has no size: it gets one, instead of shrinking to nothing. */
static void places_chains_that_a_rotation_joins(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int has_plane = 0; has_plane < 2; ++has_plane) {
        psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
        plane_graph g = plane_graph_cameras(&rng, 12);
        memcpy(g.center[6], g.center[5], sizeof *g.center);
        g.center[0][2] = g.center[6][2]; /* so that the size that is taken is the true one */
        for (uint32_t v = 0; v + 1 < 12; ++v)
            plane_graph_add(&g, v, v + 1, planes, (int[]){0}, 1);
        make_rotation(&g, 5, has_plane);
        assert_ok(ctx, psfm_pose_graph_index(ctx, &g.graph));
        psfm_position_plane_stats stats;
        assert_below(solve(ctx, &g, NULL, &stats), 1e-6);
        assert_int_equal(stats.num_scaled_edges, 10);
        assert_int_equal(stats.num_scale_components, has_plane ? 1 : 2);
        assert_int_equal(num_wrong, 0);
        plane_graph_free(&g);
    }
    psfm_context_destroy(&ctx);
}

/* Half of a long walk hangs on a rotation, and one edge elsewhere knows no length: what keeps the
 * system regular then must not tear the halves apart. */
static void a_long_walk_holds_on_to_a_rotation(void **state) {
    (void)state;
    enum { N = 600 };
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, N);
    for (uint32_t v = 0; v < N; ++v) {
        double x = 0.5 * (v < N / 2 ? v : v - 1);
        memcpy(g.center[v], (double[3]){x, 10.0 * sin(0.1 * x), 5.0}, sizeof *g.center);
    }
    for (uint32_t v = 0; v + 1 < N; ++v)
        plane_graph_add(&g, v, v + 1, planes, (int[]){0}, 1);
    plane_graph_add(&g, 0, 2, planes, (int[]){2}, 1); /* of a scale of its own */
    make_rotation(&g, N / 2 - 1, true);
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g.graph));
    psfm_position_plane_stats stats;
    assert_below(solve(ctx, &g, NULL, &stats), 1e-6);
    assert_int_equal(stats.num_scale_components, 2);
    assert_int_equal(num_wrong, 0);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* A chain has no cycle, so that directions alone say nothing about lengths. */
static void places_a_chain(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, 12);
    for (uint32_t v = 0; v + 1 < 12; ++v)
        plane_graph_add(&g, v, v + 1, planes, (int[]){0}, 1);
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g.graph));
    psfm_position_plane_stats stats;
    assert_below(solve(ctx, &g, NULL, &stats), 1e-9);
    assert_int_equal(stats.num_scale_components, 1);
    assert_int_equal(stats.num_scaled_edges, 11);
    assert_int_equal(num_wrong, 0);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* Edges that see different planes hang together through one that sees both. */
static void passes_the_scale_on_between_planes(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, 10);
    for (uint32_t v = 0; v + 1 < 10; ++v) {
        if (v < 4)
            plane_graph_add(&g, v, v + 1, planes, (int[]){0}, 1);
        else if (v == 4)
            plane_graph_add(&g, v, v + 1, planes, (int[]){0, 1}, 2);
        else
            plane_graph_add(&g, v, v + 1, planes, (int[]){1}, 1);
    }
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g.graph));
    psfm_position_plane_stats stats;
    assert_below(solve(ctx, &g, NULL, &stats), 1e-9);
    assert_int_equal(stats.num_scale_components, 1);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* Two parts that see different planes have scales of their own; triangles across tell them. */
static void solves_for_a_second_scale(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, 8);
    for (uint32_t a = 0; a < 8; ++a)
        for (uint32_t b = a + 1; b < 8; ++b)
            plane_graph_add(&g, a, b, planes, (a < 4) == (b < 4) ? (int[]){0} : (int[]){1}, 1);
    /* wall keypoints of edges across differ from edge to edge in each camera of the second part,
     * so that the wall's distances there do not hang together with the floor's */
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g.graph));
    psfm_position_plane_stats stats;
    assert_below(solve(ctx, &g, NULL, &stats), 1e-6);
    assert_true(stats.num_scale_components >= 2);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* Two long walks along different planes that meet in two cameras, with noise: the second must not
 * shrink to a point, where its edges would contradict each other least. */
static void a_second_scale_does_not_collapse(void **state) {
    (void)state;
    enum { N = 300, MEET = 120 };
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, N);
    for (uint32_t v = 0; v < N; ++v)
        memcpy(g.center[v], (double[3]){0.02 * v, 2.0 * sin(0.05 * v), 5.0}, sizeof *g.center);
    for (uint32_t v = 0; v + 1 < N; ++v) {
        plane_graph_add(&g, v, v + 1, planes, v <= MEET ? (int[]){0} : (int[]){1}, 1);
        if (v + 2 < N)
            plane_graph_add(&g, v, v + 2, planes, v < MEET ? (int[]){0} : (int[]){1}, 1);
    }
    for (uint32_t h = 0; h < g.graph.num_hypotheses; ++h) {
        double *t = g.graph.hypotheses[h].motion.t_21, length = psfm_norm3(t);
        for (int k = 0; k < 3; ++k)
            t[k] += 0.05 * length * psfm_rng_range(&rng, -1, 1);
    }
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g.graph));
    psfm_position_plane_stats stats;
    assert_below(solve(ctx, &g, NULL, &stats), 0.03);
    assert_int_equal(stats.num_scale_components, 2);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* Positions of the nodes [begin, end), what is known of the edges in `kind`. */
static void place_part(psfm_context *ctx, const plane_graph *g, uint32_t begin, uint32_t end,
                       const psfm_plane_groups *groups, psfm_baseline_kind *kind) {
    psfm_position_plane_stats stats;
    bool posed[8];
    double centers[8][3];
    psfm_relative_pose poses[16];
    for (uint32_t v = 0; v < 8; ++v)
        posed[v] = begin <= v && v < end;
    assert_ok(ctx, psfm_consolidate(ctx, &g->graph, poses));
    psfm_known_baselines known;
    psfm_position_plane_input input = {
        &g->graph, NULL, posed, groups, poses, (const double(*)[9])g->R, 1.0};
    assert_ok(ctx, psfm_positions_plane(ctx, &input, centers, kind, &known, &stats));
    psfm_known_baselines_free(&known);
}

/* Each component is solved by a call of its own; what one call found out, the next one leaves. */
static void a_second_component_leaves_the_first_alone(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, 8);
    for (uint32_t v = 0; v + 1 < 8; ++v)
        if (v != 3)
            plane_graph_add(&g, v, v + 1, planes, (int[]){0}, 1);
    plane_graph_add(&g, 2, 5, planes, (int[]){0}, 1); /* between the components: of no use */
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g.graph));
    psfm_plane_groups groups;
    psfm_baseline_kind kind[7] = {PSFM_BASELINE_NONE};
    assert_ok(ctx, psfm_plane_groups_find(ctx, &g.graph, NULL, &groups));
    place_part(ctx, &g, 0, 4, &groups, kind);
    place_part(ctx, &g, 4, 8, &groups, kind);
    for (uint32_t e = 0; e < 6; ++e)
        assert_int_equal(kind[e], PSFM_BASELINE_LENGTH);
    assert_int_equal(kind[6], PSFM_BASELINE_NONE);
    psfm_plane_groups_free(&groups);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

static void survives_false_baselines(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, 15);
    for (uint32_t a = 0; a < 15; ++a)
        for (uint32_t b = a + 1; b < 15; ++b)
            plane_graph_add(&g, a, b, planes, (int[]){0}, 1);
    for (uint32_t e = 0; e < g.graph.num_edges; e += 5) { /* 20 % */
        psfm_plane_motion *m = &g.graph.hypotheses[e].motion;
        psfm_rng_direction(&rng, m->t_21);
        m->d2_over_d1 *= 1.5;
    }
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g.graph));
    psfm_position_plane_stats stats;
    assert_below(solve(ctx, &g, NULL, &stats), 1e-3);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

/* A walk along something that repeats every four metres: the edges of images far apart, which are
 * most, join one bay to another. They have right rotations and fewer matches. */
static void walks_along_repeating_bays(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 0, 0);
    plane_graph g = plane_graph_cameras(&rng, 16);
    uint32_t num_false = 0;
    for (uint32_t v = 0; v < 16; ++v)
        g.center[v][0] += 2.5 * v;
    for (uint32_t a = 0; a < 16; ++a) {
        for (uint32_t b = a + 1; b < 16; ++b) {
            plane_graph_add(&g, a, b, planes, (int[]){0}, 1);
            double bays = round((g.center[b][0] - g.center[a][0]) / 4.0);
            if (b - a < 5)
                continue;
            psfm_edge_plane *plane = &g.graph.planes[g.graph.num_planes - 1];
            psfm_plane_motion *m = &g.graph.hypotheses[plane->hypothesis_begin].motion;
            double shift[3] = {4.0 * bays / g.center[a][2], 0, 0};
            psfm_mat3_mul_vec(g.R[b], shift, shift);
            psfm_axpy3(m->t_21, 1.0, shift, m->t_21);
            plane->num_inliers = 10;
            ++num_false;
        }
    }
    assert_true(2 * num_false > g.graph.num_edges);
    assert_ok(ctx, psfm_pose_graph_index(ctx, &g.graph));
    psfm_position_plane_stats stats;
    assert_below(solve(ctx, &g, NULL, &stats), 0.01);
    assert_int_equal(num_wrong, num_false);
    plane_graph_free(&g);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_a_chain),
        cmocka_unit_test(places_chains_that_a_rotation_joins),
        cmocka_unit_test(a_long_walk_holds_on_to_a_rotation),
        cmocka_unit_test(a_second_scale_does_not_collapse),
        cmocka_unit_test(passes_the_scale_on_between_planes),
        cmocka_unit_test(solves_for_a_second_scale),
        cmocka_unit_test(a_second_component_leaves_the_first_alone),
        cmocka_unit_test(survives_false_baselines),
        cmocka_unit_test(walks_along_repeating_bays),
    };
    return cmocka_run_group_tests_name("positions/position_plane", tests, NULL, NULL);
}
