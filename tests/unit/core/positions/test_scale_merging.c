/* Scale components brought to one unit, on graphs whose centres and units are known. */
#include "test_util.h"

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/positions/scale_merging.h"

enum { NODES = 14, COMPONENTS = 5, MAX_EDGES = 60, NONE = -1 };

/* Baselines of edges in units of their components. */
typedef struct {
    double R[NODES][9], center[NODES][3], unit[COMPONENTS];
    psfm_edge edges[MAX_EDGES];
    psfm_edge_plane planes[MAX_EDGES];
    psfm_relative_pose poses[MAX_EDGES];
    psfm_baseline baseline[MAX_EDGES];
    uint32_t component[MAX_EDGES];
    bool keep[MAX_EDGES];
    psfm_pose_graph graph;
} fixture;

static void open_graph(uint64_t seed, fixture *f) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 41, 0);
    memset(f, 0, sizeof *f);
    for (int v = 0; v < NODES; ++v) {
        double w[3];
        for (int k = 0; k < 3; ++k) {
            w[k] = psfm_rng_normal(&rng);
            f->center[v][k] = psfm_rng_range(&rng, -3.0, 3.0);
        }
        psfm_rotation_exp(w, f->R[v]);
    }
    for (int c = 0; c < COMPONENTS; ++c)
        f->unit[c] = exp(psfm_rng_range(&rng, -1.0, 1.0));
    f->graph = (psfm_pose_graph){.num_nodes = NODES, .edges = f->edges, .planes = f->planes};
}

static double true_length(const fixture *f, uint32_t e) {
    double d[3];
    psfm_sub3(f->center[f->edges[e].node1], f->center[f->edges[e].node2], d);
    return psfm_norm3(d);
}

/* Adds the edge (a, b) with one plane; component NONE: its length is not known. */
static void add_edge(fixture *f, uint32_t a, uint32_t b, int component, uint32_t num_inliers) {
    uint32_t e = f->graph.num_edges++, low = a < b ? a : b, high = a < b ? b : a;
    double d[3];
    assert_true(e < MAX_EDGES);
    f->edges[e] = (psfm_edge){.node1 = low, .node2 = high, .plane_begin = e, .plane_end = e + 1};
    f->planes[e] = (psfm_edge_plane){.edge = e, .num_inliers = num_inliers};
    f->graph.num_planes = f->graph.num_edges;
    psfm_sub3(f->center[low], f->center[high], d);
    psfm_normalize3(d);
    psfm_mat3_mul_vec(f->R[high], d, f->poses[e].t_21);
    psfm_mat3_mul_t(f->R[high], f->R[low], f->poses[e].R_21);
    f->component[e] = component == NONE ? UINT32_MAX : (uint32_t)component;
    f->keep[e] = true;
    f->baseline[e] = (psfm_baseline){NAN, UINT32_MAX, NAN};
    if (component != NONE)
        f->baseline[e] = (psfm_baseline){true_length(f, e) / f->unit[component],
                                         (uint32_t)component, 7.0 / f->unit[component]};
}

static void join_scales(psfm_context *ctx, fixture *f) {
    psfm_scale_links_input input = {&f->graph, f->keep, (const double(*)[9])f->R, f->poses};
    assert_ok(ctx, psfm_scale_join(ctx, &input, COMPONENTS, f->baseline));
}

/* Of a component before the join: in its own unit and number still, or in the first one's. */
static void assert_joined(const fixture *f, uint32_t component, bool joined, double tolerance) {
    double unit = f->unit[joined ? 0 : component];
    for (uint32_t e = 0; e < f->graph.num_edges; ++e) {
        const psfm_baseline *b = &f->baseline[e];
        if (f->component[e] != component)
            continue;
        assert_int_equal(b->scale_component, joined ? 0 : component);
        assert_close(b->length * unit / true_length(f, e), 1.0, tolerance);
        assert_close(b->distance * unit / 7.0, 1.0, tolerance);
    }
}

/* A component that holds together: a tree over `num` random cameras. */
static void add_random_component(psfm_rng *rng, fixture *f, int component, uint32_t num) {
    uint32_t nodes[NODES];
    psfm_rng_sample(rng, NODES, num, nodes);
    for (uint32_t k = 1; k < num; ++k)
        add_edge(f, nodes[k], nodes[psfm_rng_below(rng, k)], component, 10);
}

static void list_cameras(const fixture *f, uint32_t component, bool in[NODES],
                         uint32_t *num_edges) {
    memset(in, 0, NODES * sizeof *in);
    *num_edges = 0;
    for (uint32_t e = 0; e < f->graph.num_edges; ++e) {
        if (f->component[e] != component)
            continue;
        in[f->edges[e].node1] = in[f->edges[e].node2] = true;
        ++*num_edges;
    }
}

/* Whether an edge of one lies between cameras of the other, and neither is a single edge. */
static bool are_linked(const fixture *f, uint32_t a, uint32_t b) {
    bool in_a[NODES], in_b[NODES];
    uint32_t size_a, size_b, num = 0;
    list_cameras(f, a, in_a, &size_a);
    list_cameras(f, b, in_b, &size_b);
    for (uint32_t e = 0; e < f->graph.num_edges; ++e) {
        uint32_t v = f->edges[e].node1, w = f->edges[e].node2;
        num += (f->component[e] == a && in_b[v] && in_b[w]) ||
               (f->component[e] == b && in_a[v] && in_a[w]);
    }
    return num > 0 && size_a > 1 && size_b > 1;
}

