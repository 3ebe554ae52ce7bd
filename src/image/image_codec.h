/* What image_io.c needs from the codecs. */
#ifndef PSFM_IMAGE_IMAGE_CODEC_H
#define PSFM_IMAGE_IMAGE_CODEC_H

#include <stdio.h>

#include "image/image_io.h"

/* Decode into *image, which is empty; on failure it may be half filled, the caller frees it. A JPEG
 * may be decoded at a half, a quarter or an eighth of its size, the smallest whose longer side is
 * still min_side pixels or more; 0: at its full size. */
psfm_status psfm_jpeg_decode(psfm_context *ctx, const uint8_t *bytes, size_t size, const char *name,
                             psfm_image_channels channels, int min_side, psfm_image *image);
psfm_status psfm_png_decode(psfm_context *ctx, const uint8_t *bytes, size_t size, const char *name,
                            psfm_image_channels channels, psfm_image *image);
/* In a build without the library these fail with a sentence that says so. */
psfm_status psfm_tiff_decode(psfm_context *ctx, const uint8_t *bytes, size_t size, const char *name,
                             psfm_image_channels channels, psfm_image *image);
psfm_status psfm_heif_decode(psfm_context *ctx, const uint8_t *bytes, size_t size, const char *name,
                             psfm_image_channels channels, psfm_image *image);
/* The size of a HEIC file's image without decoding it; false if it is not told. */
bool psfm_heif_size(const uint8_t *bytes, size_t size, int *width, int *height);

/* Write to an open file; the caller checks the stream for write errors. */
psfm_status psfm_jpeg_encode(psfm_context *ctx, const psfm_image *image, int quality,
                             const char *name, FILE *file);
psfm_status psfm_png_encode(psfm_context *ctx, const psfm_image *image, const char *name,
                            FILE *file);

/* Refuses empty and enormous sizes. */
psfm_status psfm_image_check_size(psfm_context *ctx, uint64_t width, uint64_t height,
                                  const char *name);

/* Stores one row of `samples` (1 gray or 3 RGB) at row y of the image. */
void psfm_image_store_row(psfm_image *image, int y, const uint8_t *row, int samples);

#endif
