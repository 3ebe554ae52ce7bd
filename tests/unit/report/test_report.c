/* Whole pages: the data in them beside the files they were made from. */
#include "report/report.h"

#include "core/base/alloc.h"
#include "images/image/image_io.h"
#include "unit/report/run_folder.h"

static psfm_context *ctx;
static char folder[MAX_PATH], photos[MAX_PATH];
static fixture run;

/* A photograph of 800 x 600 of one colour. */
static void put_photo(const char *name, uint8_t red) {
    char path[MAX_PATH];
    psfm_image image;
    join(path, photos, name);
    *strrchr(path, '/') = '\0'; /* a slash in the name is one of a folder */
    assert_ok(ctx, psfm_make_folders(ctx, path));
    join(path, photos, name);
    assert_ok(ctx, psfm_image_init(ctx, 800, 600, PSFM_IMAGE_GRAY_AND_RGB, &image));
    for (size_t k = 0; k < 800 * 600; ++k)
        image.rgb[3 * k] = red;
    assert_ok(ctx, psfm_image_write(ctx, &image, 90, path));
    psfm_image_free(&image);
}

static int open_folder(void **state) {
    (void)state;
    make_scratch(folder);
    join(photos, folder, "photos");
    make_run(&run);
    put_run(ctx, &run, folder);
    put_photo(QUOTED, 250);
    put_photo("c.jpg", 60);
    return 0;
}

static int drop_folder(void **state) {
    (void)state;
    remove_scratch(folder);
    return 0;
}

/* What stands between <script id="ID"...> and </script>; free it. */
static char *script_of(const char *page, const char *id) {
    char mark[64];
    snprintf(mark, sizeof mark, "<script id=\"%s\"", id);
    const char *at = strstr(page, mark);
    assert_non_null(at);
    at = strchr(at, '>') + 1;
    const char *end = strstr(at, "</script>");
    assert_non_null(end);
    return strndup(at, (size_t)(end - at));
}

static char *page_of(const char *in, const char *name) {
    size_t size;
    char *page = get_file(in, name, &size);
    assert_int_equal(strlen(page), size);
    return page;
}

static cJSON *data_of(const char *in, const char *name) {
    char *page = page_of(in, name), *text = script_of(page, "data");
    cJSON *data = cJSON_Parse(text);
    assert_non_null(data);
    free(text);
    free(page);
    return data;
}

static const cJSON *entry(const cJSON *object, const char *name, int k) {
    const cJSON *item = cJSON_GetArrayItem(member(object, name), k);
    assert_non_null(item);
    return item;
}

/* ---- one run ---- */

/* Images, components and planes of the graph; summary and planes as the files have them. */
static void the_data_are_those_of_the_files(void **state) {
    (void)state;
    static const char *const names[3] = {QUOTED, "b\xef\xbf\xbd\xef\xbf\xbd.jpg", "c.jpg"};
    assert_ok(ctx, psfm_report_write(ctx, folder, NULL));
    cJSON *data = data_of(folder, "report.html");
    assert_int_equal(cJSON_GetArraySize(member(data, "images")), 3);
    for (int k = 0; k < 3; ++k) {
        assert_string_equal(string_of(entry(data, "images", k), "name"), names[k]);
        assert_close(number_of(entry(data, "images", k), "width"), 640.0 + k, 0.0);
        assert_close(number_of(entry(data, "images", k), "height"), 480.0, 0.0);
        assert_close(number_of(entry(data, "images", k), "keypoints"), 100.0 + k, 0.0);
    }
    const cJSON *component = entry(data, "components", 0);
    assert_close(number_of(component, "images"), 2.0, 0.0);
    assert_close(number_of(component, "edges"), 1.0, 0.0);
    assert_close(number_of(component, "low"), -0.5, 0.0);
    assert_close(number_of(component, "high"), -0.5, 0.0);
    assert_int_equal(cJSON_GetArraySize(member(data, "planeModels")), 2);
    assert_close(entry(entry(data, "planes", 1), "normal", 1)->valuedouble, 1.0, 0.0);
    assert_close(number_of(entry(member(data, "summary"), "images", 0), "points"), 99.0, 0.0);
    assert_string_equal(string_of(member(data, "summary"), "mode"), "robust");
    assert_close(number_of(member(data, "pairs"), "total"), 1.0, 0.0);
    assert_close(number_of(entry(data, "models", 0), "points"), NUM, 0.0);
    assert_close(number_of(member(data, "residuals"), "observations"), 2.0 * NUM - 1.0, 0.0);
    assert_string_equal(string_of(member(data, "parameters"), "OPENCV"), "fx fy cx cy k1 k2 p1 p2");
    assert_null(cJSON_GetObjectItem(data, "isBare"));
    assert_null(cJSON_GetObjectItem(data, "comparison"));
    cJSON_Delete(data);
}