static void components_that_share_edges_get_one_unit(void **state) {
    uint32_t num_joined = 0, num_left = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) {
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 42, 0);
        bool expected[COMPONENTS] = {true};
        fixture f;
        open_graph(seed, &f);
        for (int c = 0; c < COMPONENTS; ++c)
            add_random_component(&rng, &f, c, 2 + (uint32_t)psfm_rng_below(&rng, 7));
        add_edge(&f, 0, 1, NONE, 10);
        for (int round = 0; round < COMPONENTS; ++round)
            for (uint32_t a = 0; a < COMPONENTS; ++a)
                for (uint32_t b = 0; b < COMPONENTS; ++b)
                    expected[b] |= a != b && expected[a] && are_linked(&f, a, b);
        join_scales(*state, &f);
        for (uint32_t c = 0; c < COMPONENTS; ++c) {
            assert_joined(&f, c, expected[c], 1e-9);
            num_joined += expected[c];
            num_left += !expected[c];
        }
        assert_int_equal(f.baseline[f.graph.num_edges - 1].scale_component, UINT32_MAX);
        assert_true(isnan(f.baseline[f.graph.num_edges - 1].length));
    }
    assert_true(num_joined > 300 && num_left > 200);
}

/* All pairs of seven cameras in one component, a chain along them in another, two of whose lengths
 * are wrong: the median of the votes is right. */
static void wrong_lengths_are_outvoted(void **state) {
    fixture f;
    open_graph(3, &f);
    for (uint32_t v = 0; v < 7; ++v)
        for (uint32_t w = 0; w < v; ++w)
            add_edge(&f, w, v, 0, 10);
    uint32_t first = f.graph.num_edges;
    for (uint32_t v = 0; v < 6; ++v)
        add_edge(&f, v, v + 1, 1, 10);
    for (uint32_t k = 0; k < 2; ++k)
        f.baseline[first + 2 * k].length *= k == 0 ? 4.0 : 7.0;
    join_scales(*state, &f);
    for (uint32_t e = first; e < f.graph.num_edges; ++e) {
        bool wrong = e == first || e == first + 2;
        assert_int_equal(f.baseline[e].scale_component, 0);
        if (!wrong)
            assert_close(f.baseline[e].length * f.unit[0] / true_length(&f, e), 1.0, 1e-9);
    }
}

/* Rotations have no length: they place a camera where the other is, but tell nothing of units. */
static void rotations_place_but_do_not_vote(void **state) {
    for (int with_vote = 0; with_vote < 2; ++with_vote) {
        fixture f;
        open_graph(4, &f);
        memcpy(f.center[2], f.center[1], sizeof f.center[1]);
        add_edge(&f, 0, 1, 0, 10);
        add_edge(&f, 0, 5, 0, 10);
        add_edge(&f, 1, 2, 0, 10);
        f.edges[2].is_rotation = true;
        f.baseline[2].length = 0.0;
        f.component[2] = UINT32_MAX; /* no length to look at */
        add_edge(&f, 1, 2, 1, 10);
        f.edges[3].is_rotation = true;
        f.baseline[3].length = 0.0;
        f.component[3] = UINT32_MAX;
        add_edge(&f, 2, 3, 1, 10);
        add_edge(&f, 3, 4, 1, 10);
        if (with_vote)
            add_edge(&f, 0, 2, 1, 10); /* 0 and 2 are cameras of the first by its rotation */
        join_scales(*state, &f);
        assert_joined(&f, 0, true, 1e-9);
        assert_joined(&f, 1, with_vote, 1e-9);
    }
}

static void edges_that_are_not_kept_do_not_link(void **state) {
    fixture f;
    open_graph(5, &f);
    add_edge(&f, 0, 1, 0, 10);
    add_edge(&f, 1, 2, 0, 10);
    add_edge(&f, 0, 1, 1, 10);
    add_edge(&f, 1, 7, 1, 10);
    add_edge(&f, 7, 8, 1, 10);
    f.keep[2] = false;
    join_scales(*state, &f);
    f.component[2] = UINT32_MAX;
    assert_joined(&f, 0, true, 1e-9);
    assert_joined(&f, 1, false, 1e-9);
}

static void one_component_is_left_alone(void **state) {
    fixture f;
    open_graph(6, &f);
    add_edge(&f, 0, 1, 0, 10);
    psfm_baseline before = f.baseline[0];
    psfm_scale_links_input input = {&f.graph, NULL, (const double(*)[9])f.R, f.poses};
    assert_ok(*state, psfm_scale_join(*state, &input, 1, f.baseline));
    assert_memory_equal(&before, &f.baseline[0], sizeof before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_that_share_edges_get_one_unit),
        cmocka_unit_test(wrong_lengths_are_outvoted),
        cmocka_unit_test(rotations_place_but_do_not_vote),
        cmocka_unit_test(edges_that_are_not_kept_do_not_link),
        cmocka_unit_test(one_component_is_left_alone),
    };
    return cmocka_run_group_tests_name("positions/scale_merging", tests, open_context,
                                       close_context);
}
