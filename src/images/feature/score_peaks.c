/* Keypoints as peaks of a score map: places whose score is the largest within a square window.
 *
 * The maximum over a (2 r + 1)^2 window is taken along rows, then down columns, in bands of rows
 * that are tasks of their own: O(r) per pixel and free of borders between tasks, because each band
 * computes the rows around it again. Peaks are put in order by a radix sort of the scores' bits. */
#include "images/feature/score_peaks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define CELL ((size_t)8)
#define BAND_ROWS 32 /* rows of one task */
#define MAX_RADIUS 32

typedef struct {
    const psfm_map *cells;
    psfm_map *scores;
} cells_job;

static void cells_task(psfm_engine *nn, const void *user, size_t y, void *memory) {
    (void)memory;
    const cells_job *job = user;
    const psfm_kernels *kernels = psfm_engine_kernels(nn);
    size_t width = job->scores->width;
    for (size_t x = 0; x < job->cells->width; ++x)
        kernels->cell_softmax(job->cells->data + (y * job->cells->width + x) * job->cells->pitch,
                              job->scores->data + y * CELL * width + x * CELL, width);
}

psfm_status psfm_scores_from_cells(psfm_context *ctx, psfm_engine *nn, const psfm_map *cells,
                                   psfm_map *scores) {
    psfm_status status = psfm_map_resize(ctx, scores, cells->height * CELL, cells->width * CELL, 1);
    if (status != PSFM_OK)
        return status;
    cells_job job = {cells, scores};
    return psfm_engine_run(ctx, nn, cells->height, 0, cells_task, &job);
}

typedef struct {
    const psfm_map *map;
    size_t radius;
    psfm_peaks_row_fn row;
    const void *user;
} window_job;

/* Row maxima of the rows of a band and of `radius` rows around it, then maxima down the columns. */
static void window_task(psfm_engine *nn, const void *user, size_t index, void *memory) {
    float *scratch = memory;
    const window_job *job = user;
    const psfm_kernels *kernels = psfm_engine_kernels(nn);
    size_t w = job->map->width, h = job->map->height, r = job->radius;
    size_t begin = index * BAND_ROWS, end = begin + BAND_ROWS < h ? begin + BAND_ROWS : h;
    size_t first = begin > r ? begin - r : 0, last = end + r < h ? end + r : h;
    const float *sources[2 * MAX_RADIUS + 1];
    float *padded = scratch, *largest = padded + w + 2 * r, *across = largest + w;
    for (size_t k = 0; k < r; ++k)
        padded[k] = padded[w + r + k] = -INFINITY;
    for (size_t k = 0; k <= 2 * r; ++k)
        sources[k] = padded + k;
    for (size_t y = first; y < last; ++y) {
        memcpy(padded + r, job->map->data + y * w, w * sizeof *padded);
        kernels->max_of(sources, 2 * r + 1, w, across + (y - first) * w);
    }
    for (size_t y = begin; y < end; ++y) {
        size_t num = 0;
        for (size_t k = y > r ? y - r : 0; k <= y + r && k < h; ++k)
            sources[num++] = across + (k - first) * w;
        kernels->max_of(sources, num, w, largest);
        job->row(job->user, y, largest);
    }
}

psfm_status psfm_peaks_window_max(psfm_context *ctx, psfm_engine *nn, const psfm_map *map,
                                  size_t radius, psfm_peaks_row_fn row, const void *user) {
    if (radius > MAX_RADIUS)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "suppression radius %zu is over %d", radius,
                         MAX_RADIUS);
    window_job job = {map, radius, row, user};
    size_t w = map->width;
    return psfm_engine_run(ctx, nn, (map->height + BAND_ROWS - 1) / BAND_ROWS,
                           w + 2 * radius + w + (BAND_ROWS + 2 * radius) * w, window_task, &job);
}

psfm_status psfm_peaks_add(psfm_context *ctx, psfm_peak_list *list, float score, size_t index) {
    psfm_status status = PSFM_RESERVE(ctx, &list->peaks, &list->capacity, list->num + 1);
    if (status == PSFM_OK)
        list->peaks[list->num++] = (psfm_peak){score, (uint32_t)index};
    return status;
}

typedef struct {
    const psfm_kernels *kernels;
    const psfm_map *scores;
    const psfm_peak_rule *rule;
    psfm_peak_list *list;
} find_job;

static void find_in_row(const void *user, size_t y, const float *largest) {
    const find_job *job = user;
    size_t w = job->scores->width, border = job->rule->border;
    if (y < border || y + border >= job->scores->height || 2 * border >= w) {
        job->list->counts[y] = 0;
        return;
    }
    job->list->counts[y] = (uint32_t)job->kernels->find_peaks(
        job->scores->data + y * w + border, largest + border, w - 2 * border, job->rule->threshold,
        job->list->columns + y * w);
}