/* A page may be sent to others: nothing of where the photographs are is in it, and no name ends a
 * script. */
static void pages_keep_secrets_and_their_shape(void **state) {
    (void)state;
    assert_ok(ctx, psfm_report_write(ctx, folder, photos));
    char *page = page_of(folder, "report.html");
    assert_null(strstr(page, "/home/me"));
    assert_null(strstr(page, folder));
    assert_null(strstr(page, "</script><b>"));
    assert_null(strstr(page, "quoted\" <"));
    assert_non_null(strstr(page, "</html>"));
    free(page);
    cJSON *data = data_of(folder, "report.html");
    const cJSON *summary = member(data, "summary");
    assert_true(cJSON_IsNull(member(member(summary, "photographs"), "folder")));
    cJSON_Delete(data);
}

/* A line per image: 640 x 480 of what is there, nothing of what is not. */
static void thumbnails_are_those_of_the_photographs(void **state) {
    (void)state;
    static const int red[3] = {250, -1, 60};
    assert_ok(ctx, psfm_report_write(ctx, folder, photos));
    char *page = page_of(folder, "report.html"), *text = script_of(page, "thumbnails");
    char *line = text;
    for (int k = 0; k < 3; ++k) {
        char *end = strchr(line, '\n');
        psfm_image image;
        size_t size;
        assert_non_null(end);
        *end = '\0';
        assert_int_equal(line[0] != '\0', red[k] >= 0);
        uint8_t *bytes = decode_text(line, &size);
        if (red[k] >= 0) {
            assert_ok(ctx, psfm_image_decode(ctx, bytes, size, "thumbnail", PSFM_IMAGE_GRAY_AND_RGB,
                                             &image));
            assert_true(image.width == 640 && image.height == 480);
            assert_close(image.rgb[3 * (240 * 640 + 320)], red[k], 6.0);
            psfm_image_free(&image);
        }
        free(bytes);
        line = end + 1;
    }
    assert_string_equal(line, "");
    free(text);
    free(page);
}

/* Without a folder of photographs they are where the graph says, if anywhere. */
static void photographs_are_where_the_graph_says(void **state) {
    (void)state;
    psfm_graph_file graph = run_graph();
    char path[MAX_PATH];
    assert_ok(ctx, psfm_report_write(ctx, folder, NULL));
    char *page = page_of(folder, "report.html"), *text = script_of(page, "thumbnails");
    assert_string_equal(text, "");
    free(text);
    free(page);
    assert_ok(ctx, psfm_report_write(ctx, folder, photos));
    char *given = page_of(folder, "report.html");
    graph.photo_folder = photos;
    join(path, folder, "graph.json");
    assert_ok(ctx, psfm_graph_file_write(ctx, &graph, path));
    assert_ok(ctx, psfm_report_write(ctx, folder, NULL));
    page = page_of(folder, "report.html");
    assert_string_equal(page, given);
    free(page);
    free(given);
}

/* The page of a run that is in memory still is the one of its files, byte by byte, on any number of
 * threads. */
static void memory_makes_the_page_of_the_files(void **state) {
    (void)state;
    psfm_run_record record = {.models = &run.model, .num_models = 1};
    psfm_thumbnails thumbnails;
    char path[MAX_PATH];
    size_t size;
    psfm_context_set_threads(ctx, 3);
    assert_ok(ctx, psfm_report_write(ctx, folder, photos));
    char *read = page_of(folder, "report.html");
    psfm_context_set_threads(ctx, 1);
    join(path, folder, "graph.json");
    assert_ok(ctx, psfm_graph_file_read(ctx, path, &record.graph));
    assert_ok(ctx, psfm_strdup(ctx, photos, &record.graph.photo_folder));
    record.summary = get_file(folder, "summary.json", &size);
    record.planes = get_file(folder, "planes.json", &size);
    assert_ok(ctx, psfm_report_begin_thumbnails(ctx, 3, &thumbnails));
    assert_ok(ctx, psfm_report_write_run(ctx, folder, &record, &thumbnails));
    char *held = page_of(folder, "report.html");
    assert_string_equal(held, read);
    psfm_thumbnails_free(&thumbnails);
    free(read);
    free(held);
}

