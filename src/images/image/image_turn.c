/* Quarter turns and mirroring of pixels. */
#include "images/image/image_turn.h"

#include <string.h>

/* Where in a plane of the turned image the pixel at (x, y) of the image goes. */
static size_t turned_place(const psfm_image *image, int quarters, size_t x, size_t y) {
    const size_t w = (size_t)image->width, h = (size_t)image->height;
    switch (quarters & 3) {
    case 1:
        return x * h + (h - 1 - y);
    case 2:
        return (h - 1 - y) * w + (w - 1 - x);
    case 3:
        return (w - 1 - x) * h + y;
    default:
        return y * w + x;
    }
}

psfm_status psfm_image_turn(psfm_context *ctx, const psfm_image *image, int quarters,
                            psfm_image *out) {
    const bool is_aside = (quarters & 1) != 0;
    const size_t width = (size_t)image->width, height = (size_t)image->height;
    psfm_status status = psfm_image_init(
        ctx, is_aside ? image->height : image->width, is_aside ? image->width : image->height,
        image->rgb != NULL ? PSFM_IMAGE_GRAY_AND_RGB : PSFM_IMAGE_GRAY, out);
    for (size_t y = 0; status == PSFM_OK && y < height; ++y)
        for (size_t x = 0; x < width; ++x) {
            const size_t from = y * width + x, to = turned_place(image, quarters, x, y);
            out->gray[to] = image->gray[from];
            if (image->rgb != NULL)
                memcpy(out->rgb + 3 * to, image->rgb + 3 * from, 3);
        }
    if (status == PSFM_OK)
        out->quarters = (image->quarters - quarters) & 3;
    return status;
}

static void swap_bytes(uint8_t *a, uint8_t *b, size_t num) {
    for (size_t k = 0; k < num; ++k) {
        uint8_t swap = a[k];
        a[k] = b[k];
        b[k] = swap;
    }
}

void psfm_image_mirror(psfm_image *image) {
    const size_t width = (size_t)image->width, height = (size_t)image->height;
    for (size_t y = 0; y < height; ++y)
        for (size_t x = 0; x < width / 2; ++x) {
            const size_t a = y * width + x, b = y * width + width - 1 - x;
            swap_bytes(image->gray + a, image->gray + b, 1);
            if (image->rgb != NULL)
                swap_bytes(image->rgb + 3 * a, image->rgb + 3 * b, 3);
        }
}
