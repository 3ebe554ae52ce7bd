/* The library without files: the same poses as through its inner parts, and every misuse refused.
 */
#include "planarsfm/solve.h"

#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/matches/canonical_order.h"
#include "synth/scene.h"
#include "test_util.h"

#include "reconstruct_util.h"

static psfm_context *ctx;

static void make_scene(psfm_scene *scene) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 10;
    options.num_points = 250;
    options.off_plane = 0.3;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 4, &options, scene));
}

/* Adds everything, images and pairs from the last to the first, every other pair swapped. */
static void fill(const psfm_match_set *set, psfm_problem *problem) {
    for (size_t c = 0; c < set->num_cameras; ++c)
        assert_ok(ctx, psfm_problem_add_camera(ctx, problem, &set->cameras[c]));
    for (size_t v = set->num_views; v-- > 0;) {
        const psfm_view *view = &set->views[v];
        assert_ok(ctx,
                  psfm_problem_add_image(ctx, problem, view->id, set->cameras[view->camera_idx].id,
                                         view->name, view->num_keypoints, &view->keypoints[0][0]));
    }
    for (size_t p = set->num_pairs; p-- > 0;) {
        const psfm_match_pair *pair = &set->pairs[p];
        uint32_t id1 = set->views[pair->view1].id, id2 = set->views[pair->view2].id;
        uint32_t *swapped = calloc(2 * pair->num_matches, sizeof *swapped);
        for (size_t k = 0; k < pair->num_matches; ++k) {
            swapped[2 * k] = pair->matches[k][1];
            swapped[2 * k + 1] = pair->matches[k][0];
        }
        if (p % 2 == 0)
            assert_ok(ctx,
                      psfm_problem_add_matches(ctx, problem, id2, id1, pair->num_matches, swapped));
        else
            assert_ok(ctx, psfm_problem_add_matches(ctx, problem, id1, id2, pair->num_matches,
                                                    &pair->matches[0][0]));
        free(swapped);
    }
}

/* The graph's edge between two images; whether it leads from the second to the first. */
static uint32_t find_edge(const psfm_pose_graph *graph, const psfm_match_set *set,
                          const psfm_edge_result *e, bool *turned) {
    for (uint32_t k = 0; k < graph->num_edges; ++k) {
        uint32_t id1 = set->views[graph->edges[k].node1].id;
        uint32_t id2 = set->views[graph->edges[k].node2].id;
        *turned = id1 == e->image_id2 && id2 == e->image_id1;
        if (*turned || (id1 == e->image_id1 && id2 == e->image_id2))
            return k;
    }
    fail_msg("no edge between %u and %u", e->image_id1, e->image_id2);
    return 0;
}

/* Edges come in the order of names, here that of ids, and lead from the earlier image to the later
 * one, whatever the order inside. */
static void check_graph(const psfm_result *result, const psfm_sfm *r, const psfm_match_set *set) {
    assert_int_equal(psfm_result_num_edges(result), r->graph.num_edges);
    size_t in_tree = 0, num_turned = 0;
    uint64_t last = 0;
    for (size_t k = 0; k < r->graph.num_edges; ++k) {
        psfm_edge_result e = {.struct_size = sizeof e};
        double q[4], back[4], t[3], R[9];
        bool turned;
        assert_true(psfm_result_edge(result, k, &e));
        assert_true(e.image_id1 < e.image_id2);
        assert_true(((uint64_t)e.image_id1 << 32 | e.image_id2) > last);
        last = (uint64_t)e.image_id1 << 32 | e.image_id2;
        uint32_t edge = find_edge(&r->graph, set, &e, &turned);
        assert_true(e.embedding == r->solution.h[edge]);
        assert_true(e.num_planes > 0 && e.num_inliers > 8);
        psfm_rotation_to_quat(r->solution.edge_pose[edge].R_21, q);
        for (int i = 0; i < 4; ++i)
            back[i] = turned && i > 0 ? -e.cam2_from_cam1_q[i] : e.cam2_from_cam1_q[i];
        assert_close(fabs(q[0] * back[0] + q[1] * back[1] + q[2] * back[2] + q[3] * back[3]), 1.0,
                     1e-12);
        psfm_rotation_from_quat(e.cam2_from_cam1_q, R);
        psfm_mat3_tmul_vec(R, e.cam2_from_cam1_t, t); /* -t_12 if that is what the graph has */
        for (int i = 0; i < 3; ++i)
            assert_close(turned ? -t[i] : e.cam2_from_cam1_t[i],
                         r->solution.edge_pose[edge].t_21[i], 1e-12);
        in_tree += e.is_in_tree;
        num_turned += turned;
    }
    assert_int_equal(in_tree, set->num_views - 1);
    assert_true(num_turned > 0);
}

