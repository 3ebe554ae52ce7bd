/* Whole reconstructions of synthetic scenes, in memory. */
#include "test_util.h"

#include "reconstruct_util.h"

#include "core/base/rng.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"
#include "eval/evaluate.h"
#include "synth/scene.h"
#include "world/build_model.h"

static psfm_scene make_scene(psfm_context *ctx, psfm_scene_kind kind, double noise_px,
                             double outliers, double off_plane) {
    psfm_scene_options options;
    psfm_scene scene = {0};
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 16;
    options.noise_px = noise_px;
    options.outliers = outliers;
    options.off_plane = off_plane;
    assert_ok(ctx, psfm_scene_make(ctx, kind, 1, &options, &scene));
    return scene;
}

static psfm_evaluation evaluate(psfm_context *ctx, const psfm_scene *scene, const psfm_sfm *r) {
    psfm_evaluation e;
    assert_ok(ctx, psfm_evaluate(ctx, &scene->truth, r->models, r->num_models, &e));
    return e;
}

static psfm_evaluation reconstruct(psfm_context *ctx, psfm_scene *scene, psfm_mode mode) {
    psfm_reconstruct_options options;
    psfm_sfm r;
    psfm_reconstruct_options_init(mode, &options);
    assert_ok(ctx, reconstruct_set(ctx, &scene->matches, &options, &r));
    psfm_evaluation e = evaluate(ctx, scene, &r);
    reconstruct_close(&r);
    return e;
}

/* Rotation errors (largest over all pairs, degrees) of the published method on exact matches, once
 * with the right decompositions forced. */
static double forced_error(psfm_context *ctx, const psfm_scene *scene) {
    psfm_reconstruct_options options;
    psfm_reconstruct_options_init(PSFM_MODE_PAPER, &options);
    /* Exact matches want a small threshold: within 4 px of the line where two walls meet, points of
     * one wall are inliers of the other and move its homography by some 1e-6 degrees. */
    options.two_view.max_error_px = 1.0;
    const psfm_match_set *set = &scene->matches;
    psfm_two_view *views = calloc(set->num_pairs, sizeof *views);
    psfm_pose_graph graph;
    psfm_pose_solution s = {0};
    assert_ok(ctx, psfm_two_view_estimate_all(ctx, set, &options.two_view, views));
    assert_ok(ctx, psfm_pose_graph_build(ctx, set, views, false, &graph));
    double(*truth)[9] = calloc(graph.num_edges, sizeof *truth), (*R)[9] = NULL, worst = 0;
    R = calloc(set->num_views, sizeof *R);
    for (size_t v = 0; v < set->num_views; ++v)
        psfm_rotation_from_quat(scene->truth.images[v].cam_from_world_q, R[v]);
    for (uint32_t e = 0; e < graph.num_edges; ++e)
        psfm_mat3_mul_t(R[graph.edges[e].node2], R[graph.edges[e].node1], truth[e]);
    /* the nearest decompositions, by their inliers alone */
    const psfm_essential_weight_options nearest = {1000.0, 0.0, 1.0};
    assert_ok(ctx, psfm_weigh_by_rotation(ctx, &nearest, (const double(*)[9])truth, NULL, &graph));
    psfm_skeleton_variant variant = {.given_weights = true};
    assert_ok(ctx, psfm_skeleton_rotations(ctx, &options.skeleton, &variant, &graph, NULL, &s));
    assert_int_equal(s.num_components, 1);
    for (size_t i = 0; i < set->num_views; ++i) {
        for (size_t j = 0; j < i; ++j) {
            double estimated[9], exact[9];
            psfm_mat3_mul_t(s.poses.cam_from_world[i], s.poses.cam_from_world[j], estimated);
            psfm_mat3_mul_t(R[i], R[j], exact);
            worst = fmax(worst, psfm_degrees(psfm_rotation_angle(estimated, exact)));
        }
    }
    for (size_t p = 0; p < set->num_pairs; ++p)
        psfm_two_view_free(&views[p]);
    free(views);
    free(truth);
    free(R);
    psfm_pose_solution_free(&s);
    psfm_pose_graph_free(&graph);
    return worst;
}

static const psfm_scene_kind flat_scenes[] = {PSFM_SCENE_ARENA, PSFM_SCENE_ROOM, PSFM_SCENE_FACADE,
                                              PSFM_SCENE_FIELD};

