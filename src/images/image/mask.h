/* Masks: where no features are wanted. */
#ifndef PSFM_IMAGE_MASK_H
#define PSFM_IMAGE_MASK_H

#include "images/image/image_io.h"

/* FOLDER/NAME.png; *path is malloc'ed. */
psfm_status psfm_mask_path(psfm_context *ctx, const char *folder, const char *name, char **path);

/* Reads FOLDER/NAME.png (COLMAP's naming: the mask of a/b.jpg is a/b.jpg.png), in which black
 * pixels (gray value 0) forbid features. *found is false, and mask empty, if there is no such file:
 * then the whole image is free. A mask of another size than width x height is a failure. The
 * caller frees the mask with psfm_image_free. */
psfm_status psfm_mask_read(psfm_context *ctx, const char *folder, const char *name, int width,
                           int height, psfm_image *mask, bool *found);

/* Whether a point (pixels, centre of the first pixel at 0.5) is outside the image or on black. */
bool psfm_mask_forbids(const psfm_image *mask, double x, double y);

#endif
