/* Parts of a plane: their views, homographies and lenses by numbers of their own. */
#include "unit/core/calibration/plane_rig.h"

#include "core/calibration/plane_minima.h"

enum { VIEWS = 8 };

typedef struct {
    rig r;
    psfm_measured_planes measured;
    psfm_plane_views views;
    uint32_t group[VIEWS];
    double known[2 * VIEWS];
    psfm_focal_input in;
} fixture;

/* A ring whose views 2 k and 2 k + 1 share lens 9 - 2 k of ten. */
static void set_up(psfm_context *ctx, fixture *f) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 38, 0);
    uint32_t items[2 * VIEWS];
    memset(f, 0, sizeof *f);
    f->r.num = VIEWS;
    for (uint32_t k = 0; k < VIEWS; ++k) {
        f->group[k] = 9 - 2 * (k / 2);
        f->r.f[k] = 0.6 + 0.08 * f->group[k];
    }
    place_ring(&f->r, &rng);
    add_ring(&f->r, &rng, 2, 2.5);
    f->measured = measured_by(&f->r);
    for (uint32_t k = 0; k < f->measured.num; ++k)
        items[k] = k;
    assert_ok(ctx, psfm_plane_views_init(ctx, &f->measured, items, f->measured.num, &f->views));
    f->in = (psfm_focal_input){
        .num_views = VIEWS, .num_groups = 10, .group = f->group, .known = f->known};
}

static void tear_down(fixture *f) {
    psfm_plane_views_free(&f->views);
    free_rig(&f->r);
}

/* The true poses and focal lengths of a region. */
static void set_truth(psfm_context *ctx, const fixture *f, const psfm_plane_region *region,
                      psfm_plane_minimum *m) {
    assert_ok(ctx, psfm_plane_minimum_init(ctx, region, m));
    for (size_t k = 0; k < region->num_poses; ++k) {
        uint32_t v = region->place[k];
        memcpy(m->poses[k].R, f->r.R[v], sizeof f->r.R[v]);
        psfm_mat3_mul_vec(f->r.R[v], f->r.c[v], m->poses[k].t);
        psfm_scale3(-1.0, m->poses[k].t, m->poses[k].t);
        m->log_focal[region->group[k]] = log(f->r.f[v]);
    }
}

