/* What can be known against a photograph before hours of work. */
#ifndef PSFM_FRONTEND_PHOTO_CHECK_H
#define PSFM_FRONTEND_PHOTO_CHECK_H

#include "frontend/intrinsics.h"

/* Looks at the name and the header of folder/name. *reason, malloc'ed, tells why the photograph
 * cannot be used: its name does not fit into a line of a text file, given intrinsics do not know
 * it, or its size is not that of the camera that was given for it. NULL if there is nothing against
 * it.
 */
psfm_status psfm_photo_check(psfm_context *ctx, const char *folder, const char *name,
                             psfm_intrinsics *intrinsics, char **reason);

#endif
