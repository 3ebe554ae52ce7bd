/* Public functions take NULL for every pointer: they fail with a sentence, or give nothing. Those
 * on plain arrays have tests of their own beside them (test_public_*.c). */
#include "planarsfm/planarsfm.h"
#include "test_util.h"

static psfm_context *ctx;

static void fails(psfm_status status) {
    assert_int_equal(status, PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "NULL"));
}

static void contexts(void **state) {
    (void)state;
    psfm_context *none = NULL;
    psfm_context_destroy(NULL);
    psfm_context_destroy(&none);
    assert_string_equal(psfm_context_message(NULL), "");
    psfm_context_set_log(NULL, NULL, NULL);
    psfm_context_set_progress(NULL, NULL, NULL);
    psfm_context_set_threads(NULL, 2);
    psfm_context_set_seed(NULL, 3);
    assert_true(psfm_context_threads(NULL) > 0);
    assert_int_equal(psfm_context_seed(NULL), 0);
    assert_non_null(psfm_status_name((psfm_status)99));
    assert_non_null(psfm_version());
}

static void cameras(void **state) {
    (void)state;
    const psfm_camera camera = {1, PSFM_CAMERA_PINHOLE, 100, 80, {90, 90, 50, 40}, true};
    const double ray[3] = {0, 0, 1}, at[2] = {50, 40};
    double xy[2], out[3], derivative[6], K[9];
    psfm_camera_model model;
    fails(psfm_camera_check(ctx, NULL));
    assert_ok(NULL, psfm_camera_check(NULL, &camera));
    assert_false(psfm_camera_model_from_name(NULL, &model));
    assert_false(psfm_camera_model_from_name("PINHOLE", NULL));
    assert_null(psfm_camera_model_name((psfm_camera_model)-1));
    assert_int_equal(psfm_camera_num_params((psfm_camera_model)77), 0);
    assert_false(psfm_camera_project(NULL, ray, xy));
    assert_false(psfm_camera_project(&camera, NULL, xy));
    assert_false(psfm_camera_project(&camera, ray, NULL));
    assert_false(psfm_camera_project_jacobian(NULL, ray, xy, derivative));
    assert_false(psfm_camera_project_jacobian(&camera, NULL, xy, derivative));
    assert_false(psfm_camera_project_jacobian(&camera, ray, NULL, derivative));
    assert_false(psfm_camera_project_jacobian(&camera, ray, xy, NULL));
    assert_false(psfm_camera_unproject(NULL, at, out));
    assert_false(psfm_camera_unproject(&camera, NULL, out));
    assert_false(psfm_camera_unproject(&camera, at, NULL));
    psfm_camera_project_points(NULL, 1, ray, xy);
    assert_true(isnan(xy[0]));
    psfm_camera_project_points(&camera, 2, NULL, xy);
    psfm_camera_project_points(&camera, 2, ray, NULL);
    psfm_camera_unproject_points(NULL, 1, at, out);
    assert_true(isnan(out[0]));
    psfm_camera_unproject_points(&camera, 2, NULL, out);
    psfm_camera_unproject_points(&camera, 2, at, NULL);
    assert_false(psfm_camera_matrix(NULL, K));
    assert_false(psfm_camera_matrix(&camera, NULL));
}

static void similarities(void **state) {
    (void)state;
    const double points[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    psfm_sim3 found;
    fails(psfm_sim3_fit_robust(ctx, 3, NULL, points, &found));
    fails(psfm_sim3_fit_robust(ctx, 3, points, NULL, &found));
    fails(psfm_sim3_fit_robust(ctx, 3, points, points, NULL));
}

static void models(void **state) {
    (void)state;
    psfm_model model = {0};
    const psfm_model_image image = {.cam_from_world_q = {1}};
    double center[3];
    fails(psfm_model_read(ctx, NULL, &model));
    fails(psfm_model_read(ctx, "/nowhere", NULL));
    fails(psfm_model_write(ctx, NULL, PSFM_MODEL_TEXT, "/tmp/none"));
    fails(psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, NULL));
    psfm_model_free(NULL);
    assert_null(psfm_model_camera(NULL, 1));
    assert_null(psfm_model_image_by_id(NULL, 1));
    psfm_model_image_center(NULL, center);
    psfm_model_image_center(&image, NULL);
}

