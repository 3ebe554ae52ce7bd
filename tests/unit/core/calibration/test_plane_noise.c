/* The noise of planes, from residuals that are made up. */
#include "unit/core/calibration/plane_problem.h"

/* Rings of one plane each whose lenses are known, so that nothing of the measurements goes into
 * them: 8 an edge, less 6 a pose, and 4 more are left over. */
typedef struct {
    rig rigs[2];
    plane_case c;
    psfm_plane_adjustment a;
    double weight[2];
} fixture;

static void set_up(psfm_context *ctx, fixture *f, size_t num_views, size_t neighbours,
                   double prior_sigma) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 32, 0);
    memset(f, 0, sizeof *f);
    for (uint32_t k = 0; k < 2; ++k) {
        rig *r = &f->rigs[k];
        uint32_t group[MAX_POSES];
        r->num = num_views;
        for (uint32_t v = 0; v < num_views; ++v) {
            r->f[v] = 1.1;
            group[v] = (uint32_t)num_views * k + v;
        }
        place_ring(r, &rng);
        add_ring(r, &rng, neighbours, 2.5);
        add_plane(&f->c, r, group);
    }
    for (size_t g = 0; g < f->c.p.num_groups; ++g)
        f->c.prior_sigma[g] = prior_sigma;
    open_adjustment(ctx, &f->c, f->weight, &f->a);
}

static void tear_down(fixture *f) {
    close_adjustment(&f->a);
    free_rig(&f->rigs[0]);
    free_rig(&f->rigs[1]);
}

/* Gives all edges of a plane this squared residual. */
static void set_residuals(fixture *f, uint32_t plane, double chi2) {
    for (size_t e = 0; e < f->c.p.num_edges; ++e)
        if (f->c.poses[f->c.edges[e].pose1].plane == plane)
            f->a.now.chi[e] = sqrt(chi2);
}

static void assert_variances(psfm_context *ctx, fixture *f, double first, double second) {
    assert_ok(ctx, psfm_plane_measure_noise(ctx, &f->a));
    assert_close(f->weight[0] * first, 1.0, 2e-3);
    assert_close(f->weight[1] * second, 1.0, 2e-3);
}

enum { VIEWS = 8, EDGES = 16, LEFT = 8 * EDGES - 6 * VIEWS + 4 }; /* two neighbours: 84 */

