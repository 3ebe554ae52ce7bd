/* Formats of image files: a row of functions each. A new one is a file image_<format>.c with its
 * row, and its names here. */
#ifndef PSFM_IMAGE_IMAGE_CODEC_H
#define PSFM_IMAGE_IMAGE_CODEC_H

#include <stdio.h>

#include "images/image/image_io.h"

typedef struct {
    const char *const *endings; /* of its files' names, lower case without dot; NULL-terminated */
    bool (*is_mine)(const uint8_t *bytes, size_t size); /* PSFM_IMAGE_SNIFF_BYTES are enough */
    /* Decodes into *image, which is empty; on failure it may be half filled, the caller frees it.
     * The image may be a half, a quarter or an eighth of its size, the smallest whose longer side
     * is still min_side pixels or more; 0: the full size. In a build without the library it fails
     * with a sentence that says so. */
    psfm_status (*decode)(psfm_context *ctx, const uint8_t *bytes, size_t size, const char *name,
                          psfm_image_channels channels, int min_side, psfm_image *image);
    /* The size of the image without decoding it; false if the bytes do not tell it. */
    bool (*find_size)(const uint8_t *bytes, size_t size, int *width, int *height);
    /* The same for a file whose beginning may not tell it; NULL: there are none. */
    bool (*find_file_size)(const char *path, int *width, int *height);
    /* The EXIF data as a block that libexif reads, PSFM_EXIF_HEADER before them; NULL if there are
     * none or memory is out. Free with free. Without the function libexif finds them itself. */
    uint8_t *(*find_exif)(const uint8_t *bytes, size_t size, size_t *block_size);
    /* Its pixels come as its own properties ask for, and the EXIF orientation says it once more. */
    bool is_upright;
    /* Writes to an open file; the caller checks the stream for write errors. NULL: not written. */
    psfm_status (*encode)(psfm_context *ctx, const psfm_image *image, int quality, const char *name,
                          FILE *file);
    /* The library behind it, and its version or what is missing; NULL: it does not tell. */
    const char *library;
    void (*describe_library)(char *text, size_t size);
} psfm_image_codec;

/* All formats, and how messages call them. */
#define PSFM_IMAGE_CODECS(CODEC) CODEC(jpeg) CODEC(png) CODEC(tiff) CODEC(heif)
#define PSFM_IMAGE_FORMATS "JPEG, PNG, TIFF or HEIC"

#define PSFM_CODEC_DECLARE(format) extern const psfm_image_codec psfm_##format##_codec;
PSFM_IMAGE_CODECS(PSFM_CODEC_DECLARE)
#undef PSFM_CODEC_DECLARE

/* Their rows; NULL-terminated. */
extern const psfm_image_codec *const psfm_image_codecs[];
/* That of the file with these first bytes, or NULL. */
const psfm_image_codec *psfm_image_codec_find(const uint8_t *bytes, size_t size);

/* The six bytes before a block of EXIF data: with the zero that ends the text. */
#define PSFM_EXIF_HEADER "Exif\0"
#define PSFM_EXIF_HEADER_SIZE 6
/* A block of `size` bytes of EXIF data behind the header. */
uint8_t *psfm_exif_block_make(const uint8_t *data, size_t size, size_t *block_size);

/* Refuses empty and enormous sizes. */
psfm_status psfm_image_check_size(psfm_context *ctx, uint64_t width, uint64_t height,
                                  const char *name);
/* Takes a size over that an int can hold and that is not empty. */
bool psfm_image_accept_size(uint32_t width, uint32_t height, int *out_width, int *out_height);

/* Stores one row of `samples` (1 gray or 3 RGB) at row y of the image. */
void psfm_image_store_row(psfm_image *image, int y, const uint8_t *row, int samples);

#endif
