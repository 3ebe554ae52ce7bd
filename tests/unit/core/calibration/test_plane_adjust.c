/* Adjustment of planes whose truth is known, from values that are off. */
#include "unit/core/calibration/plane_problem.h"

enum { VIEWS = 8 };

/* A ring of views with a lens each, as one plane of a problem. */
static void add_ring_plane(plane_case *c, rig *r, psfm_rng *rng, double sigma) {
    uint32_t group[VIEWS];
    *r = (rig){.num = VIEWS, .sigma = sigma};
    for (uint32_t k = 0; k < VIEWS; ++k) {
        r->f[k] = 0.8 + 0.06 * k;
        group[k] = k;
    }
    place_ring(r, rng);
    add_ring(r, rng, 2, 2.5);
    add_plane(c, r, group);
}

/* Takes the homographies of a rig without noise for those of a pixel's. */
static void weaken(rig *r) {
    for (size_t e = 0; e < r->num_planes; ++e)
        for (int k = 0; k < 81; ++k)
            r->planes[e].information[k] *= 1e-12;
}

static double worst_focal(const plane_case *c, const rig *r) {
    double worst = 0.0;
    for (size_t k = 0; k < VIEWS; ++k)
        worst = fmax(worst, fabs(c->log_focal[k] - log(r->f[k])));
    return worst;
}

static void exact_homographies_give_exact_lenses(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static const psfm_plane_stage stages[] = {PSFM_PLANE_FROM_SEARCH, PSFM_PLANE_GROWN};
    for (int s = 0; s < 2; ++s)
        for (int planes = 1; planes <= 2; ++planes) {
            psfm_rng rng = psfm_rng_make((uint64_t)planes, PSFM_RNG_TEST, 35, 0);
            rig r[2];
            plane_case c = {0};
            psfm_plane_fit fit;
            for (int k = 0; k < planes; ++k)
                add_ring_plane(&c, &r[k], &rng, 0.0);
            disturb(&c, &rng, 0.05);
            assert_true(worst_focal(&c, &r[0]) > 0.03);
            assert_ok(ctx, psfm_plane_adjust(ctx, &c.p, stages[s], NULL, NULL, &fit));
            assert_below(worst_focal(&c, &r[0]), 1e-9);
            assert_below(fit.cost, 1e-6);
            assert_below(fit.median_chi, 1e-3);
            assert_close(fit.share_good, 1.0, 0.0);
            for (int k = 0; k < planes; ++k)
                free_rig(&r[k]);
        }
    psfm_context_destroy(&ctx);
}

/* Homographies from the second view to the first, in place of the other way round. What they say is
 * weak, so that it is weighed against priors that are off. */
static void the_order_of_the_images_does_not_matter(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double log_focal[2][VIEWS], sigma[2][VIEWS];
    for (int swapped = 0; swapped < 2; ++swapped) {
        psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 35, 0);
        rig r = {.num = VIEWS};
        plane_case c = {0};
        psfm_plane_fit fit;
        uint32_t group[VIEWS];
        for (uint32_t k = 0; k < VIEWS; ++k) {
            r.f[k] = 0.8 + 0.06 * k;
            group[k] = k;
        }
        place_ring(&r, &rng);
        for (size_t i = 0; i < VIEWS; ++i)
            for (size_t d = 1; d < 3; ++d) {
                size_t j = (i + d) % VIEWS;
                add_pair(&r, &rng, swapped ? j : i, swapped ? i : j, 2.5);
            }
        weaken(&r);
        add_plane(&c, &r, group);
        for (uint32_t g = 0; g < VIEWS; ++g) {
            c.prior_log_focal[g] += 1e-3 * (g % 3);
            c.prior_sigma[g] = 2e-3;
            c.center_sigma[g] = 1e-3;
        }
        assert_ok(ctx, psfm_plane_adjust(ctx, &c.p, PSFM_PLANE_GROWN, sigma[swapped], NULL, &fit));
        memcpy(log_focal[swapped], c.log_focal, sizeof log_focal[0]);
        assert_true(worst_focal(&c, &r) > 2e-4 && worst_focal(&c, &r) < 1.8e-3);
        free_rig(&r);
    }
    for (int g = 0; g < VIEWS; ++g) {
        assert_close(log_focal[0][g], log_focal[1][g], 1e-5);
        assert_close(sigma[0][g], sigma[1][g], 0.01 * sigma[0][g]);
    }
    psfm_context_destroy(&ctx);
}

/* Homographies that saw a lens whose k1 is larger by `truth` than its rays have it, and no change
 * of themselves. */
static void k1(plane_case *c, rig *r, const double *truth) {
    for (size_t e = 0; e < r->num_planes; ++e) {
        psfm_measured_plane *m = &r->planes[e];
        const double b[2] = {truth[c->poses[m->view1].group], truth[c->poses[m->view2].group]};
        m->k1.normal[0][0] = m->k1.normal[1][1] = 1e6;
        m->k1.normal[0][1] = m->k1.normal[1][0] = 3e5;
        for (int s = 0; s < 2; ++s)
            m->k1.gradient[s] = -m->k1.normal[s][0] * b[0] - m->k1.normal[s][1] * b[1];
        m->k1.gain = -m->k1.gradient[0] * b[0] - m->k1.gradient[1] * b[1];
    }
}

