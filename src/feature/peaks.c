#include "feature/peaks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define CELL ((size_t)8)
#define BAND_ROWS 32 /* rows of one task */
#define MAX_RADIUS 32

typedef struct {
    const psfm_map *cells;
    psfm_map *scores;
} cells_job;

static void cells_task(psfm_engine *nn, const void *user, size_t y, void *memory) {
    float *scratch = memory;
    const cells_job *job = user;
    size_t width = job->scores->width;
    for (size_t x = 0; x < job->cells->width; ++x) {
        memcpy(scratch, job->cells->data + (y * job->cells->width + x) * job->cells->pitch,
               (CELL * CELL + 1) * sizeof *scratch);
        float sum = psfm_engine_kernels(nn)->softmax_exp(scratch, CELL * CELL + 1);
        float *out = job->scores->data + y * CELL * width + x * CELL;
        for (size_t k = 0; k < CELL * CELL; ++k)
            out[k / CELL * width + k % CELL] = scratch[k] / sum;
    }
}

psfm_status psfm_scores_from_cells(psfm_context *ctx, psfm_engine *nn, const psfm_map *cells,
                                   psfm_map *scores) {
    psfm_status status = psfm_map_resize(ctx, scores, cells->height * CELL, cells->width * CELL, 1);
    if (status != PSFM_OK)
        return status;
    cells_job job = {cells, scores};
    return psfm_engine_run(ctx, nn, cells->height, psfm_align_floats(CELL * CELL + 1), cells_task,
                           &job);
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

static int by_score(const void *a, const void *b) {
    const psfm_peak *p = a, *q = b;
    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

psfm_status psfm_peaks_add(psfm_context *ctx, psfm_peak_list *list, float score, size_t index) {
    psfm_status status = psfm_reserve(ctx, (void **)&list->peaks, &list->capacity, list->num + 1,
                                      sizeof *list->peaks);
    if (status == PSFM_OK)
        list->peaks[list->num++] = (psfm_peak){score, (uint32_t)index};
    return status;
}

void psfm_peaks_sort(psfm_peak_list *list) {
    if (list->num > 1)
        qsort(list->peaks, list->num, sizeof *list->peaks, by_score);
}

/* Vertex of the parabola through (-1, before), (0, at), (1, after). */
static float vertex(float before, float at, float after) {
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
        offset[d] = vertex(v[0], v[1], v[2]);
    }
}