static void a_region_has_what_is_between_its_views(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_plane_region region;
    const uint32_t places[4] = {5, 1, 4, 7}, group[4] = {0, 2, 0, 1}, global[3] = {3, 5, 9};
    size_t expected = 0;
    set_up(ctx, &f);
    f.group[4] = f.group[5] = 3;
    f.group[7] = 5;
    assert_ok(ctx, psfm_plane_region_init(ctx, &f.views, f.group, places, 4, &region));
    assert_int_equal(region.num_poses, 4);
    assert_int_equal(region.num_groups, 3);
    assert_memory_equal(region.place, places, sizeof places);
    assert_memory_equal(region.group, group, sizeof group);
    assert_memory_equal(region.global, global, sizeof global);
    for (size_t e = 0; e < f.measured.num; ++e) { /* in the region, each once */
        const psfm_measured_plane *m = &f.measured.planes[e];
        size_t num = 0;
        bool first = false, second = false;
        for (int k = 0; k < 4; ++k) {
            first = first || places[k] == m->view1;
            second = second || places[k] == m->view2;
        }
        for (size_t k = 0; k < region.num_edges; ++k) {
            const psfm_plane_edge *edge = &region.edges[k];
            if (edge->measured != m)
                continue;
            ++num;
            assert_int_equal(places[edge->pose1], m->view1);
            assert_int_equal(places[edge->pose2], m->view2);
        }
        assert_int_equal(num, first && second);
        expected += num;
    }
    assert_int_equal(region.num_edges, expected);
    assert_true(expected >= 3);
    psfm_plane_region_free(&region);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* Makes the homographies say nothing. */
static void silence(fixture *f) {
    for (size_t e = 0; e < f->r.num_planes; ++e)
        for (int k = 0; k < 81; ++k)
            f->r.planes[e].information[k] *= 1e-24;
}

/* What remains then are the priors: what is known is known to a thousandth, everything else is
 * about the median of the views, not of the lenses. */
static void lenses_that_nothing_tells_end_at_their_priors(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_plane_region region;
    psfm_plane_minimum m;
    psfm_plane_fit fit;
    double sigma[10];
    const uint32_t places[5] = {0, 1, 2, 4, 6};
    set_up(ctx, &f);
    silence(&f);
    f.known[5] = 1.3;
    assert_ok(ctx, psfm_plane_region_init(ctx, &f.views, f.group, places, 5, &region));
    set_truth(ctx, &f, &region, &m);
    assert_int_equal(region.num_groups, 4); /* 3, 5, 7 and, twice, 9 */
    for (size_t g = 0; g < 4; ++g)
        m.log_focal[g] = 0.1 * (double)g;
    psfm_plane_problem p = {.num_planes = 1,
                            .num_poses = region.num_poses,
                            .num_edges = region.num_edges,
                            .num_groups = region.num_groups,
                            .poses = m.poses,
                            .edges = region.edges,
                            .log_focal = m.log_focal};
    for (size_t k = 0; k < 5; ++k)
        m.poses[k].group = region.group[k];
    assert_ok(
        ctx, psfm_focal_adjust(ctx, &f.in, region.global, &p, PSFM_PLANE_GROWN, sigma, NULL, &fit));
    for (size_t g = 0; g < 4; ++g) { /* of 0, 0.1, 0.2, 0.3, 0.3 */
        assert_close(m.log_focal[g], g == 1 ? log(1.3) : 0.2, 1e-6);
        assert_close(sigma[g], g == 1 ? 1e-3 : 0.6, 1e-6);
    }
    psfm_plane_minimum_free(&m);
    psfm_plane_region_free(&region);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* The same as the adjustment under these priors; what is not known may have its principal point
 * elsewhere by half a per cent. */
static void lenses_are_adjusted_under_their_priors(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_plane_region region;
    psfm_plane_minimum m[2];
    psfm_plane_fit fit;
    double sigma[2][10], prior[4], prior_sigma[4], center_sigma[4];
    const uint32_t places[7] = {0, 1, 2, 3, 4, 6, 7};
    set_up(ctx, &f);
    f.known[5] = 1.3;
    assert_ok(ctx, psfm_plane_region_init(ctx, &f.views, f.group, places, 7, &region));
    for (int k = 0; k < 2; ++k) {
        set_truth(ctx, &f, &region, &m[k]);
        psfm_plane_problem p = {.num_planes = 1,
                                .num_poses = region.num_poses,
                                .num_edges = region.num_edges,
                                .num_groups = region.num_groups,
                                .poses = m[k].poses,
                                .edges = region.edges,
                                .log_focal = m[k].log_focal};
        for (size_t s = 0; s < 7; ++s)
            m[k].poses[s].group = region.group[s];
        for (size_t g = 0; g < 4; ++g) { /* of lenses 3, 3, 5, 7, 7, 9, 9 the median is 7 */
            prior[g] = g == 1 ? log(1.3) : log(f.r.f[2]);
            prior_sigma[g] = g == 1 ? 1e-3 : 0.6;
            center_sigma[g] = g == 1 ? 1e-3 : 0.005;
        }
        p.prior_log_focal = prior;
        p.prior_sigma = prior_sigma;
        p.center_sigma = center_sigma;
        assert_ok(ctx, k == 0 ? psfm_plane_adjust(ctx, &p, PSFM_PLANE_GROWN, sigma[k], NULL, &fit)
                              : psfm_focal_adjust(ctx, &f.in, region.global, &p, PSFM_PLANE_GROWN,
                                                  sigma[k], NULL, &fit));
    }
    assert_memory_equal(m[0].log_focal, m[1].log_focal, 4 * sizeof *m[0].log_focal);
    assert_memory_equal(sigma[0], sigma[1], 4 * sizeof *sigma[0]);
    psfm_plane_minimum_free(&m[0]);
    psfm_plane_minimum_free(&m[1]);
    psfm_plane_region_free(&region);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

static void a_region_is_adjusted_to_its_homographies(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_plane_region region;
    psfm_plane_minimum m;
    const uint32_t places[6] = {0, 1, 2, 3, 4, 5};
    set_up(ctx, &f);
    f.known[7] = f.r.f[2];
    assert_ok(ctx, psfm_plane_region_init(ctx, &f.views, f.group, places, 6, &region));
    set_truth(ctx, &f, &region, &m);
    for (size_t g = 0; g < region.num_groups; ++g)
        m.log_focal[g] += 0.05 * ((double)g - 1.0);
    assert_ok(ctx, psfm_plane_region_describe(ctx, &region, &m));
    assert_true(m.found && m.fit.cost > 10.0);
    assert_ok(ctx, psfm_plane_region_adjust(ctx, &f.in, &region, PSFM_PLANE_FROM_SEARCH, &m));
    assert_true(m.found);
    assert_below(m.fit.cost, 1e-6);
    for (size_t k = 0; k < 6; ++k)
        assert_close(m.log_focal[region.group[k]], log(f.r.f[k]), 1e-8);
    psfm_plane_minimum_free(&m);
    psfm_plane_region_free(&region);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* It is a result, and no error. */
static void a_view_from_within_the_plane_is_not_found(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_plane_region region;
    psfm_plane_minimum m;
    const uint32_t places[3] = {0, 1, 2};
    set_up(ctx, &f);
    assert_ok(ctx, psfm_plane_region_init(ctx, &f.views, f.group, places, 3, &region));
    set_truth(ctx, &f, &region, &m);
    memset(m.poses[1].t, 0, sizeof m.poses[1].t);
    assert_ok(ctx, psfm_plane_region_adjust(ctx, &f.in, &region, PSFM_PLANE_FROM_SEARCH, &m));
    assert_false(m.found);
    m.found = true;
    assert_ok(ctx, psfm_plane_region_describe(ctx, &region, &m));
    assert_false(m.found);
    psfm_plane_minimum_free(&m);
    psfm_plane_region_free(&region);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_has_what_is_between_its_views),
        cmocka_unit_test(lenses_that_nothing_tells_end_at_their_priors),
        cmocka_unit_test(lenses_are_adjusted_under_their_priors),
        cmocka_unit_test(a_region_is_adjusted_to_its_homographies),
        cmocka_unit_test(a_view_from_within_the_plane_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
