/* Lengths of baselines from planes, on graphs whose cameras and planes are known. */
#include "plane_graph.h"

#include "core/base/union_find.h"
#include "core/positions/plane_scale.h"

enum { NODES = 12, MAX_EDGES = 40, FAR = 3 };

static const test_plane planes[] = {
    {{0, 0, 1}, 0}, {{1, 0, 0}, 8}, {{0, 1, 0}, 9}, {{0, 1, 0}, 1e6}};

/* A graph with the physical plane of each of its planes. */
typedef struct {
    plane_graph g;
    psfm_plane_groups groups;
    psfm_baseline baseline[MAX_EDGES];
    psfm_plane_scale_stats stats;
} fixture;

static void open_graph(uint64_t seed, fixture *f) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 39, 0);
    memset(f, 0, sizeof *f);
    f->g = plane_graph_cameras(&rng, NODES);
    f->groups.group = calloc(3 * MAX_EDGES, sizeof *f->groups.group);
    f->groups.num_groups = sizeof planes / sizeof *planes;
}

static void add_edge(fixture *f, uint32_t a, uint32_t b, const int *seen, int num_seen) {
    uint32_t first = f->g.graph.num_planes;
    plane_graph_add(&f->g, a, b, planes, seen, num_seen);
    for (int k = 0; k < num_seen; ++k)
        f->groups.group[first + (uint32_t)k] = (uint32_t)seen[k];
}

static void close_graph(fixture *f) {
    plane_graph_free(&f->g);
    free(f->groups.group);
}

static void solve(psfm_context *ctx, fixture *f, const bool *keep) {
    assert_ok(ctx,
              psfm_plane_scale(ctx, &f->g.graph, keep, &f->groups, 30, f->baseline, &f->stats));
}

static double true_length(const fixture *f, uint32_t e) {
    double d[3];
    const psfm_edge *edge = &f->g.graph.edges[e];
    psfm_sub3(f->g.center[edge->node1], f->g.center[edge->node2], d);
    return psfm_norm3(d);
}

/* Of the first plane of an edge from its first camera. */
static double true_distance(const fixture *f, uint32_t e) {
    const psfm_edge *edge = &f->g.graph.edges[e];
    const test_plane *plane = &planes[f->groups.group[edge->plane_begin]];
    return fabs(psfm_dot3(plane->normal, f->g.center[edge->node1]) - plane->distance);
}

/* All edges of a component in one unit, those in `wrong` left out. */
static void assert_one_unit(const fixture *f, uint32_t component, uint32_t wrong,
                            double tolerance) {
    double unit = NAN;
    for (uint32_t e = 0; e < f->g.graph.num_edges; ++e) {
        if (f->baseline[e].scale_component != component || e == wrong)
            continue;
        if (isnan(unit))
            unit = f->baseline[e].length / true_length(f, e);
        assert_close(f->baseline[e].length / true_length(f, e) / unit, 1.0, tolerance);
        assert_close(f->baseline[e].distance / true_distance(f, e) / unit, 1.0, tolerance);
    }
    assert_true(unit > 0.0);
}

/* Edges are of one scale if they are joined by edges that see the same plane from the same camera:
 * label[e] is the lowest edge of those. */
static void find_scales(const fixture *f, const bool *keep, uint32_t *label) {
    const psfm_pose_graph *graph = &f->g.graph;
    uint32_t parent[MAX_EDGES];
    psfm_sets_init(parent, MAX_EDGES);
    for (uint32_t p = 0; p < graph->num_planes; ++p)
        for (uint32_t q = 0; q < p; ++q) {
            const psfm_edge *a = &graph->edges[graph->planes[p].edge];
            const psfm_edge *b = &graph->edges[graph->planes[q].edge];
            bool shares = a->node1 == b->node1 || a->node1 == b->node2 || a->node2 == b->node1 ||
                          a->node2 == b->node2;
            if (shares && f->groups.group[p] == f->groups.group[q] && keep[graph->planes[p].edge] &&
                keep[graph->planes[q].edge])
                psfm_sets_unite(parent, graph->planes[p].edge, graph->planes[q].edge);
        }
    for (uint32_t e = 0; e < graph->num_edges; ++e)
        label[e] = psfm_sets_find(parent, e);
}

