/* Shi and Tomasi's measure in bands of rows: products of the gradient are summed down the columns
 * of a band and then along it, so that the memory is a few rows whatever the image. Where squares
 * are large the photograph is too, and its finest level mostly blur and noise: corners are looked
 * for at the level where squares have 64 to 127 pixels. */
#include "photo/corners.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

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
static void enlarge(int level, psfm_corner *corners, size_t num) {
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
        enlarge(level, *corners, *num);

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
