/* Minima of one plane from several references, their growth to all views, and what is kept. */
#include "unit/core/calibration/plane_rig.h"

#include "core/calibration/plane_minima.h"
#include "core/linalg/order_statistics.h"

enum { MOST = 24 };

typedef struct {
    rig r;
    psfm_measured_planes measured;
    psfm_plane_views views;
    uint32_t group[MOST];
    double known[MOST], fixed[MOST];
    psfm_focal_input in;
    psfm_plane_task task;
} fixture;

/* Opens a rig whose homographies are there. */
static void open_views(psfm_context *ctx, fixture *f) {
    uint32_t items[2 * MAX_VIEWS];
    f->measured = measured_by(&f->r);
    for (uint32_t k = 0; k < f->measured.num; ++k)
        items[k] = k;
    assert_ok(ctx, psfm_plane_views_init(ctx, &f->measured, items, f->measured.num, &f->views));
    f->in = (psfm_focal_input){
        .num_views = f->r.num, .num_groups = f->r.num, .group = f->group, .known = f->known};
    f->task =
        (psfm_plane_task){.in = &f->in, .views = &f->views, .group = f->group, .fixed = f->fixed};
}

/* Views round the plane with a lens each. Without wrap they form a chain. */
static void set_up(psfm_context *ctx, fixture *f, size_t num, double sigma, bool wraps) {
    psfm_rng rng = psfm_rng_make(1, PSFM_RNG_TEST, 40, num);
    memset(f, 0, sizeof *f);
    f->r.num = num;
    f->r.sigma = sigma;
    for (uint32_t k = 0; k < num; ++k) {
        f->r.f[k] = psfm_rng_range(&rng, 0.8, 1.4);
        f->group[k] = k;
    }
    place_ring(&f->r, &rng);
    if (wraps)
        add_ring(&f->r, &rng, 2, 2.5);
    else
        for (size_t k = 0; k + 1 < num; ++k)
            add_pair(&f->r, &rng, k, k + 1, 2.5);
    open_views(ctx, f);
}

static void tear_down(fixture *f) {
    psfm_plane_views_free(&f->views);
    free_rig(&f->r);
}

/* The true solution of a region. */
static void set_truth(psfm_context *ctx, const fixture *f, const psfm_plane_region *region,
                      psfm_plane_minimum *m) {
    assert_ok(ctx, psfm_plane_minimum_init(ctx, region, m));
    m->found = true;
    for (size_t k = 0; k < region->num_poses; ++k) {
        uint32_t v = region->place[k];
        memcpy(m->poses[k].R, f->r.R[v], sizeof f->r.R[v]);
        psfm_mat3_mul_vec(f->r.R[v], f->r.c[v], m->poses[k].t);
        psfm_scale3(-1.0, m->poses[k].t, m->poses[k].t);
        m->log_focal[region->group[k]] = log(f->r.f[v]);
    }
}

static double worst_focal(const fixture *f, const psfm_plane_region *region,
                          const psfm_plane_minimum *m) {
    double worst = 0.0;
    for (size_t k = 0; k < region->num_poses; ++k)
        worst = fmax(worst, fabs(m->log_focal[region->group[k]] - log(f->r.f[region->place[k]])));
    return worst;
}