static void published_method_is_exact_when_forced(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int k = 0; k < 4; ++k) {
        psfm_scene scene = make_scene(ctx, flat_scenes[k], 0, 0, 0);
        double error = forced_error(ctx, &scene);
        print_message("forced, noise-free %s: %.2g deg\n", psfm_scene_kind_name(flat_scenes[k]),
                      error);
        assert_below(error, 1e-6);
        psfm_scene_free(&scene);
    }
    psfm_context_destroy(&ctx);
}

/* Only the room is sure: its several planes per pair leave the essential matrix no choice. On a
 * single plane two motions explain all matches even without noise, and where the essential matrices
 * of an image at the end of a row all name the wrong one, no neighbour contradicts. */
static void published_method_by_itself(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int k = 0; k < 4; ++k) {
        psfm_scene exact = make_scene(ctx, flat_scenes[k], 0, 0, 0);
        psfm_scene noisy = make_scene(ctx, flat_scenes[k], 0.7, 0.2, 0);
        psfm_evaluation e = reconstruct(ctx, &exact, PSFM_MODE_PAPER);
        psfm_evaluation n = reconstruct(ctx, &noisy, PSFM_MODE_PAPER);
        print_message("paper mode, %s: rotation AUC@5 %.1f noise-free, %.1f with noise\n",
                      psfm_scene_kind_name(flat_scenes[k]), e.auc_rotation[3], n.auc_rotation[3]);
        assert_int_equal(e.num_registered, 16);
        bool is_room = flat_scenes[k] == PSFM_SCENE_ROOM;
        if (is_room || flat_scenes[k] == PSFM_SCENE_ARENA)
            assert_true(e.auc_rotation[3] > (is_room ? 99.9 : 80.0));
        if (is_room)
            assert_true(n.auc_rotation[3] > 90.0);
        psfm_scene_free(&exact);
        psfm_scene_free(&noisy);
    }
    psfm_context_destroy(&ctx);
}

static void robust_mode_is_exact(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int k = 0; k < 4; ++k) {
        psfm_scene scene = make_scene(ctx, flat_scenes[k], 0, 0, 0);
        psfm_evaluation e = reconstruct(ctx, &scene, PSFM_MODE_ROBUST);
        assert_int_equal(e.num_registered, 16);
        assert_int_equal(e.num_components, 1);
        assert_below(e.median_rotation_deg, 1e-5);
        assert_below(e.position_max, 1e-5 * e.scene_extent);
        psfm_scene_free(&scene);
    }
    psfm_context_destroy(&ctx);
}

static void robust_mode_stands_noise(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (int k = 0; k < 4; ++k) {
        psfm_scene scene = make_scene(ctx, flat_scenes[k], 0.7, 0.3, 0.1);
        psfm_evaluation e = reconstruct(ctx, &scene, PSFM_MODE_ROBUST);
        assert_int_equal(e.num_registered, 16);
        assert_below(e.median_rotation_deg, 0.2);
        assert_below(e.position_max, 0.02 * e.scene_extent);
        psfm_scene_free(&scene);
    }
    psfm_context_destroy(&ctx);
}

/* Streets that close loops, fronts seen at grazing angles, pairs across corners. */
static void a_city_is_right(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options options;
    psfm_scene scene;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 46;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_CITY, 0, &options, &scene));
    psfm_evaluation e = reconstruct(ctx, &scene, PSFM_MODE_ROBUST);
    assert_int_equal(e.num_registered, 46);
    assert_int_equal(e.num_components, 1);
    assert_below(e.median_rotation_deg, 0.1);
    assert_below(e.position_max, 0.01 * e.scene_extent);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

static void same_bytes_for_any_threads(void **state) {
    (void)state;
    psfm_pose_solution first = {0};
    for (int threads = 1; threads <= 3; ++threads) {
        psfm_context *ctx = psfm_context_create();
        psfm_context_set_threads(ctx, threads);
        psfm_scene scene = make_scene(ctx, PSFM_SCENE_ARENA, 0.7, 0.3, 0.1);
        psfm_reconstruct_options options;
        psfm_sfm r;
        psfm_reconstruct_options_init(PSFM_MODE_ROBUST, &options);
        assert_ok(ctx, reconstruct_set(ctx, &scene.matches, &options, &r));
        if (threads == 1) {
            first = r.solution;
            r.solution = (psfm_pose_solution){0};
        } else {
            size_t n = first.num_nodes;
            assert_memory_equal(first.poses.center, r.solution.poses.center,
                                n * sizeof *first.poses.center);
            assert_memory_equal(first.poses.cam_from_world, r.solution.poses.cam_from_world,
                                n * sizeof *first.poses.cam_from_world);
        }
        reconstruct_close(&r);
        psfm_scene_free(&scene);
        psfm_context_destroy(&ctx);
    }
    psfm_pose_solution_free(&first);
}

