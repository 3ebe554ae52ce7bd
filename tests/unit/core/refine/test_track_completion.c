/* Tracks of right matches that break where matches are missing, found again by place. */
#include "core/refine/track_completion.h"

#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "refine_defaults.h"
#include "refine_util.h"
#include "scene_truth.h"

enum { NUM_VIEWS = 40, LONGEST = 64 };

typedef struct {
    psfm_context *ctx;
    psfm_scene scene;
    psfm_poses poses;
    psfm_structure structure;
} fixture;

/* Points of the right matches alone, with the true poses. */
static void make(double noise_px, fixture *f) {
    psfm_scene_options options;
    psfm_triangulate_options triangulate;
    psfm_tracks tracks;
    *f = (fixture){.ctx = psfm_context_create()};
    psfm_options_init(&psfm_scene_option_table, &options);
    psfm_options_init(&psfm_triangulate_option_table, &triangulate);
    options.num_cameras = NUM_VIEWS;
    options.num_points = 1000;
    options.noise_px = noise_px;
    options.outliers = 0.5;
    assert_ok(f->ctx, psfm_scene_make(f->ctx, PSFM_SCENE_ARENA, 5, &options, &f->scene));
    f->poses = true_poses(f->ctx, &f->scene);
    const psfm_match_set *set = &f->scene.matches;
    bool *right = calloc(psfm_match_set_total(set), sizeof *right), *next = right;
    for (size_t p = 0; p < set->num_pairs; ++p)
        for (size_t k = 0; k < set->pairs[p].num_matches; ++k)
            *next++ = is_right_match(&f->scene, &set->pairs[p], k);
    assert_ok(f->ctx, psfm_tracks_build(f->ctx, set, right, &tracks, NULL));
    triangulate.max_error_px = 100.0;
    assert_ok(f->ctx,
              psfm_triangulate(f->ctx, set, &tracks, &f->poses, &triangulate, &f->structure, NULL));
    psfm_tracks_free(&tracks);
    free(right);
}

static void drop(fixture *f) {
    psfm_structure_free(&f->structure);
    psfm_poses_free(&f->poses);
    psfm_scene_free(&f->scene);
    psfm_context_destroy(&f->ctx);
}

static psfm_tracks find(fixture *f, uint32_t max_images, psfm_track_completion_stats *stats) {
    psfm_tracks tracks;
    assert_ok(f->ctx, psfm_tracks_complete(f->ctx, &f->scene.matches, &f->structure, &f->poses,
                                           max_images, &tracks, stats));
    return tracks;
}

static double mean_length(const psfm_tracks *t) {
    return (double)t->begin[t->num_tracks] / (double)t->num_tracks;
}

static size_t longest(const psfm_tracks *t) {
    size_t most = 0;
    for (size_t k = 0; k < t->num_tracks; ++k)
        most = t->begin[k + 1] - t->begin[k] > most ? t->begin[k + 1] - t->begin[k] : most;
    return most;
}

static size_t num_in_view(const psfm_tracks *t, uint32_t view) {
    size_t num = 0;
    for (size_t e = 0; e < t->begin[t->num_tracks]; ++e)
        num += t->view[e] == view;
    return num;
}

/* Elements whose true point is not that of the one before them in their track. */
static size_t num_breaks(const fixture *f, const psfm_tracks *t) {
    size_t num = 0;
    for (size_t k = 0; k < t->num_tracks; ++k)
        for (size_t e = t->begin[k] + 1; e < t->begin[k + 1]; ++e) {
            const psfm_model_image *images = f->scene.truth.images;
            num += images[t->view[e]].point3D_ids[t->keypoint[e]] !=
                   images[t->view[e - 1]].point3D_ids[t->keypoint[e - 1]];
            assert_true(t->view[e - 1] < t->view[e]);
        }
    return num;
}

static void broken_tracks_are_found_again(void **state) {
    (void)state;
    fixture f;
    psfm_track_completion_stats stats;
    make(0.5, &f);
    psfm_tracks found = find(&f, LONGEST, &stats);
    assert_true(stats.sigma_px > 0.45 && stats.sigma_px < 0.55);
    assert_int_equal(stats.num_views, 0);
    assert_true(mean_length(&found) > 2.0 * mean_length(&f.structure.tracks));
    assert_true(num_breaks(&f, &found) * 500 < found.begin[found.num_tracks]);
    psfm_tracks_free(&found);
    drop(&f);
}

static void tracks_grow_no_longer_than_asked(void **state) {
    (void)state;
    fixture f;
    make(0.5, &f);
    size_t most = longest(&f.structure.tracks) + 2;
    psfm_tracks found = find(&f, LONGEST, NULL);
    assert_true(longest(&found) > most);
    psfm_tracks_free(&found);
    found = find(&f, (uint32_t)most, NULL);
    assert_int_equal(longest(&found), most);
    psfm_tracks_free(&found);
    drop(&f);
}