/* Chains of nine: the view with most inliers, the farthest from it, and the farthest from both. */
static void references_are_far_apart(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_plane_found found[PSFM_MAX_REFERENCES] = {0};
    size_t num;
    set_up(ctx, &f, 9, 0.0, false);
    for (size_t e = 0; e < f.r.num_planes; ++e) /* of 144; the first link is the strongest */
        f.r.planes[e].num = e == 0 ? 250 : 144 - (uint32_t)e;
    psfm_plane_views_free(&f.views);
    open_views(ctx, &f);
    assert_ok(ctx, psfm_plane_minima_find(ctx, &f.task, 3, found, &num));
    const size_t expected[3] = {1, 8, 4}; /* 250 + 143; seven links away; of 4 and 5 the heavier */
    assert_int_equal(num, 3);
    for (size_t k = 0; k < num; ++k) {
        assert_int_equal(found[k].reference, expected[k]);
        assert_int_equal(found[k].region.num_poses, 9);
        psfm_plane_found_free(&found[k]);
    }
    assert_ok(ctx, psfm_plane_minima_find(ctx, &f.task, 100, found, &num));
    assert_int_equal(num, 9); /* there are no more views */
    for (size_t k = 0; k < num; ++k) {
        for (size_t i = 0; i < k; ++i)
            assert_int_not_equal(found[k].reference, found[i].reference);
        psfm_plane_found_free(&found[k]);
    }
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

static void the_truth_is_among_the_minima_of_each_reference(void **state) {
    (void)state;
    psfm_context *ctx[2] = {psfm_context_create(), psfm_context_create()};
    fixture f;
    psfm_plane_found found[2][PSFM_MAX_REFERENCES] = {{{0}}};
    size_t num[2];
    set_up(ctx[0], &f, 8, 0.0, true);
    for (int k = 0; k < 2; ++k) { /* by any number of threads */
        psfm_context_set_threads(ctx[k], k == 0 ? 1 : 3);
        assert_ok(ctx[k], psfm_plane_minima_find(ctx[k], &f.task, 4, found[k], &num[k]));
        assert_int_equal(num[k], 4);
    }
    size_t most = 0;
    for (size_t k = 0; k < 4; ++k) {
        double best = INFINITY;
        size_t found_here = 0;
        for (size_t i = 0; i <= PSFM_MAX_MINIMA; ++i) {
            const psfm_plane_minimum *m = &found[0][k].minima[i], *n = &found[1][k].minima[i];
            assert_int_equal(m->found, n->found);
            if (!m->found)
                continue;
            ++found_here;
            assert_memory_equal(m->log_focal, n->log_focal, 8 * sizeof *m->log_focal);
            assert_memory_equal(m->poses, n->poses, 8 * sizeof *m->poses);
            best = fmin(best, worst_focal(&f, &found[0][k].region, m));
        }
        assert_below(best, 1e-8);
        most = found_here > most ? found_here : most;
        psfm_plane_found_free(&found[0][k]);
        psfm_plane_found_free(&found[1][k]);
    }
    assert_int_equal(most, PSFM_MAX_MINIMA + 1); /* one of them from one lens for all */
    tear_down(&f);
    psfm_context_destroy(&ctx[0]);
    psfm_context_destroy(&ctx[1]);
}

/* Focal lengths that are fixed in searches are those of all minima, as far as the homographies do
 * not move them: a search for one lens in common would not know of them. */
static void held_focal_lengths_are_kept_in_the_search(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_plane_found found[PSFM_MAX_REFERENCES] = {0};
    size_t num, last = PSFM_MAX_MINIMA;
    set_up(ctx, &f, 8, 0.0, true);
    for (size_t k = 0; k < 8; ++k)
        f.known[k] = f.fixed[k] = k % 2 == 0 ? f.r.f[k] : 0.0;
    assert_ok(ctx, psfm_plane_minima_find(ctx, &f.task, 1, found, &num));
    assert_int_equal(num, 1);
    assert_true(found[0].minima[0].found);
    assert_false(found[0].minima[last].found);
    for (size_t k = 0; k < 8; ++k)
        assert_close(found[0].minima[0].log_focal[k], log(f.r.f[k]), 1e-8);
    psfm_plane_found_free(&found[0]);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* From four views round the ring, through regions that double; shared lenses are those of the
 * region, fixed ones what they are. */
static void a_region_grows_to_all_views(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int shared = 0; shared < 2; ++shared) {
        fixture f;
        psfm_plane_region region, whole = {0};
        psfm_plane_minimum minimum, grown = {0};
        const uint32_t places[4] = {3, 4, 5, 6};
        set_up(ctx, &f, MOST, 0.0, true);
        if (shared) {
            double focal[3] = {f.r.f[0], f.r.f[1], f.r.f[2]};
            free_rig(&f.r);
            f.r.num_planes = 0;
            psfm_plane_views_free(&f.views);
            psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 40, 0);
            for (uint32_t k = 0; k < MOST; ++k) {
                f.group[k] = k % 3;
                f.r.f[k] = focal[k % 3];
            }
            add_ring(&f.r, &rng, 2, 2.5);
            open_views(ctx, &f);
        }
        assert_ok(ctx, psfm_plane_region_init(ctx, &f.views, f.group, places, 4, &region));
        set_truth(ctx, &f, &region, &minimum);
        assert_ok(ctx, psfm_plane_grow(ctx, &f.task, &region, &minimum, &whole, &grown));
        assert_true(grown.found);
        assert_int_equal(whole.num_poses, MOST);
        assert_int_equal(whole.num_edges, 2 * MOST);
        assert_int_equal(whole.num_groups, shared ? 3 : MOST);
        assert_below(worst_focal(&f, &whole, &grown), 1e-8);
        assert_below(grown.fit.cost, 1e-6);
        psfm_plane_minimum_free(&minimum);
        psfm_plane_minimum_free(&grown);
        psfm_plane_region_free(&region);
        psfm_plane_region_free(&whole);
        tear_down(&f);
    }
    psfm_context_destroy(&ctx);
}