/* The dominant plane is z = 0, the cameras are above it, and a known distance sets the scale. */
static void frame_is_upright_and_metric(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene scene = make_scene(ctx, PSFM_SCENE_ARENA, 0, 0, 0);
    psfm_reconstruct_options options;
    psfm_sfm r;
    psfm_reconstruct_options_init(PSFM_MODE_ROBUST, &options);
    const psfm_model_image *image = &scene.truth.images[0];
    size_t a = 0, b = 0;
    while (image->point3D_ids[a] == PSFM_NO_POINT)
        ++a;
    b = a + 1;
    while (image->point3D_ids[b] == PSFM_NO_POINT)
        ++b;
    double d[3];
    const double *A = scene.truth.points[image->point3D_ids[a] - 1].xyz;
    const double *B = scene.truth.points[image->point3D_ids[b] - 1].xyz;
    assert_int_equal(scene.truth.points[image->point3D_ids[a] - 1].id, image->point3D_ids[a]);
    psfm_sub3(A, B, d);
    psfm_known_distance *known = &options.frame.distance;
    known->image1 = known->image2 = image->name;
    memcpy(known->xy1, image->keypoints[a], sizeof known->xy1);
    memcpy(known->xy2, image->keypoints[b], sizeof known->xy2);
    known->metres = psfm_norm3(d);
    assert_ok(ctx, reconstruct_set(ctx, &scene.matches, &options, &r));
    assert_int_equal(r.refined.planes.num_planes, 1);
    assert_close(r.refined.planes.planes[0].normal[2], 1, 1e-9);
    assert_close(r.refined.planes.planes[0].distance, 0, 1e-6);
    for (uint32_t v = 0; v < r.solution.num_nodes; ++v) {
        double true_center[3];
        psfm_model_image_center(&scene.truth.images[v], true_center);
        assert_close(r.solution.poses.center[v][2], true_center[2], 1e-4); /* heights in metres */
    }
    reconstruct_close(&r);
    known->image1 = "no such image";
    assert_int_equal(reconstruct_set(ctx, &scene.matches, &options, &r), PSFM_ERR_DATA);
    reconstruct_close(&r);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

static void every_image_has_an_outcome(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene scene = make_scene(ctx, PSFM_SCENE_ARENA, 0.5, 0.1, 0);
    for (size_t p = 0; p < scene.matches.num_pairs; ++p) { /* view 3 is matched with nobody */
        psfm_match_pair *pair = &scene.matches.pairs[p];
        if (pair->view1 == 3 || pair->view2 == 3)
            pair->num_matches = 0;
    }
    scene.matches.views[3].num_keypoints = 0;
    for (int mode = PSFM_MODE_ROBUST; mode <= PSFM_MODE_PAPER; ++mode) {
        psfm_reconstruct_options options;
        psfm_sfm r;
        psfm_reconstruct_options_init((psfm_mode)mode, &options);
        assert_ok(ctx, reconstruct_set(ctx, &scene.matches, &options, &r));
        for (uint32_t v = 0; v < 16; ++v)
            assert_int_equal(r.outcome[v], v == 3 ? PSFM_OUTCOME_NO_KEYPOINTS : PSFM_OUTCOME_POSED);
        assert_int_equal(r.num_models, 1);
        assert_int_equal(r.models[0].num_images, 15);
        reconstruct_close(&r);
    }
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

/* Joins the matches of one view with any of its keypoints, as if it were of another place. */
static void make_unrelated(psfm_match_set *set, uint32_t view, uint64_t seed) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 0, 0);
    for (size_t p = 0; p < set->num_pairs; ++p) {
        const psfm_match_pair *pair = &set->pairs[p];
        int side = pair->view1 == view ? 0 : pair->view2 == view ? 1 : -1;
        for (size_t k = 0; side >= 0 && k < pair->num_matches; ++k)
            pair->matches[k][side] = (uint32_t)psfm_rng_below(&rng, set->views[view].num_keypoints);
    }
}

/* Chance gives such an image an essential matrix or a resection now and then; when few points agree
 * with that, the reason is still that none of its pairs shows a plane. */
