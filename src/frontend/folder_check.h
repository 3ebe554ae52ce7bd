/* What a folder of photographs looks like, told before hours are spent on it. */
#ifndef PSFM_FRONTEND_FOLDER_CHECK_H
#define PSFM_FRONTEND_FOLDER_CHECK_H

#include "images/image/image_list.h"

/* Warns of what is hardly meant: several folders below the one that was given, thousands of
 * photographs, the same one twice, thumbnails beside their originals, raw files and videos. Reads
 * the sizes of the files, the heads of the photographs, and of those of one size some bytes. */
psfm_status psfm_folder_check(psfm_context *ctx, const char *folder, const psfm_image_list *files);

#endif
