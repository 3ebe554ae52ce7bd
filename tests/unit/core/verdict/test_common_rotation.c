/* Rejected edges of made-up rotations: some to a duplicate, some anywhere. */
#include "core/verdict/model_features.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "test_util.h"

enum { NUM = 12, EDGES = NUM * (NUM - 1) / 2 };

typedef struct {
    psfm_context *ctx;
    double R[NUM][9];
    uint32_t component[NUM];
    psfm_pose_graph graph;
    bool accepted[EDGES];
} fixture;

static void random_rotation(psfm_rng *rng, double R[9]) {
    double w[3];
    for (int k = 0; k < 3; ++k)
        w[k] = 2.0 * psfm_rng_normal(rng);
    psfm_rotation_exp(w, R);
}

/* All pairs of images: the first `duplicates` edges lead to the world turned by G, the next `wild`
 * ones anywhere, the others are accepted. */
static void make_fixture(fixture *f, uint32_t duplicates, uint32_t wild) {
    psfm_rng rng = psfm_rng_make(3, 0, 0, 0);
    double half_turn[3] = {0.0, 0.0, 3.141592653589793}, G[9];
    *f = (fixture){.ctx = psfm_context_create(), .graph.num_nodes = NUM};
    f->graph.edges = calloc(EDGES, sizeof *f->graph.edges);
    psfm_rotation_exp(half_turn, G);
    for (uint32_t v = 0; v < NUM; ++v)
        random_rotation(&rng, f->R[v]);
    for (uint32_t a = 0; a < NUM; ++a) {
        for (uint32_t b = a + 1; b < NUM; ++b) {
            uint32_t e = f->graph.num_edges++;
            psfm_edge *edge = &f->graph.edges[e];
            double turned[9];
            *edge = (psfm_edge){.node1 = a, .node2 = b, .has_essential = true};
            psfm_mat3_mul(f->R[b], G, turned);
            psfm_mat3_mul_t(e < duplicates ? turned : f->R[b], f->R[a], edge->essential_R_21);
            if (e >= duplicates && e < duplicates + wild)
                random_rotation(&rng, edge->essential_R_21);
            f->accepted[e] = e >= duplicates + wild;
        }
    }
}

static double find(const fixture *f) {
    psfm_poses poses = {.num_views = NUM,
                        .cam_from_world = (double(*)[9])f->R,
                        .component = (uint32_t *)f->component};
    double share = -1.0;
    assert_ok(f->ctx, psfm_common_rotation_find(f->ctx, &f->graph, f->accepted, &poses, 0, &share));
    return share;
}

static void free_fixture(fixture *f) {
    psfm_pose_graph_free(&f->graph);
    psfm_context_destroy(&f->ctx);
}

static void test_share(void **state) {
    static const struct {
        uint32_t duplicates, wild;
        double share;
    } cases[] = {{0, 0, 0.0}, {1, 0, 0.0}, {0, 9, 0.0}, {10, 9, 10.0 / EDGES}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        fixture f;
        make_fixture(&f, cases[k].duplicates, cases[k].wild);
        assert_close(find(&f), cases[k].share, 1e-12);
        free_fixture(&f);
    }
}

/* Edges that leave out half of what their images should share count for less. */
static void test_edges_count_by_their_weight(void **state) {
    fixture f;
    (void)state;
    make_fixture(&f, 10, 0);
    for (uint32_t e = 0; e < 10; ++e)
        f.graph.edges[e].missing_share = 0.5;
    assert_close(find(&f), 10.0 / 16.0 / EDGES, 1e-12);
    free_fixture(&f);
}

/* They were rejected for their baselines, as edges to the next bay of a facade are. */
static void test_edges_with_the_right_rotation_ask_for_no_other(void **state) {
    fixture f;
    (void)state;
    make_fixture(&f, 0, 0);
    for (uint32_t e = 0; e < 10; ++e)
        f.accepted[e] = false;
    assert_close(find(&f), 0.0, 0.0);
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_edges_count_by_their_weight),
        cmocka_unit_test(test_edges_with_the_right_rotation_ask_for_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
