/* Of the ridges of an image the lines: each ridge against the mean strength around it (texture is
 * full of weak ones), against its neighbours across the line, and, if it is left with few
 * neighbours at all, a speck. And the part of an image that shows anything: photographs that were
 * undistorted have black around them, whose edge is no line. */
#include "line/clean.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define BLACK 6       /* the brightest channel of a black pixel */
#define BORDER 4      /* pixels beside the border, or beside black, that are not valid */
#define CELL 16       /* pixels; strengths are averaged over cells */
#define AROUND 2      /* cells on either side that count as the surroundings */
#define SAME_WAY 0.9F /* cosine of the angle between pixels of one line */
#define SPECK 3       /* pixels on either side of a line pixel ... */
#define MIN_COUNT 5   /* ... among which there are so many line pixels, itself included */

/* ---- valid pixels ---- */

static bool is_black(const psfm_image *image, size_t k) {
    if (image->rgb == NULL)
        return image->gray[k] <= BLACK;
    const uint8_t *p = image->rgb + 3 * k;
    return p[0] <= BLACK && p[1] <= BLACK && p[2] <= BLACK;
}

/* Marks the black pixels that are joined to the border with 2, by flooding from it. */
static void flood(const psfm_image *image, uint8_t *mark, uint32_t *stack) {
    size_t w = (size_t)image->width, h = (size_t)image->height, num = 0;
    for (size_t k = 0; k < w * h; ++k) {
        bool border = k < w || k >= w * (h - 1) || k % w == 0 || k % w == w - 1;
        if (!border || mark[k] != 0 || !is_black(image, k))
            continue;
        mark[k] = 2;
        stack[num++] = (uint32_t)k;
        while (num > 0) {
            size_t at = stack[--num], x = at % w, y = at / w;
            size_t next[4] = {x > 0 ? at - 1 : at, x + 1 < w ? at + 1 : at, y > 0 ? at - w : at,
                              y + 1 < h ? at + w : at};
            for (int j = 0; j < 4; ++j) {
                if (mark[next[j]] == 0 && is_black(image, next[j])) {
                    mark[next[j]] = 2;
                    stack[num++] = (uint32_t)next[j];
                }
            }
        }
    }
}

/* Whether a black mark lies within BORDER pixels along row or column. */
static bool near_black(const uint8_t *mark, size_t w, size_t x, size_t y) {
    for (size_t d = 0; d <= BORDER; ++d) {
        size_t at = y * w + x;
        if (mark[at - d] == 2 || mark[at + d] == 2 || mark[at - d * w] == 2 ||
            mark[at + d * w] == 2)
            return true;
    }
    return false;
}

psfm_status psfm_line_valid(psfm_context *ctx, const psfm_image *image, uint8_t *valid) {
    size_t w = (size_t)image->width, h = (size_t)image->height;
    uint8_t *mark = NULL;
    uint32_t *stack = NULL;
    psfm_status status = PSFM_ALLOC(ctx, w * h, &mark);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, w * h, &stack);
    if (status == PSFM_OK) {
        flood(image, mark, stack);
        for (size_t y = BORDER; y + BORDER < h; ++y)
            for (size_t x = BORDER; x + BORDER < w; ++x)
                valid[y * w + x] = !near_black(mark, w, x, y);
    }
    free(stack);
    free(mark);
    return status;
}

/* ---- surroundings ---- */

/* Mean strength per pixel over cells and their neighbours. */
typedef struct {
    size_t columns, rows;
    double *sum, *mean;
} cells;

static void average_cells(cells *c) {
    for (size_t y = 0; y < c->rows; ++y) {
        for (size_t x = 0; x < c->columns; ++x) {
            size_t y0 = y < AROUND ? 0 : y - AROUND, x0 = x < AROUND ? 0 : x - AROUND;
            size_t num = 0;
            double sum = 0.0;
            for (size_t v = y0; v <= y + AROUND && v < c->rows; ++v)
                for (size_t u = x0; u <= x + AROUND && u < c->columns; ++u, ++num)
                    sum += c->sum[v * c->columns + u];
            c->mean[y * c->columns + x] = sum / (double)(num * CELL * CELL);
        }
    }
}

