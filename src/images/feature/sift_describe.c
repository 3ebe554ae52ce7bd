/* Orientation and descriptor of a keypoint with scale sigma, from the gradients of its level
 * (Lowe 2004, details as in VLFeat).
 *
 * Orientation: directions within 4.5 sigma, weighted by their length and a Gaussian of 1.5 sigma,
 * in 36 bins with linear interpolation; six passes of a box of three; every local maximum above
 * 0.8 of the highest, by a parabola through three bins.
 *
 * Descriptor: positions are turned by the orientation and divided by the width of a cell, 3 sigma,
 * so that the 4 x 4 cells reach from -2 to 2. A sample is shared among the two nearest cells in x
 * and in y and the two nearest of 8 directions, weighted by its length and a Gaussian of two
 * cells. Samples up to half a cell outside still touch the outer cells, so 6 x 6 are filled and
 * the outermost dropped. The Gaussian is the product of one per column and one per row of the
 * image.
 */
#include "images/feature/sift_describe.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "images/feature/sift_angle.h"

#define PI 3.14159265358979323846
#define NUM_BINS 36

void psfm_sift_patch_free(psfm_sift_patch *patch) {
    free(patch->magnitude);
    free(patch->angle);
    free(patch->weight);
    free(patch->weight_y);
    *patch = (psfm_sift_patch){0};
}

static psfm_status reserve_patch(psfm_context *ctx, psfm_sift_patch *patch) {
    size_t side = 2 * (size_t)patch->radius + 1, capacity = patch->capacity;
    size_t weight_capacity = patch->weight_capacity;
    patch->row_size = (side + PSFM_SIFT_PAD) / PSFM_SIFT_PAD * PSFM_SIFT_PAD + PSFM_SIFT_PAD;
    psfm_status status = PSFM_RESERVE(ctx, &patch->magnitude, &capacity, side * patch->row_size);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &patch->angle, &patch->capacity, side * patch->row_size);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &patch->weight, &weight_capacity, patch->row_size);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &patch->weight_y, &patch->weight_capacity, patch->row_size);
    return status;
}

/* A row of pixels with its neighbours, or itself at the border. */
typedef struct {
    const float *row, *above, *below;
    float y_factor; /* of the difference below - above */
} row_of_three;

/* A pixel on the left or right border: the difference in x is one-sided. */
static void border_gradient(const row_of_three *r, int x, int inwards, float *magnitude,
                            float *angle) {
    float gx = (float)inwards * (r->row[x + inwards] - r->row[x]);
    float gy = r->y_factor * (r->below[x] - r->above[x]);
    *magnitude = sqrtf(gx * gx + gy * gy);
    *angle = psfm_sift_angle(gx, gy);
}

/* Row y of the image, pixels within the circle of the patch. */
static void load_row(const psfm_sift_octave *octave, const float *level, int y,
                     psfm_sift_patch *patch) {
    int dy = y - patch->yi, last = octave->width - 1, last_row = octave->height - 1;
    int half = (int)sqrt((double)(patch->radius * patch->radius - dy * dy));
    int begin = patch->xi - half, end = patch->xi + half; /* inclusive */
    begin = begin < 0 ? 0 : begin;
    end = end > last ? last : end;
    const float *row = level + y * octave->stride;
    const row_of_three r = {row, y > 0 ? row - octave->stride : row,
                            y < last_row ? row + octave->stride : row,
                            y > 0 && y < last_row ? 0.5F : 1.0F};
    ptrdiff_t base = (dy + patch->radius) * (ptrdiff_t)patch->row_size + patch->radius - patch->xi;
    float *magnitude = patch->magnitude + base, *angle = patch->angle + base;
    int first = begin > 0 ? begin : 1, stop = end < last ? end + 1 : last;
    if (stop > first)
        psfm_sift_kernel_choose()->gradient(row + first, r.above + first, r.below + first,
                                            r.y_factor, (size_t)(stop - first), magnitude + first,
                                            angle + first);
    if (begin == 0)
        border_gradient(&r, 0, 1, &magnitude[0], &angle[0]);
    if (end == last)
        border_gradient(&r, last, -1, &magnitude[last], &angle[last]);
}