static void check_points(const psfm_result *result, const psfm_sfm *r, const psfm_match_set *set) {
    psfm_points_result p = {.struct_size = sizeof p};
    const psfm_structure *st = &r->refined.structure;
    assert_true(psfm_result_points(result, &p));
    assert_int_equal(p.num_points, st->num_points);
    assert_true(p.num_points > 100);
    assert_memory_equal(p.xyz, st->points, p.num_points * sizeof *st->points);
    assert_int_equal(p.track_begin[p.num_points], st->tracks.begin[p.num_points]);
    for (size_t k = 0; k < p.track_begin[p.num_points]; ++k)
        assert_int_equal(p.track_image_id[k], set->views[st->tracks.view[k]].id);
    size_t on_plane = 0;
    for (size_t k = 0; k < p.num_points; ++k) {
        assert_int_equal(p.model[k], 0);
        on_plane += p.plane[k] == 0;
    }
    psfm_plane_result plane = {.struct_size = sizeof plane};
    assert_int_equal(psfm_result_num_planes(result), r->refined.planes.num_planes);
    assert_true(psfm_result_plane(result, 0, &plane));
    assert_int_equal(plane.num_points, on_plane);
    assert_close(plane.normal[2], 1.0, 1e-9); /* the frame is upright */
    for (uint32_t k = 0; k < plane.num_corners; ++k)
        assert_close(plane.corners[3 * k + 2], 0.0, 1e-9);
}

/* The block has the standard deviations, is symmetric and of no negative variance. */
static void check_covariance(const psfm_image_result *image) {
    const double *C = image->pose_covariance;
    assert_close(sqrt(C[0] + C[7] + C[14]) * 57.29577951308232, image->rotation_sigma_deg, 1e-9);
    assert_close(sqrt(C[21] + C[28] + C[35]), image->center_sigma, 1e-9);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
            assert_close(C[6 * i + j], C[6 * j + i], 1e-9 * (1.0 + fabs(C[6 * i + j])));
            assert_true(C[6 * i + j] * C[6 * i + j] <= 1.0001 * C[7 * i] * C[7 * j] + 1e-30);
        }
}

/* However things were added, the result is that of the inner function, to the bit. */
static void test_same_as_inside(void **state) {
    (void)state;
    size_t without_ray;
    psfm_scene scene;
    psfm_reconstruct_options options;
    psfm_sfm r;
    psfm_problem *problem = psfm_problem_create();
    psfm_result *result = NULL;
    make_scene(&scene);
    fill(&scene.matches, problem);
    psfm_reconstruct_options_init(PSFM_MODE_ROBUST, &options);
    assert_ok(ctx, psfm_match_set_sort_matched(ctx, &scene.matches));
    assert_ok(ctx, psfm_match_set_compute_rays(ctx, &scene.matches, &without_ray));
    assert_ok(ctx, psfm_match_set_canonical(ctx, &scene.matches));
    assert_ok(ctx, reconstruct_set(ctx, &scene.matches, &options, &r));
    assert_ok(ctx, psfm_solve(ctx, problem, NULL, &result));
    assert_int_equal(psfm_result_num_images(result), 10);
    assert_int_equal(psfm_result_num_models(result), 1);
    uint32_t *by_name = NULL;
    assert_ok(ctx, psfm_match_set_by_name(ctx, &scene.matches, &by_name));
    for (size_t k = 0; k < 10; ++k) {
        psfm_image_result image = {.struct_size = sizeof image};
        uint32_t v = by_name[k];
        assert_true(psfm_result_image(result, k, &image));
        assert_int_equal(image.image_id, scene.matches.views[v].id);
        assert_string_equal(image.state, "posed");
        assert_string_equal(image.name, scene.matches.views[v].name);
        assert_int_equal(image.model, 0);
        assert_memory_equal(image.center, r.solution.poses.center[v], sizeof image.center);
        const psfm_model_image *in_model = &r.models[0].images[k];
        assert_memory_equal(image.cam_from_world_q, in_model->cam_from_world_q, 4 * sizeof(double));
        assert_memory_equal(image.cam_from_world_t, in_model->cam_from_world_t, 3 * sizeof(double));
        assert_true(image.num_points > 50 && image.mean_error_px > 0.0);
        assert_true(image.rotation_sigma_deg >= 0.0 && image.rotation_sigma_deg < 1.0);
        check_covariance(&image);
    }
    free(by_name);
    check_graph(result, &r, &scene.matches);
    check_points(result, &r, &scene.matches);
    assert_int_equal(psfm_result_model(result, 0)->num_points, r.models[0].num_points);
    assert_null(psfm_result_model(result, 1));
    assert_non_null(strstr(psfm_result_summary(result), "\"images_posed\":\t10"));
    psfm_result_destroy(&result);
    assert_null(result);
    reconstruct_close(&r);
    psfm_problem_destroy(&problem);
    psfm_scene_free(&scene);
}

