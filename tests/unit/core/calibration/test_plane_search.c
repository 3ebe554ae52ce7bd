/* First values of a plane's normal and of focal lengths, from homographies without noise. */
#include "unit/core/calibration/plane_rig.h"

#include "core/calibration/plane_search.h"
#include "core/linalg/order_statistics.h"

enum { MOST = 80 };

typedef struct {
    rig r;
    psfm_measured_planes measured;
    psfm_plane_views views;
    uint32_t group[MOST], hops[MOST];
    double fixed[MOST], H[MOST][9], seen[PSFM_PLANE_SAMPLES][2];
    psfm_plane_search_input in;
    psfm_plane_start starts[PSFM_MAX_STARTS];
    size_t num;
} fixture;

/* `num` views round the plane, linked to their neighbours, with a lens each; those of a fixture
 * with `reversed` are numbered the other way round. */
static void set_up(psfm_context *ctx, fixture *f, size_t num, uint64_t seed, bool reversed) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 39, 0);
    uint32_t items[2 * MAX_VIEWS];
    memset(f, 0, sizeof *f);
    f->r.num = num;
    for (uint32_t k = 0; k < num; ++k) {
        f->r.f[k] = psfm_rng_range(&rng, 0.8, 1.4);
        f->group[k] = k;
    }
    place_ring(&f->r, &rng);
    if (reversed)
        for (size_t k = 0; k < num / 2; ++k) {
            double R[9], c[3], focal = f->r.f[k];
            size_t other = num - 1 - k;
            memcpy(R, f->r.R[k], sizeof R);
            memcpy(c, f->r.c[k], sizeof c);
            memcpy(f->r.R[k], f->r.R[other], sizeof R);
            memcpy(f->r.c[k], f->r.c[other], sizeof c);
            f->r.f[k] = f->r.f[other];
            memcpy(f->r.R[other], R, sizeof R);
            memcpy(f->r.c[other], c, sizeof c);
            f->r.f[other] = focal;
        }
    add_ring(&f->r, &rng, 1, 2.5);
    f->measured = measured_by(&f->r);
    for (uint32_t k = 0; k < f->measured.num; ++k)
        items[k] = k;
    assert_ok(ctx, psfm_plane_views_init(ctx, &f->measured, items, f->measured.num, &f->views));
    f->in = (psfm_plane_search_input){.views = &f->views,
                                      .group = f->group,
                                      .num_groups = num,
                                      .fixed = f->fixed,
                                      .reference = reversed ? num - 1 : 0,
                                      .H = (const double(*)[9])f->H,
                                      .hops = f->hops,
                                      .seen = (const double(*)[2])f->seen,
                                      .num_seen = PSFM_PLANE_SAMPLES};
    for (int k = 0; k < PSFM_PLANE_SAMPLES; ++k) {
        const double X[2] = {2.5 * (k % 2 == 0 ? -1 : 1), 2.5 * (k % 4 < 2 ? -1 : 1)};
        double G[9];
        plane_map(&f->r, f->in.reference, G);
        apply(G, X, f->seen[k]);
    }
    assert_ok(ctx, psfm_plane_chain(ctx, &f->views, f->in.reference, f->H, f->hops));
}

static void search(psfm_context *ctx, fixture *f, size_t max_starts) {
    for (size_t k = 0; k < PSFM_MAX_STARTS; ++k)
        psfm_plane_start_free(&f->starts[k]);
    assert_ok(ctx, psfm_plane_search(ctx, &f->in, max_starts, f->starts, &f->num));
    assert_true(f->num >= 1 && f->num <= max_starts);
    for (size_t k = 1; k < f->num; ++k)
        assert_true(f->starts[k - 1].cost <= f->starts[k].cost);
}

static void tear_down(fixture *f) {
    for (size_t k = 0; k < PSFM_MAX_STARTS; ++k)
        psfm_plane_start_free(&f->starts[k]);
    psfm_plane_views_free(&f->views);
    free_rig(&f->r);
}