static void random_graph(fixture *f, uint64_t seed, bool *keep) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 40, 0);
    open_graph(seed, f);
    for (uint32_t e = 0; e < 14; ++e) {
        uint32_t ends[2];
        psfm_rng_sample(&rng, NODES, 2, ends);
        int first = (int)psfm_rng_below(&rng, 3);
        const int seen[2] = {first, (first + 1) % 3};
        uint32_t low = ends[0] < ends[1] ? ends[0] : ends[1];
        add_edge(f, low, ends[0] + ends[1] - low, seen, psfm_rng_uniform(&rng) < 0.3 ? 2 : 1);
        keep[e] = psfm_rng_uniform(&rng) < 0.9;
    }
}

/* Without noise: each component in one unit, edges in one component exactly where shared planes
 * lead from one to the other, and those with more edges first. */
static void lengths_follow_from_shared_planes(void **state) {
    uint32_t most = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        fixture f;
        bool keep[MAX_EDGES];
        uint32_t label[MAX_EDGES], size[MAX_EDGES] = {0};
        random_graph(&f, seed, keep);
        find_scales(&f, keep, label);
        solve(*state, &f, keep);
        for (uint32_t e = 0; e < f.g.graph.num_edges; ++e) {
            assert_int_equal(f.baseline[e].scale_component == UINT32_MAX, !keep[e]);
            assert_int_equal(isnan(f.baseline[e].length), !keep[e]);
            for (uint32_t o = 0; o < e; ++o)
                if (keep[e] && keep[o])
                    assert_int_equal(f.baseline[e].scale_component == f.baseline[o].scale_component,
                                     label[e] == label[o]);
            if (keep[e])
                ++size[f.baseline[e].scale_component];
        }
        for (uint32_t c = 0; c < f.stats.num_components; ++c) {
            assert_true(size[c] > 0 && (c == 0 || size[c] <= size[c - 1]));
            assert_one_unit(&f, c, UINT32_MAX, 1e-9);
        }
        assert_int_equal(size[f.stats.num_components], 0);
        assert_below(f.stats.residual, 1e-12);
        most = most > f.stats.num_components ? most : f.stats.num_components;
        close_graph(&f);
    }
    assert_true(most > 4);
}

/* Absolute misfits: one wrong homography among many does not move the others, nor itself hide. */
static void one_wrong_plane_is_outvoted(void **state) {
    fixture f;
    open_graph(7, &f);
    for (uint32_t a = 0; a < 8; ++a)
        for (uint32_t b = a + 1; b < 8; ++b)
            add_edge(&f, a, b, (int[]){0}, 1);
    const uint32_t wrong = 11;
    f.g.graph.hypotheses[wrong].motion.d2_over_d1 *= 3.0;
    solve(*state, &f, NULL);
    assert_one_unit(&f, 0, wrong, 2e-3); /* floor of the weights: 1e-3 of a logarithm, 28 edges */
    assert_below(f.stats.residual, 1e-3);
    close_graph(&f);
}

static void make_rotation(fixture *f, uint32_t e) {
    psfm_edge *edge = &f->g.graph.edges[e];
    psfm_hypothesis *h = &f->g.graph.hypotheses[edge->hypothesis_begin];
    memcpy(f->g.center[edge->node2], f->g.center[edge->node1], sizeof *f->g.center);
    edge->is_rotation = true;
    memset(h->motion.t_21, 0, sizeof h->motion.t_21);
    h->motion.d2_over_d1 = 1.0;
}

/* A rotation carries the unit on, though it has no length; alone it has no unit. */
static void rotations_carry_the_unit_on(void **state) {
    fixture f;
    open_graph(8, &f);
    memcpy(f.g.center[2], f.g.center[1], sizeof *f.g.center);
    add_edge(&f, 0, 1, (int[]){0}, 1);
    add_edge(&f, 1, 2, (int[]){0}, 1);
    add_edge(&f, 2, 3, (int[]){0}, 1);
    add_edge(&f, 4, 5, (int[]){0}, 1);
    make_rotation(&f, 1);
    make_rotation(&f, 3);
    solve(*state, &f, NULL);
    assert_int_equal(f.stats.num_components, 1);
    assert_int_equal(f.baseline[1].scale_component, 0);
    assert_int_equal(f.baseline[3].scale_component, UINT32_MAX);
    assert_close(f.baseline[1].length, 0.0, 0.0);
    assert_one_unit(&f, 0, 1, 1e-9);
    close_graph(&f);
}