static void problems(void **state) {
    (void)state;
    const psfm_camera camera = {1, PSFM_CAMERA_PINHOLE, 100, 80, {90, 90, 50, 40}, true};
    const double xy[2] = {1, 2};
    const uint32_t match[2] = {0, 0};
    psfm_problem *problem = psfm_problem_create(), *none = NULL;
    psfm_result *result = NULL;
    psfm_problem_destroy(NULL);
    psfm_problem_destroy(&none);
    fails(psfm_problem_add_camera(ctx, NULL, &camera));
    fails(psfm_problem_add_camera(ctx, problem, NULL));
    assert_ok(ctx, psfm_problem_add_camera(ctx, problem, &camera));
    fails(psfm_problem_add_image(ctx, NULL, 1, 1, "a", 1, xy));
    assert_int_equal(psfm_problem_add_image(ctx, problem, 1, 1, "a", 1, NULL), PSFM_ERR_ARGUMENT);
    assert_ok(ctx, psfm_problem_add_image(ctx, problem, 1, 1, NULL, 1, xy));
    assert_ok(ctx, psfm_problem_add_image(ctx, problem, 2, 1, NULL, 0, NULL));
    fails(psfm_problem_add_matches(ctx, NULL, 1, 2, 1, match));
    assert_int_equal(psfm_problem_add_matches(ctx, problem, 1, 2, 1, NULL), PSFM_ERR_ARGUMENT);
    fails(psfm_solve(ctx, NULL, NULL, &result));
    fails(psfm_solve(ctx, problem, NULL, NULL));
    assert_int_equal(psfm_solve(NULL, problem, NULL, &result), PSFM_ERR_ARGUMENT);
    psfm_problem_destroy(&problem);
}

static void results(void **state) {
    (void)state;
    psfm_problem *problem = psfm_problem_create();
    psfm_result *result = NULL;
    psfm_image_result image = {.struct_size = sizeof image};
    psfm_edge_result edge = {.struct_size = sizeof edge};
    psfm_plane_result plane = {.struct_size = sizeof plane};
    psfm_points_result points = {.struct_size = sizeof points};
    psfm_verdict_result verdict = {.struct_size = sizeof verdict};
    assert_false(psfm_result_image(NULL, 0, &image));
    assert_false(psfm_result_edge(NULL, 0, &edge));
    assert_false(psfm_result_plane(NULL, 0, &plane));
    assert_false(psfm_result_points(NULL, &points));
    assert_false(psfm_result_verdict(NULL, 0, &verdict));
    assert_null(psfm_result_model(NULL, 0));
    assert_null(psfm_result_summary(NULL));
    assert_true(psfm_result_num_images(NULL) == 0 && psfm_result_num_models(NULL) == 0);
    assert_true(psfm_result_num_edges(NULL) == 0 && psfm_result_num_planes(NULL) == 0);
    assert_ok(ctx, psfm_solve(ctx, problem, NULL, &result)); /* of nothing */
    assert_false(psfm_result_image(result, 0, NULL));
    assert_false(psfm_result_edge(result, 0, NULL));
    assert_false(psfm_result_plane(result, 0, NULL));
    assert_false(psfm_result_points(result, NULL));
    assert_false(psfm_result_verdict(result, 0, NULL));
    psfm_result_destroy(&result);
    psfm_result_destroy(&result);
    psfm_result_destroy(NULL);
    psfm_problem_destroy(&problem);
}

