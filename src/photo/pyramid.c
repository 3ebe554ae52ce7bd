/* Gray pyramids by averages of 2 x 2 pixels. A point x of the photograph is at x / 2^k in level k
 * exactly, because pixel centres are at halves. */
#include "photo/pyramid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define SLACK 16 /* bytes that may be read after the last row */

/* Number of levels and bytes of all of them. */
static size_t plan_levels(int width, int height, psfm_pyramid *photo) {
    size_t bytes = 0;
    while (photo->num_levels < PSFM_PYRAMID_MAX_LEVELS && width >= PSFM_PYRAMID_MIN_SIDE &&
           height >= PSFM_PYRAMID_MIN_SIDE) {
        photo->levels[photo->num_levels++] = (psfm_pyramid_level){width, height, NULL};
        bytes += (size_t)width * (size_t)height;
        width /= 2;
        height /= 2;
    }
    return bytes;
}

static void halve(const psfm_pyramid_level *from, const psfm_pyramid_level *to, uint8_t *out) {
    size_t stride = (size_t)from->width, width = (size_t)to->width;
    for (size_t y = 0; y < (size_t)to->height; ++y) {
        const uint8_t *a = from->pixels + 2 * y * stride, *b = a + stride;
        for (size_t x = 0; x < width; ++x)
            out[y * width + x] =
                (uint8_t)((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) / 4);
    }
}

psfm_status psfm_pyramid_init(psfm_context *ctx, const psfm_image *image, psfm_pyramid *photo) {
    *photo = (psfm_pyramid){0};
    size_t bytes = plan_levels(image->width, image->height, photo);
    if (photo->num_levels == 0)
        return psfm_fail(ctx, PSFM_ERR_DATA, "a photograph of %d x %d pixels is too small",
                         image->width, image->height);
    psfm_status status = PSFM_ALLOC(ctx, bytes + SLACK, &photo->memory);
    if (status != PSFM_OK) {
        *photo = (psfm_pyramid){0};
        return status;
    }
    photo->num_bytes = bytes + SLACK;
    uint8_t *to = photo->memory;
    for (int k = 0; k < photo->num_levels; ++k) {
        psfm_pyramid_level *level = &photo->levels[k];
        size_t size = (size_t)level->width * (size_t)level->height;
        if (k == 0)
            memcpy(to, image->gray, size);
        else
            halve(level - 1, level, to);
        level->pixels = to;
        to += size;
    }
    return PSFM_OK;
}

psfm_status psfm_pyramid_read(psfm_context *ctx, const char *path, uint64_t width, uint64_t height,
                              psfm_pyramid *photo) {
    psfm_image image = {0};
    *photo = (psfm_pyramid){0};
    psfm_status status = psfm_image_read(ctx, path, PSFM_IMAGE_BRIGHTNESS, &image);
    if (status == PSFM_OK && ((uint64_t)image.width != width || (uint64_t)image.height != height))
        status = psfm_fail(ctx, PSFM_ERR_DATA,
                           "%s: %d x %d pixels, but its camera has %" PRIu64 " x %" PRIu64, path,
                           image.width, image.height, width, height);
    if (status == PSFM_OK)
        status = psfm_pyramid_init(ctx, &image, photo);
    psfm_image_free(&image);
    return status;
}

void psfm_pyramid_free(psfm_pyramid *photo) {
    free(photo->memory);
    *photo = (psfm_pyramid){0};
}
