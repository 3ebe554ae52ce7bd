/* Views of one plane as a graph, and homographies along its chains. */
#include "test_util.h"

#include "core/base/rng.h"
#include "core/calibration/plane_chain.h"
#include "core/linalg/mat3.h"

enum { MAX_VIEWS = 40, MAX_LINKS = 120 };

/* Views numbered 10, 20, ..., each with a map of its own from the plane. */
typedef struct {
    double G[MAX_VIEWS][9];
    psfm_measured_plane links[MAX_LINKS];
    uint32_t items[MAX_LINKS];
    psfm_measured_planes measured;
    psfm_plane_views views;
} fixture;

static void normalize(double H[9]) {
    double norm = sqrt(psfm_dot(H, H, 9));
    for (int k = 0; k < 9; ++k)
        H[k] /= norm;
}

static void make_maps(fixture *f, uint64_t seed) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 36, 0);
    memset(f, 0, sizeof *f);
    f->measured.planes = f->links;
    for (int v = 0; v < MAX_VIEWS; ++v)
        for (int k = 0; k < 9; ++k)
            f->G[v][k] = (k % 4 == 0) + 0.3 * psfm_rng_normal(&rng);
}

static void link_views(fixture *f, uint32_t a, uint32_t b, uint32_t num) {
    psfm_measured_plane *m = &f->links[f->measured.num];
    double inverse[9];
    *m = (psfm_measured_plane){.view1 = 10 * a + 10, .view2 = 10 * b + 10, .num = num};
    assert_true(psfm_mat3_inverse(f->G[a], inverse));
    psfm_mat3_mul(f->G[b], inverse, m->H);
    normalize(m->H);
    f->items[f->measured.num] = (uint32_t)f->measured.num;
    ++f->measured.num;
}

static void open_views(psfm_context *ctx, fixture *f) {
    assert_ok(ctx, psfm_plane_views_init(ctx, &f->measured, f->items, f->measured.num, &f->views));
}

/* With its sign. */
static void assert_chain(const fixture *f, uint32_t from, uint32_t to, double H[9]) {
    double inverse[9], expected[9];
    assert_true(psfm_mat3_inverse(f->G[from], inverse));
    psfm_mat3_mul(f->G[to], inverse, expected);
    normalize(expected);
    normalize(H);
    for (int k = 0; k < 9; ++k)
        assert_close(H[k], expected[k], 1e-9);
}

static void views_are_listed_once_with_their_homographies(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    make_maps(&f, 1);
    link_views(&f, 2, 5, 1000);
    link_views(&f, 0, 2, 100);
    link_views(&f, 5, 0, 20); /* the later view first */
    link_views(&f, 9, 8, 7);  /* of another plane */
    psfm_measured_planes *m = &f.measured;
    const uint32_t items[3] = {2, 0, 1};
    assert_ok(ctx, psfm_plane_views_init(ctx, m, items, 3, &f.views));
    const uint32_t views[3] = {10, 30, 60};
    const double weight[3] = {120.0, 400.0, 320.0};
    const size_t begin[4] = {0, 2, 4, 6};
    const uint32_t incident[6] = {0, 2, 1, 2, 0, 1}, ends[3][2] = {{2, 0}, {1, 2}, {0, 1}};
    assert_int_equal(f.views.num_views, 3);
    assert_int_equal(f.views.num_edges, 3);
    assert_memory_equal(f.views.views, views, sizeof views);
    assert_memory_equal(f.views.begin, begin, sizeof begin);
    assert_memory_equal(f.views.incident, incident, sizeof incident);
    assert_memory_equal(f.views.ends, ends, sizeof ends);
    for (int k = 0; k < 3; ++k) {
        assert_close(f.views.weight[k], weight[k], 0.0);
        assert_ptr_equal(f.views.edges[k], &f.links[items[k]]);
    }
    psfm_plane_views_free(&f.views);
    psfm_context_destroy(&ctx);
}

static void chains_are_products_of_their_links(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    double H[MAX_VIEWS][9];
    uint32_t hops[MAX_VIEWS];
    make_maps(&f, 2);
    for (uint32_t v = 0; v + 1 < 8; ++v) /* in turn from and to the later view */
        link_views(&f, v % 2 == 0 ? v : v + 1, v % 2 == 0 ? v + 1 : v, 50);
    open_views(ctx, &f);
    for (uint32_t reference = 0; reference < 8; reference += 3) {
        assert_ok(ctx, psfm_plane_chain(ctx, &f.views, reference, H, hops));
        for (uint32_t v = 0; v < 8; ++v) {
            if (v != reference)
                assert_close(psfm_dot(H[v], H[v], 9), 1.0, 1e-12);
            assert_chain(&f, reference, v, H[v]);
            assert_int_equal(hops[v], v > reference ? v - reference : reference - v);
        }
    }
    psfm_plane_views_free(&f.views);
    psfm_context_destroy(&ctx);
}

