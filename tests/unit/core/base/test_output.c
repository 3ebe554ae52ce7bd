#include "test_util.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/output.h"
#include "core/base/path.h"

static char folder[] = "/tmp/psfm_output_XXXXXX";

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

static void put(psfm_context *ctx, const char *path, const char *text) {
    psfm_output out = {0};
    assert_ok(ctx, psfm_output_open(ctx, path, &out));
    fputs(text, out.file);
    assert_ok(ctx, psfm_output_commit(ctx, &out));
}

static void expect(psfm_context *ctx, const char *path, const char *wanted) {
    char *text = NULL;
    size_t size;
    assert_ok(ctx, psfm_read_file(ctx, path, 100, &text, &size));
    assert_string_equal(text, wanted);
    free(text);
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

/* Names that a temporary file could have had are the user's; two files of one name do not meet. */
static void temporary_names_are_new(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char *path = inside(ctx, "a"), *users = inside(ctx, "a.tmp");
    psfm_output one = {0}, two = {0};
    put(ctx, users, "mine");
    assert_ok(ctx, psfm_output_open(ctx, path, &one));
    assert_ok(ctx, psfm_output_open(ctx, path, &two));
    assert_string_not_equal(one.tmp_path, two.tmp_path);
    fputs("one", one.file);
    fputs("two", two.file);
    assert_ok(ctx, psfm_output_commit(ctx, &one));
    assert_ok(ctx, psfm_output_commit(ctx, &two));
    expect(ctx, path, "two");
    expect(ctx, users, "mine");
    free(path);
    free(users);
    psfm_context_destroy(&ctx);
}

static void links_and_devices_stay(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    char *file = inside(ctx, "real"), *link = inside(ctx, "link"), *loose = inside(ctx, "loose");
    struct stat info;
    psfm_output out = {0};
    put(ctx, file, "old");
    assert_int_equal(symlink("real", link), 0);
    assert_int_equal(symlink("nowhere/x", loose), 0);
    put(ctx, link, "new");
    expect(ctx, file, "new");
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(psfm_output_open(ctx, loose, &out), PSFM_ERR_IO);
    assert_int_equal(psfm_output_open(ctx, folder, &out), PSFM_ERR_IO);
    put(ctx, "/dev/null", "gone");
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    free(file);
    free(link);
    free(loose);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_whole_or_nothing), cmocka_unit_test(reports_a_full_disk),
        cmocka_unit_test(replaces_folders),        cmocka_unit_test(temporary_names_are_new),
        cmocka_unit_test(links_and_devices_stay),
    };
    return cmocka_run_group_tests_name("base/output", tests, make_scratch, remove_scratch);
}