/* What is seen from a wrong pose is where nothing is, but for chance. */
static void a_wrong_pose_finds_nothing(void **state) {
    (void)state;
    fixture f;
    psfm_track_completion_stats stats;
    double w[3] = {0.02, -0.03, 0.01}, turn[9], R[9];
    make(0.5, &f);
    size_t before = num_in_view(&f.structure.tracks, 7);
    psfm_rotation_exp(w, turn);
    psfm_mat3_mul(turn, f.poses.cam_from_world[7], R);
    memcpy(f.poses.cam_from_world[7], R, sizeof R);
    psfm_tracks found = find(&f, LONGEST, &stats);
    assert_int_equal(stats.num_views, 1);
    assert_int_equal(num_in_view(&found, 7), before);
    assert_true(num_in_view(&found, 8) > num_in_view(&f.structure.tracks, 8));
    psfm_tracks_free(&found);
    drop(&f);
}

/* Keypoints so near to each other that beside the right places as many are found. */
static void what_chance_finds_is_left_alone(void **state) {
    (void)state;
    fixture f;
    psfm_track_completion_stats stats;
    make(4.0, &f);
    psfm_tracks found = find(&f, LONGEST, &stats);
    assert_true(stats.num_by_chance > 0.1 * (double)stats.num_found);
    assert_true(stats.num_views > NUM_VIEWS * 9 / 10);
    assert_true(found.begin[found.num_tracks] <
                f.structure.tracks.begin[f.structure.num_points] * 101 / 100);
    psfm_tracks_free(&found);
    drop(&f);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    fixture f;
    make(0.5, &f);
    psfm_context_set_threads(f.ctx, 1);
    psfm_tracks one = find(&f, LONGEST, NULL);
    psfm_context_set_threads(f.ctx, 3);
    psfm_tracks three = find(&f, LONGEST, NULL);
    size_t num = one.begin[one.num_tracks];
    assert_int_equal(one.num_tracks, three.num_tracks);
    assert_memory_equal(one.begin, three.begin, (one.num_tracks + 1) * sizeof *one.begin);
    assert_memory_equal(one.view, three.view, num * sizeof *one.view);
    assert_memory_equal(one.keypoint, three.keypoint, num * sizeof *one.keypoint);
    psfm_tracks_free(&one);
    psfm_tracks_free(&three);
    drop(&f);
}

/* Poses off by some tenths of a degree, as graphs leave them. Those that the first round leaves are
 * still off by more than the noise over the length of a track: joined by these, tracks have 15.7
 * images. */
static void places_wait_for_the_poses(void **state) {
    (void)state;
    fixture f;
    psfm_two_view *two_views = NULL;
    psfm_pose_graph graph;
    psfm_pose_solution solution;
    psfm_two_view_options verification;
    psfm_refine_options options;
    psfm_refined refined;
    psfm_rng rng = psfm_rng_make(7, PSFM_RNG_TEST, 0, 0);
    make(0.5, &f);
    psfm_options_init(&psfm_two_view_option_table, &verification);
    init_options(&options);
    assert_ok(f.ctx, psfm_two_views_make(f.ctx, &f.scene.matches, &verification, &two_views));
    assert_ok(f.ctx, psfm_pose_graph_build(f.ctx, &f.scene.matches, two_views, true, &graph));
    bool *accepted = malloc(graph.num_edges * sizeof *accepted);
    uint32_t *group = calloc(graph.num_planes, sizeof *group); /* one floor */
    memset(accepted, true, graph.num_edges * sizeof *accepted);
    assert_ok(f.ctx, psfm_pose_solution_init(f.ctx, &graph, &solution));
    for (uint32_t v = 0; v < NUM_VIEWS; ++v) {
        double w[3], turn[9];
        for (int k = 0; k < 3; ++k)
            w[k] = psfm_radians(0.3) * psfm_rng_normal(&rng);
        psfm_rotation_exp(w, turn);
        psfm_mat3_mul(turn, f.poses.cam_from_world[v], solution.poses.cam_from_world[v]);
        memcpy(solution.poses.center[v], f.poses.center[v], sizeof f.poses.center[v]);
    }
    psfm_refine_input input = {&f.scene.matches, two_views, &graph, accepted, group, 1, NULL};
    assert_ok(f.ctx, refine_poses(f.ctx, &input, &options, &solution, &refined));
    assert_true(mean_length(&refined.structure.tracks) > 16.5);
    assert_true(num_breaks(&f, &refined.structure.tracks) < 30);
    psfm_refined_free(&refined);
    psfm_pose_solution_free(&solution);
    psfm_pose_graph_free(&graph);
    psfm_two_views_free(&two_views, f.scene.matches.num_pairs);
    free(accepted);
    free(group);
    drop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_tracks_are_found_again),
        cmocka_unit_test(tracks_grow_no_longer_than_asked),
        cmocka_unit_test(a_wrong_pose_finds_nothing),
        cmocka_unit_test(what_chance_finds_is_left_alone),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(places_wait_for_the_poses),
    };
    return cmocka_run_group_tests_name("refine/track_completion", tests, NULL, NULL);
}
