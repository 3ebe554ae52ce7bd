/* Whether photographs are still those that the features of a database came from. */
#ifndef PSFM_FRONTEND_PHOTO_CHANGES_H
#define PSFM_FRONTEND_PHOTO_CHANGES_H

#include "core/base/context.h"

/* Logs a warning for every photograph of the folder that is not the one that psfm_extract_folder
 * took features of: another size or other contents, which are read only where the file may be
 * another one. Databases of earlier versions tell sizes only. Photographs that are missing, or
 * images that somebody else put into the database, are passed over. */
psfm_status psfm_warn_changed_photos(psfm_context *ctx, const char *database, const char *folder);

/* Whether the file has the size that the key of extraction records; true if it records none. */
psfm_status psfm_is_same_size(psfm_context *ctx, const char *folder, const char *name,
                              const char *key, bool *same);

#endif