/* The way over a third view with links of 300 costs two, one link of so many inliers costs
 * sqrt(300 / inliers). */
static void strong_links_are_preferred_to_a_short_chain(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static const struct {
        uint32_t direct, others, hops;
    } cases[] = {{74, 300, 2},  {76, 300, 1}, {0, 300, 2}, {74, 5000, 2},
                 {76, 5000, 1}, {0, 2, 1},    {1, 4, 1},   {1, 5, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        fixture f;
        double H[3][9];
        uint32_t hops[3];
        make_maps(&f, 3);
        link_views(&f, 0, 1, cases[k].direct);
        link_views(&f, 0, 2, cases[k].others);
        link_views(&f, 2, 1, cases[k].others);
        open_views(ctx, &f);
        assert_ok(ctx, psfm_plane_chain(ctx, &f.views, 0, H, hops));
        assert_int_equal(hops[1], cases[k].hops);
        assert_int_equal(hops[2], 1);
        psfm_plane_views_free(&f.views);
    }
    psfm_context_destroy(&ctx);
}

/* Against relaxing all links again and again. */
static void chains_of_any_graph_are_the_cheapest(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 8; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 37, 0);
        fixture f;
        double H[MAX_VIEWS][9], cost[MAX_VIEWS];
        uint32_t hops[MAX_VIEWS], expected[MAX_VIEWS];
        make_maps(&f, seed);
        for (uint32_t v = 1; v < MAX_VIEWS; ++v)
            link_views(&f, (uint32_t)psfm_rng_below(&rng, v), v,
                       5 + (uint32_t)psfm_rng_below(&rng, 290));
        while (f.measured.num < MAX_LINKS) {
            uint32_t a = (uint32_t)psfm_rng_below(&rng, MAX_VIEWS);
            uint32_t b = (uint32_t)psfm_rng_below(&rng, MAX_VIEWS);
            if (a != b)
                link_views(&f, a, b, 5 + (uint32_t)psfm_rng_below(&rng, 290));
        }
        open_views(ctx, &f);
        assert_int_equal(f.views.num_views, MAX_VIEWS);
        for (int v = 0; v < MAX_VIEWS; ++v)
            cost[v] = v == 7 ? 0.0 : INFINITY;
        expected[7] = 0;
        for (int round = 0; round < MAX_VIEWS; ++round)
            for (size_t e = 0; e < 2 * f.measured.num; ++e) {
                const psfm_measured_plane *m = &f.links[e / 2];
                uint32_t from = (e % 2 == 0 ? m->view1 : m->view2) / 10 - 1;
                uint32_t to = (e % 2 == 0 ? m->view2 : m->view1) / 10 - 1;
                double by = cost[from] + sqrt(300.0 / m->num);
                if (by < cost[to] - 1e-12) {
                    cost[to] = by;
                    expected[to] = expected[from] + 1;
                }
            }
        assert_ok(ctx, psfm_plane_chain(ctx, &f.views, 7, H, hops));
        for (uint32_t v = 0; v < MAX_VIEWS; ++v) {
            assert_int_equal(hops[v], expected[v]);
            assert_chain(&f, 7, v, H[v]);
        }
        psfm_plane_views_free(&f.views);
    }
    psfm_context_destroy(&ctx);
}

static void views_out_of_reach_have_no_chain(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    double H[4][9];
    uint32_t hops[4];
    make_maps(&f, 4);
    link_views(&f, 0, 2, 50);
    link_views(&f, 1, 3, 50);
    open_views(ctx, &f);
    assert_ok(ctx, psfm_plane_chain(ctx, &f.views, 1, H, hops));
    assert_int_equal(hops[3], 1);
    assert_true(hops[0] == UINT32_MAX && hops[2] == UINT32_MAX);
    psfm_plane_views_free(&f.views);
    psfm_context_destroy(&ctx);
}

/* A singular homography has no way back; what comes out is finite. */
static void a_singular_link_gives_no_infinite_chain(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    fixture f;
    double H[2][9];
    uint32_t hops[2];
    make_maps(&f, 5);
    link_views(&f, 0, 1, 50);
    memset(f.links[0].H, 0, sizeof f.links[0].H);
    f.links[0].H[0] = 1.0;
    open_views(ctx, &f);
    assert_ok(ctx, psfm_plane_chain(ctx, &f.views, 1, H, hops));
    assert_int_equal(hops[0], 1);
    assert_true(psfm_all_finite(H[0], 9) && psfm_all_finite(H[1], 9));
    psfm_plane_views_free(&f.views);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_are_listed_once_with_their_homographies),
        cmocka_unit_test(chains_are_products_of_their_links),
        cmocka_unit_test(strong_links_are_preferred_to_a_short_chain),
        cmocka_unit_test(chains_of_any_graph_are_the_cheapest),
        cmocka_unit_test(views_out_of_reach_have_no_chain),
        cmocka_unit_test(a_singular_link_gives_no_infinite_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
