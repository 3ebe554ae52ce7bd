#include "test_util.h"

#include <unistd.h>

#include "base/path.h"

static char folder[] = "/tmp/psfm_path_XXXXXX";

static int make_scratch(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_scratch(void **state) {
    (void)state;
    return psfm_remove_all(NULL, folder) != PSFM_OK || psfm_path_is_folder(folder);
}

static char *inside(psfm_context *ctx, const char *name) {
    char *path = NULL;
    assert_ok(ctx, psfm_path_join(ctx, folder, name, &path));
    return path;
}

static void joins(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    const char *cases[][3] = {{"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "b"}};
    for (size_t k = 0; k < 3; ++k) {
        char *path = NULL;
        assert_ok(ctx, psfm_path_join(ctx, cases[k][0], cases[k][1], &path));
        assert_string_equal(path, cases[k][2]);
        free(path);
    }
    psfm_context_destroy(&ctx);
}

static void writes_whole_or_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char *path = inside(ctx, "file.txt"), *text = NULL;
    size_t size;
    psfm_output out = {0};
    assert_ok(ctx, psfm_output_open(ctx, path, &out));
    fputs("first", out.file);
    assert_false(psfm_path_is_file(path));
    assert_ok(ctx, psfm_output_commit(ctx, &out));
    psfm_output_abort(&out);
    assert_ok(ctx, psfm_output_open(ctx, path, &out));
    fputs("second", out.file);
    psfm_output_abort(&out);
    assert_ok(ctx, psfm_read_file(ctx, path, 100, &text, &size));
    assert_string_equal(text, "first");
    assert_int_equal(size, 5);
    free(text);
    assert_int_equal(psfm_read_file(ctx, path, 4, &text, &size), PSFM_ERR_FORMAT);
    assert_int_equal(psfm_read_file(ctx, folder, 100, &text, &size), PSFM_ERR_IO);
    assert_null(text);
    free(path);
    psfm_context_destroy(&ctx);
}

static void reports_a_full_disk(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    psfm_context *ctx = psfm_context_create();
    char *path = inside(ctx, "full.txt");
    psfm_output out = {0};
    assert_ok(ctx, psfm_output_open(ctx, path, &out));
    assert_non_null(freopen("/dev/full", "wb", out.file));
    fputs("does not fit", out.file);
    assert_int_equal(psfm_output_commit(ctx, &out), PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "full.txt"));
    assert_false(psfm_path_is_file(path));
    free(path);
    psfm_context_destroy(&ctx);
}

static void replaces_folders(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char *path = inside(ctx, "deep/er/model"), *tmp = NULL, *child = NULL;
    for (int round = 0; round < 2; ++round) {
        assert_ok(ctx, psfm_output_folder_open(ctx, path, &tmp));
        assert_ok(ctx, psfm_path_join(ctx, tmp, round == 0 ? "old" : "new", &child));
        assert_ok(ctx, psfm_make_folders(ctx, child));
        free(child);
        assert_ok(ctx, psfm_output_folder_commit(ctx, path, &tmp));
        assert_null(tmp);
    }
    char *old = inside(ctx, "deep/er/model/old"), *new = inside(ctx, "deep/er/model/new");
    assert_false(psfm_path_is_folder(old));
    assert_true(psfm_path_is_folder(new));
    assert_ok(ctx, psfm_output_folder_open(ctx, path, &tmp));
    psfm_output_folder_abort(&tmp);
    assert_true(psfm_path_is_folder(new));
    free(old);
    free(new);
    free(path);
    psfm_context_destroy(&ctx);
}

static void a_file_in_the_way_is_named(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char *file = inside(ctx, "plain"), *below = inside(ctx, "plain/sub");
    psfm_output out = {0};
    assert_ok(ctx, psfm_output_open(ctx, file, &out));
    assert_ok(ctx, psfm_output_commit(ctx, &out));
    assert_int_equal(psfm_make_folders(ctx, below), PSFM_ERR_IO);
    assert_int_equal(psfm_make_folders(ctx, file), PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "plain"));
    free(file);
    free(below);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins),
        cmocka_unit_test(writes_whole_or_nothing),
        cmocka_unit_test(reports_a_full_disk),
        cmocka_unit_test(replaces_folders),
        cmocka_unit_test(a_file_in_the_way_is_named),
    };
    return cmocka_run_group_tests_name("base/path", tests, make_scratch, remove_scratch);
}