psfm_status psfm_sift_patch_load(psfm_context *ctx, const psfm_sift_octave *octave,
                                 const psfm_sift_point *point, psfm_sift_patch *patch) {
    patch->octave = octave;
    patch->x = (double)point->x;
    patch->y = (double)point->y;
    patch->sigma = (double)point->sigma;
    patch->xi = (int)(patch->x + 0.5);
    patch->yi = (int)(patch->y + 0.5);
    patch->radius = (int)floor(sqrt(2.0) * 3.0 * patch->sigma * 2.5 + 0.5) + 1;
    psfm_status status = reserve_patch(ctx, patch);
    if (status != PSFM_OK)
        return status;
    const float *level = octave->levels[point->level + 1];
    int begin = patch->yi - patch->radius, end = patch->yi + patch->radius;
    begin = begin < 0 ? 0 : begin;
    end = end > octave->height - 1 ? octave->height - 1 : end;
    for (int y = begin; y <= end; ++y)
        load_row(octave, level, y, patch);
    return PSFM_OK;
}

/* exp(-d^2 / (2 sigma^2)) for the pixels begin .. end, d their distance from the keypoint. From the
 * pixel next to it outwards each is the last one times a factor, and the factors shrink by one
 * factor: four exponentials instead of one a pixel, to some 1e-14. */
static void gaussian_weights(double centre, double sigma, int begin, int end, float *weight) {
    double over = 1.0 / (sigma * sigma), shrink = exp(-over);
    int middle = (int)floor(centre + 0.5);
    middle = middle < begin ? begin : middle > end ? end : middle;
    for (int way = -1; way <= 1; way += 2) {
        double d = (middle - centre) * way, value = exp(-0.5 * d * d * over);
        double factor = exp(-(d + 0.5) * over);
        for (int k = middle; k >= begin && k <= end; k += way) {
            weight[k - begin] = (float)value;
            value *= factor;
            factor *= shrink;
        }
    }
}

static int max_int(int a, int b) {
    return a > b ? a : b;
}

static int min_int(int a, int b) {
    return a < b ? a : b;
}

/* Adds the directions of one row to the bins; bins[0] and bins[NUM_BINS + 1] wrap round. Even and
 * odd pixels have bins of their own: neighbours mostly have the same direction, and an addition
 * would have to wait for the one before. */
static void vote_row(const psfm_sift_patch *patch, int y, int begin, int end, double max_r2,
                     double weight_y, double both[2][NUM_BINS + 2]) {
    ptrdiff_t base =
        (y - patch->yi + patch->radius) * (ptrdiff_t)patch->row_size + patch->radius - patch->xi;
    const float *magnitude = patch->magnitude + base, *angle = patch->angle + base;
    double dy = y - patch->y;
    for (int x = begin; x <= end; ++x) {
        double dx = x - patch->x;
        if (dx * dx + dy * dy >= max_r2)
            continue;
        double vote = (double)magnitude[x] * (double)patch->weight[x - begin] * weight_y;
        double bin = (double)angle[x] * (NUM_BINS / 8.0) + 0.5; /* one up, so that it is positive */
        int low = (int)bin;
        double high_vote = (bin - low) * vote, *bins = both[x & 1];
        bins[low] += vote - high_vote;
        bins[low + 1] += high_vote;
    }
}

static void smooth_bins(double *h) {
    for (int pass = 0; pass < 6; ++pass) {
        double before = h[NUM_BINS - 1], first = h[0];
        for (int k = 0; k < NUM_BINS; ++k) {
            double after = k + 1 < NUM_BINS ? h[k + 1] : first, here = h[k];
            h[k] = (before + here + after) / 3.0;
            before = here;
        }
    }
}