static void lenses_that_bend_are_found(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 35, 0);
    rig r;
    plane_case c = {0};
    psfm_plane_fit fit;
    double truth[VIEWS], sigma[VIEWS], k1_sigma[VIEWS];
    add_ring_plane(&c, &r, &rng, 0.0);
    c.p.k1 = c.k1;
    for (size_t g = 0; g < VIEWS; ++g) {
        truth[g] = c.prior_k1[g] = 0.02 * (double)g - 0.06;
        c.prior_k1_sigma[g] = 0.1;
    }
    truth[5] = c.k1[5] = -0.03; /* one that is fixed where it is */
    c.prior_k1_sigma[5] = 0.0;
    k1(&c, &r, truth);
    disturb(&c, &rng, 0.03);
    assert_ok(ctx, psfm_plane_adjust(ctx, &c.p, PSFM_PLANE_GROWN, sigma, k1_sigma, &fit));
    assert_below(worst_focal(&c, &r), 1e-8);
    for (size_t g = 0; g < VIEWS; ++g) {
        assert_close(c.k1[g], truth[g], 1e-9);
        assert_true(g == 5 ? k1_sigma[g] == 0.0 : k1_sigma[g] > 0.0 && k1_sigma[g] < 1e-3);
    }
    assert_below(fit.median_chi, 1e-3);
    free_rig(&r);
    psfm_context_destroy(&ctx);
}

/* Two of sixteen are what another pair saw. */
static void wrong_homographies_are_let_go(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(5, PSFM_RNG_TEST, 35, 0);
    rig r;
    plane_case c = {0};
    psfm_plane_fit fit;
    add_ring_plane(&c, &r, &rng, 0.5 / 1280.0);
    for (size_t e = 2; e < r.num_planes; e += 9) {
        memcpy(r.planes[e].H, r.planes[e + 1].H, sizeof r.planes[e].H);
        memcpy(r.planes[e].information, r.planes[e + 1].information,
               sizeof r.planes[e].information);
    }
    disturb(&c, &rng, 0.02);
    assert_ok(ctx, psfm_plane_adjust(ctx, &c.p, PSFM_PLANE_GROWN, NULL, NULL, &fit));
    assert_below(worst_focal(&c, &r), 0.02);
    assert_close(fit.share_good, 14.0 / 16.0, 0.0);
    assert_below(fit.median_chi, 4.0);
    free_rig(&r);
    psfm_context_destroy(&ctx);
}

/* Cost, median and share of residuals as they are; nothing moves. */
static void a_fit_is_described_term_by_term(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(6, PSFM_RNG_TEST, 35, 0);
    rig r;
    plane_case c = {0};
    psfm_plane_adjustment a;
    psfm_plane_fit fit;
    double weight[1], cost = 0.0;
    size_t good = 0, below = 0, above = 0;
    add_ring_plane(&c, &r, &rng, 1e-3);
    disturb(&c, &rng, 3e-4);
    open_adjustment(ctx, &c, weight, &a);
    assert_ok(ctx, psfm_plane_describe(ctx, &c.p, &fit));
    for (size_t e = 0; e < c.p.num_edges; ++e) {
        double chi = a.now.chi[e];
        cost += log(1.0 + chi * chi / 9.0);
        good += chi < 8.0;
        below += chi <= fit.median_chi;
        above += chi >= fit.median_chi;
    }
    assert_true(good > 0 && good < c.p.num_edges);
    assert_close(fit.cost, cost, 1e-9 * cost);
    assert_close(fit.share_good, (double)good / (double)c.p.num_edges, 1e-15);
    assert_true(2 * below >= c.p.num_edges && 2 * above >= c.p.num_edges);
    assert_memory_equal(a.now.poses, c.poses, c.p.num_poses * sizeof *c.poses);
    close_adjustment(&a);
    free_rig(&r);
    psfm_context_destroy(&ctx);
}

/* A prior counts as one measurement of its deviation: between it and what the homographies of a
 * ring say of a lens that all views share. */
static void priors_count_by_their_deviations(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 35, 0);
    rig r = {.num = VIEWS};
    plane_case c = {0};
    const uint32_t group[VIEWS] = {0};
    double sigma[2];
    psfm_plane_fit fit;
    for (size_t k = 0; k < VIEWS; ++k)
        r.f[k] = 1.1;
    place_ring(&r, &rng);
    add_ring(&r, &rng, 1, 2.5);
    weaken(&r);
    add_plane(&c, &r, group);
    assert_ok(ctx, psfm_plane_adjust(ctx, &c.p, PSFM_PLANE_GROWN, sigma, NULL, &fit));
    double own = 1.0 / sqrt(1.0 / (sigma[0] * sigma[0]) - 1.0 / 0.36);
    c.prior_log_focal[0] = log(1.1) + 0.2 * own;
    c.prior_sigma[0] = 0.5 * own;
    assert_ok(ctx, psfm_plane_adjust(ctx, &c.p, PSFM_PLANE_GROWN, sigma + 1, NULL, &fit));
    assert_close((c.log_focal[0] - log(1.1)) / own, 0.2 * 0.8, 0.002);
    assert_close(sigma[1] / own, sqrt(0.2), 0.002);
    free_rig(&r);
    psfm_context_destroy(&ctx);
}

