/* Paths, and files that are whole or absent: everything is written under a temporary name in the
 * same folder and renamed at the end. */
#ifndef PSFM_BASE_PATH_H
#define PSFM_BASE_PATH_H

#include <stddef.h>
#include <stdio.h>

#include "base/context.h"

/* Joins two parts with one '/'; *out is malloc'ed. */
psfm_status psfm_path_join(psfm_context *ctx, const char *folder, const char *name, char **out);

bool psfm_path_is_file(const char *path);
bool psfm_path_is_folder(const char *path);

/* Creates a folder and its missing parents; an existing folder is fine. */
psfm_status psfm_make_folders(psfm_context *ctx, const char *path);

/* Removes a file or a folder with everything in it; a missing one is fine. */
psfm_status psfm_remove_all(psfm_context *ctx, const char *path);

/* Reads a whole file into *out (malloc'ed, one extra '\0' byte after *size). Refuses anything
 * over max_size bytes and anything that is not a regular file. */
psfm_status psfm_read_file(psfm_context *ctx, const char *path, size_t max_size, char **out,
                           size_t *size);

/* A file being written. */
typedef struct {
    FILE *file;
    char *path;     /* its final name */
    char *tmp_path; /* its name until commit */
} psfm_output;

/* Opens PATH.tmp for writing. Zero-initialise `out` before. */
psfm_status psfm_output_open(psfm_context *ctx, const char *path, psfm_output *out);
/* Flushes, checks for write errors, renames to the final name. Frees on success and failure. */
psfm_status psfm_output_commit(psfm_context *ctx, psfm_output *out);
/* Drops the file unless it was committed. Safe on a zeroed or committed one: call in cleanup. */
void psfm_output_abort(psfm_output *out);

/* A folder being written: *tmp_path is a fresh folder beside `path`; fill it, then commit (which
 * replaces an existing folder `path`) or abort (which removes it). Both free and clear tmp_path. */
psfm_status psfm_output_folder_open(psfm_context *ctx, const char *path, char **tmp_path);
psfm_status psfm_output_folder_commit(psfm_context *ctx, const char *path, char **tmp_path);
void psfm_output_folder_abort(char **tmp_path);

#endif