/* Angle between the plane's normal in the reference and that of the best start. */
static double normal_error(const fixture *f) {
    const double *R = f->r.R[f->in.reference];
    const double n[3] = {-R[2], -R[5], -R[8]}; /* of z = 0, away from a camera above it */
    return psfm_angle3(n, f->starts[0].normal);
}

static void the_best_start_is_near_the_truth(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 3; ++seed) {
        fixture f;
        set_up(ctx, &f, 8, seed, false);
        search(ctx, &f, 3);
        assert_below(normal_error(&f), 0.03);
        for (size_t k = 0; k < 8; ++k)
            assert_below(fabs(log(f.starts[0].focal[k] / f.r.f[k])), 0.05);
        tear_down(&f);
    }
    psfm_context_destroy(&ctx);
}

/* What a start costs, written out: how far from a circle the image of a circle on the plane is in
 * each view, by its links; how unlike and how unusual the focal lengths are. */
static double cost_of(const fixture *f, const psfm_plane_start *start) {
    const double *n = start->normal, f_r = start->focal[f->in.reference];
    double e1[3] = {-n[1], n[0], 0.0}, e2[3], logs[MOST], sorted[MOST], cost = 0.0;
    size_t num = f->r.num;
    psfm_normalize3(e1);
    psfm_cross3(n, e1, e2);
    const double at1[3] = {f_r * e1[0], f_r * e1[1], e1[2]};
    const double at2[3] = {f_r * e2[0], f_r * e2[1], e2[2]};
    for (size_t k = 0; k < num; ++k) {
        double a[3], b[3], focal = start->focal[k];
        psfm_mat3_mul_vec(f->H[k], at1, a);
        psfm_mat3_mul_vec(f->H[k], at2, b);
        for (int i = 0; i < 2; ++i) { /* rays of the axes in this view */
            a[i] /= focal;
            b[i] /= focal;
        }
        double aa = psfm_dot3(a, a), bb = psfm_dot3(b, b), ab = psfm_dot3(a, b);
        double x = hypot(aa - bb, 2.0 * ab) / (aa + bb) / (0.02 * (1.0 + 0.3 * f->hops[k]));
        cost += log(1.0 + x * x);
        logs[k] = sorted[k] = log(focal);
    }
    double median = psfm_median(sorted, num);
    for (size_t k = 0; k < num; ++k)
        cost += 0.15 * fmin(pow((logs[k] - median) / 0.35, 2.0), 9.0);
    return cost + 0.1 * median * median * (double)num;
}

static void costs_are_made_of_their_terms(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 3; ++seed) {
        fixture f;
        set_up(ctx, &f, 9, seed, false);
        for (size_t k = 1; k < 9; ++k) /* nothing fits quite */
            for (int i = 0; i < 9; ++i)
                f.H[k][i] *= 1.0 + 0.03 * ((double)((k + 3 * (size_t)i) % 5) - 2.0);
        search(ctx, &f, 3);
        assert_true(f.starts[0].cost > 2.0);
        for (size_t s = 0; s < f.num; ++s)
            assert_close(cost_of(&f, &f.starts[s]) / f.starts[s].cost, 1.0, 1e-9);
        tear_down(&f);
    }
    psfm_context_destroy(&ctx);
}

/* Views of one lens get one value: a known one, the reference's, or one of their own. */
static void lenses_are_shared_and_known_ones_kept(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int known = 0; known < 2; ++known) {
        fixture f;
        set_up(ctx, &f, 8, 4, false);
        for (uint32_t k = 0; k < 8;
             ++k) /* lens 0 in views 0, 3 and 6, of which 0 is searched from */
            f.group[k] = k % 3;
        f.fixed[2] = 1.7;
        if (known)
            f.fixed[0] = 1.23;
        search(ctx, &f, 3);
        for (size_t s = 0; s < f.num; ++s) {
            const double *focal = f.starts[s].focal;
            assert_true(focal[3] == focal[0] && focal[6] == focal[0]);
            assert_true(focal[4] == focal[1] && focal[7] == focal[1]);
            assert_true(focal[2] == 1.7 && focal[5] == 1.7);
            if (known)
                assert_close(focal[0], 1.23, 1e-15);
        }
        tear_down(&f);
    }
    psfm_context_destroy(&ctx);
}

