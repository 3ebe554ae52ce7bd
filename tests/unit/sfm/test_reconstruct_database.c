/* Databases of synthetic scenes: which files come of them, and what a second run takes over. */
#include "planarsfm/reconstruct.h"

#include "core/base/path.h"
#include "eval/evaluate.h"
#include "sfm/run.h"
#include "store/colmap_database.h"
#include "synth/scene.h"
#include "test_util.h"

enum { NUM_CAMERAS = 10 };

/* Stands between a run and psfm_two_view_hash: as if the code of verification had changed. */
static bool is_other_revision;
uint64_t __real_psfm_two_view_hash(const psfm_two_view_options *options, uint64_t hash);
uint64_t __wrap_psfm_two_view_hash(const psfm_two_view_options *options, uint64_t hash);
uint64_t __wrap_psfm_two_view_hash(const psfm_two_view_options *options, uint64_t hash) {
    return __real_psfm_two_view_hash(options, hash + is_other_revision);
}

/* Stands before the reading of files, and counts drawings. */
#define DRAWING "floor-plan.json"
static int num_drawings;
psfm_status __real_psfm_read_file(psfm_context *ctx, const char *path, size_t max_size, char **out,
                                  size_t *out_size);
psfm_status __wrap_psfm_read_file(psfm_context *ctx, const char *path, size_t max_size, char **out,
                                  size_t *out_size);
psfm_status __wrap_psfm_read_file(psfm_context *ctx, const char *path, size_t max_size, char **out,
                                  size_t *out_size) {
    num_drawings += strstr(path, DRAWING) != NULL;
    return __real_psfm_read_file(ctx, path, max_size, out, out_size);
}

typedef struct {
    psfm_context *ctx;
    char folder[32], database[64], out[64];
    psfm_scene scene;
    psfm_settings *settings;
    cJSON *summary;
    int num_taken; /* messages that verification was taken from the database */
} fixture;

static void note(psfm_log_level level, const char *message, void *user) {
    (void)level;
    fixture *f = user;
    f->num_taken += strstr(message, "verification: taken") != NULL;
}

static void make_fixture(fixture *f) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = NUM_CAMERAS;
    options.num_points = 300;
    *f = (fixture){.ctx = psfm_context_create(),
                   .folder = "/tmp/psfm_recdb_XXXXXX",
                   .settings = psfm_settings_create()};
    psfm_context_set_log(f->ctx, note, f);
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->database, sizeof f->database, "%s/database.db", f->folder);
    snprintf(f->out, sizeof f->out, "%s/a/b/out", f->folder);
    assert_ok(f->ctx, psfm_scene_make(f->ctx, PSFM_SCENE_ARENA, 6, &options, &f->scene));
    assert_ok(f->ctx, psfm_database_write(f->ctx, &f->scene.matches, f->database));
}

static void free_fixture(fixture *f) {
    cJSON_Delete(f->summary);
    psfm_settings_destroy(&f->settings);
    psfm_scene_free(&f->scene);
    assert_ok(f->ctx, psfm_remove_all(f->ctx, f->folder));
    psfm_context_destroy(&f->ctx);
}

static psfm_status reconstruct(fixture *f) {
    cJSON_Delete(f->summary);
    return psfm_run_matches(f->ctx, f->database, f->settings, f->out, &f->summary);
}

static char *in_out(const fixture *f, const char *name) {
    char *path = NULL;
    assert_ok(f->ctx, psfm_path_join(f->ctx, f->out, name, &path));
    return path;
}

static bool has(const fixture *f, const char *name) {
    char *path = in_out(f, name);
    bool found = psfm_path_is_file(path) || psfm_path_is_folder(path);
    free(path);
    return found;
}