static void test_paper_mode_and_sizes(void **state) {
    (void)state;
    psfm_scene scene;
    psfm_problem *problem = psfm_problem_create();
    psfm_settings *settings = psfm_settings_create();
    psfm_result *result = NULL;
    make_scene(&scene);
    fill(&scene.matches, problem);
    assert_ok(ctx, psfm_settings_set(ctx, settings, "mode", "paper"));
    assert_ok(ctx, psfm_solve(ctx, problem, settings, &result));
    psfm_points_result points = {.struct_size = sizeof points};
    psfm_image_result image = {.struct_size = sizeof image};
    psfm_edge_result edge = {.struct_size = sizeof edge};
    psfm_plane_result plane = {.struct_size = sizeof plane};
    assert_true(psfm_result_points(result, &points));
    assert_int_equal(points.num_points, 0);
    assert_int_equal(psfm_result_num_planes(result), 0);
    assert_false(psfm_result_plane(result, 0, &plane));
    assert_true(psfm_result_image(result, 3, &image));
    assert_true(isnan(image.rotation_sigma_deg) && image.model == 0);
    assert_true(isnan(image.pose_covariance[35]));
    assert_true(psfm_result_edge(result, 0, &edge));
    assert_true(isnan(edge.residual_deg));
    assert_false(psfm_result_image(result, 10, &image));
    assert_false(psfm_result_edge(result, 1000, &edge));
    /* a caller who forgot the size, and one from a later version whose struct is longer */
    image.struct_size = 0;
    assert_false(psfm_result_image(result, 0, &image));
    struct {
        psfm_image_result image;
        double later;
    } longer = {.image = {.struct_size = sizeof longer}, .later = 7.0};
    assert_true(psfm_result_image(result, 0, &longer.image));
    assert_true(longer.later == 7.0 && longer.image.struct_size == sizeof longer);
    psfm_result_destroy(&result);
    psfm_settings_destroy(&settings);
    psfm_problem_destroy(&problem);
    psfm_scene_free(&scene);
}

static int cancel(const char *stage, size_t done, size_t total, void *user) {
    (void)stage;
    (void)done;
    (void)total;
    return ++*(int *)user >= 3;
}

static void test_cancel(void **state) {
    (void)state;
    psfm_scene scene;
    psfm_problem *problem = psfm_problem_create();
    psfm_result *result = NULL;
    int calls = 0;
    make_scene(&scene);
    fill(&scene.matches, problem);
    psfm_context_set_progress(ctx, cancel, &calls);
    assert_int_equal(psfm_solve(ctx, problem, NULL, &result), PSFM_ERR_CANCELLED);
    assert_null(result);
    assert_true(calls >= 3);
    psfm_context_set_progress(ctx, NULL, NULL);
    assert_ok(ctx, psfm_solve(ctx, problem, NULL, &result)); /* it can be solved afterwards */
    psfm_result_destroy(&result);
    psfm_problem_destroy(&problem);
    psfm_scene_free(&scene);
}

enum { MAX_NAMES = 16 };

/* The stages that were told of, with the first number of each. */
typedef struct {
    const char *name[MAX_NAMES];
    size_t first[MAX_NAMES];
    int num;
} stage_list;

static int note_stage(const char *stage, size_t done, size_t total, void *user) {
    stage_list *list = user;
    assert_true(done <= total && total > 0);
    for (int k = 0; k < list->num; ++k)
        if (strcmp(list->name[k], stage) == 0)
            return 0;
    assert_true(list->num < MAX_NAMES);
    list->name[list->num] = stage; /* a string literal */
    list->first[list->num++] = done;
    return 0;
}

