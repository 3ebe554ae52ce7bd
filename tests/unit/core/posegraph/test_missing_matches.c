#include "test_util.h"

#include "core/base/alloc.h"
#include "core/posegraph/missing_matches.h"
#include "synth/scene.h"

typedef struct {
    psfm_scene scene;
    psfm_two_view *two_views;
    psfm_pose_graph graph;
} example;

/* Cameras in a room that see several planes each. */
static void make_example(psfm_context *ctx, example *x) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 16;
    options.noise_px = 0.3;
    memset(x, 0, sizeof *x);
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ROOM, 5, &options, &x->scene));
    x->two_views = calloc(x->scene.matches.num_pairs, sizeof *x->two_views);
}

static void free_views(example *x) {
    for (size_t p = 0; p < x->scene.matches.num_pairs; ++p)
        psfm_two_view_free(&x->two_views[p]);
    memset(x->two_views, 0, x->scene.matches.num_pairs * sizeof *x->two_views);
    psfm_pose_graph_free(&x->graph);
}

static void free_example(example *x) {
    free_views(x);
    free(x->two_views);
    psfm_scene_free(&x->scene);
}

/* Verifies the pairs and surveys their edges. */
static void survey(psfm_context *ctx, example *x) {
    const psfm_match_set *set = &x->scene.matches;
    psfm_two_view_options options;
    psfm_options_init(&psfm_two_view_option_table, &options);
    free_views(x);
    assert_ok(ctx, psfm_two_view_estimate_all(ctx, set, &options, x->two_views));
    assert_ok(ctx, psfm_pose_graph_build(ctx, set, x->two_views, true, &x->graph));
    assert_ok(ctx, psfm_edges_find_missing(ctx, set, x->two_views, &x->graph));
}

/* The missing_share of the edge of pair 0. */
static double first_absence(const example *x) {
    assert_true(x->graph.num_edges > 0 && x->graph.edges[0].pair == 0);
    return x->graph.edges[0].missing_share;
}

/* Leaves of pair 0 only the matches within a square of image 1, as if it were another thing that
 * looks alike. */
static void keep_square(example *x, double low, double high) {
    psfm_match_pair *pair = &x->scene.matches.pairs[0];
    const psfm_view *view = &x->scene.matches.views[pair->view1];
    size_t kept = 0;
    for (size_t k = 0; k < pair->num_matches; ++k) {
        const double *xy = view->keypoints[pair->matches[k][0]];
        if (xy[0] < low || xy[0] > high || xy[1] < 100.0 || xy[1] > 620.0)
            continue;
        memcpy(pair->matches[kept++], pair->matches[k], sizeof *pair->matches);
    }
    pair->num_matches = kept;
}

static void whole_pairs_leave_nothing_out(void **state) {
    psfm_context *ctx = *state;
    example x;
    make_example(ctx, &x);
    survey(ctx, &x);
    for (uint32_t e = 0; e < x.graph.num_edges; ++e)
        assert_below(x.graph.edges[e].missing_share, 0.25);
    free_example(&x);
}

static void what_is_left_out_counts(void **state) {
    psfm_context *ctx = *state;
    example x;
    make_example(ctx, &x);
    survey(ctx, &x);
    double before = first_absence(&x);
    keep_square(&x, 400.0, 1000.0);
    survey(ctx, &x);
    double after = first_absence(&x);
    assert_true(after > before + 0.2);
    for (uint32_t e = 1; e < x.graph.num_edges; ++e)
        assert_below(x.graph.edges[e].missing_share, 0.25);
    free_example(&x);
}

/* Keypoints that no other pair confirms are not expected. */
static void a_single_pair_leaves_nothing_out(void **state) {
    psfm_context *ctx = *state;
    example x;
    make_example(ctx, &x);
    for (size_t p = 1; p < x.scene.matches.num_pairs; ++p)
        x.scene.matches.pairs[p].num_matches = 0;
    keep_square(&x, 400.0, 1000.0);
    survey(ctx, &x);
    assert_true(first_absence(&x) == 0.0);
    free_example(&x);
}

static void threads_do_not_matter(void **state) {
    psfm_context *ctx = *state;
    double missing_share[200];
    example x;
    make_example(ctx, &x);
    for (int threads = 1; threads <= 4; threads += 3) {
        psfm_context_set_threads(ctx, threads);
        survey(ctx, &x);
        assert_true(x.graph.num_edges <= 200);
        for (uint32_t e = 0; e < x.graph.num_edges; ++e) {
            if (threads == 1)
                missing_share[e] = x.graph.edges[e].missing_share;
            assert_true(missing_share[e] == x.graph.edges[e].missing_share);
        }
    }
    psfm_context_set_threads(ctx, 0);
    free_example(&x);
}

static void lack_of_memory_is_reported(void **state) {
    psfm_context *ctx = *state;
    example x;
    make_example(ctx, &x);
    survey(ctx, &x);
    psfm_context_set_threads(ctx, 1);
    for (size_t n = 1; n < 6; ++n) {
        psfm_alloc_fail_after(n);
        psfm_status status = psfm_edges_find_missing(ctx, &x.scene.matches, x.two_views, &x.graph);
        psfm_alloc_fail_after(0);
        assert_int_equal(status, PSFM_ERR_MEMORY);
    }
    psfm_context_set_threads(ctx, 0);
    free_example(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_pairs_leave_nothing_out),
        cmocka_unit_test(what_is_left_out_counts),
        cmocka_unit_test(a_single_pair_leaves_nothing_out),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests_name("posegraph/missing_matches", tests, open_context,
                                       close_context);
}