static int find_peaks(const double *h, double angles[PSFM_SIFT_MAX_ORIENTATIONS]) {
    double highest = 0.0;
    int num = 0;
    for (int k = 0; k < NUM_BINS; ++k)
        highest = fmax(highest, h[k]);
    for (int k = 0; k < NUM_BINS && num < PSFM_SIFT_MAX_ORIENTATIONS; ++k) {
        double here = h[k], low = h[(k + NUM_BINS - 1) % NUM_BINS], high = h[(k + 1) % NUM_BINS];
        if (here > 0.8 * highest && here > low && here > high) {
            double offset = -0.5 * (high - low) / (high + low - 2.0 * here);
            angles[num++] = 2.0 * PI * (k + offset + 0.5) / NUM_BINS;
        }
    }
    return num;
}

int psfm_sift_orientations(const psfm_sift_patch *patch,
                           double angles[PSFM_SIFT_MAX_ORIENTATIONS]) {
    double sigma = 1.5 * patch->sigma, both[2][NUM_BINS + 2] = {{0}}, *bins = both[0];
    int radius = max_int((int)floor(3.0 * sigma), 1);
    double max_r2 = radius * radius + 0.6;
    int begin = max_int(patch->xi - radius, 0);
    int end = min_int(patch->xi + radius, patch->octave->width - 1);
    gaussian_weights(patch->x, sigma, begin, end, patch->weight);
    int first = max_int(patch->yi - radius, 0);
    int last = min_int(patch->yi + radius, patch->octave->height - 1);
    gaussian_weights(patch->y, sigma, first, last, patch->weight_y);
    for (int y = first; y <= last; ++y)
        vote_row(patch, y, begin, end, max_r2, (double)patch->weight_y[y - first], both);
    for (int k = 0; k < NUM_BINS + 2; ++k)
        bins[k] += both[1][k];
    bins[NUM_BINS] += bins[0]; /* bin k is at k + 1; wrap both ends */
    bins[1] += bins[NUM_BINS + 1];
    smooth_bins(bins + 1);
    return find_peaks(bins + 1, angles);
}

/* What the rows of a window share: the turn divided by the width of a cell, and one over that. */
typedef struct {
    int begin, end; /* columns */
    double angle, c, s, over_c, over_s;
} window;

/* Narrows [*begin, *end], from 0 on, to the pixels k with |start + k step| < 2.5, give or take one.
 */
static void narrow_range(double start, double step, double over_step, int *begin, int *end) {
    if (fabs(step) < 1e-6) {
        if (fabs(start) > 2.6)
            *end = *begin - 1;
        return;
    }
    double a = (-2.5 - start) * over_step, b = (2.5 - start) * over_step;
    double low = a < b ? a : b, high = a < b ? b : a;
    if (low > *begin)
        *begin = low < *end + 1 ? (int)low : *end + 1; /* beyond the end: none */
    if (high < *end)
        *end = high < 0.0 ? -1 : (int)high + 1;
}

static void describe_row(const psfm_sift_patch *patch, int y, const window *w, float weight_y,
                         float *shares) {
    double dx = w->begin - patch->x, dy = y - patch->y;
    double nx = w->c * dx + w->s * dy, ny = -w->s * dx + w->c * dy;
    int first = 0, last = w->end - w->begin;
    narrow_range(nx, w->c, w->over_c, &first, &last);
    narrow_range(ny, -w->s, -w->over_s, &first, &last);
    if (last < first)
        return;
    ptrdiff_t at = (y - patch->yi + patch->radius) * (ptrdiff_t)patch->row_size + patch->radius -
                   patch->xi + w->begin + first;
    psfm_sift_row row = {.magnitude = patch->magnitude + at,
                         .angle = patch->angle + at,
                         .weight_x = patch->weight + first,
                         .weight_y = weight_y,
                         .nx = (float)(nx + first * w->c + 2.5),
                         .ny = (float)(ny - first * w->s + 2.5),
                         .step_nx = (float)w->c,
                         .step_ny = (float)-w->s,
                         .angle0 = (float)(w->angle * (4.0 / PI)),
                         .n = (size_t)(last - first + 1)};
    psfm_sift_kernel_choose()->add_row(&row, shares);
}

