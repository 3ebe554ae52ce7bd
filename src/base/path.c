/* Paths, folders, whole files.
 *
 * Output goes to NAME.tmp beside the target, is flushed and synced, and is renamed into place: a
 * reader sees the old file or the new one, never a part. Folders are renamed likewise; the old one
 * is removed just before the rename. */
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

psfm_status psfm_path_join(psfm_context *ctx, const char *folder, const char *name, char **out) {
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    size_t size = length + strlen(name) + 2;
    psfm_status status = PSFM_ALLOC(ctx, size, out);
    if (status == PSFM_OK)
        snprintf(*out, size, "%s%s%s", folder, length == 0 ? "" : slash, name);
    return status;
}

bool psfm_path_is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool psfm_path_is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

psfm_status psfm_make_folders(psfm_context *ctx, const char *path) {
    char *part = NULL;
    psfm_status status = psfm_strdup(ctx, path, &part);
    if (status != PSFM_OK)
        return status;
    for (char *p = part + 1; status == PSFM_OK; ++p) {
        if (*p != '/' && *p != '\0')
            continue;
        bool last = *p == '\0';
        *p = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            status =
                psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot create folder: %s", path, strerror(errno));
        else if (last && !psfm_path_is_folder(part))
            status = psfm_fail(ctx, PSFM_ERR_IO, "%s: exists and is not a folder", path);
        if (last)
            break;
        *p = '/';
    }
    free(part);
    return status;
}

static psfm_status remove_folder(psfm_context *ctx, const char *path) {
    DIR *dir = opendir(path);
    if (dir == NULL)
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot open folder: %s", path, strerror(errno));
    psfm_status status = PSFM_OK;
    for (struct dirent *entry; status == PSFM_OK && (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *child = NULL;
        status = psfm_path_join(ctx, path, entry->d_name, &child);
        if (status == PSFM_OK)
            status = psfm_remove_all(ctx, child);
        free(child);
    }
    closedir(dir);
    if (status == PSFM_OK && rmdir(path) != 0)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot remove: %s", path, strerror(errno));
    return status;
}

psfm_status psfm_remove_all(psfm_context *ctx, const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0)
        return errno == ENOENT ? PSFM_OK
                               : psfm_fail(ctx, PSFM_ERR_IO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return remove_folder(ctx, path);
    if (unlink(path) != 0)
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot remove: %s", path, strerror(errno));
    return PSFM_OK;
}

psfm_status psfm_read_file(psfm_context *ctx, const char *path, size_t max_size, char **out,
                           size_t *size) {
    char *bytes = NULL;
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    psfm_status status = PSFM_OK;
    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode))
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: not a regular file", path);
    else if ((size_t)info.st_size > max_size)
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: %zu bytes, more than the limit of %zu", path,
                           (size_t)info.st_size, max_size);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)info.st_size + 1, &bytes);
    if (status == PSFM_OK) {
        size_t wanted = (size_t)info.st_size;
        *size = fread(bytes, 1, wanted, file);
        if (*size != wanted)
            status = psfm_fail(ctx, PSFM_ERR_IO, "%s: read %zu of %zu bytes", path, *size, wanted);
    }
    fclose(file);
    if (status != PSFM_OK) {
        free(bytes);
        bytes = NULL;
    }
    *out = bytes;
    return status;
}

static psfm_status temporary_name(psfm_context *ctx, const char *path, char **out) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        --length;
    psfm_status status = PSFM_ALLOC(ctx, length + 5, out);
    if (status == PSFM_OK)
        snprintf(*out, length + 5, "%.*s.tmp", (int)length, path);
    return status;
}

psfm_status psfm_output_open(psfm_context *ctx, const char *path, psfm_output *out) {
    psfm_output opened = {0};
    psfm_status status = psfm_strdup(ctx, path, &opened.path);
    if (status == PSFM_OK)
        status = temporary_name(ctx, path, &opened.tmp_path);
    if (status == PSFM_OK) {
        opened.file = fopen(opened.tmp_path, "wb");
        if (opened.file == NULL)
            status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    }
    if (status != PSFM_OK) {
        free(opened.path);
        free(opened.tmp_path);
        return status;
    }
    *out = opened;
    return PSFM_OK;
}

psfm_status psfm_output_commit(psfm_context *ctx, psfm_output *out) {
    psfm_status status = PSFM_OK;
    if (ferror(out->file) || fflush(out->file) != 0 || fsync(fileno(out->file)) != 0)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: write failed: %s", out->path, strerror(errno));
    if (fclose(out->file) != 0 && status == PSFM_OK)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: write failed: %s", out->path, strerror(errno));
    out->file = NULL;
    if (status == PSFM_OK && rename(out->tmp_path, out->path) != 0)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot rename into place: %s", out->path,
                           strerror(errno));
    if (status != PSFM_OK)
        unlink(out->tmp_path);
    free(out->path);
    free(out->tmp_path);
    *out = (psfm_output){0};
    return status;
}

void psfm_output_abort(psfm_output *out) {
    if (out->file != NULL) {
        fclose(out->file);
        unlink(out->tmp_path);
    }
    free(out->path);
    free(out->tmp_path);
    *out = (psfm_output){0};
}

psfm_status psfm_output_folder_open(psfm_context *ctx, const char *path, char **tmp_path) {
    char *name = NULL;
    psfm_status status = temporary_name(ctx, path, &name);
    if (status == PSFM_OK)
        status = psfm_remove_all(ctx, name); /* left over from an interrupted run */
    if (status == PSFM_OK)
        status = psfm_make_folders(ctx, name);
    if (status != PSFM_OK) {
        free(name);
        name = NULL;
    }
    *tmp_path = name;
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