/* Whether a neighbour across the line is the same line, found better: scales disagree about the
 * middle of a line whose flanks differ, and the strongest is right. */
static bool is_outdone(const int32_t *winner, const psfm_line_pixels *found, size_t k) {
    const psfm_line_pixel *p = &found->pixels[winner[k]];
    ptrdiff_t w = found->width, step = lrintf(p->tx) * w - lrintf(p->ty);
    for (int side = -1; side <= 1; side += 2) {
        int32_t other = winner[(ptrdiff_t)k + side * step];
        if (other < 0)
            continue;
        const psfm_line_pixel *q = &found->pixels[other];
        if (q->strength > p->strength && fabsf(p->tx * q->tx + p->ty * q->ty) > SAME_WAY)
            return true;
    }
    return false;
}

/* Sets mark[k] to 1 for the pixels whose ridge is strong enough. */
static void mark_strong(const psfm_line_options *options, const int32_t *winner,
                        const psfm_line_pixels *found, cells *c, uint8_t *mark) {
    size_t w = (size_t)found->width, num = w * (size_t)found->height;
    for (size_t k = 0; k < num; ++k)
        if (winner[k] >= 0)
            c->sum[k / w / CELL * c->columns + k % w / CELL] +=
                (double)found->pixels[winner[k]].strength;
    average_cells(c);
    for (size_t k = 0; k < num; ++k) {
        if (winner[k] < 0 || !found->valid[k])
            continue;
        double strength = (double)found->pixels[winner[k]].strength;
        double mean = c->mean[k / w / CELL * c->columns + k % w / CELL];
        mark[k] = strength > options->min_contrast && strength > options->local_ratio * mean &&
                  !is_outdone(winner, found, k);
    }
}

/* Marked pixels in the square round a pixel, which is not at the border. */
static int count_around(const uint8_t *mark, size_t w, size_t at) {
    int count = 0;
    for (size_t v = 0; v <= 2 * SPECK; ++v) {
        const uint8_t *row = mark + at + v * w - SPECK * w - SPECK;
        for (size_t u = 0; u <= 2 * SPECK; ++u)
            count += row[u];
    }
    return count;
}

/* Puts the chosen ridges into the order of the rows. */
static psfm_status collect(psfm_context *ctx, const int32_t *winner, const uint8_t *mark,
                           psfm_line_pixels *found) {
    size_t w = (size_t)found->width, num = w * (size_t)found->height, n = 0;
    psfm_line_pixel *sorted = NULL;
    psfm_status status = PSFM_ALLOC(ctx, found->num, &sorted);
    for (size_t k = 0; k < num && status == PSFM_OK; ++k)
        if (mark[k] && count_around(mark, w, k) >= MIN_COUNT)
            sorted[n++] = found->pixels[winner[k]];
    if (status != PSFM_OK)
        return status;
    free(found->pixels);
    found->pixels = sorted;
    found->capacity = found->num;
    found->num = n;
    return PSFM_OK;
}

psfm_status psfm_line_clean(psfm_context *ctx, const psfm_line_options *options,
                            const int32_t *winner, psfm_line_pixels *found) {
    size_t w = (size_t)found->width, h = (size_t)found->height;
    cells c = {.columns = (w + CELL - 1) / CELL, .rows = (h + CELL - 1) / CELL};
    uint8_t *mark = NULL;
    psfm_status status = PSFM_ALLOC(ctx, w * h, &mark);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, c.columns * c.rows, &c.sum);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, c.columns * c.rows, &c.mean);
    if (status == PSFM_OK) {
        mark_strong(options, winner, found, &c, mark);
        status = collect(ctx, winner, mark, found);
    }
    free(c.sum);
    free(c.mean);
    free(mark);
    return status;
}
