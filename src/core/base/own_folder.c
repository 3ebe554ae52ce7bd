/* Folders that a command writes anew each time. It leaves a mark there; a folder without the mark
 * is somebody's, and nothing in it is replaced. The mark comes before the first file: what a
 * command that fails has left is then no hindrance to the next one. */
#include "core/base/own_folder.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/output.h"
#include "core/base/path.h"

#define MARK ".planarsfm-made"

static psfm_status find_file(psfm_context *ctx, const char *folder, const char *name, bool *found) {
    struct stat info;
    char *path = NULL;
    psfm_status status = psfm_path_join(ctx, folder, name, &path);
    *found = status == PSFM_OK && lstat(path, &info) == 0;
    free(path);
    return status;
}

/* The first of its files that is there, NULL if there is none. */
static psfm_status find_any(psfm_context *ctx, const psfm_own_folder *folder, const char **name) {
    psfm_status status = PSFM_OK;
    *name = NULL;
    for (const char *const *n = folder->names; status == PSFM_OK && *n != NULL; ++n) {
        bool is_there = false;
        status = find_file(ctx, folder->path, *n, &is_there);
        if (is_there && *name == NULL)
            *name = *n;
    }
    return status;
}

static psfm_status mark_folder(psfm_context *ctx, const char *folder) {
    char *path = NULL;
    psfm_output out = {0};
    psfm_status status = psfm_make_folders(ctx, folder);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, folder, MARK, &path);
    if (status == PSFM_OK)
        status = psfm_output_open(ctx, path, &out);
    if (status == PSFM_OK) {
        fprintf(out.file, "planarsfm made this folder and may write it anew\n");
        status = psfm_output_commit(ctx, &out);
    }
    free(path);
    return status;
}

psfm_status psfm_own_folder_take(psfm_context *ctx, psfm_own_folder *folder) {
    bool is_ours = false;
    const char *name = NULL;
    folder->is_taken = false;
    psfm_status status = find_file(ctx, folder->path, MARK, &is_ours);
    if (status == PSFM_OK && !is_ours)
        status = find_any(ctx, folder, &name);
    if (status == PSFM_OK && name != NULL)
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                           "%s/%s: is there already and would be replaced; move it or choose "
                           "another folder",
                           folder->path, name);
    if (status != PSFM_OK)
        return status;
    folder->is_new = !psfm_path_is_folder(folder->path);
    folder->is_taken = true;
    return is_ours ? PSFM_OK : mark_folder(ctx, folder->path);
}

void psfm_own_folder_leave(const psfm_own_folder *folder) {
    const char *name = NULL;
    char *path = NULL;
    if (!folder->is_taken || find_any(NULL, folder, &name) != PSFM_OK || name != NULL)
        return;
    if (psfm_path_join(NULL, folder->path, MARK, &path) == PSFM_OK)
        unlink(path);
    if (folder->is_new)
        rmdir(folder->path);
    free(path);
}
