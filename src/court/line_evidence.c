/* Two forms of the same evidence. Coarse maps at half the resolution, one per direction and tone,
 * hold it for every place, for scoring many poses. For fitting one pose a grid of the line pixels
 * is searched along the normal of each predicted place, and the evidence is computed from the
 * distance and the density of line pixels around.
 *
 * Maps are stamped: every line pixel raises the closeness around it in the maps of its directions,
 * and cells of the closeness give the density. */
#include "court/line_evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define TOLERANCE 7.0F      /* pixels, of the coarse maps */
#define FINE_TOLERANCE 4.0F /* pixels, of single places */
#define WAY_WIDTH 0.2356F   /* radians (13.5 degrees) on either side that belong to a way */
#define SAME_WAY 0.9659     /* cosine of 15 degrees */
#define SEEN 0.5            /* share of a line that is seen */
#define PEAK 1.5            /* makes the mean of 1 - x^2 over -1 .. 1 one */
#define MIN_DENSITY 0.04
#define AROUND 7  /* cells on either side that tell the density */
#define LEVELS 16 /* steps of closeness in the maps before they become evidence */

/* A coarse pixel this close or closer counts for the density: (1 - (4 / 7)^2) LEVELS. */
#define CLOSE_LEVEL 10

static size_t coarse_size(const psfm_line_evidence *e) {
    return (size_t)e->coarse_width * (size_t)e->coarse_height;
}

static size_t num_cells(const psfm_line_evidence *e) {
    return (size_t)e->columns * (size_t)e->rows;
}

/* ---- coarse maps: closeness first, then evidence ---- */

/* Raises the closeness around a line pixel in one map. */
static void stamp_pixel(const psfm_line_evidence *e, const psfm_line_pixel *p, int8_t *map) {
    float x = p->x / PSFM_COARSE, y = p->y / PSFM_COARSE, reach = TOLERANCE / PSFM_COARSE;
    int u0 = (int)fmaxf(ceilf(x - reach - 0.5F), 0.0F), v0 = (int)fmaxf(ceilf(y - reach - 0.5F), 0);
    int u1 = (int)fminf(floorf(x + reach - 0.5F), (float)(e->coarse_width - 1));
    int v1 = (int)fminf(floorf(y + reach - 0.5F), (float)(e->coarse_height - 1));
    for (int v = v0; v <= v1; ++v) {
        int8_t *row = map + (size_t)v * (size_t)e->coarse_width;
        float dy = (float)v + 0.5F - y;
        for (int u = u0; u <= u1; ++u) {
            float dx = (float)u + 0.5F - x, close = 1.0F - (dx * dx + dy * dy) / (reach * reach);
            int8_t level = (int8_t)(close * (LEVELS - 0.01F));
            row[u] = level > row[u] ? level : row[u];
        }
    }
}

static void stamp_all(psfm_line_evidence *e) {
    const float step = 3.14159265F / PSFM_NUM_WAYS;
    for (size_t k = 0; k < e->pixels->num; ++k) {
        const psfm_line_pixel *p = &e->pixels->pixels[k];
        float angle = atan2f(p->ty, p->tx);
        for (int way = 0; way < PSFM_NUM_WAYS; ++way) {
            float away = fabsf(angle - step * (float)way);
            if (fminf(away, 3.14159265F - away) > WAY_WIDTH)
                continue;
            size_t at = (size_t)way * coarse_size(e);
            if (p->polarity >= 0)
                stamp_pixel(e, p, e->coarse[0] + at);
            if (p->polarity <= 0)
                stamp_pixel(e, p, e->coarse[1] + at);
        }
    }
}

/* Sums over the cells of the coarse pixels that are visible, or of those that are also close. */
static void sum_cells(const psfm_line_evidence *e, const int8_t *map, double *sums) {
    memset(sums, 0, num_cells(e) * sizeof *sums);
    for (int v = 0; v < e->coarse_height; ++v) {
        double *row = sums + (size_t)(v * PSFM_COARSE / PSFM_CELL_SIZE) * (size_t)e->columns;
        size_t at = (size_t)v * (size_t)e->coarse_width;
        for (int u = 0; u < e->coarse_width; ++u, ++at)
            if (e->visible[at] && (map == NULL || map[at] >= CLOSE_LEVEL))
                row[u * PSFM_COARSE / PSFM_CELL_SIZE] += 1.0;
    }
}

