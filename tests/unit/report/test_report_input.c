/* What a report is read from: runs, models alone, aligned models, and folders whose files do not
 * belong together. */
#include "report/report_input.h"

#include "unit/report/run_folder.h"

static psfm_context *ctx;
static char folder[MAX_PATH];
static fixture run;

static int open_folder(void **state) {
    (void)state;
    make_scratch(folder);
    make_run(&run);
    put_run(ctx, &run, folder);
    return 0;
}

static int drop_folder(void **state) {
    (void)state;
    remove_scratch(folder);
    return 0;
}

/* ---- what is read ---- */

/* Images of the model are found by their names, whatever is in them and whatever their order. */
static void runs_are_linked_by_names(void **state) {
    (void)state;
    psfm_report_input input;
    assert_ok(ctx, psfm_report_input_read(ctx, folder, &input));
    assert_true(input.graph.num_images == 3 && input.num_models == 1 && !input.is_bare);
    assert_string_equal(input.names[0], QUOTED);
    assert_string_equal(input.names[2], "c.jpg");
    assert_int_equal(input.model_views[0][0], 1);
    assert_int_equal(input.model_views[0][1], 0);
    assert_true(psfm_json_is_array(input.planes) && input.alignment.begin == NULL);
    psfm_report_input_free(&input);
    assert_true(input.names == NULL && input.models == NULL);
}

/* What a run has in memory is what its files say. */
static void memory_says_what_files_say(void **state) {
    (void)state;
    psfm_report_input read, held;
    psfm_run_record record = {.models = &run.model, .num_models = 1};
    char path[MAX_PATH];
    size_t size;
    join(path, folder, "graph.json");
    assert_ok(ctx, psfm_graph_file_read(ctx, path, &record.graph));
    record.summary = get_file(folder, "summary.json", &size);
    record.planes = get_file(folder, "planes.json", &size);
    assert_ok(ctx, psfm_report_input_of_run(ctx, &record, &held));
    assert_true(record.summary == NULL && record.graph.images == NULL);
    assert_ok(ctx, psfm_report_input_read(ctx, folder, &read));
    for (size_t v = 0; v < 3; ++v)
        assert_string_equal(held.names[v], read.names[v]);
    assert_memory_equal(held.model_views[0], read.model_views[0], 2 * sizeof(uint32_t));
    assert_true(held.models == &run.model && held.read_models == NULL);
    psfm_report_input_free(&read);
    psfm_report_input_free(&held);
}

/* Models 0 and 1 are read, 3 is not: there is no 2. */
static void models_are_read_as_far_as_they_go(void **state) {
    (void)state;
    psfm_report_input input;
    put_model(ctx, &run, folder, "model/1");
    put_model(ctx, &run, folder, "model/3");
    assert_ok(ctx, psfm_report_input_read(ctx, folder, &input));
    assert_int_equal(input.num_models, 2);
    assert_int_equal(input.model_views[1][0], 1);
    psfm_report_input_free(&input);
}

/* Names whose difference no text can keep: each image is another one of the graph all the same. */
static void names_that_look_alike_are_told_apart(void **state) {
    (void)state;
    psfm_report_input input;
    psfm_graph_file graph = run_graph();
    char path[MAX_PATH];
    graph.images[0].name = (char *)"\xfe.jpg";
    graph.images[1].name = (char *)"\xff.jpg";
    run.images[0].name = graph.images[0].name;
    run.images[1].name = graph.images[1].name;
    put_model(ctx, &run, folder, "model/0");
    join(path, folder, "graph.json");
    assert_ok(ctx, psfm_graph_file_write(ctx, &graph, path));
    put_text(folder, "summary.json",
             "{\"images\":[{\"name\":\"\\ufffd.jpg\"},{\"name\":\"\\ufffd.jpg\"},"
             "{\"name\":\"c.jpg\"}]}");
    assert_ok(ctx, psfm_report_input_read(ctx, folder, &input));
    assert_int_equal(input.model_views[0][0], 0);
    assert_int_equal(input.model_views[0][1], 1);
    psfm_report_input_free(&input);
    make_run(&run);
}

/* ---- models alone ---- */

/* Without a run the images are those of the model in the order of their names, and the summary says
 * what the model does. */