/* A failure leaves the page that was there, and no other file. */
static void failures_leave_the_old_page(void **state) {
    (void)state;
    assert_ok(ctx, psfm_report_write(ctx, folder, NULL));
    char *before = page_of(folder, "report.html");
    size_t files = count_files(folder);
    put_text(folder, "planes.json", "{}");
    assert_int_equal(psfm_report_write(ctx, folder, NULL), PSFM_ERR_FORMAT);
    char *after = page_of(folder, "report.html");
    assert_string_equal(after, before);
    assert_int_equal(count_files(folder), files);
    free(before);
    free(after);
}

/* ---- nothing, one image, no model ---- */

/* A run that posed nothing, of no image or of one. */
static void small_runs_have_pages(void **state) {
    (void)state;
    static const char *const summaries[2] = {"{\"images\":[]}", "{\"images\":[{\"name\":\"a\"}]}"};
    for (size_t num = 0; num < 2; ++num) {
        psfm_graph_image image = {(char *)"a", 10, 20, 0};
        psfm_graph_file graph = {.images = &image, .num_images = num};
        char small[MAX_PATH], path[MAX_PATH];
        join(small, folder, num == 0 ? "none" : "one");
        assert_ok(ctx, psfm_make_folders(ctx, small));
        join(path, small, "graph.json");
        assert_ok(ctx, psfm_graph_file_write(ctx, &graph, path));
        put_text(small, "summary.json", summaries[num]);
        assert_ok(ctx, psfm_report_write(ctx, small, photos));
        cJSON *data = data_of(small, "report.html");
        assert_int_equal(cJSON_GetArraySize(member(data, "images")), (int)num);
        assert_int_equal(cJSON_GetArraySize(member(data, "models")), 0);
        assert_int_equal(cJSON_GetArraySize(member(data, "components")), 0);
        assert_true(cJSON_IsNull(member(data, "planes")));
        assert_close(number_of(member(data, "residuals"), "observations"), 0.0, 0.0);
        cJSON_Delete(data);
    }
}

/* A model alone says so; an aligned one has what align wrote, but for where its run is. */
static void models_have_pages(void **state) {
    (void)state;
    char alone[MAX_PATH];
    join(alone, folder, "model/0");
    put_text(alone, "alignment.json", "{\"source\":\"/home/me/out\",\"scale\":2.5}");
    assert_ok(ctx, psfm_report_write(ctx, alone, NULL));
    cJSON *data = data_of(alone, "report.html");
    assert_true(cJSON_IsTrue(member(data, "isBare")));
    assert_close(number_of(member(data, "alignment"), "scale"), 2.5, 0.0);
    assert_true(cJSON_IsNull(member(member(data, "alignment"), "source")));
    cJSON_Delete(data);
}

/* ---- two runs ---- */

/* A run beside itself: nothing differs, and the folders are named as they were given. */
static void a_run_is_like_itself(void **state) {
    (void)state;
    char path[MAX_PATH];
    join(path, folder, "two.html");
    assert_ok(ctx, psfm_report_compare(ctx, folder, folder, NULL, path));
    cJSON *data = data_of(folder, "two.html");
    const cJSON *comparison = member(data, "comparison");
    assert_close(number_of(comparison, "common"), 2.0, 0.0);
    assert_close(number_of(comparison, "max_position"), 0.0, 1e-9);
    assert_close(number_of(comparison, "max_rotation_deg"), 0.0, 1e-5);
    for (int k = 0; k < 2; ++k)
        assert_string_equal(entry(member(data, "other"), "labels", k)->valuestring, folder);
    cJSON_Delete(data);
    assert_int_not_equal(psfm_report_compare(ctx, folder, photos, NULL, path), PSFM_OK);
    data = data_of(folder, "two.html"); /* it is there still */
    cJSON_Delete(data);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, open_folder, drop_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_data_are_those_of_the_files),
        TEST(pages_keep_secrets_and_their_shape),
        TEST(thumbnails_are_those_of_the_photographs),
        TEST(photographs_are_where_the_graph_says),
        TEST(memory_makes_the_page_of_the_files),
        TEST(failures_leave_the_old_page),
        TEST(small_runs_have_pages),
        TEST(models_have_pages),
        TEST(a_run_is_like_itself),
    };
    ctx = psfm_context_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    psfm_context_destroy(&ctx);
    return failed;
}
