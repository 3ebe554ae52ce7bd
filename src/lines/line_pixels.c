/* Ridges of the image as a landscape. At each scale sigma the matrix of second derivatives has one
 * large eigenvalue lambda across a stripe and a small one along it; the middle of the stripe is
 * where the slope across it vanishes, at t = -(gradient . n) / lambda from the pixel along the
 * normal n. Edges and blobs curve as well, so a stripe must also stand out from both of its flanks,
 * measured on the next finer scale at a distance that clears the widest stripe of this scale: the
 * smaller of the two differences is its strength. Each pixel keeps its strongest ridge over scales
 * and channels.
 *
 * What remains must be stronger than its surroundings (texture is full of weak ridges) and must
 * not be a speck. */
#include "lines/line_pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "lines/smooth.h"

/* ---- cleaning ---- */

/* Of the ridges of an image the lines: each ridge against the mean strength around it (texture is
 * full of weak ones), against its neighbours across the line, and, if it is left with few
 * neighbours at all, a speck. And the part of an image that shows anything: photographs that were
 * undistorted have black around them, whose edge is no line. */

#define BLACK 6         /* the brightest channel of a black pixel */
#define BORDER 4        /* pixels beside the border, or beside black, that are not valid */
#define CELL 16         /* pixels; strengths are averaged over cells */
#define AROUND 2        /* cells on either side that count as the surroundings */
#define LOCAL_RATIO 2.5 /* a line is so many times as strong as these on average */
#define SAME_WAY 0.9F   /* cosine of the angle between pixels of one line */
#define SPECK 3         /* pixels on either side of a line pixel ... */
#define MIN_COUNT 5     /* ... among which there are so many line pixels, itself included */

/* ---- valid pixels ---- */

static bool is_black(const psfm_image *image, size_t k) {
    if (image->rgb == NULL)
        return image->gray[k] <= BLACK;
    const uint8_t *p = image->rgb + 3 * k;
    return p[0] <= BLACK && p[1] <= BLACK && p[2] <= BLACK;
}

