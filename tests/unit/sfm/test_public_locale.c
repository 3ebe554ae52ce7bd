/* A program around the library that has a decimal comma: every public call that reads or writes
 * numbers gives the same bytes as in the "C" locale. Settings are in test_settings.c. */
#include "comma_locale.h"

#include "formats/json.h"
#include "planarsfm/planarsfm.h"
#include "store/colmap_database.h"
#include "synth/scene.h"

#include "unit/formats/io_util.h"

/* What was written, one text after the other. */
typedef struct {
    char text[1 << 21];
    size_t size;
} record;

static void note(record *r, const char *text, size_t size) {
    assert_true(r->size + size < sizeof r->text);
    memcpy(r->text + r->size, text, size);
    r->size += size;
}

static void note_file(record *r, const char *folder, const char *name) {
    size_t size;
    char *text = get_file(folder, name, &size);
    note(r, text, size);
    free(text);
}

static void make_scene(psfm_context *ctx, psfm_scene *scene) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = 8;
    options.num_points = 200;
    assert_ok(ctx, psfm_scene_make(ctx, PSFM_SCENE_ARENA, 4, &options, scene));
}

/* Settings whose texts have decimals; two images and a distance between points of them. */
static psfm_settings *make_settings(psfm_context *ctx, const psfm_match_set *set) {
    psfm_settings *settings = psfm_settings_create();
    char point1[128], point2[128];
    snprintf(point1, sizeof point1, "%s:400.5,300.5", set->views[0].name);
    snprintf(point2, sizeof point2, "%s:500.25,310.75", set->views[1].name);
    assert_ok(ctx, psfm_settings_set(ctx, settings, "twoview.max-error-px", "3.5"));
    assert_ok(ctx, psfm_settings_set_distance(ctx, settings, point1, point2, "7.25"));
    return settings;
}

static void fill(psfm_context *ctx, const psfm_match_set *set, psfm_problem *problem) {
    for (size_t c = 0; c < set->num_cameras; ++c)
        assert_ok(ctx, psfm_problem_add_camera(ctx, problem, &set->cameras[c]));
    for (size_t v = 0; v < set->num_views; ++v) {
        const psfm_view *view = &set->views[v];
        assert_ok(ctx,
                  psfm_problem_add_image(ctx, problem, view->id, set->cameras[view->camera_idx].id,
                                         view->name, view->num_keypoints, &view->keypoints[0][0]));
    }
    for (size_t p = 0; p < set->num_pairs; ++p) {
        const psfm_match_pair *pair = &set->pairs[p];
        assert_ok(ctx, psfm_problem_add_matches(ctx, problem, set->views[pair->view1].id,
                                                set->views[pair->view2].id, pair->num_matches,
                                                &pair->matches[0][0]));
    }
}

/* A summary without its times and sizes. */
static void note_summary(record *r, const char *text) {
    static const char *const varying[] = {"seconds", "cpu_seconds", "peak_memory_mb"};
    cJSON *summary = psfm_json_parse(text, strlen(text));
    assert_non_null(summary);
    for (size_t k = 0; k < sizeof varying / sizeof *varying; ++k)
        cJSON_DeleteItemFromObject(summary, varying[k]);
    char *rest = psfm_json_print(summary);
    note(r, rest, strlen(rest));
    cJSON_free(rest);
    cJSON_Delete(summary);
}

/* Matches in memory to poses; their model written as text, read, and written again. */
static void note_solution(psfm_context *ctx, const psfm_match_set *set, record *r) {
    char folder[MAX_PATH], again[MAX_PATH];
    psfm_problem *problem = psfm_problem_create();
    psfm_settings *settings = make_settings(ctx, set);
    psfm_result *result = NULL;
    psfm_model model;
    fill(ctx, set, problem);
    assert_ok(ctx, psfm_solve(ctx, problem, settings, &result));
    note_summary(r, psfm_result_summary(result));
    make_scratch(folder);
    join(again, folder, "again");
    const psfm_model *found = psfm_result_model(result, 0);
    assert_ok(ctx, psfm_model_write(ctx, found, PSFM_MODEL_TEXT, folder));
    assert_ok(ctx, psfm_model_read(ctx, folder, &model));
    assert_memory_equal(&model.cameras[0].params, &found->cameras[0].params,
                        sizeof model.cameras[0].params);
    assert_ok(ctx, psfm_model_write(ctx, &model, PSFM_MODEL_TEXT, again));
    note_file(r, again, "cameras.txt");
    note_file(r, again, "images.txt");
    note_file(r, again, "points3D.txt");
    remove_scratch(folder);
    psfm_model_free(&model);
    psfm_result_destroy(&result);
    psfm_settings_destroy(&settings);
    psfm_problem_destroy(&problem);
}

/* A database to all files of a run. */
static void note_run(psfm_context *ctx, const psfm_match_set *set, record *r) {
    char folder[MAX_PATH], database[MAX_PATH], out[MAX_PATH];
    psfm_settings *settings = make_settings(ctx, set);
    size_t size;
    make_scratch(folder);
    join(database, folder, "database.db");
    join(out, folder, "out");
    assert_ok(ctx, psfm_database_write(ctx, set, database));
    assert_ok(ctx, psfm_reconstruct_database(ctx, database, settings, out));
    char *summary = get_file(out, "summary.json", &size);
    note_summary(r, summary);
    free(summary);
    static const char *const files[] = {"graph.json",          "planes.json",
                                        "planes.ply",          "model/0/images.txt",
                                        "model/0/cameras.txt", "model/0/points3D.txt"};
    for (size_t k = 0; k < sizeof files / sizeof *files; ++k)
        note_file(r, out, files[k]);
    remove_scratch(folder);
    psfm_settings_destroy(&settings);
}

static void note_all(record *r) {
    psfm_context *ctx = psfm_context_create();
    psfm_scene scene;
    make_scene(ctx, &scene);
    note_solution(ctx, &scene.matches, r);
    note_run(ctx, &scene.matches, r);
    psfm_scene_free(&scene);
    psfm_context_destroy(&ctx);
}

static void a_comma_changes_no_byte(void **state) {
    (void)state;
    record *plain = calloc(1, sizeof *plain), *comma = calloc(1, sizeof *comma);
    assert_true(plain != NULL && comma != NULL);
    note_all(plain);
    set_comma_locale();
    note_all(comma);
    leave_comma_locale();
    assert_true(plain->size > 10000);
    assert_int_equal(plain->size, comma->size);
    assert_memory_equal(plain->text, comma->text, plain->size);
    free(plain);
    free(comma);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_comma_changes_no_byte)};
    return cmocka_run_group_tests_name("sfm/public_locale", tests, NULL, NULL);
}