/* Whoever measures the time of a stage is called when it begins. */
static void test_stages_begin_with_nothing_done(void **state) {
    (void)state;
    psfm_scene scene;
    psfm_problem *problem = psfm_problem_create();
    psfm_result *result = NULL;
    stage_list list = {.num = 0};
    bool refined = false;
    make_scene(&scene);
    fill(&scene.matches, problem);
    psfm_context_set_progress(ctx, note_stage, &list);
    assert_ok(ctx, psfm_solve(ctx, problem, NULL, &result));
    psfm_context_set_progress(ctx, NULL, NULL);
    assert_true(list.num >= 4);
    for (int k = 0; k < list.num; ++k) {
        if (list.first[k] != 0)
            fail_msg("%s begins with %zu", list.name[k], list.first[k]);
        refined = refined || strcmp(list.name[k], "refinement") == 0;
    }
    assert_true(refined);
    psfm_result_destroy(&result);
    psfm_problem_destroy(&problem);
    psfm_scene_free(&scene);
}

static const psfm_camera camera = {.id = 7,
                                   .model = PSFM_CAMERA_PINHOLE,
                                   .width = 640,
                                   .height = 480,
                                   .params = {500, 500, 320, 240}};

static void refuses(psfm_status status, const char *word) {
    assert_int_equal(status, PSFM_ERR_ARGUMENT);
    if (strstr(psfm_context_message(ctx), word) == NULL)
        fail_msg("no '%s' in: %s", word, psfm_context_message(ctx));
}

static void test_misuse(void **state) {
    (void)state;
    psfm_problem *p = psfm_problem_create();
    psfm_result *result = NULL;
    const double xy[3][2] = {{1, 2}, {3, 4}, {NAN, 5}};
    const uint32_t good[2][2] = {{0, 1}, {0, 2}}, bad[1][2] = {{0, 3}};
    psfm_camera broken = camera;
    broken.params[0] = -1;
    assert_int_not_equal(psfm_problem_add_camera(ctx, p, &broken), PSFM_OK);
    assert_ok(ctx, psfm_problem_add_camera(ctx, p, &camera));
    refuses(psfm_problem_add_camera(ctx, p, &camera), "given twice");
    refuses(psfm_problem_add_image(ctx, p, 1, 8, NULL, 3, &xy[0][0]), "no camera 8");
    refuses(psfm_problem_add_image(ctx, p, 1, 7, "", 3, &xy[0][0]), "name is empty");
    refuses(psfm_problem_add_image(ctx, p, 1, 7, NULL, 3, NULL), "no keypoints");
    assert_ok(ctx, psfm_problem_add_image(ctx, p, 5, 7, NULL, 3, &xy[0][0]));
    assert_ok(ctx, psfm_problem_add_image(ctx, p, 2, 7, NULL, 3, &xy[0][0]));
    assert_ok(ctx, psfm_problem_add_image(ctx, p, 9, 7, NULL, 0, NULL));
    refuses(psfm_problem_add_image(ctx, p, 5, 7, NULL, 3, &xy[0][0]), "given twice");
    refuses(psfm_problem_add_matches(ctx, p, 2, 3, 1, &good[0][0]), "image 3");
    refuses(psfm_problem_add_matches(ctx, p, 2, 2, 1, &good[0][0]), "with itself");
    refuses(psfm_problem_add_matches(ctx, p, 2, 5, 1, &bad[0][0]), "match 0");
    assert_ok(ctx, psfm_problem_add_matches(ctx, p, 5, 2, 2, &good[0][0]));
    assert_ok(ctx, psfm_solve(ctx, p, NULL, &result)); /* nothing to see, but a reason for all */
    assert_int_equal(psfm_result_num_models(result), 0);
    psfm_image_result image = {.struct_size = sizeof image};
    assert_true(psfm_result_image(result, 0, &image));
    assert_int_equal(image.image_id, 2);
    assert_int_equal(image.model, -1);
    assert_string_equal(image.name, "image_2");
    assert_string_equal(image.state, "few_matches");
    assert_true(psfm_result_image(result, 2, &image));
    assert_string_equal(image.state, "no_keypoints");
    assert_true(strlen(image.advice) > 0);
    psfm_result_destroy(&result);
    assert_ok(ctx, psfm_problem_add_matches(ctx, p, 2, 5, 1, &good[0][0]));
    refuses(psfm_solve(ctx, p, NULL, &result), "added twice");
    assert_null(result);
    psfm_problem_destroy(&p);
    psfm_problem_destroy(&p);
    psfm_result_destroy(&result);
}

