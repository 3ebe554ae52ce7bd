/* Paths, folders, and whole files read. */
#ifndef PSFM_BASE_PATH_H
#define PSFM_BASE_PATH_H

#include <stddef.h>
#include <stdio.h>

#include "core/base/context.h"

/* Joins two parts with one '/'; *out is malloc'ed. */
psfm_status psfm_path_join(psfm_context *ctx, const char *folder, const char *name, char **out);

/* Refuses an empty path, which stands for nothing, with PSFM_ERR_ARGUMENT. */
psfm_status psfm_path_check(psfm_context *ctx, const char *path);

/* Where a photograph of a folder is. Names come from databases and models, which may be anybody's:
 * one with a part ".." is PSFM_ERR_IO, as a photograph that is not there. */
psfm_status psfm_photo_path(psfm_context *ctx, const char *folder, const char *name, char **out);

bool psfm_path_is_file(const char *path);
bool psfm_path_is_folder(const char *path);

/* Creates a folder and its missing parents; an existing folder is fine. */
psfm_status psfm_make_folders(psfm_context *ctx, const char *path);

/* Removes a file or a folder with everything in it; a missing one is fine. */
psfm_status psfm_remove_all(psfm_context *ctx, const char *path);

/* Whether a status says that a file, such as one photograph of many, cannot be used: the others
 * can. */
static inline bool psfm_is_bad_file(psfm_status status) {
    return status == PSFM_ERR_IO || status == PSFM_ERR_FORMAT || status == PSFM_ERR_DATA;
}

/* Opens a file for reading without waiting for the other end of a pipe; anything but a regular file
 * is PSFM_ERR_IO. */
psfm_status psfm_open_file(psfm_context *ctx, const char *path, FILE **file);

/* Reads a whole file into *out (malloc'ed, one extra '\0' byte after *size). Refuses anything
 * over max_size bytes and anything that is not a regular file. */
psfm_status psfm_read_file(psfm_context *ctx, const char *path, size_t max_size, char **out,
                           size_t *size);

/* Makes what happened to the names in the folder of `path` survive a loss of power, as far as the
 * file system lets it. */
void psfm_sync_parent(const char *path);

#endif