static void settings_of_reconstructions(void **state) {
    (void)state;
    psfm_settings *settings = psfm_settings_create(), *none = NULL;
    psfm_settings_destroy(NULL);
    psfm_settings_destroy(&none);
    fails(psfm_settings_set(ctx, NULL, "mode", "paper"));
    fails(psfm_settings_set(ctx, settings, NULL, "paper"));
    fails(psfm_settings_set(ctx, settings, "mode", NULL));
    fails(psfm_settings_set_distance(ctx, NULL, "a:1,2", "b:3,4", "5"));
    fails(psfm_settings_set_distance(ctx, settings, NULL, "b:3,4", "5"));
    fails(psfm_settings_set_distance(ctx, settings, "a:1,2", NULL, "5"));
    fails(psfm_settings_set_distance(ctx, settings, "a:1,2", "b:3,4", NULL));
    fails(psfm_reconstruct_database(ctx, NULL, settings, "/tmp/none"));
    fails(psfm_reconstruct_database(ctx, "/nowhere", settings, NULL));
    assert_int_equal(psfm_reconstruct_database(NULL, "/nowhere", NULL, "/tmp/none"),
                     PSFM_ERR_ARGUMENT);
    psfm_settings_destroy(&settings);
}

static void settings_of_runs(void **state) {
    (void)state;
    psfm_run_settings *settings = psfm_run_settings_create(), *none = NULL;
    psfm_run_settings_destroy(NULL);
    psfm_run_settings_destroy(&none);
    fails(psfm_run_settings_set(ctx, NULL, "mode", "paper"));
    fails(psfm_run_settings_set(ctx, settings, NULL, "paper"));
    fails(psfm_run_settings_set(ctx, settings, "mode", NULL));
    fails(psfm_run_photographs(ctx, NULL, settings, "/tmp/none"));
    fails(psfm_run_photographs(ctx, "/nowhere", settings, NULL));
    assert_int_equal(psfm_run_photographs(NULL, "/nowhere", NULL, "/tmp/none"), PSFM_ERR_ARGUMENT);
    psfm_run_settings_destroy(&settings);
}

static void photographs_of_courts(void **state) {
    (void)state;
    const uint8_t pixel = 0;
    psfm_settings *settings = psfm_settings_create();
    psfm_photograph photograph = {sizeof photograph, 1, 1, 1, &pixel, NULL};
    psfm_registration found = {.struct_size = sizeof found};
    fails(psfm_register_photograph(ctx, NULL, settings, &found));
    fails(psfm_register_photograph(ctx, &photograph, NULL, &found));
    fails(psfm_register_photograph(ctx, &photograph, settings, NULL));
    assert_int_equal(psfm_register_photograph(NULL, &photograph, settings, &found),
                     PSFM_ERR_ARGUMENT);
    assert_ok(ctx, psfm_settings_set(ctx, settings, "court", "tennis"));
    photograph.pixels = NULL;
    assert_int_equal(psfm_register_photograph(ctx, &photograph, settings, &found),
                     PSFM_ERR_ARGUMENT);
    psfm_settings_destroy(&settings);
}

static void empty_paths_and_formats_that_are_none(void **state) {
    (void)state;
    psfm_settings *settings = psfm_settings_create();
    psfm_run_settings *run = psfm_run_settings_create();
    psfm_model model = {0};
    assert_int_equal(psfm_model_read(ctx, "", &model), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, ""), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_model_write(ctx, &model, (psfm_model_format)2, "/tmp/none"),
                     PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_model_write(ctx, &model, (psfm_model_format)-1, "/tmp/none"),
                     PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_reconstruct_database(ctx, "/nowhere", NULL, ""), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_run_photographs(ctx, "/nowhere", NULL, ""), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_settings_set(ctx, settings, "images", ""), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_settings_set(ctx, settings, "drawing", ""), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_run_settings_set(ctx, run, "cameras", ""), PSFM_ERR_ARGUMENT);
    psfm_settings_destroy(&settings);
    psfm_run_settings_destroy(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts),
        cmocka_unit_test(cameras),
        cmocka_unit_test(similarities),
        cmocka_unit_test(models),
        cmocka_unit_test(problems),
        cmocka_unit_test(results),
        cmocka_unit_test(settings_of_reconstructions),
        cmocka_unit_test(settings_of_runs),
        cmocka_unit_test(photographs_of_courts),
        cmocka_unit_test(empty_paths_and_formats_that_are_none),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