/* Homographies that are taken for ten times as good as they are: what is left of them tells. */
static void what_scatters_more_than_it_says_is_less_sure(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double sigma[2][VIEWS];
    for (int k = 0; k < 2; ++k) {
        psfm_rng rng = psfm_rng_make(9, PSFM_RNG_TEST, 35, 0);
        rig r;
        plane_case c = {0};
        psfm_plane_fit fit;
        add_ring_plane(&c, &r, &rng, 2.0 / 1280.0);
        for (size_t e = 0; e < r.num_planes; ++e)
            for (int i = 0; i < 81; ++i)
                r.planes[e].information[i] *= k == 0 ? 100.0 : 10000.0;
        assert_ok(ctx, psfm_plane_adjust(ctx, &c.p, PSFM_PLANE_GROWN, sigma[k], NULL, &fit));
        assert_below(fit.median_chi, 4.0); /* in units of what it is found to be */
        for (size_t g = 0; g < VIEWS; ++g)
            assert_below(fabs(c.log_focal[g] - log(r.f[g])), 4.0 * sigma[k][g]);
        free_rig(&r);
    }
    for (size_t g = 0; g < VIEWS; ++g)
        assert_close(sigma[0][g] / sigma[1][g], 1.0, 0.03);
    psfm_context_destroy(&ctx);
}

/* Two planes of the same lenses. The first is off by three pixels and says a thirtieth of one: on
 * its own it moves the focal lengths by far more than beside one that is as flat as it says. */
static void a_rough_plane_does_not_outvote_a_flat_one(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    double worst[2];
    for (int planes = 1; planes <= 2; ++planes) {
        psfm_rng rng = psfm_rng_make(10, PSFM_RNG_TEST, 35, 0);
        rig r[2];
        plane_case c = {0};
        psfm_plane_fit fit;
        double sigma[VIEWS];
        for (int k = 0; k < planes; ++k)
            add_ring_plane(&c, &r[k], &rng, k == 0 ? 3.0 / 1280.0 : 0.1 / 1280.0);
        for (size_t e = 0; e < r[0].num_planes; ++e)
            for (int i = 0; i < 81; ++i)
                r[0].planes[e].information[i] *= 1e4;
        assert_ok(ctx, psfm_plane_adjust(ctx, &c.p, PSFM_PLANE_GROWN, sigma, NULL, &fit));
        worst[planes - 1] = worst_focal(&c, &r[0]);
        for (size_t g = 0; g < VIEWS; ++g)
            assert_below(fabs(c.log_focal[g] - log(r[0].f[g])), 4.0 * sigma[g]);
        for (int k = 0; k < planes; ++k)
            free_rig(&r[k]);
    }
    assert_below(worst[1], 0.3 * worst[0]);
    psfm_context_destroy(&ctx);
}

static void starts_that_are_no_views_are_refused(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(8, PSFM_RNG_TEST, 35, 0);
    rig r;
    plane_case c = {0};
    psfm_plane_fit fit;
    add_ring_plane(&c, &r, &rng, 0.0);
    for (int k = 0; k < 3; ++k) /* in the plane */
        c.poses[3].t[k] = c.poses[3].R[3 * k];
    assert_int_equal(psfm_plane_describe(ctx, &c.p, &fit), PSFM_ERR_NUMERIC);
    assert_non_null(strstr(psfm_context_message(ctx), "edge-on"));
    assert_int_equal(psfm_plane_adjust(ctx, &c.p, PSFM_PLANE_GROWN, NULL, NULL, &fit),
                     PSFM_ERR_NUMERIC);
    free_rig(&r);
    psfm_context_destroy(&ctx);
}

static void no_homography_is_no_fit(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_plane_problem p = {0};
    psfm_plane_fit fit;
    assert_ok(ctx, psfm_plane_describe(ctx, &p, &fit));
    assert_close(fit.cost, 0.0, 0.0);
    assert_close(fit.share_good, 0.0, 0.0);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_homographies_give_exact_lenses),
        cmocka_unit_test(the_order_of_the_images_does_not_matter),
        cmocka_unit_test(lenses_that_bend_are_found),
        cmocka_unit_test(wrong_homographies_are_let_go),
        cmocka_unit_test(a_fit_is_described_term_by_term),
        cmocka_unit_test(priors_count_by_their_deviations),
        cmocka_unit_test(what_scatters_more_than_it_says_is_less_sure),
        cmocka_unit_test(a_rough_plane_does_not_outvote_a_flat_one),
        cmocka_unit_test(starts_that_are_no_views_are_refused),
        cmocka_unit_test(no_homography_is_no_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