static void a_model_alone_says_what_it_has(void **state) {
    (void)state;
    psfm_report_input input;
    char alone[MAX_PATH];
    join(alone, folder, "model/0");
    assert_ok(ctx, psfm_report_input_read(ctx, alone, &input));
    assert_true(input.is_bare && input.graph.num_pairs == 0 && input.graph.num_images == 2);
    assert_string_equal(input.names[0], QUOTED);
    assert_int_equal(input.model_views[0][0], 1);
    assert_int_equal(input.model_views[0][1], 0);
    assert_int_equal(input.graph.images[0].width, 640);
    assert_int_equal(input.graph.images[1].num_keypoints, NUM);
    cJSON *summary = cJSON_Parse(input.summary_text);
    const cJSON *images = member(summary, "images"), *cameras = member(summary, "cameras");
    assert_close(number_of(cJSON_GetArrayItem(images, 0), "points"), NUM, 0.0);
    assert_close(number_of(cJSON_GetArrayItem(images, 1), "points"), NUM - 1.0, 0.0);
    assert_string_equal(string_of(cJSON_GetArrayItem(images, 0), "state"), "posed");
    const cJSON *camera = cJSON_GetArrayItem(cameras, 0);
    assert_string_equal(string_of(camera, "model"), "PINHOLE");
    assert_close(number_of(camera, "id"), 1.0, 0.0);
    assert_close(number_of(camera, "focal_px"), 500.0, 1e-9);
    for (int k = 0; k < 4; ++k)
        assert_close(cJSON_GetArrayItem(member(camera, "params"), k)->valuedouble,
                     run.camera.params[k], 0.0);
    cJSON_Delete(summary);
    psfm_report_input_free(&input);
}

/* The focal length of a model alone is the geometric mean of both. */
static void two_focal_lengths_have_a_mean(void **state) {
    (void)state;
    psfm_report_input input;
    char alone[MAX_PATH];
    run.camera.params[0] = 400.0;
    run.camera.params[1] = 900.0;
    put_model(ctx, &run, folder, "alone");
    join(alone, folder, "alone");
    assert_ok(ctx, psfm_report_input_read(ctx, alone, &input));
    cJSON *summary = cJSON_Parse(input.summary_text);
    assert_close(number_of(cJSON_GetArrayItem(member(summary, "cameras"), 0), "focal_px"), 600.0,
                 1e-9);
    cJSON_Delete(summary);
    psfm_report_input_free(&input);
    make_run(&run);
}

/* An aligned model has the record of the run that it names, or is a model alone if that is gone.
 * All planes are its own. */
static void aligned_models_have_their_run(void **state) {
    (void)state;
    char out[MAX_PATH], *text = NULL;
    size_t size = 0;
    put_model(ctx, &run, folder, "aligned/model/0");
    join(out, folder, "aligned");
    put_text(out, "planes.json", "{\"planes\":[{},{},{}]}");
    for (int gone = 0; gone < 2; ++gone) {
        psfm_report_input input;
        FILE *file = open_memstream(&text, &size);
        fprintf(file, "{\"source\":\"%s%s\",\"scale\":2}", folder, gone ? "/nowhere" : "");
        assert_int_equal(fclose(file), 0);
        put_text(out, "alignment.json", text);
        assert_ok(ctx, psfm_report_input_read(ctx, out, &input));
        assert_int_equal(input.is_bare, gone);
        assert_int_equal(input.graph.num_images, gone ? 2 : 3);
        assert_int_equal(input.graph.num_pairs, gone ? 0 : 1);
        assert_true(input.graph.num_planes == 3 && input.graph.plane_models[2] == 0);
        assert_true(psfm_json_is_object(input.alignment) && input.num_models == 1);
        psfm_report_input_free(&input);
        free(text);
    }
}

/* ---- files that do not belong together ---- */