static void planes_that_are_as_flat_as_they_say_count_in_full(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(ctx, &f, VIEWS, 2, 1e-3);
    for (int k = 0; k < 3; ++k) {
        static const double chi2[] = {0.0, 0.5, (double)LEFT / EDGES};
        set_residuals(&f, 0, chi2[k]);
        set_residuals(&f, 1, chi2[k]);
        assert_ok(ctx, psfm_plane_measure_noise(ctx, &f.a));
        assert_close(f.weight[0], 1.0, 1e-12);
        assert_close(f.weight[1], 1.0, 1e-12);
    }
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* What is left over of the first has three times its variance; the second is as it says. Common to
 * both are two, and eight measurements of each are of that. */
static void a_rough_plane_counts_less_and_its_neighbour_a_little(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(ctx, &f, VIEWS, 2, 1e-3);
    set_residuals(&f, 0, 3.0 * LEFT / EDGES);
    set_residuals(&f, 1, 1.0 * LEFT / EDGES);
    assert_variances(ctx, &f, (3.0 * LEFT + 8.0 * 2.0) / (LEFT + 8.0),
                     (1.0 * LEFT + 8.0 * 2.0) / (LEFT + 8.0));
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* Of residuals that were weighed already it is the same. */
static void what_was_weighed_before_does_not_matter(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(ctx, &f, VIEWS, 2, 1e-3);
    f.weight[0] = 0.25;
    f.weight[1] = 0.5;
    set_residuals(&f, 0, 0.25 * 3.0 * LEFT / EDGES);
    set_residuals(&f, 1, 0.5 * 1.0 * LEFT / EDGES);
    assert_variances(ctx, &f, (3.0 * LEFT + 8.0 * 2.0) / (LEFT + 8.0),
                     (1.0 * LEFT + 8.0 * 2.0) / (LEFT + 8.0));
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* A lens that the data find takes one measurement; two views of it take half of one each. */
static void lenses_that_are_free_take_their_share(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int shared = 0; shared < 2; ++shared) {
        fixture f;
        set_up(ctx, &f, VIEWS, 2, 0.6);
        for (uint32_t v = 0; shared && v < 2 * VIEWS; ++v) /* the same eight in both */
            f.c.poses[v].group = v % VIEWS;
        double left = LEFT - (shared ? 0.5 : 1.0) * VIEWS;
        set_residuals(&f, 0, 5.0 * left / EDGES);
        set_residuals(&f, 1, 5.0 * left / EDGES);
        assert_variances(ctx, &f, 5.0, 5.0);
        tear_down(&f);
    }
    psfm_context_destroy(&ctx);
}

/* Homographies of no plane are cut off at sixteen times the variance: with one of them in each
 * plane it is the others' sum over what is left over less sixteen. */
static void a_few_wrong_homographies_do_not_matter(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(ctx, &f, VIEWS, 2, 1e-3);
    const double each = 10.0, common = (EDGES - 1) * each / (LEFT - 16.0);
    const double own = ((EDGES - 1) * each + 8.0 * common) / (LEFT + 8.0 - 16.0);
    set_residuals(&f, 0, each);
    set_residuals(&f, 1, each);
    f.a.now.chi[0] = 1e6;
    f.a.now.chi[EDGES] = INFINITY;
    assert_ok(ctx, psfm_plane_measure_noise(ctx, &f.a));
    assert_true(own > 1.5);
    assert_close(f.weight[0] * own, 1.0, 0.01);
    assert_close(f.weight[1] * own, 1.0, 0.01);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* Three views with two homographies and lenses of their own have less than nothing left over: they
 * are taken for like the others. */
static void a_chain_is_taken_for_like_the_others(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(ctx, &f, VIEWS, 2, 1e-3);
    size_t num = EDGES;
    for (size_t e = EDGES; e < 2 * EDGES; ++e) {
        const psfm_plane_edge edge = f.c.edges[e];
        if (edge.pose2 == edge.pose1 + 1 && edge.pose2 < VIEWS + 3)
            f.c.edges[num++] = edge;
    }
    assert_int_equal(num, EDGES + 2);
    f.c.p.num_edges = num;
    f.c.p.num_poses = VIEWS + 3;
    for (size_t g = VIEWS; g < f.c.p.num_groups; ++g)
        f.c.prior_sigma[g] = 0.6;
    set_residuals(&f, 0, 3.0 * LEFT / EDGES);
    set_residuals(&f, 1, 0.0);
    assert_variances(ctx, &f, 3.0, 3.0);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* Two planes of three views and two homographies each. Without residuals they are as they say; of
 * one that has residuals these count, over eight measurements that are like all others. */
static void planes_with_nothing_left_over_are_as_they_say(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(ctx, &f, 3, 1, 0.6);
    f.c.edges[2] = f.c.edges[3];
    f.c.edges[3] = f.c.edges[4];
    f.c.p.num_edges = 4;
    set_residuals(&f, 0, 0.0);
    set_residuals(&f, 1, 0.0);
    assert_variances(ctx, &f, 1.0, 1.0);
    set_residuals(&f, 0, 100.0);
    f.a.now.chi[2] = f.a.now.chi[3] = 0.0;
    assert_variances(ctx, &f, (2.0 * 100.0 + 8.0) / 8.0, 1.0);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_that_are_as_flat_as_they_say_count_in_full),
        cmocka_unit_test(a_rough_plane_counts_less_and_its_neighbour_a_little),
        cmocka_unit_test(what_was_weighed_before_does_not_matter),
        cmocka_unit_test(lenses_that_are_free_take_their_share),
        cmocka_unit_test(a_few_wrong_homographies_do_not_matter),
        cmocka_unit_test(a_chain_is_taken_for_like_the_others),
        cmocka_unit_test(planes_with_nothing_left_over_are_as_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
