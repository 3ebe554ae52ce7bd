/* Folders that a command writes anew each time. It leaves a mark there; a folder without the mark
 * is somebody's, and nothing in it is replaced. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/output.h"
#include "base/path.h"
#include "cli.h"

#define MARK ".planarsfm-made"

static psfm_status find(psfm_context *ctx, const char *folder, const char *name, bool *found) {
    struct stat info;
    char *path = NULL;
    psfm_status status = psfm_path_join(ctx, folder, name, &path);
    *found = status == PSFM_OK && lstat(path, &info) == 0;
    free(path);
    return status;
}

psfm_status cli_mark_folder(psfm_context *ctx, const char *folder) {
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

psfm_status cli_mark_after(psfm_context *ctx, psfm_status status, const char *folder,
                           const char *first) {
    bool begun = false;
    if (status == PSFM_OK)
        return cli_mark_folder(ctx, folder);
    if (find(NULL, folder, first, &begun) == PSFM_OK && begun)
        (void)cli_mark_folder(NULL, folder); /* why the command failed is what is told */
    return status;
}

psfm_status cli_check_folder(psfm_context *ctx, const char *folder, const char *const *names) {
    bool is_ours = false;
    psfm_status status = find(ctx, folder, MARK, &is_ours);
    if (status != PSFM_OK || is_ours)
        return status;
    for (; status == PSFM_OK && *names != NULL; ++names) {
        bool is_there = false;
        status = find(ctx, folder, *names, &is_there);
        if (status == PSFM_OK && is_there)
            status = psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                               "%s/%s: is there already and would be replaced; move it or choose "
                               "another folder",
                               folder, *names);
    }
    return status;
}
