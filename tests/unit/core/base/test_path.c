#include "test_util.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/output.h"
#include "core/base/path.h"

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

static void reads_whole_files_up_to_a_size(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char *path = inside(ctx, "text"), *text = NULL;
    size_t size;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("first", file);
    fclose(file);
    assert_ok(ctx, psfm_read_file(ctx, path, 5, &text, &size));
    assert_string_equal(text, "first");
    assert_int_equal(size, 5);
    free(text);
    assert_int_equal(psfm_read_file(ctx, path, 4, &text, &size), PSFM_ERR_FORMAT);
    assert_int_equal(psfm_read_file(ctx, folder, 100, &text, &size), PSFM_ERR_IO);
    assert_null(text);
    free(path);
    psfm_context_destroy(&ctx);
}

static void a_file_in_the_way_is_named(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char *file = inside(ctx, "plain"), *below = inside(ctx, "plain/sub");
    FILE *plain = fopen(file, "w");
    assert_non_null(plain);
    fclose(plain);
    assert_int_equal(psfm_make_folders(ctx, below), PSFM_ERR_IO);
    assert_int_equal(psfm_make_folders(ctx, file), PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "plain"));
    free(file);
    free(below);
    psfm_context_destroy(&ctx);
}

static void empty_paths_stand_for_nothing(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    psfm_output out = {0};
    char *bytes = NULL, *target = NULL, *tmp = NULL;
    size_t size;
    assert_int_equal(psfm_path_check(ctx, ""), PSFM_ERR_ARGUMENT);
    assert_non_null(strstr(psfm_context_message(ctx), "empty"));
    assert_int_equal(psfm_make_folders(ctx, ""), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_read_file(ctx, "", 10, &bytes, &size), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_output_open(ctx, "", &out), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_output_temporary(ctx, "", &target, &tmp), PSFM_ERR_ARGUMENT);
    assert_int_equal(psfm_output_folder_open(ctx, "", &tmp), PSFM_ERR_ARGUMENT);
    assert_ok(ctx, psfm_make_folders(ctx, "/"));
    psfm_context_destroy(&ctx);
}

static void photographs_stay_below_their_folder(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static const char *const bad[] = {"..", "../a", "a/..", "a/../b", "/../a", "a//../b"};
    static const char *const good[] = {"a", "a/b..", "..a/b", "a/.../b", "/etc/passwd", ""};
    char *out = NULL;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
        assert_int_equal(psfm_photo_path(ctx, folder, bad[k], &out), PSFM_ERR_IO);
        assert_null(out);
    }
    for (size_t k = 0; k < sizeof good / sizeof good[0]; ++k) {
        assert_ok(ctx, psfm_photo_path(ctx, folder, good[k], &out));
        assert_int_equal(strncmp(out, folder, strlen(folder)), 0);
        free(out);
    }
    psfm_context_destroy(&ctx);
}

/* Without anybody at the other end of the pipe. */
static void pipes_are_not_waited_for(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char *path = inside(ctx, "pipe"), *bytes = NULL;
    size_t size;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(psfm_read_file(ctx, path, 10, &bytes, &size), PSFM_ERR_IO);
    assert_non_null(strstr(psfm_context_message(ctx), "not a regular file"));
    free(path);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins),
        cmocka_unit_test(reads_whole_files_up_to_a_size),
        cmocka_unit_test(empty_paths_stand_for_nothing),
        cmocka_unit_test(photographs_stay_below_their_folder),
        cmocka_unit_test(pipes_are_not_waited_for),
        cmocka_unit_test(a_file_in_the_way_is_named),
    };
    return cmocka_run_group_tests_name("base/path", tests, make_scratch, remove_scratch);
}