/* With the right value for the reference the others follow, without a grid over it. */
static void a_known_reference_gives_the_others(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(ctx, &f, 6, 5, false);
    f.fixed[0] = f.r.f[0];
    search(ctx, &f, 1);
    assert_int_equal(f.num, 1);
    assert_below(normal_error(&f), 0.02);
    for (size_t k = 1; k < 6; ++k)
        assert_below(fabs(log(f.starts[0].focal[k] / f.r.f[k])), 0.03);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* Points that are seen are in front: a horizon through them costs more than any view's
 * disagreement. */
static void horizons_do_not_cross_what_is_seen(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    double before;
    set_up(ctx, &f, 8, 6, false);
    search(ctx, &f, 3);
    for (size_t s = 0; s < f.num; ++s)
        for (size_t k = 0; k < PSFM_PLANE_SAMPLES; ++k) {
            const double *n = f.starts[s].normal, *x = f.seen[k];
            assert_true((n[0] * x[0] + n[1] * x[1]) / f.starts[s].focal[0] + n[2] > 0.0);
        }
    before = f.starts[0].cost;
    const double *n = f.starts[0].normal; /* points beyond the horizon of the truth */
    for (int k = 3; k < 6; ++k)
        for (int i = 0; i < 2; ++i)
            f.seen[k][i] = -20.0 * n[i];
    search(ctx, &f, 3);
    assert_true(f.starts[0].cost > before + 1.0);
    assert_below(f.starts[0].cost, before + 50.0 + 3.0 * 1000.0 / PSFM_PLANE_SAMPLES + 1.0);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* The draws come from the rank of the reference, so that other numbers of the views change nothing,
 * but another rank or seed does. */
static void numbers_of_views_do_not_matter(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f[2];
    double cost;
    for (int k = 0; k < 2; ++k) {
        set_up(ctx, &f[k], 8, 7, k == 1);
        f[k].in.reference_rank = 2;
        search(ctx, &f[k], 3);
    }
    assert_int_equal(f[0].num, f[1].num);
    for (size_t s = 0; s < f[0].num; ++s) {
        assert_close(f[0].starts[s].cost, f[1].starts[s].cost, 1e-6);
        for (size_t k = 0; k < 8; ++k)
            assert_close(f[0].starts[s].focal[k], f[1].starts[s].focal[7 - k], 1e-6);
    }
    cost = f[0].starts[0].cost;
    search(ctx, &f[0], 3);
    assert_true(f[0].starts[0].cost == cost);
    f[0].in.reference_rank = 3;
    search(ctx, &f[0], 3);
    assert_true(f[0].starts[0].cost != cost);
    tear_down(&f[0]);
    tear_down(&f[1]);
    psfm_context_destroy(&ctx);
}

/* Views out of reach, and those that are not among the 64 nearest within it, have the reference's.
 */
static void far_views_have_the_focal_length_of_the_reference(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    set_up(ctx, &f, MOST, 8, false);
    f.hops[1] = UINT32_MAX;
    search(ctx, &f, 1);
    for (size_t k = 0; k < MOST; ++k) {
        bool is_far = k == 1 || (k > 32 && k < MOST - 32);
        assert_int_equal(f.starts[0].focal[k] == f.starts[0].focal[0], is_far || k == 0);
        if (!is_far)
            assert_below(fabs(log(f.starts[0].focal[k] / f.r.f[k])), 0.08);
    }
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_start_is_near_the_truth),
        cmocka_unit_test(costs_are_made_of_their_terms),
        cmocka_unit_test(lenses_are_shared_and_known_ones_kept),
        cmocka_unit_test(a_known_reference_gives_the_others),
        cmocka_unit_test(horizons_do_not_cross_what_is_seen),
        cmocka_unit_test(numbers_of_views_do_not_matter),
        cmocka_unit_test(far_views_have_the_focal_length_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
