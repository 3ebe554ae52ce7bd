/* Images in memory; reading them from JPEG, PNG, TIFF and HEIC files, writing JPEG and PNG.
 *
 * What COLMAP 3.8 does through FreeImage is done here too, so that the same file gives the same
 * gray values: luma by the weights of Rec. 709 (0.2126 R + 0.7152 G + 0.0722 B, rounded), JPEG
 * decoded with the fast integer transform and plain chroma upsampling, 16-bit samples cut to
 * their high byte (of TIFF rounded), alpha ignored (in TIFF as libtiff renders it). Turns that the
 * EXIF orientation asks for are told, not applied: pixels stay as stored, and keypoints and
 * intrinsics refer to them. Mirrored ones are mirrored back, left and right, since no camera sees a
 * mirrored world. What a HEIC file itself asks for is applied. */
#ifndef PSFM_IMAGE_IMAGE_IO_H
#define PSFM_IMAGE_IMAGE_IO_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"

/* Limits on what a file may claim, checked before anything is allocated for its pixels. */
#define PSFM_IMAGE_MAX_SIDE 65000
#define PSFM_IMAGE_MAX_PIXELS ((size_t)1 << 28)
#define PSFM_IMAGE_MAX_FILE ((size_t)1 << 30)

/* Rows from the top, no padding. Owns its arrays. */
typedef struct {
    int width, height;
    uint8_t *gray; /* height x width */
    uint8_t *rgb;  /* height x width x 3; NULL unless asked for */
    int quarters;  /* clockwise quarter turns that make it upright, by its EXIF data; 0 to 3 */
} psfm_image;

typedef enum {
    PSFM_IMAGE_GRAY, /* psfm_luma of the colours */
    PSFM_IMAGE_GRAY_AND_RGB,
    PSFM_IMAGE_BRIGHTNESS, /* gray; of a JPEG the brightness that it holds at full resolution, which
                              is faster and has no part in the errors of the coarser colours */
} psfm_image_channels;

/* Whether the first bytes are those of a format that we read, whatever the file is called; so many
 * are enough. */
#define PSFM_IMAGE_SNIFF_BYTES 12
bool psfm_image_sniff(const uint8_t *bytes, size_t size);
/* Whether the name ends as those of such formats do, or of those that psfm_image_write writes. */
bool psfm_image_has_ending(const char *name, bool is_written);

/* Width and height that the first bytes of a photograph tell, without decoding it. False if they
 * tell none, which says nothing about the rest of the file. */
bool psfm_image_parse_size(const uint8_t *bytes, size_t size, int *width, int *height);
/* The same for a file, of which at most a megabyte is read. */
bool psfm_image_file_size(const char *path, int *width, int *height);

/* Reads a JPEG (gray, YCbCr, RGB, CMYK, YCCK; baseline or progressive), PNG (all kinds), TIFF (the
 * first page; not raw files) or HEIC (the primary image); the last two if the build has the
 * libraries for them. A truncated or corrupt file is a failure, not a half-gray image. The caller
 * frees *image with psfm_image_free; on failure it is empty. */
psfm_status psfm_image_read(psfm_context *ctx, const char *path, psfm_image_channels channels,
                            psfm_image *image);

/* The same from bytes in memory; `name` stands for the file in messages. */
psfm_status psfm_image_decode(psfm_context *ctx, const uint8_t *bytes, size_t size,
                              const char *name, psfm_image_channels channels, psfm_image *image);

/* The same for a preview, as psfm_image_read_small; *reduced is the divisor of its size, 1 if it is
 * whole. Sizes that it does not divide are rounded up: pixels are still `reduced` apart. */
psfm_status psfm_image_decode_small(psfm_context *ctx, const uint8_t *bytes, size_t size,
                                    const char *name, psfm_image_channels channels, int min_side,
                                    int *reduced, psfm_image *image);

/* The same for a preview: a large JPEG is decoded at a half, a quarter or an eighth of its size, as
 * small as its longer side stays at min_side pixels or more, which is several times as fast. */
psfm_status psfm_image_read_small(psfm_context *ctx, const char *path, psfm_image_channels channels,
                                  int min_side, psfm_image *image);

/* Allocates a black image. */
psfm_status psfm_image_init(psfm_context *ctx, int width, int height, psfm_image_channels channels,
                            psfm_image *image);
void psfm_image_free(psfm_image *image);

/* Writes RGB if the image has it, gray otherwise, as .jpg/.jpeg (quality 1 to 100) or .png by the
 * ending of the name; whole or absent. */
psfm_status psfm_image_write(psfm_context *ctx, const psfm_image *image, int jpeg_quality,
                             const char *path);

/* Gray value of a colour, 0 to 255. */
uint8_t psfm_luma(uint8_t r, uint8_t g, uint8_t b);
/* The same for a row of pixels. */
void psfm_luma_row(const uint8_t *rgb, size_t width, uint8_t *gray);

#endif