/* Adds what a place of the shares holds for one of its four cells: eight directions, and those
 * after them. */
static void collect_cell(const float *shares, size_t cell, float *out) {
    for (size_t t = 0; t < 8; ++t)
        out[t] += shares[8 * t + cell] + shares[8 * ((t + 7) & 7) + 4 + cell];
}

/* The inner 4 x 4 of the 6 x 6 cells. */
static void collect_cells(const float *shares, float histogram[128]) {
    memset(histogram, 0, 128 * sizeof *histogram);
    for (size_t y = 0; y < 4; ++y)
        for (size_t x = 0; x < 4; ++x)
            for (size_t cell = 0; cell < 4; ++cell)
                collect_cell(shares + 64 * (5 * (y + 1 - cell / 2) + x + 1 - cell % 2), cell,
                             histogram + 8 * (4 * y + x));
}

/* Sum of 128 numbers, eight sums at once. */
static float add_up(const float *v) {
    float sums[8] = {0};
    for (int k = 0; k < 128; k += 8)
        for (int lane = 0; lane < 8; ++lane)
            sums[lane] += v[k + lane];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
           ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

static void scale_to_unit(float *v) {
    float squares[128];
    for (int k = 0; k < 128; ++k)
        squares[k] = v[k] * v[k];
    float norm = sqrtf(add_up(squares)) + FLT_EPSILON;
    for (int k = 0; k < 128; ++k)
        v[k] /= norm;
}

void psfm_sift_root(const float histogram[128], uint8_t descriptor[128]) {
    float sum = add_up(histogram), roots[128] = {0};
    for (int k = 0; sum > 0.0F && k < 128; ++k)
        roots[k] = 512.0F * sqrtf(histogram[k] / sum);
    for (int k = 0; k < 128; ++k) {
        int scaled = (int)(roots[k] + 0.5F);
        descriptor[(k & ~7) + ((8 - (k & 7)) & 7)] = (uint8_t)(scaled < 255 ? scaled : 255);
    }
}

void psfm_sift_describe(psfm_sift_patch *patch, double angle, uint8_t descriptor[128]) {
    _Alignas(32) float shares[PSFM_SIFT_SHARES] = {0};
    float histogram[128];
    double cell = 3.0 * patch->sigma;
    int radius = (int)floor(sqrt(2.0) * cell * 2.5 + 0.5);
    window w = {.begin = max_int(patch->xi - radius, 1),
                .end = min_int(patch->xi + radius, patch->octave->width - 2),
                .angle = angle,
                .c = cos(angle) / cell,
                .s = sin(angle) / cell};
    w.over_c = 1.0 / w.c;
    w.over_s = 1.0 / w.s;
    int first = max_int(patch->yi - radius, 1);
    int last = min_int(patch->yi + radius, patch->octave->height - 2);
    gaussian_weights(patch->x, 2.0 * cell, w.begin, w.end, patch->weight);
    gaussian_weights(patch->y, 2.0 * cell, first, last, patch->weight_y);
    for (int y = first; y <= last; ++y)
        describe_row(patch, y, &w, patch->weight_y[y - first], shares);
    collect_cells(shares, histogram);
    scale_to_unit(histogram);
    for (int k = 0; k < 128; ++k)
        histogram[k] = histogram[k] < 0.2F ? histogram[k] : 0.2F;
    scale_to_unit(histogram);
    psfm_sift_root(histogram, descriptor);
}
