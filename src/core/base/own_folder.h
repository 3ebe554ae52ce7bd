/* Folders that are written anew each time. */
#ifndef PSFM_BASE_OWN_FOLDER_H
#define PSFM_BASE_OWN_FOLDER_H

#include <stdbool.h>

#include "core/base/context.h"

/* A folder that a command writes anew each time. */
typedef struct {
    const char *path;
    const char *const *names; /* of the files and folders that it writes there; NULL ends */
    bool is_taken, is_new;
} psfm_own_folder;

/* Makes sure that the folder may be written to: it is new, or has none of the named files, or was
 * written by planarsfm before; otherwise PSFM_ERR_ARGUMENT. Makes it and marks it as planarsfm's.
 */
psfm_status psfm_own_folder_take(psfm_context *ctx, psfm_own_folder *folder);
/* Ends the work in a folder. If nothing was written, the mark goes, and a new folder with it. */
void psfm_own_folder_leave(const psfm_own_folder *folder);

#endif
