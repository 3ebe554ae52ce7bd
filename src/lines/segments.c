/* Groups grow from the strongest line pixels. A pixel joins the group beside it if it runs along
 * the group's direction and lies on its line, which is fitted again and again while the group
 * grows: so a long line does not run off into the grain of the floor that touches it, and an arc
 * breaks into segments that are straight enough. */
#include "lines/segments.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"

#define REACH 2             /* pixels between neighbours of one group, in x or y */
#define SAME_WAY 0.9781476F /* cosine of 12 degrees */
#define MAX_RMS 1.0         /* pixels, for short segments */
#define RMS_PER_LENGTH 0.004
#define MIN_FILL 0.5   /* line pixels per pixel of length */
#define FIRST_FIT 10   /* line pixels from which a group has a line of its own */
#define MANY 50        /* line pixels whose places tell the direction better than their own ones */
#define MAX_ASIDE 1.5F /* pixels by which a new one may lie off the group's line */

typedef struct {
    const psfm_line_pixels *set;
    int width, height;  /* of the grid */
    int32_t *grid;      /* the first line pixel of each pixel, or -1 */
    int32_t *next;      /* the next one on the same pixel, or -1 */
    uint8_t *used;      /* per line pixel */
    uint32_t *order;    /* strongest first */
    uint32_t *group;    /* the group at hand */
    size_t num;         /* its size */
    size_t next_fit;    /* the size at which its line is fitted again */
    float x, y, tx, ty; /* its line: a point and the direction */
} growth;

static int grid_at(float place, int size) {
    int at = (int)floorf(place);
    return at < 0 ? 0 : at >= size ? size - 1 : at;
}

static void fill_grid(growth *g) {
    size_t num_cells = (size_t)g->width * (size_t)g->height;
    for (size_t k = 0; k < num_cells; ++k)
        g->grid[k] = -1;
    for (size_t k = g->set->num; k-- > 0;) {
        const psfm_line_pixel *p = &g->set->pixels[k];
        size_t at =
            (size_t)grid_at(p->y, g->height) * (size_t)g->width + (size_t)grid_at(p->x, g->width);
        g->next[k] = g->grid[at];
        g->grid[at] = (int32_t)k;
    }
}

/* Descending by strength, in 256 steps and within a step by index: a counting sort. */
static void sort_by_strength(growth *g) {
    size_t start[257] = {0};
    for (size_t k = 0; k < g->set->num; ++k)
        ++start[256 - (size_t)fminf(g->set->pixels[k].strength, 255.0F)];
    for (size_t b = 1; b < 257; ++b)
        start[b] += start[b - 1];
    for (size_t k = g->set->num; k-- > 0;)
        g->order[--start[256 - (size_t)fminf(g->set->pixels[k].strength, 255.0F)]] = (uint32_t)k;
}

/* Moments of the group. */
typedef struct {
    double x, y, xx, xy, yy, polarity, strength;
} moments;

static moments sum_group(const growth *g) {
    moments m = {0};
    double n = (double)g->num;
    for (size_t k = 0; k < g->num; ++k) {
        const psfm_line_pixel *p = &g->set->pixels[g->group[k]];
        m.x += (double)p->x / n;
        m.y += (double)p->y / n;
        m.polarity += p->polarity / n;
        m.strength += (double)p->strength / n;
    }
    for (size_t k = 0; k < g->num; ++k) {
        const psfm_line_pixel *p = &g->set->pixels[g->group[k]];
        double dx = (double)p->x - m.x, dy = (double)p->y - m.y;
        m.xx += dx * dx / n;
        m.xy += dx * dy / n;
        m.yy += dy * dy / n;
    }
    return m;
}

static double moments_direction(const moments *m) {
    return 0.5 * atan2(2.0 * m->xy, m->xx - m->yy);
}

/* Mean direction of the group's pixels, which tells more than their places while they are few. */
static double mean_direction(const growth *g) {
    double c = 0.0, s = 0.0; /* of the doubled angles */
    for (size_t k = 0; k < g->num; ++k) {
        const psfm_line_pixel *p = &g->set->pixels[g->group[k]];
        c += (double)(p->tx * p->tx - p->ty * p->ty);
        s += (double)(2.0F * p->tx * p->ty);
    }
    return 0.5 * atan2(s, c);
}

static void fit_again(growth *g) {
    moments m = sum_group(g);
    double angle = g->num < MANY ? mean_direction(g) : moments_direction(&m);
    g->x = (float)m.x;
    g->y = (float)m.y;
    g->tx = (float)cos(angle);
    g->ty = (float)sin(angle);
    g->next_fit = g->num + g->num / 4;
}