/* A view straight down tells nothing of its lens: it is placed with the usual one. */
static void a_view_straight_down_is_placed_with_the_usual_lens(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_rng rng = psfm_rng_make(3, PSFM_RNG_TEST, 40, 0);
    fixture f;
    psfm_plane_region region, whole = {0};
    psfm_plane_minimum minimum, grown = {0};
    const uint32_t places[5] = {0, 1, 2, 3, 4};
    const double center[3] = {0.0, 0.0, 8.0}, target[3] = {0.0, 0.0, 0.0};
    memset(&f, 0, sizeof f);
    f.r.num = 6;
    for (uint32_t k = 0; k < 6; ++k) {
        f.r.f[k] = 1.0 + 0.05 * (k % 3);
        f.group[k] = k;
    }
    place_ring(&f.r, &rng);
    look_at(&f.r, 5, center, target, 0.3);
    add_ring(&f.r, &rng, 2, 2.0);
    open_views(ctx, &f);
    assert_ok(ctx, psfm_plane_region_init(ctx, &f.views, f.group, places, 5, &region));
    set_truth(ctx, &f, &region, &minimum);
    assert_ok(ctx, psfm_plane_grow(ctx, &f.task, &region, &minimum, &whole, &grown));
    assert_true(grown.found);
    for (size_t k = 0; k < 5; ++k)
        assert_close(grown.log_focal[k], log(f.r.f[k]), 1e-6);
    assert_close(grown.log_focal[5], log(1.05), 1e-4); /* the median, which is also its own prior */
    assert_below(grown.fit.cost, 1e-6);
    psfm_plane_minimum_free(&minimum);
    psfm_plane_minimum_free(&grown);
    psfm_plane_region_free(&region);
    psfm_plane_region_free(&whole);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* All views of the plane, and of lenses that are not in it nothing is said. */
static void a_plane_is_solved_and_not_ambiguous(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_plane_solution solution;
    double ambiguity[MOST + 1];
    set_up(ctx, &f, 12, 0.5 / 1280.0, true);
    f.in.num_groups = MOST + 1;
    for (size_t g = 0; g <= MOST; ++g)
        ambiguity[g] = -7.0;
    double known[MOST + 1] = {0.0}, fixed[MOST + 1] = {0.0};
    f.in.known = known;
    f.task.fixed = fixed;
    assert_ok(ctx, psfm_plane_solve(ctx, &f.task, 4, &solution, ambiguity));
    assert_true(solution.minimum.found);
    assert_int_equal(solution.region.num_poses, 12);
    assert_below(worst_focal(&f, &solution.region, &solution.minimum), 0.01);
    for (size_t g = 0; g <= MOST; ++g)
        assert_true(g < 12 ? ambiguity[g] >= 0.0 && ambiguity[g] < 0.003 : ambiguity[g] == -7.0);
    psfm_plane_solution_free(&solution);
    assert_null(solution.region.place);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

/* A flight straight down, with a lens each. */
static void set_up_flight(psfm_context *ctx, fixture *f) {
    psfm_rng rng = psfm_rng_make(4, PSFM_RNG_TEST, 40, 0);
    memset(f, 0, sizeof *f);
    f->r.num = 9;
    f->r.sigma = 0.7 / 1280.0;
    for (uint32_t k = 0; k < 9; ++k) {
        const double center[3] = {0.3 * k, 0.2 * (k % 4), 8.0}, below[3] = {center[0], center[1]};
        f->r.f[k] = 1.1;
        f->group[k] = k;
        look_at(&f->r, k, center, below, psfm_rng_range(&rng, -3.0, 3.0));
    }
    add_ring(&f->r, &rng, 3, 2.0);
    open_views(ctx, f);
}

/* Any focal length will do: minima that are elsewhere fit as well. Each counts with its distance
 * and the fourth root of its likelihood beside the solution, in units of the noise that this
 * leaves. */
static void minima_that_were_not_taken_count_by_their_cost(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    psfm_plane_found found[PSFM_MAX_REFERENCES] = {0};
    psfm_plane_solution solution;
    double ambiguity[9] = {0.0}, expected[9] = {0.0};
    size_t num;
    set_up_flight(ctx, &f);
    assert_ok(ctx, psfm_plane_minima_find(ctx, &f.task, 4, found, &num));
    assert_ok(ctx, psfm_plane_solve(ctx, &f.task, 4, &solution, ambiguity));
    assert_true(solution.minimum.found && num == 4);
    const psfm_plane_minimum *best = &solution.minimum;
    double excess = fmax(1.0, best->fit.median_chi * best->fit.median_chi / 7.34);
    for (size_t k = 0; k < num; ++k) {
        for (size_t i = 0; i <= PSFM_MAX_MINIMA; ++i) {
            const psfm_plane_minimum *m = &found[k].minima[i];
            if (!m->found)
                continue;
            assert_true(best->fit.cost <= m->fit.cost * (1.0 + 1e-6));
            double worse = 9.0 * (m->fit.cost - best->fit.cost) / excess;
            for (size_t g = 0; g < 9; ++g)
                expected[g] = fmax(expected[g], exp(-0.125 * fmax(worse, 0.0)) *
                                                    fabs(m->log_focal[g] - best->log_focal[g]));
        }
        psfm_plane_found_free(&found[k]);
    }
    for (size_t g = 0; g < 9; ++g) {
        assert_int_equal(solution.region.global[g], g);
        assert_close(ambiguity[g], expected[g], 1e-6);
    }
    assert_true(psfm_median(expected, 9) > 0.02);
    psfm_plane_solution_free(&solution);
    tear_down(&f);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_are_far_apart),
        cmocka_unit_test(the_truth_is_among_the_minima_of_each_reference),
        cmocka_unit_test(held_focal_lengths_are_kept_in_the_search),
        cmocka_unit_test(a_region_grows_to_all_views),
        cmocka_unit_test(a_view_straight_down_is_placed_with_the_usual_lens),
        cmocka_unit_test(a_plane_is_solved_and_not_ambiguous),
        cmocka_unit_test(minima_that_were_not_taken_count_by_their_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
