/* Shi and Tomasi's measure in bands of rows: products of the gradient are summed down the columns
 * of a band and then along it, so that the memory is a few rows whatever the image. */
#include "photo/corners.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Sums of products over 2 radius + 1 rows, one entry a column. */
typedef struct {
    float *xx, *xy, *yy;
} column_sums;

typedef struct {
    const psfm_pyramid_level *level;
    int spacing, radius, margin;
    float min_strength;
    column_sums sums;
} finder;

/* Adds (sign 1) or takes away (-1) the products of row y. All are integers, so that the sums are
 * exact and what was added goes away without a trace. */
static void add_row(const finder *f, int y, float sign) {
    int width = f->level->width;
    const uint8_t *row = f->level->pixels + (size_t)y * (size_t)width;
    for (int x = 1; x < width - 1; ++x) {
        float gx = (float)(row[x + 1] - row[x - 1]);
        float gy = (float)(row[x + width] - row[x - width]);
        f->sums.xx[x] += sign * gx * gx;
        f->sums.xy[x] += sign * gx * gy;
        f->sums.yy[x] += sign * gy * gy;
    }
}

/* Strengths of the pixels of one row into the best of its squares. */
static void search_row(const finder *f, int y, psfm_corner *best) {
    int width = f->level->width, r = f->radius;
    double xx = 0.0, xy = 0.0, yy = 0.0, scale = 0.25 / ((2.0 * r + 1.0) * (2.0 * r + 1.0));
    for (int x = f->margin - r; x < f->margin + r; ++x) {
        xx += (double)f->sums.xx[x];
        xy += (double)f->sums.xy[x];
        yy += (double)f->sums.yy[x];
    }
    for (int x = f->margin; x < width - f->margin; ++x) {
        xx += (double)f->sums.xx[x + r];
        xy += (double)f->sums.xy[x + r];
        yy += (double)f->sums.yy[x + r];
        double half = 0.5 * (xx + yy), d = 0.5 * (xx - yy);
        float strength = (float)(scale * (half - sqrt(d * d + xy * xy)));
        psfm_corner *to = &best[x / f->spacing];
        if (strength > to->strength)
            *to = (psfm_corner){(float)x + 0.5F, (float)y + 0.5F, strength};
        xx -= (double)f->sums.xx[x - r];
        xy -= (double)f->sums.xy[x - r];
        yy -= (double)f->sums.yy[x - r];
    }
}

static psfm_status search_all(psfm_context *ctx, const finder *f, psfm_corner *best,
                              psfm_corner **corners, size_t *num) {
    size_t columns = (size_t)(f->level->width / f->spacing) + 1, capacity = 0;
    int r = f->radius, height = f->level->height, margin = f->margin;
    for (int y = margin - r; y < margin + r; ++y)
        add_row(f, y, 1.0F);
    for (int y = margin; y < height - margin; ++y) {
        add_row(f, y + r, 1.0F);
        search_row(f, y, best);
        add_row(f, y - r, -1.0F);
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

psfm_status psfm_corners_find(psfm_context *ctx, const psfm_pyramid *photo,
                              const psfm_corner_grid *grid, psfm_corner **corners, size_t *num) {
    int rim = grid->radius + 1; /* of the window and its gradient */
    finder f = {.level = &photo->levels[0],
                .spacing = grid->spacing > 4 ? grid->spacing : 4,
                .radius = grid->radius,
                .margin = grid->margin > rim ? grid->margin : rim,
                .min_strength = (float)grid->min_strength};
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
