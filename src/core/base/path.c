/* Paths, folders, whole files read. */
#include "core/base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"

psfm_status psfm_path_join(psfm_context *ctx, const char *folder, const char *name, char **out) {
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    size_t size = length + strlen(name) + 2;
    psfm_status status = PSFM_ALLOC(ctx, size, out);
    if (status == PSFM_OK)
        snprintf(*out, size, "%s%s%s", folder, length == 0 ? "" : slash, name);
    return status;
}

psfm_status psfm_path_check(psfm_context *ctx, const char *path) {
    return path[0] != '\0'
               ? PSFM_OK
               : psfm_fail(ctx, PSFM_ERR_ARGUMENT, "the name of a file or folder is empty");
}

/* Whether a name goes up from where it starts. */
static bool has_parent_part(const char *name) {
    for (const char *part = name; *part != '\0';) {
        size_t length = strcspn(part, "/");
        if (length == 2 && strncmp(part, "..", 2) == 0)
            return true;
        part += length + (part[length] == '/');
    }
    return false;
}

psfm_status psfm_photo_path(psfm_context *ctx, const char *folder, const char *name, char **out) {
    *out = NULL;
    if (has_parent_part(name))
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: the name leads out of the folder %s", name, folder);
    return psfm_path_join(ctx, folder, name, out);
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
    psfm_status status = psfm_path_check(ctx, path);
    if (status == PSFM_OK)
        status = psfm_strdup(ctx, path, &part);
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

psfm_status psfm_open_file(psfm_context *ctx, const char *path, FILE **file) {
    struct stat info;
    *file = NULL;
    psfm_status status = psfm_path_check(ctx, path);
    if (status != PSFM_OK)
        return status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: not a regular file", path);
    else if ((*file = fdopen(descriptor, "rb")) == NULL)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    if (status != PSFM_OK)
        close(descriptor);
    return status;
}

psfm_status psfm_read_file(psfm_context *ctx, const char *path, size_t max_size, char **out,
                           size_t *size) {
    char *bytes = NULL;
    struct stat info = {0};
    FILE *file = NULL;
    psfm_status status = psfm_open_file(ctx, path, &file);
    *out = NULL;
    if (status != PSFM_OK)
        return status;
    if (fstat(fileno(file), &info) != 0)
        status = psfm_fail(ctx, PSFM_ERR_IO, "%s: %s", path, strerror(errno));
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

void psfm_sync_parent(const char *path) {
    char *folder = NULL;
    if (psfm_strdup(NULL, path, &folder) != PSFM_OK)
        return;
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder ? 1 : 0] = '\0';
    int descriptor = open(slash == NULL ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)!fsync(descriptor);
        close(descriptor);
    }
    free(folder);
}
