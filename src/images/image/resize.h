/* Making images smaller. */
#ifndef PSFM_IMAGE_RESIZE_H
#define PSFM_IMAGE_RESIZE_H

#include "images/image/image_io.h"

/* The size that an image shall have when its longer side is to be at most max_size pixels: as
 * COLMAP, the longer side becomes max_size and the other is cut to whole pixels, at least 1.
 * Unchanged if the image is small enough already, or max_size <= 0. */
void psfm_resize_dimensions(int width, int height, int max_size, int *new_width, int *new_height);

/* Averages over the area of each new pixel, gray and (if there) RGB. The new size is at most the
 * old one in both directions. Pixel coordinates scale by new_width / width and new_height /
 * height exactly; psfm_camera_scale does it for intrinsics. *out is freed by the caller. */
psfm_status psfm_image_shrink(psfm_context *ctx, const psfm_image *image, int new_width,
                              int new_height, psfm_image *out);

#endif