/* Sums over the cells within AROUND of each, along rows and then columns. */
static void spread_cells(const psfm_line_evidence *e, double *sums, double *scratch) {
    int size[2] = {e->columns, e->rows};
    ptrdiff_t stride[2] = {1, e->columns};
    for (int d = 0; d < 2; ++d) {
        memcpy(scratch, sums, num_cells(e) * sizeof *sums);
        for (int line = 0; line < size[1 - d]; ++line) {
            for (int k = 0; k < size[d]; ++k) {
                double sum = 0.0;
                int low = k < AROUND ? 0 : k - AROUND;
                int high = k + AROUND < size[d] ? k + AROUND : size[d] - 1;
                for (int j = low; j <= high; ++j)
                    sum += scratch[line * stride[1 - d] + j * stride[d]];
                sums[line * stride[1 - d] + k * stride[d]] = sum;
            }
        }
    }
}

static double evidence_of(double closeness, double density) {
    return log((1.0 - SEEN) + SEEN * PEAK * closeness / fmin(fmax(density, MIN_DENSITY), 1.0));
}

/* Turns the closeness of one map into evidence. A tolerance wider than that of the density finds
 * so much more by chance. */
static void weigh_map(const psfm_line_evidence *e, const float *density, int8_t *map) {
    const double widening = (double)(TOLERANCE / FINE_TOLERANCE);
    for (int row = 0; row < e->rows; ++row) {
        for (int column = 0; column < e->columns; ++column) {
            int8_t table[LEVELS];
            double d = widening * (double)density[row * e->columns + column];
            for (int k = 0; k < LEVELS; ++k) {
                double closeness = k == 0 ? 0.0 : (k + 0.5) / LEVELS;
                table[k] = (int8_t)lrint(PSFM_LLR_UNIT * evidence_of(closeness, d));
            }
            int per = PSFM_CELL_SIZE / PSFM_COARSE, v0 = row * per, u0 = column * per;
            for (int v = v0; v < v0 + per && v < e->coarse_height; ++v)
                for (int u = u0; u < u0 + per && u < e->coarse_width; ++u) {
                    size_t at = (size_t)v * (size_t)e->coarse_width + (size_t)u;
                    map[at] = e->visible[at] ? table[map[at]] : 0;
                }
        }
    }
}

static psfm_status fill_maps(psfm_context *ctx, psfm_line_evidence *e) {
    size_t num = num_cells(e);
    double *seen = NULL, *sums = NULL, *scratch = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 3 * num, &seen);
    if (status != PSFM_OK)
        return status;
    sums = seen + num;
    scratch = sums + num;
    stamp_all(e);
    sum_cells(e, NULL, seen);
    spread_cells(e, seen, scratch);
    for (int tone = 0; tone < PSFM_NUM_TONES; ++tone) {
        for (size_t way = 0; way < PSFM_NUM_WAYS; ++way) {
            int8_t *map = e->coarse[tone] + way * coarse_size(e);
            float *density = e->density[tone] + way * num;
            sum_cells(e, map, sums);
            spread_cells(e, sums, scratch);
            for (size_t k = 0; k < num; ++k)
                density[k] = (float)(sums[k] / fmax(seen[k], 1.0));
            weigh_map(e, density, map);
        }
    }
    free(seen);
    return PSFM_OK;
}

/* ---- the grid of single line pixels ---- */

/* Every line pixel on its own pixel, then on the free ones around it: a search that steps from
 * pixel to pixel does not slip through. */
static void fill_grid(psfm_line_evidence *e) {
    size_t w = (size_t)e->width, h = (size_t)e->height;
    for (size_t k = 0; k < w * h; ++k)
        e->grid[k] = -1;
    for (int round = 0; round < 2; ++round) {
        for (size_t k = 0; k < e->pixels->num; ++k) {
            const psfm_line_pixel *p = &e->pixels->pixels[k];
            size_t x = (size_t)fminf(p->x, (float)e->width - 1.0F);
            size_t y = (size_t)fminf(p->y, (float)e->height - 1.0F);
            if (round == 0) {
                e->grid[y * w + x] = (int32_t)k;
                continue;
            }
            for (size_t v = y == 0 ? 0 : y - 1; v <= y + 1 && v < h; ++v)
                for (size_t u = x == 0 ? 0 : x - 1; u <= x + 1 && u < w; ++u)
                    if (e->grid[v * w + u] < 0)
                        e->grid[v * w + u] = (int32_t)k;
        }
    }
}

