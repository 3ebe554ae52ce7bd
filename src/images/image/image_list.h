/* The images of a folder. */
#ifndef PSFM_IMAGE_IMAGE_LIST_H
#define PSFM_IMAGE_IMAGE_LIST_H

#include <stddef.h>

#include "core/base/context.h"

/* Names are relative to the folder, with '/' between parts, sorted by their bytes. Owns them. */
typedef struct {
    char **names;
    size_t num;
    char **others; /* files that are no photographs by their first bytes */
    size_t num_others;
} psfm_image_list;

/* Lists the files below a folder. Entries whose name starts with '.' are left out, and links to
 * folders are not followed (they may form circles). An empty list is not a failure. */
psfm_status psfm_image_list_folder(psfm_context *ctx, const char *folder, psfm_image_list *list);

/* What psfm_image_list_open reads from a file, from size bytes, which it changes and which one more
 * byte follows, without looking for the files. folders: as the user says it, and absolute. */
psfm_status psfm_image_list_parse(psfm_context *ctx, char *bytes, size_t size, const char *path,
                                  const char *const folders[2], psfm_image_list *list);

/* The photographs that the text file `path` names: one path a line, relative to the folder or
 * absolute and below it; blank lines and lines that begin with '#' are passed over. Every file must
 * be there; whether it is a photograph is not looked at. An empty list is PSFM_ERR_DATA. NULL: all
 * that the folder has. */
psfm_status psfm_image_list_open(psfm_context *ctx, const char *folder, const char *path,
                                 psfm_image_list *list);

void psfm_image_list_free(psfm_image_list *list);

#endif