/* Adds the pixel if it continues the group. */
static void try_join(growth *g, uint32_t k) {
    const psfm_line_pixel *p = &g->set->pixels[k];
    float aside = (p->x - g->x) * g->ty - (p->y - g->y) * g->tx;
    if (g->used[k] || fabsf(p->tx * g->tx + p->ty * g->ty) < SAME_WAY ||
        (g->num >= FIRST_FIT && fabsf(aside) > MAX_ASIDE))
        return;
    g->used[k] = 1;
    g->group[g->num++] = k;
    if (g->num >= g->next_fit)
        fit_again(g);
}

static void grow_group(growth *g, uint32_t seed) {
    const psfm_line_pixel *first = &g->set->pixels[seed];
    g->num = 1;
    g->next_fit = FIRST_FIT;
    g->x = first->x;
    g->y = first->y;
    g->tx = first->tx;
    g->ty = first->ty;
    g->used[seed] = 1;
    g->group[0] = seed;
    for (size_t done = 0; done < g->num; ++done) {
        const psfm_line_pixel *p = &g->set->pixels[g->group[done]];
        int x = grid_at(p->x, g->width), y = grid_at(p->y, g->height);
        for (int v = y - REACH; v <= y + REACH; ++v) {
            for (int u = x - REACH; u <= x + REACH; ++u) {
                if (u < 0 || v < 0 || u >= g->width || v >= g->height)
                    continue;
                int32_t k = g->grid[(size_t)v * (size_t)g->width + (size_t)u];
                for (; k >= 0; k = g->next[k])
                    try_join(g, (uint32_t)k);
            }
        }
    }
}

/* The line of least squares through the group; false if the group is no straight line. */
static bool fit_segment(const growth *g, double min_length, psfm_segment *segment) {
    moments m = sum_group(g);
    double angle = moments_direction(&m), c = cos(angle), s = sin(angle);
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < g->num; ++k) {
        const psfm_line_pixel *p = &g->set->pixels[g->group[k]];
        double along = ((double)p->x - m.x) * c + ((double)p->y - m.y) * s;
        low = fmin(low, along);
        high = fmax(high, along);
    }
    double across = m.xx * s * s - 2.0 * m.xy * s * c + m.yy * c * c;
    *segment = (psfm_segment){.a = {m.x + low * c, m.y + low * s},
                              .b = {m.x + high * c, m.y + high * s},
                              .length = high - low,
                              .rms = sqrt(fmax(across, 0.0)),
                              .polarity = m.polarity,
                              .strength = m.strength};
    return segment->length >= min_length && (double)g->num >= MIN_FILL * segment->length &&
           segment->rms <= MAX_RMS + RMS_PER_LENGTH * segment->length;
}

static int longest_first(const void *a, const void *b) {
    const psfm_segment *p = a, *q = b;
    if (p->length != q->length)
        return p->length > q->length ? -1 : 1;
    for (int k = 0; k < 2; ++k)
        if (p->a[k] != q->a[k])
            return p->a[k] < q->a[k] ? -1 : 1;
    return 0;
}

static psfm_status grow_all(psfm_context *ctx, growth *g, double min_length, psfm_segments *out) {
    fill_grid(g);
    sort_by_strength(g);
    for (size_t k = 0; k < g->set->num; ++k) {
        if (g->used[g->order[k]])
            continue;
        psfm_segment segment;
        grow_group(g, g->order[k]);
        if ((double)g->num < MIN_FILL * min_length || !fit_segment(g, min_length, &segment))
            continue;
        psfm_status status = PSFM_RESERVE(ctx, &out->items, &out->capacity, out->num + 1);
        if (status != PSFM_OK)
            return status;
        out->items[out->num++] = segment;
    }
    if (out->num > 0)
        qsort(out->items, out->num, sizeof *out->items, longest_first);
    return PSFM_OK;
}

psfm_status psfm_segments_find(psfm_context *ctx, const psfm_line_pixels *pixels, double min_length,
                               psfm_segments *out) {
    growth g = {.set = pixels, .width = pixels->width, .height = pixels->height};
    *out = (psfm_segments){0};
    psfm_status status = PSFM_ALLOC(ctx, (size_t)g.width * (size_t)g.height, &g.grid);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, pixels->num, &g.next);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, pixels->num, &g.used);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, pixels->num, &g.order);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, pixels->num, &g.group);
    if (status == PSFM_OK)
        status = grow_all(ctx, &g, min_length, out);
    free(g.grid);
    free(g.next);
    free(g.used);
    free(g.order);
    free(g.group);
    if (status != PSFM_OK)
        psfm_segments_free(out);
    return status;
}

void psfm_segments_free(psfm_segments *segments) {
    free(segments->items);
    *segments = (psfm_segments){0};
}
