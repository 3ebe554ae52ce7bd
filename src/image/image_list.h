/* The images of a folder. */
#ifndef PSFM_IMAGE_IMAGE_LIST_H
#define PSFM_IMAGE_IMAGE_LIST_H

#include <stddef.h>

#include "base/context.h"

/* Names are relative to the folder, with '/' between parts, sorted by their bytes. Owns them. */
typedef struct {
    char **names;
    size_t num;
    char **others; /* files that are neither JPEG nor PNG by their first bytes */
    size_t num_others;
} psfm_image_list;

/* Lists the files below a folder. Entries whose name starts with '.' are left out, and links to
 * folders are not followed (they may form circles). An empty list is not a failure. */
psfm_status psfm_image_list_folder(psfm_context *ctx, const char *folder, psfm_image_list *list);

void psfm_image_list_free(psfm_image_list *list);

#endif