static void an_unrelated_image_shows_no_plane(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    for (uint64_t seed = 0; seed < 8; ++seed) {
        psfm_scene scene = make_scene(ctx, PSFM_SCENE_ARENA, 0.5, 0.1, 0.3);
        psfm_reconstruct_options options;
        psfm_sfm r;
        make_unrelated(&scene.matches, 5, seed);
        psfm_reconstruct_options_init(PSFM_MODE_ROBUST, &options);
        options.refine.control.min_image_points = 12; /* six of 1500 agree by chance */
        assert_ok(ctx, reconstruct_set(ctx, &scene.matches, &options, &r));
        for (uint32_t v = 0; v < 16; ++v)
            assert_int_equal(r.outcome[v],
                             v == 5 ? PSFM_OUTCOME_NO_HOMOGRAPHY : PSFM_OUTCOME_POSED);
        reconstruct_close(&r);
        psfm_scene_free(&scene);
    }
    psfm_context_destroy(&ctx);
}

/* A chain whose images are matched with the next one only: each pair and each inner image alone
 * holds it together, in either mode. */
static void a_chain_knows_what_it_hangs_on(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene_options scene_options;
    psfm_scene scene;
    psfm_options_init(&psfm_scene_option_table, &scene_options);
    scene_options.num_cameras = 8;
    scene_options.neighbours = 1;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_FACADE, 1, &scene_options, &scene));
    for (int mode = PSFM_MODE_ROBUST; mode <= PSFM_MODE_PAPER; ++mode) {
        psfm_reconstruct_options options;
        psfm_sfm r;
        psfm_reconstruct_options_init((psfm_mode)mode, &options);
        assert_ok(ctx, reconstruct_set(ctx, &scene.matches, &options, &r));
        assert_int_equal(r.solution.num_components, 1);
        const psfm_component_facts *facts = r.solution.components;
        assert_int_equal(facts->num_images, 8);
        assert_int_equal(facts->num_edges, 7);
        assert_int_equal(facts->num_bridges, 7);
        assert_int_equal(facts->num_cut_nodes, 6);
        assert_int_equal(facts->num_similarity_components, 1);
        assert_true(facts->tree_high > facts->tree_low);
        assert_true(facts->graph_high == facts->tree_high && facts->graph_low == facts->tree_low);
        reconstruct_close(&r);
    }
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

/* Mean distance of a point's keypoints from where the model's poses project it. */
static double reprojection_error(const psfm_model *model, const psfm_model_point *point) {
    double sum = 0.0;
    for (size_t k = 0; k < point->track_length; ++k) {
        const psfm_model_image *image = psfm_model_image_by_id(model, point->track[k].image_id);
        const double *seen = image->keypoints[point->track[k].keypoint_idx];
        double R[9], ray[3], xy[2];
        psfm_rotation_from_quat(image->cam_from_world_q, R);
        psfm_mat3_mul_vec(R, point->xyz, ray);
        psfm_axpy3(ray, 1.0, image->cam_from_world_t, ray);
        assert_true(psfm_camera_project(psfm_model_camera(model, image->camera_id), ray, xy));
        sum += hypot(xy[0] - seen[0], xy[1] - seen[1]);
    }
    return sum / (double)point->track_length;
}

static void points_say_their_own_errors(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_scene scene = make_scene(ctx, PSFM_SCENE_ARENA, 0.7, 0.2, 0.3);
    psfm_reconstruct_options options;
    psfm_sfm r;
    psfm_reconstruct_options_init(PSFM_MODE_ROBUST, &options);
    assert_ok(ctx, reconstruct_set(ctx, &scene.matches, &options, &r));
    assert_int_equal(r.num_models, 1);
    for (size_t p = 0; p < r.models[0].num_points; ++p) {
        const psfm_model_point *point = &r.models[0].points[p];
        assert_below(fabs(point->error - reprojection_error(&r.models[0], point)), 1e-6);
    }
    reconstruct_close(&r);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_method_is_exact_when_forced),
        cmocka_unit_test(published_method_by_itself),
        cmocka_unit_test(robust_mode_is_exact),
        cmocka_unit_test(robust_mode_stands_noise),
        cmocka_unit_test(a_city_is_right),
        cmocka_unit_test(same_bytes_for_any_threads),
        cmocka_unit_test(frame_is_upright_and_metric),
        cmocka_unit_test(every_image_has_an_outcome),
        cmocka_unit_test(an_unrelated_image_shows_no_plane),
        cmocka_unit_test(a_chain_knows_what_it_hangs_on),
        cmocka_unit_test(points_say_their_own_errors),
    };
    return cmocka_run_group_tests_name("sfm/reconstruct", tests, NULL, NULL);
}
