/* The record of the pose graph against the reconstruction it is of. */
#include "test_util.h"

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "sfm/graph_record.h"

#include "core/matches/canonical_order.h"
#include "reconstruct_util.h"
#include "synth/scene.h"

static psfm_scene make_scene(psfm_context *ctx) {
    psfm_scene_options options;
    psfm_scene scene = {0};
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 14;
    options.duplicates = 0.15;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 1, &options, &scene));
    /* the first image loses its matches */
    for (size_t p = 0; p < scene.matches.num_pairs; ++p)
        if (scene.matches.pairs[p].view1 == 0)
            scene.matches.pairs[p].num_matches = 0;
    assert_ok(ctx, psfm_match_set_canonical(ctx, &scene.matches));
    return scene;
}

/* The pair of the set that a record is of; whether the record has it turned round. */
static size_t find_pair(const psfm_match_set *set, const psfm_graph_file *graph,
                        const psfm_graph_pair *record, bool *turned) {
    const char *one = graph->images[record->image1].name,
               *other = graph->images[record->image2].name;
    for (size_t p = 0; p < set->num_pairs; ++p) {
        const char *name1 = set->views[set->pairs[p].view1].name;
        const char *name2 = set->views[set->pairs[p].view2].name;
        *turned = strcmp(name1, other) == 0 && strcmp(name2, one) == 0;
        if (*turned || (strcmp(name1, one) == 0 && strcmp(name2, other) == 0))
            return p;
    }
    fail_msg("no pair %s, %s", one, other);
    return 0;
}

/* The homography takes a sample's ray in image 1 to that in image 2. */
static void check_homography(const psfm_camera *camera, const psfm_graph_homography *h,
                             const float sample[4]) {
    const double xy1[2] = {sample[0], sample[1]}, xy2[2] = {sample[2], sample[3]};
    double ray1[3], ray2[3], mapped[3], off[3];
    assert_true(psfm_camera_unproject(camera, xy1, ray1));
    assert_true(psfm_camera_unproject(camera, xy2, ray2));
    psfm_mat3_mul_vec(h->H_21, ray1, mapped);
    psfm_normalize3(mapped);
    psfm_cross3(mapped, ray2, off);
    assert_below(psfm_norm3(off), 0.02);
}

/* The file has tenths of pixels. */
static bool is_near(const double keypoint[2], const float sample[2]) {
    return fabs(keypoint[0] - (double)sample[0]) < 0.0501 &&
           fabs(keypoint[1] - (double)sample[1]) < 0.0501;
}

/* A sampled inlier must be a match of the pair. */
static void check_samples(const psfm_match_set *set, size_t p, bool turned,
                          const psfm_graph_homography *h) {
    const psfm_match_pair *pair = &set->pairs[p];
    assert_true(h->num_samples > 0 && h->num_samples <= h->num_inliers);
    for (size_t k = 0; k < h->num_samples; ++k) {
        const float *one = h->samples[k] + (turned ? 2 : 0),
                    *other = h->samples[k] + (turned ? 0 : 2);
        bool found = false;
        for (size_t m = 0; !found && m < pair->num_matches; ++m) {
            const double *a = set->views[pair->view1].keypoints[pair->matches[m][0]];
            const double *b = set->views[pair->view2].keypoints[pair->matches[m][1]];
            found = is_near(a, one) && is_near(b, other);
        }
        assert_true(found);
        check_homography(&set->cameras[0], h, h->samples[k]);
    }
}

static void check_component(const psfm_graph_file *graph, uint32_t c) {
    uint32_t edges = 0, tree = 0;
    double low = INFINITY, high = -INFINITY;
    for (size_t p = 0; p < graph->num_pairs; ++p) {
        const psfm_graph_pair *pair = &graph->pairs[p];
        if (!pair->is_edge || pair->component != c)
            continue;
        ++edges;
        tree += pair->in_tree ? 1 : 0;
        low = pair->in_tree ? fmin(low, pair->h) : low;
        high = pair->in_tree ? fmax(high, pair->h) : high;
    }
    assert_int_equal(edges, graph->components[c].num_edges);
    assert_int_equal(tree, graph->components[c].num_images - 1);
    assert_close(low, graph->components[c].low, 0.0);
    assert_close(high, graph->components[c].high, 0.0);
}

static void check_record(psfm_mode mode) {
    psfm_context *ctx = psfm_context_create();
    psfm_scene scene = make_scene(ctx);
    psfm_reconstruct_options options;
    psfm_sfm r;
    psfm_graph_file graph;
    psfm_reconstruct_options_init(mode, &options);
    assert_ok(ctx, reconstruct_set(ctx, &scene.matches, &options, &r));
    r.photo_folder = "photos";
    assert_ok(ctx, psfm_graph_record(ctx, &r, &graph));
    assert_int_equal(graph.num_images, 14);
    assert_int_equal(graph.num_pairs, scene.matches.num_pairs);
    assert_int_equal(graph.num_components, 1);
    assert_int_equal(graph.components[0].num_images, 13);
    assert_string_equal(graph.photo_folder, "photos");
    assert_int_equal(graph.num_planes, r.refined.planes.num_planes);
    for (size_t k = 1; k < graph.num_images; ++k)
        assert_true(strcmp(graph.images[k - 1].name, graph.images[k].name) < 0);
    uint32_t edges = 0, kept = 0, num_turned = 0;
    for (size_t p = 0; p < graph.num_pairs; ++p) {
        const psfm_graph_pair *pair = &graph.pairs[p];
        bool turned;
        size_t of = find_pair(&scene.matches, &graph, pair, &turned);
        num_turned += turned;
        assert_true(pair->image1 < pair->image2);
        assert_true(p == 0 || pair[-1].image1 < pair->image1 ||
                    (pair[-1].image1 == pair->image1 && pair[-1].image2 < pair->image2));
        edges += pair->is_edge ? 1 : 0;
        kept += pair->kept ? 1 : 0;
        assert_int_equal(pair->num_homographies, r.two_views[of].num_homographies);
        for (size_t k = 0; k < pair->num_homographies; ++k)
            check_samples(&scene.matches, of, turned, &pair->homographies[k]);
        if (pair->kept && mode == PSFM_MODE_ROBUST)
            assert_below(pair->rotation_deg, 1.0);
    }
    assert_int_equal(edges, r.graph.num_edges);
    assert_true(num_turned > 0);
    assert_true(kept >= 12 && kept <= edges);
    check_component(&graph, 0);
    psfm_graph_file_free(&graph);
    reconstruct_close(&r);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

static void the_robust_graph_is_recorded(void **state) {
    (void)state;
    check_record(PSFM_MODE_ROBUST);
}

static void the_published_graph_is_recorded(void **state) {
    (void)state;
    check_record(PSFM_MODE_PAPER);
}

static void every_failed_allocation_is_reported(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene scene = make_scene(ctx);
    psfm_reconstruct_options options;
    psfm_sfm r;
    psfm_reconstruct_options_init(PSFM_MODE_PAPER, &options);
    assert_ok(ctx, reconstruct_set(ctx, &scene.matches, &options, &r));
    psfm_status status = PSFM_ERR_MEMORY;
    for (size_t n = 1; status != PSFM_OK; n += 3) {
        psfm_graph_file graph;
        psfm_alloc_fail_after(n);
        status = psfm_graph_record(ctx, &r, &graph);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
        psfm_graph_file_free(&graph);
    }
    reconstruct_close(&r);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_robust_graph_is_recorded),
        cmocka_unit_test(the_published_graph_is_recorded),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