static void test_same_names_and_empty(void **state) {
    (void)state;
    psfm_problem *p = psfm_problem_create();
    psfm_result *result = NULL;
    assert_ok(ctx, psfm_solve(ctx, p, NULL, &result));
    assert_int_equal(psfm_result_num_images(result), 0);
    psfm_result_destroy(&result);
    assert_ok(ctx, psfm_problem_add_camera(ctx, p, &camera));
    assert_ok(ctx, psfm_problem_add_image(ctx, p, 1, 7, "a", 0, NULL));
    assert_ok(ctx, psfm_problem_add_image(ctx, p, 2, 7, "a", 0, NULL));
    refuses(psfm_solve(ctx, p, NULL, &result), "same name");
    psfm_problem_destroy(&p);
}

/* Every allocation fails in turn while a problem is filled; nothing leaks, nothing is half-added.
 */
static void test_no_memory(void **state) {
    (void)state;
    const double xy[2][2] = {{1, 2}, {3, 4}};
    const uint32_t matches[2][2] = {{0, 1}, {1, 0}};
    for (size_t n = 1; n < 40; ++n) {
        psfm_problem *p = psfm_problem_create();
        psfm_alloc_fail_after(n);
        psfm_status status = psfm_problem_add_camera(ctx, p, &camera);
        for (uint32_t id = 1; status == PSFM_OK && id <= 3; ++id)
            status = psfm_problem_add_image(ctx, p, id, 7, NULL, 2, &xy[0][0]);
        if (status == PSFM_OK)
            status = psfm_problem_add_matches(ctx, p, 1, 2, 2, &matches[0][0]);
        psfm_alloc_fail_after(0);
        assert_true(status == PSFM_OK || status == PSFM_ERR_MEMORY);
        psfm_problem_destroy(&p);
    }
}

/* Nothing is measured where nothing is averaged. */
static void test_residuals_need_averaging(void **state) {
    (void)state;
    psfm_scene scene;
    psfm_problem *problem = psfm_problem_create();
    psfm_settings *settings = psfm_settings_create();
    psfm_result *result = NULL;
    make_scene(&scene);
    fill(&scene.matches, problem);
    assert_ok(ctx, psfm_settings_set(ctx, settings, "robust.averaging", "off"));
    assert_ok(ctx, psfm_solve(ctx, problem, settings, &result));
    assert_true(psfm_result_num_edges(result) > 0);
    psfm_edge_result edge = {.struct_size = sizeof edge};
    for (size_t k = 0; k < psfm_result_num_edges(result); ++k) {
        assert_true(psfm_result_edge(result, k, &edge));
        assert_true(isnan(edge.residual_deg));
    }
    psfm_result_destroy(&result);
    psfm_settings_destroy(&settings);
    psfm_problem_destroy(&problem);
    psfm_scene_free(&scene);
}

/* Nothing is left behind, also by a run that fails. */
static void test_photographs(void **state) {
    (void)state;
    char scratch[] = "/tmp/psfm_test_XXXXXX";
    psfm_result *result = NULL;
    assert_non_null(mkdtemp(scratch));
    assert_int_equal(setenv("TMPDIR", scratch, 1), 0);
    assert_int_not_equal(psfm_solve_photographs(ctx, "/no/such/folder", NULL, &result), PSFM_OK);
    assert_non_null(strstr(psfm_context_message(ctx), "/no/such/folder"));
    assert_null(result);
    assert_int_equal(rmdir(scratch), 0); /* it is empty */
    assert_int_equal(psfm_solve_photographs(ctx, "/no/such/folder", NULL, &result), PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), scratch));
    unsetenv("TMPDIR");
    assert_int_equal(psfm_solve_photographs(NULL, "photos", NULL, &result), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_solve_photographs(ctx, NULL, NULL, &result), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_solve_photographs(ctx, "photos", NULL, NULL), PSFM_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_inside),
        cmocka_unit_test(test_paper_mode_and_sizes),
        cmocka_unit_test(test_residuals_need_averaging),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_stages_begin_with_nothing_done),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_same_names_and_empty),
        cmocka_unit_test(test_photographs),
        cmocka_unit_test(test_no_memory),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