/* Two edges with parallax say how far cameras 1 and 2 are from the floor; that they are one place,
 * as an edge says that took a slide for a rotation, does not count beside them. */
static void parallax_counts_before_rotations(void **state) {
    fixture f;
    open_graph(12, &f);
    add_edge(&f, 0, 1, (int[]){0}, 1);
    add_edge(&f, 1, 2, (int[]){0}, 1);
    add_edge(&f, 0, 2, (int[]){0}, 1);
    add_edge(&f, 2, 3, (int[]){0}, 1); /* its length is that of the distance of camera 2 */
    f.g.graph.edges[1].is_rotation = true;
    f.g.graph.hypotheses[1].motion.d2_over_d1 = 1.0;
    assert_true(fabs(true_distance(&f, 1) - f.g.center[2][2]) > 0.5);
    solve(*state, &f, NULL);
    assert_one_unit(&f, 0, 1, 1e-3);
    assert_below(f.stats.residual, 1e-3);
    close_graph(&f);
}

/* The middle one of three planes of an edge is so far away that it shows no baseline: the other two
 * still have one. */
static void a_far_plane_between_two_near_ones_does_not_part_them(void **state) {
    for (int place = 0; place < 3; ++place) {
        fixture f;
        int seen[3] = {0, 1, FAR};
        seen[2] = seen[place];
        seen[place] = FAR;
        open_graph(9, &f);
        add_edge(&f, 0, 1, (int[]){0}, 1);
        add_edge(&f, 1, 2, seen, 3);
        add_edge(&f, 2, 3, (int[]){1}, 1);
        solve(*state, &f, NULL);
        assert_int_equal(f.baseline[2].scale_component, f.baseline[0].scale_component);
        assert_close(f.baseline[2].length / f.baseline[0].length,
                     true_length(&f, 2) / true_length(&f, 0), 1e-9);
        close_graph(&f);
    }
}

/* What noise makes of a baseline that a far plane does not show must not enter the length. */
static void a_far_plane_has_no_say_in_a_length(void **state) {
    for (int round = 0; round < 2; ++round) {
        fixture f;
        open_graph(11, &f);
        f.g.center[2][1] = -3e4;
        add_edge(&f, 0, 1, (int[]){FAR, 0}, 2);
        add_edge(&f, 0, 2, (int[]){0, FAR}, 2);
        double *t = f.g.graph.hypotheses[0].motion.t_21;
        assert_below(psfm_norm3(t), 1e-5);
        psfm_scale3(round == 0 ? 10.0 : 0.0, t, t);
        solve(*state, &f, NULL);
        assert_int_equal(f.stats.num_components, 1);
        assert_close(f.baseline[0].length / f.baseline[1].length,
                     true_length(&f, 0) / true_length(&f, 1), 1e-9);
        close_graph(&f);
    }
}

static void nothing_known_gives_nothing(void **state) {
    fixture f;
    open_graph(10, &f);
    solve(*state, &f, NULL); /* no edges */
    assert_int_equal(f.stats.num_components, 0);
    add_edge(&f, 0, 1, (int[]){0}, 1);
    f.groups.group[0] = UINT32_MAX;
    solve(*state, &f, NULL); /* of no physical plane */
    assert_int_equal(f.stats.num_components, 0);
    assert_int_equal(f.baseline[0].scale_component, UINT32_MAX);
    assert_true(isnan(f.baseline[0].length) && isnan(f.baseline[0].distance));
    close_graph(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_follow_from_shared_planes),
        cmocka_unit_test(one_wrong_plane_is_outvoted),
        cmocka_unit_test(rotations_carry_the_unit_on),
        cmocka_unit_test(parallax_counts_before_rotations),
        cmocka_unit_test(a_far_plane_between_two_near_ones_does_not_part_them),
        cmocka_unit_test(a_far_plane_has_no_say_in_a_length),
        cmocka_unit_test(nothing_known_gives_nothing),
    };
    return cmocka_run_group_tests_name("positions/plane_scale", tests, open_context, close_context);
}
