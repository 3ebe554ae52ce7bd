/* Photographs as cameras store them that were held aslant: PNG files with an EXIF orientation. */
#ifndef PSFM_TESTS_TURNED_PHOTO_H
#define PSFM_TESTS_TURNED_PHOTO_H

#include "core/base/path.h"
#include "images/image/image_io.h"
#include "test_util.h"

/* Where the pixel (x, y) of the stored image, w x h, is seen, by the table of the EXIF standard:
 * the first row and column of the file are those of the scene that the code names. */
static inline void seen_place(int orientation, int w, int h, int x, int y, int *u, int *v) {
    const int right = w - 1 - x, low = h - 1 - y;
    const int columns[9] = {0, x, right, right, x, y, low, low, y};
    const int rows[9] = {0, y, y, low, low, x, x, right, right};
    *u = columns[orientation];
    *v = rows[orientation];
}

static inline uint32_t png_checksum(const uint8_t *bytes, size_t size) {
    uint32_t c = 0xffffffffU;
    for (size_t k = 0; k < size; ++k) {
        c ^= bytes[k];
        for (int bit = 0; bit < 8; ++bit)
            c = (c >> 1) ^ ((c & 1U) != 0 ? 0xedb88320U : 0U);
    }
    return ~c;
}

/* Puts a chunk with the orientation behind the header of a PNG file. */
static inline void add_orientation(psfm_context *ctx, const char *path, int orientation) {
    uint8_t chunk[38] = {0, 0, 0,  26, 'e', 'X', 'I', 'f', 'M', 'M', 0, 42, 0, 0, 0, 8, 0,
                         1, 1, 18, 0,  3,   0,   0,   0,   1,   0,   0, 0,  0, 0, 0, 0, 0};
    char *bytes = NULL;
    size_t size = 0;
    chunk[27] = (uint8_t)orientation;
    uint32_t sum = png_checksum(chunk + 4, 30);
    for (int k = 0; k < 4; ++k)
        chunk[34 + k] = (uint8_t)(sum >> (24 - 8 * k));
    assert_ok(ctx, psfm_read_file(ctx, path, PSFM_IMAGE_MAX_FILE, &bytes, &size));
    FILE *file = fopen(path, "wb");
    fwrite(bytes, 1, 33, file);
    fwrite(chunk, 1, sizeof chunk, file);
    fwrite(bytes + 33, 1, size - 33, file);
    fclose(file);
    free(bytes);
}

/* Writes what is seen, with its colours if it has some, as a file of this orientation. */
static inline void write_turned(psfm_context *ctx, const psfm_image *seen, int orientation,
                                const char *path) {
    const bool is_aside = orientation >= 5, has_rgb = seen->rgb != NULL;
    psfm_image stored;
    assert_ok(ctx, psfm_image_init(ctx, is_aside ? seen->height : seen->width,
                                   is_aside ? seen->width : seen->height,
                                   has_rgb ? PSFM_IMAGE_GRAY_AND_RGB : PSFM_IMAGE_GRAY, &stored));
    for (int y = 0; y < stored.height; ++y)
        for (int x = 0; x < stored.width; ++x) {
            int u, v;
            seen_place(orientation, stored.width, stored.height, x, y, &u, &v);
            const size_t from = (size_t)(v * seen->width + u);
            const size_t to = (size_t)(y * stored.width + x);
            stored.gray[to] = seen->gray[from];
            if (has_rgb)
                memcpy(stored.rgb + 3 * to, seen->rgb + 3 * from, 3);
        }
    assert_ok(ctx, psfm_image_write(ctx, &stored, 100, path));
    psfm_image_free(&stored);
    add_orientation(ctx, path, orientation);
}

#endif
