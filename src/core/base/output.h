/* Files that are whole or absent: everything is written under a temporary name in the same folder
 * and renamed at the end. */
#ifndef PSFM_BASE_OUTPUT_H
#define PSFM_BASE_OUTPUT_H

#include <stdio.h>

#include "core/base/context.h"

/* A file being written. */
typedef struct {
    FILE *file;
    char *path;     /* its final name */
    char *tmp_path; /* its name until commit; NULL: a device or pipe, written as it comes */
} psfm_output;

/* Opens a file for writing that will replace `path` when it is committed. A symbolic link stays and
 * what it leads to is replaced; a device or a named pipe is written through. Zero-initialise `out`
 * before. */
psfm_status psfm_output_open(psfm_context *ctx, const char *path, psfm_output *out);
/* Flushes, checks for write errors, renames to the final name. Frees on success and failure. */
psfm_status psfm_output_commit(psfm_context *ctx, psfm_output *out);
/* Drops the file unless it was committed. Safe on a zeroed or committed one: call in cleanup. */
void psfm_output_abort(psfm_output *out);

/* For files that another library writes: *target is the regular file that `path` stands for, which
 * need not exist, *tmp_path a new empty file beside it to be filled and renamed to *target. Both
 * are malloc'ed. */
psfm_status psfm_output_temporary(psfm_context *ctx, const char *path, char **target,
                                  char **tmp_path);

/* A folder being written: *tmp_path is a fresh folder beside `path`; fill it, then commit (which
 * replaces an existing folder `path`) or abort (which removes it). Both free and clear tmp_path.
 * The caller makes sure that nobody misses what is in `path`. */
psfm_status psfm_output_folder_open(psfm_context *ctx, const char *path, char **tmp_path);
psfm_status psfm_output_folder_commit(psfm_context *ctx, const char *path, char **tmp_path);
void psfm_output_folder_abort(char **tmp_path);

#endif
