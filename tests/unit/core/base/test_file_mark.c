/* Files are known again by their contents, whatever size and times they have. */
#include "core/base/file_mark.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"
#include "test_util.h"

typedef struct {
    char folder[32], a[64], b[64];
} two_files;

static void put_bytes(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void set_time(const char *path) {
    const struct timespec times[2] = {{1000, 5}, {1000, 5}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Two files of one size and one time. */
static two_files make_files(void) {
    two_files f = {.folder = "/tmp/psfm_marks_XXXXXX"};
    assert_non_null(mkdtemp(f.folder));
    snprintf(f.a, sizeof f.a, "%s/a", f.folder);
    snprintf(f.b, sizeof f.b, "%s/b", f.folder);
    put_bytes(f.a, "one", 3);
    put_bytes(f.b, "two", 3);
    set_time(f.a);
    set_time(f.b);
    return f;
}

static psfm_file_mark full_mark(const char *path) {
    psfm_file_mark mark = psfm_file_mark_of(path);
    assert_ok(NULL, psfm_file_contents(NULL, path, &mark.contents));
    return mark;
}

static bool is_same(const char *path, const psfm_file_mark *before) {
    psfm_file_mark now = psfm_file_mark_of(path);
    bool same = false;
    assert_ok(NULL, psfm_file_mark_compare(NULL, path, before, &now, &same));
    assert_true(!same || now.contents == before->contents);
    return same;
}

static void swapped_files_are_told(void **state) {
    (void)state;
    two_files f = make_files();
    const psfm_file_mark a = full_mark(f.a), b = full_mark(f.b);
    char other[80];
    snprintf(other, sizeof other, "%s.other", f.a);
    assert_true(is_same(f.a, &a) && is_same(f.b, &b) && !is_same(f.a, &b));
    assert_int_equal(rename(f.a, other), 0);
    assert_int_equal(rename(f.b, f.a), 0);
    assert_int_equal(rename(other, f.b), 0);
    assert_true(!is_same(f.a, &a) && !is_same(f.b, &b));
    assert_true(is_same(f.a, &b) && is_same(f.b, &a)); /* renamed is not changed */
    put_bytes(f.a, "2wo", 3);                          /* in its place, with its time */
    set_time(f.a);
    assert_false(is_same(f.a, &b));
    assert_ok(NULL, psfm_remove_all(NULL, f.folder));
    assert_false(is_same(f.a, &b));
}

/* As databases of earlier versions have them. */
static void marks_without_contents_go_by_time(void **state) {
    (void)state;
    two_files f = make_files();
    const char *end;
    psfm_file_mark mark;
    assert_true(psfm_file_mark_parse("3@1000.000000005 -", &end, &mark));
    assert_string_equal(end, " -");
    assert_true(is_same(f.a, &mark) && is_same(f.b, &mark));
    assert_true(psfm_file_mark_parse("3@1001.000000005", &end, &mark));
    assert_false(is_same(f.a, &mark));
    assert_ok(NULL, psfm_remove_all(NULL, f.folder));
}

static void text_gives_the_mark_back(void **state) {
    (void)state;
    static const char *const bad[] = {"", "x", "3", "3@", "3@1", "3@1.5#", "3@1.5#7@8.9=0"};
    const psfm_file_mark longest = {
        true, INT64_MAX, {INT64_MIN, 999999999}, {INT64_MIN, 999999999}, UINT64_MAX, UINT64_MAX};
    char text[PSFM_FILE_MARK_SIZE], again[PSFM_FILE_MARK_SIZE];
    const char *end;
    psfm_file_mark mark;
    psfm_file_mark_print(&longest, text);
    assert_true(psfm_file_mark_parse(text, &end, &mark) && *end == '\0');
    psfm_file_mark_print(&mark, again);
    assert_string_equal(text, again);
    assert_true(psfm_file_mark_parse("-", &end, &mark) && !mark.is_there);
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k)
        assert_false(psfm_file_mark_parse(bad[k], &end, &mark));
}

/* A file that is read in parts has the hash of its bytes; every byte and the size count. */
static void contents_are_all_bytes(void **state) {
    (void)state;
    enum { SIZE = 200003 };
    static char bytes[SIZE];
    two_files f = make_files();
    uint64_t whole;
    for (int k = 0; k < SIZE; ++k)
        bytes[k] = (char)(k * 31 % 251);
    put_bytes(f.a, bytes, SIZE);
    assert_ok(NULL, psfm_file_contents(NULL, f.a, &whole));
    assert_true(whole == psfm_bytes_contents(bytes, SIZE));
    assert_true(whole != psfm_bytes_contents(bytes, SIZE - 1));
    for (int k = 0; k < SIZE; k += k < 100 || k > SIZE - 100 ? 1 : 997) {
        bytes[k] ^= 1;
        assert_true(whole != psfm_bytes_contents(bytes, SIZE));
        bytes[k] ^= 1;
    }
    bytes[0] = 0;
    assert_true(psfm_bytes_contents(bytes, 1) != psfm_bytes_contents(bytes, 0));
    assert_int_equal(psfm_file_contents(NULL, "/nowhere", &whole), PSFM_ERR_IO);
    assert_ok(NULL, psfm_remove_all(NULL, f.folder));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swapped_files_are_told),
        cmocka_unit_test(marks_without_contents_go_by_time),
        cmocka_unit_test(text_gives_the_mark_back),
        cmocka_unit_test(contents_are_all_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
