/* Gray pyramids by averages of 2 x 2 pixels. A point x of the photograph is at x / 2^k in level k
 * exactly, because pixel centres are at halves. */
#include "images/photometric/pyramid.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

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

static void halve_level(const psfm_pyramid_level *from, const psfm_pyramid_level *to,
                        uint8_t *out) {
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
            halve_level(level - 1, level, to);
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

/* ---- corners ---- */

/* Shi and Tomasi's measure in bands of rows: products of the gradient are summed down the columns
 * of a band and then along it, so that the memory is a few rows whatever the image. Where squares
 * are large the photograph is too, and its finest level mostly blur and noise: corners are looked
 * for at the level where squares have 64 to 127 pixels. */

#define ABOVE_ROUNDING (1.0 + 1e-12)
#define ENOUGH_PIXELS 64 /* of a square's side */

/* Sums of products over 2 radius + 1 rows, one entry a column. They are whole numbers, so that what
 * was added goes away without a trace. */
typedef struct {
    int32_t *xx, *xy, *yy;
} column_sums;

typedef struct {
    const psfm_pyramid_level *level;
    int spacing, radius, margin;
    float min_strength;
    column_sums sums;
} finder;

/* Adds (sign 1) or takes away (-1) the products of row y. */
static void add_row(const finder *f, int y, int16_t sign) {
    int width = f->level->width;
    const uint8_t *row = f->level->pixels + (size_t)y * (size_t)width;
    const uint8_t *above = row - width, *below = row + width;
    int32_t *restrict xx = f->sums.xx, *restrict xy = f->sums.xy, *restrict yy = f->sums.yy;
    for (int x = 1; x < width - 1; ++x) {
        int16_t gx = (int16_t)(row[x + 1] - row[x - 1]), gy = (int16_t)(below[x] - above[x]);
        int16_t signed_gx = (int16_t)(sign * gx), signed_gy = (int16_t)(sign * gy);
        xx[x] += signed_gx * gx;
        xy[x] += signed_gx * gy;
        yy[x] += signed_gy * gy;
    }
}

/* The smaller eigenvalue of a matrix. */
static double find_strength(double xx, double xy, double yy) {
    double half = 0.5 * (xx + yy), d = 0.5 * (xx - yy);
    return half - sqrt(d * d + xy * xy);
}

/* Strengths of the pixels of one row into the best of its squares. No eigenvalue is larger than the
 * smaller entry of the diagonal, which mostly decides. */
static void search_row(const finder *f, int y, psfm_corner *best) {
    const column_sums *s = &f->sums;
    int r = f->radius, end = f->level->width - f->margin, square = f->margin / f->spacing;
    int32_t xx = 0, xy = 0, yy = 0;
    double scale = 0.25 / ((2.0 * r + 1.0) * (2.0 * r + 1.0));
    for (int x = f->margin - r; x < f->margin + r; ++x) {
        xx += s->xx[x];
        xy += s->xy[x];
        yy += s->yy[x];
    }
    for (int x = f->margin; x < end; ++square) {
        psfm_corner *to = &best[square];
        int next = (square + 1) * f->spacing < end ? (square + 1) * f->spacing : end;
        for (; x < next; ++x) {
            xx += s->xx[x + r];
            xy += s->xy[x + r];
            yy += s->yy[x + r];
            if (scale * (double)(xx < yy ? xx : yy) * ABOVE_ROUNDING > (double)to->strength) {
                float strength = (float)(scale * find_strength(xx, xy, yy));
                if (strength > to->strength)
                    *to = (psfm_corner){(float)x + 0.5F, (float)y + 0.5F, strength};
            }
            xx -= s->xx[x - r];
            xy -= s->xy[x - r];
            yy -= s->yy[x - r];
        }
    }
}

static psfm_status search_all(psfm_context *ctx, const finder *f, psfm_corner *best,
                              psfm_corner **corners, size_t *num) {
    size_t columns = (size_t)(f->level->width / f->spacing) + 1, capacity = 0;
    int r = f->radius, height = f->level->height, margin = f->margin;
    for (int y = margin - r; y < margin + r; ++y)
        add_row(f, y, 1);
    for (int y = margin; y < height - margin; ++y) {
        add_row(f, y + r, 1);
        search_row(f, y, best);
        add_row(f, y - r, -1);
        if ((y + 1) % f->spacing != 0 && y + 1 < height - margin)
            continue;
        psfm_status status = PSFM_RESERVE(ctx, corners, &capacity, *num + columns);
        if (status != PSFM_OK)
            return status;
        for (size_t c = 0; c < columns; ++c) {
            if (best[c].strength >= f->min_strength && best[c].strength > 0.0F)
                (*corners)[(*num)++] = best[c];
            best[c] = (psfm_corner){0};
        }
    }
    return PSFM_OK;
}

/* Places and strengths of the photograph in place of those of its level. */
static void enlarge_corners(int level, psfm_corner *corners, size_t num) {
    const float zoom = (float)(1 << level);
    for (size_t k = 0; k < num; ++k) {
        corners[k].x *= zoom;
        corners[k].y *= zoom;
        corners[k].strength /= zoom * zoom;
    }
}

psfm_status psfm_corners_find(psfm_context *ctx, const psfm_pyramid *photo,
                              const psfm_corner_grid *grid, psfm_corner **corners, size_t *num) {
    int level = 0, rim = grid->radius + 1; /* of the window and its gradient */
    while (level + 1 < photo->num_levels && grid->spacing >> (level + 1) >= ENOUGH_PIXELS)
        ++level;
    int spacing = grid->spacing >> level, margin = (grid->margin >> level) + (level > 0);
    finder f = {.level = &photo->levels[level],
                .spacing = spacing > 4 ? spacing : 4,
                .radius = grid->radius,
                .margin = margin > rim ? margin : rim,
                .min_strength = (float)ldexp(grid->min_strength, 2 * level)};
    size_t width = (size_t)f.level->width;
    psfm_corner *best = NULL;
    psfm_status status;
    *corners = NULL;
    *num = 0;
    if (f.level->width <= 2 * f.margin || f.level->height <= 2 * f.margin)
        return PSFM_OK;
    if ((status = PSFM_ALLOC(ctx, width, &f.sums.xx)) ||
        (status = PSFM_ALLOC(ctx, width, &f.sums.xy)) ||
        (status = PSFM_ALLOC(ctx, width, &f.sums.yy)) ||
        (status = PSFM_ALLOC(ctx, width / 4 + 2, &best)))
        goto cleanup;
    status = search_all(ctx, &f, best, corners, num);
    if (level > 0)
        enlarge_corners(level, *corners, *num);

cleanup:
    free(f.sums.xx);
    free(f.sums.xy);
    free(f.sums.yy);
    free(best);
    if (status != PSFM_OK) {
        free(*corners);
        *corners = NULL;
        *num = 0;
    }
    return status;
}