/* Marks the black pixels that are joined to the border with 2, by flooding from it. */
static void flood_border(const psfm_image *image, uint8_t *mark, uint32_t *stack) {
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

/* Marks where the image could show a line (psfm_line_pixels.valid, zeroed before): not within a few
 * pixels of its border or of the black area that is joined to it. */
static psfm_status find_valid(psfm_context *ctx, const psfm_image *image, uint8_t *valid) {
    size_t w = (size_t)image->width, h = (size_t)image->height;
    uint8_t *mark = NULL;
    uint32_t *stack = NULL;
    psfm_status status = PSFM_ALLOC(ctx, w * h, &mark);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, w * h, &stack);
    if (status == PSFM_OK) {
        flood_border(image, mark, stack);
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
        mark[k] = strength > options->min_contrast && strength > LOCAL_RATIO * mean &&
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
static psfm_status collect_ridges(psfm_context *ctx, const int32_t *winner, const uint8_t *mark,
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

/* Of all ridges keeps those that are strong enough for the options, stronger than their
 * surroundings and their neighbours across, valid, and no specks, in the order of the image's rows.
 * winner has the ridge of each pixel, or -1. */
static psfm_status clean_lines(psfm_context *ctx, const psfm_line_options *options,
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
        status = collect_ridges(ctx, winner, mark, found);
    }
    free(c.sum);
    free(c.mean);
    free(mark);
    return status;
}

/* ---- line pixels ---- */

#define NUM_LEVELS 4 /* of which the finest serves only as flanks */
#define MAX_CHANNELS 3
#define MARGIN 3         /* pixels at the border whose derivatives are not true */
#define MAX_OFFSET 0.75F /* of the middle from its pixel; neighbours overlap a little */
#define MAX_ROUND 0.6F   /* the smaller curvature as a share of the larger: a line, not a blob */
#define MIN_CURVATURE                                                                        \
    0.15F              /* of a stripe: lambda sigma^2 is at least this share of its contrast \
                        */
#define MIN_LIGHT 2.0F /* difference in lightness from which a coloured line is light or dark */

/* The scales grow by 1.7 from level to level, in pixels. */
static const double sigmas[NUM_LEVELS] = {0.59, 1.0, 1.7, 2.9};

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(psfm_line_options, min_contrast, "min-contrast", 8.0, 1.0, 255.0,
                       "grey levels by which a line differs from both of its flanks"),
};

const psfm_option_table psfm_line_option_table = PSFM_OPTION_TABLE("line", rows);

/* Everything of one search. */
typedef struct {
    const psfm_line_options *options;
    int width, height;
    float *memory;            /* of all planes and rows */
    float *light[NUM_LEVELS]; /* lightness at all scales */
    float *color[NUM_LEVELS]; /* the channel at hand, if it is not lightness */
    float *scratch;           /* one row for smoothing */
    float *curvature;         /* per pixel of a row: lambda, or 0 where there is no ridge */
    int32_t *winner;          /* per pixel: its line pixel, or -1 */
    psfm_line_pixels found;
} search;

static size_t num_pixels(const search *s) {
    return (size_t)s->width * (size_t)s->height;
}

/* ---- channels ---- */

/* Lightness, red against green, yellow against blue; the latter two at half their range, which is
 * about as large as they look. */
static void fill_channel(const psfm_image *image, int channel, size_t num, float *out) {
    const uint8_t *rgb = image->rgb;
    if (channel == 0) {
        for (size_t k = 0; k < num; ++k)
            out[k] = (float)image->gray[k];
    } else if (channel == 1) {
        for (size_t k = 0; k < num; ++k)
            out[k] = 0.5F * (float)(rgb[3 * k] - rgb[3 * k + 1]);
    } else {
        for (size_t k = 0; k < num; ++k)
            out[k] = 0.25F * (float)(rgb[3 * k] + rgb[3 * k + 1] - 2 * rgb[3 * k + 2]);
    }
}

/* levels[0] .. levels[3] from the channel; the last one holds it in the meantime. */
static void fill_levels(search *s, const psfm_image *image, int channel, float *levels[]) {
    float *plain = levels[NUM_LEVELS - 1];
    fill_channel(image, channel, num_pixels(s), plain);
    psfm_smooth(plain, s->width, s->height, sigmas[0], s->scratch, levels[0]);
    for (int k = 1; k < NUM_LEVELS; ++k) {
        double more = sqrt(sigmas[k] * sigmas[k] - sigmas[k - 1] * sigmas[k - 1]);
        psfm_smooth(levels[k - 1], s->width, s->height, more, s->scratch, levels[k]);
    }
}

/* ---- one ridge ---- */

/* Derivatives at a pixel, by 3 x 3 pixels. */
typedef struct {
    float gx, gy, xx, yy, xy;
} slope;

static inline slope slope_at(const float *p, ptrdiff_t w) {
    slope d;
    float left = p[-w - 1] + 2.0F * p[-1] + p[w - 1], right = p[-w + 1] + 2.0F * p[1] + p[w + 1];
    float above = p[-w - 1] + 2.0F * p[-w] + p[-w + 1], below = p[w - 1] + 2.0F * p[w] + p[w + 1];
    float column = p[-w] + 2.0F * p[0] + p[w], row = p[-1] + 2.0F * p[0] + p[1];
    d.gx = 0.125F * (right - left);
    d.gy = 0.125F * (below - above);
    d.xx = 0.25F * (left - 2.0F * column + right);
    d.yy = 0.25F * (above - 2.0F * row + below);
    d.xy = 0.25F * (p[w + 1] - p[w - 1] - p[-w + 1] + p[-w - 1]);
    return d;
}

/* The curvature across the ridge for each pixel of a row, 0 where there is none. */
static void find_curvatures(const float *row, int width, float least, float *restrict out) {
    for (int x = MARGIN; x < width - MARGIN; ++x) {
        slope d = slope_at(row + x, width);
        float mean = 0.5F * (d.xx + d.yy), half = 0.5F * (d.xx - d.yy);
        float root = sqrtf(half * half + d.xy * d.xy), size = fabsf(mean);
        float large = size + root, small = fabsf(size - root);
        float sign = mean > 0.0F ? 1.0F : -1.0F;
        out[x] = large > least && small < MAX_ROUND * large ? sign * large : 0.0F;
    }
}

static float sample_plane(const search *s, const float *plane, float x, float y) {
    float px = fminf(fmaxf(x, 0.0F), (float)s->width - 1.001F);
    float py = fminf(fmaxf(y, 0.0F), (float)s->height - 1.001F);
    int ix = (int)px, iy = (int)py;
    const float *p = plane + (size_t)iy * (size_t)s->width + (size_t)ix;
    float fx = px - (float)ix, fy = py - (float)iy;
    float top = p[0] + fx * (p[1] - p[0]);
    float bottom = p[s->width] + fx * (p[s->width + 1] - p[s->width]);
    return top + fy * (bottom - top);
}

/* How far from (x, y), towards `away`, the values have gone half of the way to the flank there. */
static float half_way(const search *s, const float *fine, float x, float y, const float away[2],
                      float here, float flank) {
    enum { STEPS = 6 };
    float half = 0.5F * (here + flank), before = here;
    for (int k = 1; k <= STEPS; ++k) {
        float share = (float)k / STEPS;
        float value =
            k == STEPS ? flank : sample_plane(s, fine, x + share * away[0], y + share * away[1]);
        if ((before - half) * (value - half) <= 0.0F && before != value)
            return share - (value - half) / (value - before) / STEPS;
        before = value;
    }
    return 0.5F;
}

/* Keeps the ridge if it is the strongest at its pixel so far. */
static psfm_status keep_ridge(psfm_context *ctx, search *s, size_t at,
                              const psfm_line_pixel *pixel) {
    psfm_line_pixels *found = &s->found;
    if (s->winner[at] >= 0) {
        psfm_line_pixel *old = &found->pixels[s->winner[at]];
        if (pixel->strength > old->strength)
            *old = *pixel;
        return PSFM_OK;
    }
    psfm_status status = PSFM_RESERVE(ctx, &found->pixels, &found->capacity, found->num + 1);
    if (status == PSFM_OK) {
        s->winner[at] = (int32_t)found->num;
        found->pixels[found->num++] = *pixel;
    }
    return status;
}

/* A level of a channel, the next finer one, and that of the lightness. */
typedef struct {
    const float *level, *fine, *fine_light;
    float reach; /* to the flanks of its ridges, pixels */
} scale;

/* Lighter or darker than the flanks: by the ridge itself in lightness, otherwise by the
 * difference of lightness there. */
static int8_t polarity_of(const search *s, const scale *of, int x, int y, const float away[2],
                          float curvature) {
    const float *light = of->fine_light, px = (float)x, py = (float)y;
    if (of->fine == light)
        return curvature < 0.0F ? 1 : -1;
    float flanks = sample_plane(s, light, px + away[0], py + away[1]) +
                   sample_plane(s, light, px - away[0], py - away[1]);
    float difference = light[(size_t)y * (size_t)s->width + (size_t)x] - 0.5F * flanks;
    return (int8_t)((difference > MIN_LIGHT) - (difference < -MIN_LIGHT));
}

/* Tests the ridge of curvature lambda at pixel (x, y) of a level and keeps what passes. */
static psfm_status test_ridge(psfm_context *ctx, search *s, const scale *of, int x, int y,
                              float lambda) {
    const float *level = of->level, *fine = of->fine;
    const float reach = of->reach;
    size_t at = (size_t)y * (size_t)s->width + (size_t)x;
    slope d = slope_at(level + at, s->width);
    /* the better conditioned of the two ways to write the eigenvector */
    float a = lambda - d.yy, b = lambda - d.xx;
    float nx = fabsf(a) > fabsf(b) ? a : d.xy, ny = fabsf(a) > fabsf(b) ? d.xy : b;
    float norm = 1.0F / sqrtf(nx * nx + ny * ny);
    nx *= norm;
    ny *= norm;
    float t = -(d.gx * nx + d.gy * ny) / lambda;
    if (!(fabsf(t) <= MAX_OFFSET))
        return PSFM_OK;
    float away[2] = {reach * nx, reach * ny}, sign = lambda < 0.0F ? 1.0F : -1.0F;
    float back[2] = {-away[0], -away[1]}, px = (float)x, py = (float)y, here = fine[at];
    float ahead = sample_plane(s, fine, px + away[0], py + away[1]);
    float behind = sample_plane(s, fine, px - away[0], py - away[1]);
    float strength = fminf(sign * (here - ahead), sign * (here - behind));
    if (!(strength > 0.0F) ||
        (s->winner[at] >= 0 && strength <= s->found.pixels[s->winner[at]].strength))
        return PSFM_OK;
    /* where the flanks differ the ridge is drawn to the higher one, the middle of the edges less */
    if (strength >= (float)s->options->min_contrast)
        t = 0.5F * reach *
            (half_way(s, fine, px, py, away, here, ahead) -
             half_way(s, fine, px, py, back, here, behind));
    bool flip = nx < 0.0F || (nx == 0.0F && ny > 0.0F); /* the tangent is (-ny, nx) */
    psfm_line_pixel pixel = {px + 0.5F + t * nx, py + 0.5F + t * ny,
                             flip ? ny : -ny,    flip ? -nx : nx,
                             strength,           polarity_of(s, of, x, y, away, lambda)};
    return keep_ridge(ctx, s, at, &pixel);
}

static psfm_status search_level(psfm_context *ctx, search *s, float *const levels[], int k) {
    float sigma = (float)sigmas[k];
    const scale of = {levels[k], levels[k - 1], s->light[k - 1], 2.2F * sigma + 0.8F};
    float least = MIN_CURVATURE * (float)s->options->min_contrast / (sigma * sigma);
    psfm_status status = PSFM_OK;
    for (int y = MARGIN; y < s->height - MARGIN; ++y) {
        const float *row = levels[k] + (size_t)y * (size_t)s->width;
        find_curvatures(row, s->width, least, s->curvature);
        for (int x = MARGIN; x < s->width - MARGIN && status == PSFM_OK; ++x)
            if (s->curvature[x] != 0.0F)
                status = test_ridge(ctx, s, &of, x, y, s->curvature[x]);
    }
    return status;
}

/* ---- all of them ---- */

static psfm_status search_channels(psfm_context *ctx, search *s, const psfm_image *image) {
    psfm_status status = PSFM_OK;
    for (int c = 0; c < (image->rgb == NULL ? 1 : MAX_CHANNELS); ++c) {
        float **levels = c == 0 ? s->light : s->color;
        fill_levels(s, image, c, levels);
        for (int k = 1; k < NUM_LEVELS && status == PSFM_OK; ++k)
            status = search_level(ctx, s, levels, k);
    }
    return status;
}

static psfm_status open_search(psfm_context *ctx, const psfm_image *image, search *s) {
    size_t num = num_pixels(s), planes = image->rgb == NULL ? NUM_LEVELS : 2 * NUM_LEVELS;
    size_t row = (size_t)s->width, extra = psfm_smooth_scratch(s->width) + row;
    psfm_status status = PSFM_ALLOC(ctx, planes * num + extra, &s->memory);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &s->winner);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &s->found.valid);
    if (status != PSFM_OK)
        return status;
    s->curvature = s->memory + planes * num;
    s->scratch = s->curvature + row;
    for (size_t k = 0; k < NUM_LEVELS; ++k) {
        s->light[k] = s->memory + k * num;
        s->color[k] = image->rgb == NULL ? s->light[k] : s->memory + (NUM_LEVELS + k) * num;
    }
    for (size_t k = 0; k < num; ++k)
        s->winner[k] = -1;
    return PSFM_OK;
}

psfm_status psfm_line_pixels_find(psfm_context *ctx, const psfm_image *image,
                                  const psfm_line_options *options, psfm_line_pixels *out) {
    psfm_line_options defaults;
    search s = {.options = options, .width = image->width, .height = image->height};
    psfm_options_init(&psfm_line_option_table, &defaults);
    if (options == NULL)
        s.options = &defaults;
    s.found.width = image->width;
    s.found.height = image->height;
    psfm_status status = open_search(ctx, image, &s);
    if (status == PSFM_OK)
        status = find_valid(ctx, image, s.found.valid);
    if (status == PSFM_OK)
        status = search_channels(ctx, &s, image);
    if (status == PSFM_OK)
        status = clean_lines(ctx, s.options, s.winner, &s.found);
    free(s.memory);
    free(s.winner);
    if (status != PSFM_OK)
        psfm_line_pixels_free(&s.found);
    *out = s.found;
    return status;
}

void psfm_line_pixels_free(psfm_line_pixels *pixels) {
    free(pixels->pixels);
    free(pixels->valid);
    *pixels = (psfm_line_pixels){0};
}