static void put_file(const fixture *f, const char *name) {
    char *path = in_out(f, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    free(path);
}

static char *read_images(const fixture *f) {
    char *path = in_out(f, "model/0/images.txt"), *text = NULL;
    size_t size;
    assert_ok(f->ctx, psfm_read_file(f->ctx, path, 1 << 24, &text, &size));
    free(path);
    return text;
}

static void models_are_those_of_the_scene(void **state) {
    (void)state;
    fixture f;
    psfm_model model;
    psfm_evaluation e;
    make_fixture(&f);
    assert_ok(f.ctx, reconstruct(&f));
    static const char *const files[] = {"summary.json", "graph.json", "planes.json", "planes.ply",
                                        "report.html"};
    for (size_t k = 0; k < sizeof files / sizeof *files; ++k)
        assert_true(has(&f, files[k]));
    char *path = in_out(&f, "model/0");
    assert_ok(f.ctx, psfm_model_read(f.ctx, path, &model));
    free(path);
    assert_ok(f.ctx, psfm_evaluate(f.ctx, &f.scene.truth, &model, 1, &e));
    assert_int_equal(e.num_registered, NUM_CAMERAS);
    assert_true(cJSON_GetObjectItem(f.summary, "images_posed")->valuedouble == NUM_CAMERAS);
    psfm_model_free(&model);
    free_fixture(&f);
}

/* The database keeps the homographies: the same poses, until options, matches or the code change.
 */
static void a_second_run_takes_the_verification_over(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f);
    assert_ok(f.ctx, reconstruct(&f));
    char *first = read_images(&f);
    assert_int_equal(f.num_taken, 0);
    assert_ok(f.ctx, reconstruct(&f));
    char *second = read_images(&f);
    assert_int_equal(f.num_taken, 1);
    assert_string_equal(first, second);
    assert_ok(f.ctx, psfm_settings_set(f.ctx, f.settings, "scale", "2")); /* of a later stage */
    assert_ok(f.ctx, reconstruct(&f));
    assert_int_equal(f.num_taken, 2);
    is_other_revision = true;
    assert_ok(f.ctx, reconstruct(&f));
    assert_int_equal(f.num_taken, 2);
    is_other_revision = false;
    assert_ok(f.ctx, psfm_settings_set(f.ctx, f.settings, "twoview.max-error-px", "3"));
    assert_ok(f.ctx, reconstruct(&f));
    assert_int_equal(f.num_taken, 2);
    psfm_context_set_seed(f.ctx, 77);
    assert_ok(f.ctx, reconstruct(&f));
    assert_int_equal(f.num_taken, 2);
    free(first);
    free(second);
    free_fixture(&f);
}

/* Files of an earlier run that this one does not make would belong to other results. */
static void results_of_earlier_runs_go(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f);
    assert_ok(f.ctx, reconstruct(&f));
    char *folder = in_out(&f, "model/7");
    assert_ok(f.ctx, psfm_make_folders(f.ctx, folder));
    free(folder);
    put_file(&f, "mine.txt");
    assert_ok(f.ctx, psfm_settings_set(f.ctx, f.settings, "mode", "paper"));
    assert_ok(f.ctx, psfm_settings_set(f.ctx, f.settings, "no-report", "on"));
    assert_ok(f.ctx, reconstruct(&f));
    assert_true(has(&f, "model/0") && has(&f, "mine.txt"));
    assert_false(has(&f, "model/7"));
    assert_false(has(&f, "planes.json") || has(&f, "planes.ply") || has(&f, "report.html"));
    free_fixture(&f);
}

static void nothing_posed_is_said_with_reasons(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f);
    assert_ok(f.ctx, reconstruct(&f));
    for (size_t p = 0; p < f.scene.matches.num_pairs; ++p)
        f.scene.matches.pairs[p].num_matches = 3;
    assert_ok(f.ctx, psfm_database_write(f.ctx, &f.scene.matches, f.database));
    assert_int_equal(reconstruct(&f), PSFM_ERR_DATA);
    assert_non_null(strstr(psfm_context_message(f.ctx), "no image could be posed"));
    const cJSON *image = cJSON_GetArrayItem(cJSON_GetObjectItem(f.summary, "images"), 0);
    assert_string_equal(cJSON_GetObjectItem(image, "state")->valuestring, "few_matches");
    assert_true(has(&f, "summary.json"));
    assert_false(has(&f, "model")); /* that of the run before */
    free_fixture(&f);
}

/* From the check to the summary; none of the photographs is there, which costs warnings. */
static void a_drawing_is_read_once(void **state) {
    (void)state;
    fixture f;
    char path[64];
    make_fixture(&f);
    snprintf(path, sizeof path, "%s/" DRAWING, f.folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"name\": \"yard\", \"lines\": [[0, 0, 9, 0], [9, 0, 9, 5], [9, 5, 0, 5], [0, 5, 0, 0],"
          " [3, 0, 3, 5]]}",
          file);
    fclose(file);
    assert_ok(f.ctx, psfm_settings_set(f.ctx, f.settings, "drawing", path));
    assert_ok(f.ctx, psfm_settings_set(f.ctx, f.settings, "images", f.folder));
    num_drawings = 0;
    assert_ok(f.ctx, reconstruct(&f));
    assert_int_equal(num_drawings, 1);
    const cJSON *drawing = cJSON_GetObjectItem(f.summary, "court");
    assert_string_equal(cJSON_GetObjectItem(drawing, "drawing")->valuestring, "yard");
    free_fixture(&f);
}

static void a_missing_database_is_named(void **state) {
    (void)state;
    fixture f;
    make_fixture(&f);
    assert_int_equal(psfm_reconstruct_database(f.ctx, "/nowhere.db", NULL, f.out), PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(f.ctx), "/nowhere.db"));
    free_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_are_those_of_the_scene),
        cmocka_unit_test(a_second_run_takes_the_verification_over),
        cmocka_unit_test(results_of_earlier_runs_go),
        cmocka_unit_test(nothing_posed_is_said_with_reasons),
        cmocka_unit_test(a_drawing_is_read_once),
        cmocka_unit_test(a_missing_database_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