/* The line pixel that a pixel of the grid leads to, with its signed distance; -1 if none fits. */
static int32_t look_at(const psfm_line_evidence *e, const double at[2], const double along[2],
                       int tone, double step, double *distance) {
    double x = at[0] - step * along[1], y = at[1] + step * along[0];
    if (!(x >= 0.0 && y >= 0.0 && x < e->width && y < e->height))
        return -1;
    int32_t k = e->grid[(size_t)y * (size_t)e->width + (size_t)x];
    if (k < 0)
        return -1;
    const psfm_line_pixel *p = &e->pixels->pixels[k];
    if ((tone == 0 && p->polarity < 0) || (tone == 1 && p->polarity > 0) ||
        fabs((double)p->tx * along[0] + (double)p->ty * along[1]) < SAME_WAY)
        return -1;
    *distance = ((double)p->y - at[1]) * along[0] - ((double)p->x - at[0]) * along[1];
    return k;
}

int32_t psfm_line_evidence_nearest(const psfm_line_evidence *evidence, const double at[2],
                                   const double along[2], int tone, double reach,
                                   double *distance) {
    int32_t best = -1;
    int last = (int)ceil(reach);
    *distance = INFINITY;
    for (int step = 0; step <= last; ++step) {
        for (int side = -1; side <= 1; side += 2) {
            double found;
            int32_t k = look_at(evidence, at, along, tone, side * (double)step, &found);
            if (k >= 0 && fabs(found) < fabs(*distance)) {
                best = k;
                *distance = found;
            }
        }
        if (last > step + 1 && best >= 0)
            last = step + 1; /* the next step may still hold a nearer one */
    }
    return fabs(*distance) <= reach ? best : -1;
}

double psfm_line_evidence_value(const psfm_line_evidence *evidence, const double at[2],
                                const double along[2], int tone, double distance) {
    int way = psfm_way((float)along[0], (float)along[1]);
    int column = (int)at[0] / PSFM_CELL_SIZE, row = (int)at[1] / PSFM_CELL_SIZE;
    double density = (double)evidence->density[tone][(size_t)way * num_cells(evidence) +
                                                     (size_t)(row * evidence->columns + column)];
    double share = distance / (double)FINE_TOLERANCE;
    double closeness = fabs(share) < 1.0 ? 1.0 - share * share : 0.0;
    return evidence_of(closeness, density);
}

bool psfm_line_evidence_sees(const psfm_line_evidence *evidence, const double at[2]) {
    if (!(at[0] >= 0.0 && at[1] >= 0.0 && at[0] < evidence->width && at[1] < evidence->height))
        return false;
    return evidence->pixels->valid[(size_t)at[1] * (size_t)evidence->width + (size_t)at[0]] != 0;
}

/* ---- all of it ---- */

static void fill_visible(psfm_line_evidence *e) {
    for (int v = 0; v < e->coarse_height; ++v)
        for (int u = 0; u < e->coarse_width; ++u)
            e->visible[(size_t)v * (size_t)e->coarse_width + (size_t)u] =
                e->pixels->valid[(size_t)(v * PSFM_COARSE) * (size_t)e->width +
                                 (size_t)(u * PSFM_COARSE)];
}

psfm_status psfm_line_evidence_init(psfm_context *ctx, const psfm_line_pixels *pixels,
                                    psfm_line_evidence *evidence) {
    psfm_line_evidence *e = evidence;
    *e = (psfm_line_evidence){.pixels = pixels, .width = pixels->width, .height = pixels->height};
    e->coarse_width = (e->width + PSFM_COARSE - 1) / PSFM_COARSE;
    e->coarse_height = (e->height + PSFM_COARSE - 1) / PSFM_COARSE;
    e->columns = (e->width + PSFM_CELL_SIZE - 1) / PSFM_CELL_SIZE;
    e->rows = (e->height + PSFM_CELL_SIZE - 1) / PSFM_CELL_SIZE;
    psfm_status status = PSFM_ALLOC(ctx, coarse_size(e), &e->visible);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)e->width * (size_t)e->height, &e->grid);
    for (int tone = 0; tone < PSFM_NUM_TONES && status == PSFM_OK; ++tone) {
        status = PSFM_ALLOC(ctx, PSFM_NUM_WAYS * coarse_size(e), &e->coarse[tone]);
        if (status == PSFM_OK)
            status = PSFM_ALLOC(ctx, PSFM_NUM_WAYS * num_cells(e), &e->density[tone]);
    }
    if (status != PSFM_OK)
        return status;
    fill_visible(e);
    fill_grid(e);
    return fill_maps(ctx, e);
}

void psfm_line_evidence_free(psfm_line_evidence *evidence) {
    for (int tone = 0; tone < PSFM_NUM_TONES; ++tone) {
        free(evidence->coarse[tone]);
        free(evidence->density[tone]);
    }
    free(evidence->visible);
    free(evidence->grid);
    *evidence = (psfm_line_evidence){0};
}
