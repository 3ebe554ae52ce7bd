/* Scratch folders, small files and COLMAP itself, for the tests of the readers and writers. */
#ifndef PSFM_TEST_IO_UTIL_H
#define PSFM_TEST_IO_UTIL_H

#include "test_util.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"

#define MAX_PATH 512

/* A fresh folder; remove_scratch takes it away. */
static inline void make_scratch(char path[MAX_PATH]) {
    const char *base = getenv("TMPDIR");
    if (base == NULL) /* in memory if it can be had: no waiting for a disk */
        base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, MAX_PATH, "%s/planarsfm-test-XXXXXX", base);
    assert_non_null(mkdtemp(path));
}

static inline void remove_scratch(const char *path) {
    assert_int_equal(psfm_remove_all(NULL, path), PSFM_OK);
}

static inline void join(char out[MAX_PATH], const char *folder, const char *name) {
    assert_true(snprintf(out, MAX_PATH, "%s/%s", folder, name) < MAX_PATH);
}

static inline void put_file(const char *folder, const char *name, const void *bytes, size_t size) {
    char path[MAX_PATH];
    join(path, folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void put_text(const char *folder, const char *name, const char *text) {
    put_file(folder, name, text, strlen(text));
}

/* The whole file; free it. */
static inline char *get_file(const char *folder, const char *name, size_t *size) {
    char path[MAX_PATH], *bytes = NULL;
    join(path, folder, name);
    assert_int_equal(psfm_read_file(NULL, path, 1 << 28, &bytes, size), PSFM_OK);
    return bytes;
}

static inline bool exists(const char *folder, const char *name) {
    char path[MAX_PATH];
    struct stat info;
    join(path, folder, name);
    return lstat(path, &info) == 0;
}

static inline size_t count_files(const char *folder) {
    size_t num = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        num += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return num;
}

/* The message must hold a piece of text. */
static inline void assert_message(psfm_context *ctx, const char *piece) {
    if (strstr(psfm_context_message(ctx), piece) == NULL)
        fail_msg("'%s' is not in the message '%s'", piece, psfm_context_message(ctx));
}

static inline bool has_colmap(void) {
    return system("command -v colmap > /dev/null 2>&1") == 0;
}

/* Runs `colmap ARGUMENTS` in a folder; its output goes to colmap.log there. True if it said it
 * was content. */
static inline bool run_colmap(const char *folder, const char *arguments) {
    char command[4 * MAX_PATH];
    assert_true(snprintf(command, sizeof command,
                         "cd '%s' && QT_QPA_PLATFORM=offscreen OMP_NUM_THREADS=1 "
                         "OPENBLAS_NUM_THREADS=1 colmap %s > colmap.log 2>&1",
                         folder, arguments) < (int)sizeof command);
    return system(command) == 0;
}

#endif
