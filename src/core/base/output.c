/* Whole files.
 *
 * Output goes to a new file of a name that nobody has, beside the target, is flushed and synced,
 * and is renamed into place: a reader sees the old file or the new one, never a part. Temporary
 * files are made with O_EXCL, so neither a file of the user's nor a link that somebody laid is ever
 * written to. Folders are renamed likewise; the old one is removed just before the rename. */
#include "core/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/hash.h"
#include "core/base/path.h"

enum { MAX_TRIES = 100 };

/* A number that differs between processes, calls and times. */
static uint64_t fresh_number(void) {
    static atomic_uint calls;
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long parts[] = {(long)getpid(), (long)atomic_fetch_add(&calls, 1), now.tv_sec,
                          now.tv_nsec};
    return psfm_hash(PSFM_HASH_START, parts, sizeof parts);
}

/* Makes a new file (open, in *descriptor) or, with descriptor NULL, a new folder beside `path`. */
static psfm_status make_temporary(psfm_context *ctx, const char *path, int *descriptor,
                                  char **out) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        --length;
    psfm_status status = PSFM_ALLOC(ctx, length + 32, out);
    for (int k = 0; status == PSFM_OK && k < MAX_TRIES; ++k) {
        snprintf(*out, length + 32, "%.*s.%016llx.tmp", (int)length, path,
                 (unsigned long long)fresh_number());
        int made = descriptor == NULL
                       ? mkdir(*out, 0777)
                       : open(*out, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (made >= 0) {
            if (descriptor != NULL)
                *descriptor = made;
            return PSFM_OK;
        }
        if (errno != EEXIST)
            break;
    }
    if (status == PSFM_OK)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    free(*out);
    *out = NULL;
    return status;
}

/* What `path` stands for: itself, or what a symbolic link leads to. */
static psfm_status find_target(psfm_context *ctx, const char *path, char **target,
                               bool *is_stream) {
    struct stat link, info;
    *is_stream = false;
    psfm_status status = psfm_path_check(ctx, path);
    if (status != PSFM_OK)
        return status;
    if (lstat(path, &link) != 0)
        return psfm_strdup(ctx, path, target); /* a new file, or a reason that opening will tell */
    if (stat(path, &info) != 0)
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: a symbolic link that leads nowhere: %s", path,
                         strerror(errno));
    if (S_ISDIR(info.st_mode))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: is a folder; a file is to be written", path);
    *is_stream = !S_ISREG(info.st_mode);
    if (*is_stream || !S_ISLNK(link.st_mode))
        return psfm_strdup(ctx, path, target);
    *target = realpath(path, NULL);
    return *target != NULL
               ? PSFM_OK
               : psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
}

static psfm_status open_stream(psfm_context *ctx, const char *path, int descriptor, FILE **file) {
    if (descriptor < 0)
        descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (*file != NULL)
        return PSFM_OK;
    psfm_status status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    if (descriptor >= 0)
        close(descriptor);
    return status;
}

psfm_status psfm_output_open(psfm_context *ctx, const char *path, psfm_output *out) {
    psfm_output opened = {0};
    bool is_stream;
    int descriptor = -1;
    psfm_status status = find_target(ctx, path, &opened.path, &is_stream);
    if (status == PSFM_OK && !is_stream)
        status = make_temporary(ctx, opened.path, &descriptor, &opened.tmp_path);
    if (status == PSFM_OK)
        status = open_stream(ctx, path, descriptor, &opened.file);
    if (status != PSFM_OK) {
        if (opened.tmp_path != NULL)
            unlink(opened.tmp_path);
        free(opened.path);
        free(opened.tmp_path);
        return status;
    }
    *out = opened;
    return PSFM_OK;
}

static psfm_status fail_to_write(psfm_context *ctx, const psfm_output *out, int reason) {
    return psfm_fail(ctx, PSFM_ERR_IO, "%s: write failed: %s", out->path, strerror(reason));
}

psfm_status psfm_output_commit(psfm_context *ctx, psfm_output *out) {
    psfm_status status = PSFM_OK;
    bool is_file = out->tmp_path != NULL;
    if (ferror(out->file) || fflush(out->file) != 0 || (is_file && fsync(fileno(out->file)) != 0))
        status = fail_to_write(ctx, out, errno);
    if (fclose(out->file) != 0 && status == PSFM_OK)
        status = fail_to_write(ctx, out, errno);
    out->file = NULL;
    if (status == PSFM_OK && is_file && rename(out->tmp_path, out->path) != 0)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot rename into place: %s", out->path,
                           strerror(errno));
    if (status == PSFM_OK && is_file)
        psfm_sync_parent(out->path);
    if (status != PSFM_OK && is_file)
        unlink(out->tmp_path);
    free(out->path);
    free(out->tmp_path);
    *out = (psfm_output){0};
    return status;
}

void psfm_output_abort(psfm_output *out) {
    if (out->file != NULL) {
        fclose(out->file);
        if (out->tmp_path != NULL)
            unlink(out->tmp_path);
    }
    free(out->path);
    free(out->tmp_path);
    *out = (psfm_output){0};
}

psfm_status psfm_output_temporary(psfm_context *ctx, const char *path, char **target,
                                  char **tmp_path) {
    bool is_stream;
    int descriptor = -1;
    *target = *tmp_path = NULL;
    psfm_status status = find_target(ctx, path, target, &is_stream);
    if (status == PSFM_OK && is_stream)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: exists and is not a regular file", path);
    if (status == PSFM_OK)
        status = make_temporary(ctx, *target, &descriptor, tmp_path);
    if (descriptor >= 0)
        close(descriptor);
    if (status != PSFM_OK) {
        free(*target);
        *target = NULL;
    }
    return status;
}

psfm_status psfm_output_folder_open(psfm_context *ctx, const char *path, char **tmp_path) {
    char *parent = NULL;
    *tmp_path = NULL;
    psfm_status status = psfm_path_check(ctx, path);
    if (status == PSFM_OK)
        status = psfm_strdup(ctx, path, &parent);
    if (status != PSFM_OK)
        return status;
    char *slash = strrchr(parent, '/');
    if (slash != NULL && slash != parent) {
        *slash = '\0';
        status = psfm_make_folders(ctx, parent);
    }
    if (status == PSFM_OK)
        status = make_temporary(ctx, path, NULL, tmp_path);
    free(parent);
    return status;
}

psfm_status psfm_output_folder_commit(psfm_context *ctx, const char *path, char **tmp_path) {
    psfm_status status = psfm_remove_all(ctx, path);
    if (status == PSFM_OK && rename(*tmp_path, path) != 0)
        status =
            psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot rename into place: %s", path, strerror(errno));
    if (status != PSFM_OK) {
        psfm_output_folder_abort(tmp_path);
        return status;
    }
    free(*tmp_path);
    *tmp_path = NULL;
    return PSFM_OK;
}

void psfm_output_folder_abort(char **tmp_path) {
    if (*tmp_path == NULL)
        return;
    /* Best effort: the folder carries a temporary name, so nothing reads what stays. */
    (void)!psfm_remove_all(NULL, *tmp_path);
    free(*tmp_path);
    *tmp_path = NULL;
}