/* One file changed: the failure names it and says what is wrong. */
static const struct {
    const char *file, *text; /* NULL: taken away */
    psfm_status status;
    const char *message;
} wrong[] = {
    {"summary.json", NULL, PSFM_ERR_IO, "summary.json"},
    {"summary.json", "", PSFM_ERR_FORMAT, "summary.json: not a JSON object"},
    {"summary.json", "[]", PSFM_ERR_FORMAT, "summary.json: not a JSON object"},
    {"summary.json", "{\"images\":[", PSFM_ERR_FORMAT, "summary.json: not a JSON object"},
    {"summary.json", "{}", PSFM_ERR_FORMAT, "its images are not those of graph.json"},
    {"summary.json", "{\"images\":{}}", PSFM_ERR_FORMAT, "its images are not those of graph.json"},
    {"summary.json", "{\"images\":[{\"name\":\"a\"},{\"name\":\"b\"}]}", PSFM_ERR_FORMAT,
     "its images are not those of graph.json"},
    {"summary.json", "{\"images\":[{\"name\":\"a\"},{},{\"name\":\"b\"}]}", PSFM_ERR_FORMAT,
     "image 1 has no name"},
    {"summary.json", "{\"images\":[{\"name\":\"a\"},{\"name\":7},{\"name\":\"b\"}]}",
     PSFM_ERR_FORMAT, "image 1 has no name"},
    {"summary.json", "{\"images\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]}",
     PSFM_ERR_FORMAT, "is not in summary.json"},
    {"planes.json", "{\"planes\":[]}", PSFM_ERR_FORMAT, "planes.json: its planes are not those"},
    {"planes.json", "{\"planes\":[{},{},{}]}", PSFM_ERR_FORMAT,
     "planes.json: its planes are not those"},
    {"planes.json", "{}", PSFM_ERR_FORMAT, "planes.json: it has no list of planes"},
    {"planes.json", "{\"planes\":7}", PSFM_ERR_FORMAT, "planes.json: it has no list of planes"},
    {"planes.json", "nan", PSFM_ERR_FORMAT, "planes.json: not a JSON object"},
    {"graph.json", "{}", PSFM_ERR_FORMAT, "graph.json"},
    {"model/0/images.bin", "", PSFM_ERR_FORMAT, "images.bin"},
    {"model/0/cameras.bin", NULL, PSFM_ERR_IO, "model/0"},
};

static void contradictions_are_refused(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        psfm_report_input input;
        char path[MAX_PATH];
        put_run(ctx, &run, folder);
        if (wrong[k].text != NULL)
            put_text(folder, wrong[k].file, wrong[k].text);
        join(path, folder, wrong[k].file);
        if (wrong[k].text == NULL)
            assert_int_equal(unlink(path), 0);
        psfm_status status = psfm_report_input_read(ctx, folder, &input);
        if (status != wrong[k].status)
            fail_msg("%zu: %s: %s", k, psfm_status_name(status), psfm_context_message(ctx));
        assert_message(ctx, wrong[k].message);
        psfm_report_input_free(&input);
    }
}

/* Without planes.json there are no planes, whatever the graph says of them. */
static void planes_may_be_missing(void **state) {
    (void)state;
    psfm_report_input input;
    char path[MAX_PATH];
    join(path, folder, "planes.json");
    assert_int_equal(unlink(path), 0);
    assert_ok(ctx, psfm_report_input_read(ctx, folder, &input));
    assert_true(input.planes.begin == NULL && input.num_models == 1);
    psfm_report_input_free(&input);
}

/* A folder of nothing, and none at all. */
static void empty_folders_are_refused(void **state) {
    (void)state;
    psfm_report_input input;
    char empty[MAX_PATH];
    join(empty, folder, "empty");
    assert_ok(ctx, psfm_make_folders(ctx, empty));
    assert_int_not_equal(psfm_report_input_read(ctx, empty, &input), PSFM_OK);
    psfm_report_input_free(&input);
    assert_int_not_equal(psfm_report_input_read(ctx, "/nowhere", &input), PSFM_OK);
    psfm_report_input_free(&input);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, open_folder, drop_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(runs_are_linked_by_names),
        TEST(memory_says_what_files_say),
        TEST(models_are_read_as_far_as_they_go),
        TEST(names_that_look_alike_are_told_apart),
        TEST(a_model_alone_says_what_it_has),
        TEST(two_focal_lengths_have_a_mean),
        TEST(aligned_models_have_their_run),
        TEST(contradictions_are_refused),
        TEST(planes_may_be_missing),
        TEST(empty_folders_are_refused),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
