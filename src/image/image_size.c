/* Sizes from headers: IHDR of a PNG file, the first frame header (SOF) of a JPEG file, which stands
 * behind segments of any kind that tell their lengths, the first directory of a TIFF file, what
 * libheif knows of a HEIC file. */
#include "image/image_size.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "image/image_codec.h"
#include "image/tiff_pages.h"

enum { MAX_HEADER = 1 << 20, PNG_SIZE_AT = 16, SOF_HEIGHT_AT = 5, SOF_BYTES = 9 };

static uint32_t big_endian(const uint8_t *bytes, int num) {
    uint32_t value = 0;
    for (int k = 0; k < num; ++k)
        value = value << 8 | bytes[k];
    return value;
}

static bool accept(uint32_t width, uint32_t height, int *out_width, int *out_height) {
    if (width == 0 || height == 0 || width > INT_MAX || height > INT_MAX)
        return false;
    *out_width = (int)width;
    *out_height = (int)height;
    return true;
}

/* Whether a marker begins a frame: C0 to CF but DHT, JPG and DAC. */
static bool is_frame(uint8_t marker) {
    return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

static bool parse_jpeg(const uint8_t *bytes, size_t size, int *width, int *height) {
    size_t at = 2;
    while (at + SOF_BYTES <= size && bytes[at] == 0xFF) {
        uint8_t marker = bytes[at + 1];
        if (is_frame(marker))
            return accept(big_endian(bytes + at + SOF_HEIGHT_AT + 2, 2),
                          big_endian(bytes + at + SOF_HEIGHT_AT, 2), width, height);
        bool has_length = marker != 0xFF && marker != 0x01 && (marker < 0xD0 || marker > 0xD9);
        at += has_length ? 2 + big_endian(bytes + at + 2, 2) : marker == 0xFF ? 1 : 2;
    }
    return false;
}

bool psfm_image_parse_size(const uint8_t *bytes, size_t size, int *width, int *height) {
    uint32_t w, h;
    switch (psfm_image_sniff(bytes, size)) {
    case PSFM_IMAGE_JPEG:
        return parse_jpeg(bytes, size, width, height);
    case PSFM_IMAGE_PNG:
        return size >= PNG_SIZE_AT + 8 &&
               accept(big_endian(bytes + PNG_SIZE_AT, 4), big_endian(bytes + PNG_SIZE_AT + 4, 4),
                      width, height);
    case PSFM_IMAGE_TIFF:
        return psfm_tiff_size(bytes, size, &w, &h) && accept(w, h, width, height);
    case PSFM_IMAGE_HEIF:
        return psfm_heif_size(bytes, size, width, height);
    default:
        return false;
    }
}

bool psfm_image_file_size(const char *path, int *width, int *height) {
    uint32_t w, h;
    if (psfm_tiff_file_size(path, &w, &h)) /* whose directory may be at its end */
        return accept(w, h, width, height);
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = file == NULL ? NULL : malloc(MAX_HEADER);
    bool found = bytes != NULL &&
                 psfm_image_parse_size(bytes, fread(bytes, 1, MAX_HEADER, file), width, height);
    free(bytes);
    if (file != NULL)
        fclose(file);
    return found;
}