/* The peaks of all rows, one after the other. */
static psfm_status join_rows(psfm_context *ctx, const psfm_map *scores, size_t border,
                             psfm_peak_list *list) {
    size_t total = 0;
    for (size_t y = 0; y < scores->height; ++y)
        total += list->counts[y];
    psfm_status status = PSFM_RESERVE(ctx, &list->peaks, &list->capacity, total);
    for (size_t y = 0; status == PSFM_OK && y < scores->height; ++y)
        for (size_t k = 0; k < list->counts[y]; ++k) {
            size_t index = y * scores->width + border + list->columns[y * scores->width + k];
            list->peaks[list->num++] = (psfm_peak){scores->data[index], (uint32_t)index};
        }
    return status;
}

psfm_status psfm_peaks_find(psfm_context *ctx, psfm_engine *nn, const psfm_map *scores,
                            const psfm_peak_rule *rule, psfm_peak_list *list) {
    find_job job = {psfm_engine_kernels(nn), scores, rule, list};
    list->num = 0;
    psfm_status status =
        PSFM_RESERVE(ctx, &list->columns, &list->columns_capacity, scores->height * scores->width);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &list->counts, &list->counts_capacity, scores->height);
    if (status == PSFM_OK)
        status = psfm_peaks_window_max(ctx, nn, scores, rule->radius, find_in_row, &job);
    return status == PSFM_OK ? join_rows(ctx, scores, rule->border, list) : status;
}

#define DIGIT_BITS 11
#define NUM_DIGITS 3
#define NUM_BINS (1 << DIGIT_BITS)

/* A number that falls as the score rises. */
static uint32_t sort_key(float score) {
    uint32_t u;
    score += 0.0f; /* -0 becomes 0, which it equals */
    memcpy(&u, &score, sizeof u);
    return u & 0x80000000u ? u : ~u & 0x7fffffffu;
}

/* One pass of a radix sort, by digit `d` from below. */
static void sort_digit(const psfm_peak *from, size_t num, int d, psfm_peak *to) {
    size_t starts[NUM_BINS] = {0}, sum = 0;
    for (size_t k = 0; k < num; ++k)
        ++starts[sort_key(from[k].score) >> d * DIGIT_BITS & (NUM_BINS - 1)];
    for (size_t b = 0; b < NUM_BINS; ++b) {
        size_t count = starts[b];
        starts[b] = sum;
        sum += count;
    }
    for (size_t k = 0; k < num; ++k)
        to[starts[sort_key(from[k].score) >> d * DIGIT_BITS & (NUM_BINS - 1)]++] = from[k];
}

psfm_status psfm_peaks_keep_best(psfm_context *ctx, psfm_peak_list *list, size_t max) {
    psfm_status status = PSFM_RESERVE(ctx, &list->sorted, &list->sorted_capacity, list->capacity);
    if (status != PSFM_OK)
        return status;
    for (int d = 0; d < NUM_DIGITS; ++d) {
        sort_digit(list->peaks, list->num, d, list->sorted);
        psfm_peak *peaks = list->peaks;
        size_t capacity = list->capacity;
        list->peaks = list->sorted;
        list->capacity = list->sorted_capacity;
        list->sorted = peaks;
        list->sorted_capacity = capacity;
    }
    list->num = list->num < max ? list->num : max;
    return PSFM_OK;
}

/* Vertex of the parabola through (-1, before), (0, at), (1, after). */
static float find_vertex(float before, float at, float after) {
    float curvature = before - 2 * at + after, slope = 0.5f * (before - after);
    if (!(curvature < 0) || !isfinite(curvature) || !isfinite(slope))
        return 0;
    return fmaxf(-0.5f, fminf(0.5f, slope / curvature));
}

void psfm_peak_offset(const psfm_map *scores, size_t index, bool logarithms, float offset[2]) {
    size_t w = scores->width, h = scores->height, x = index % w, y = index / w;
    const size_t steps[2] = {1, w};
    offset[0] = offset[1] = 0;
    if (x == 0 || y == 0 || x + 1 == w || y + 1 == h)
        return;
    for (int d = 0; d < 2; ++d) {
        float v[3];
        for (size_t k = 0; k < 3; ++k) {
            float score = scores->data[index + k * steps[d] - steps[d]];
            v[k] = logarithms ? logf(score) : score;
        }
        offset[d] = find_vertex(v[0], v[1], v[2]);
    }
}
