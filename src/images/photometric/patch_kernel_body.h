/* The inner loops of patch alignment on vectors of sixteen floats, which the compiler splits where
 * the machine has narrower registers. Each version of the kernels compiles its own copy, and
 * defines after it
 *   fetch    four neighbouring pixels of a row, a byte each, for WIDTH samples,
 *   pick     the same for samples of one row that, with their pixels, lie within 16 bytes of the
 *            first one or, if there are sixteen, within 32,
 *   dot      their sums by sixteen bit weights: of pixels 0 and 2 in `even`, of 1 and 3 in `odd`.
 * Only patch_kernel*.c include this. */
#ifndef PSFM_PHOTOMETRIC_PATCH_KERNEL_BODY_H
#define PSFM_PHOTOMETRIC_PATCH_KERNEL_BODY_H

#include <string.h>

#include "images/photometric/patch_kernel.h"

typedef float floats __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

#define BODY __attribute__((always_inline)) static inline
#define PARTS (PSFM_PATCH_LANES / WIDTH)
#define ROW_ONE 16384 /* sum of the weights along a row */

BODY void fetch(const uint8_t *pixels, const ints *at, ints *four);
BODY void pick(const uint8_t *first, const ints *offset, ints *four);
BODY void dot(const ints *four, const ints *even, const ints *odd, floats *out);

BODY void polynomial(const float c[6], const floats *u, const floats *v, floats *out) {
    floats a = *u, b = *v;
    *out = ((c[0] + c[1] * a) + c[2] * b) + a * (c[3] * a + c[4] * b) + b * (c[5] * b);
}

BODY void clamp(float low, float high, floats *x) {
    floats lowest = low - (floats){0}, highest = high - (floats){0};
    ints below = *x<lowest, above = *x> highest;
    ints bits = (*(ints *)x & ~below) | (*(ints *)&lowest & below);
    bits = (bits & ~above) | (*(ints *)&highest & above);
    *x = *(floats *)&bits;
}

/* The whole part of x, and the weights of the four pixels about it, times 6. */
BODY void spline_weights(const floats *x, ints *whole, floats w[4]) {
    ints cut = __builtin_convertvector(*x, ints);
    cut += __builtin_convertvector(cut, floats) > *x; /* a comparison that holds is -1 */
    floats t = *x - __builtin_convertvector(cut, floats), r = 1.0F - t;
    *whole = cut;
    w[0] = r * r * r;
    w[3] = t * t * t;
    w[1] = (3.0F * t - 6.0F) * (t * t) + 4.0F;
    w[2] = ((6.0F - w[0]) - w[1]) - w[3];
}

/* Weights as integers of sum ROW_ONE, those of pixels 0 and 2 in one word, 1 and 3 in another. */
BODY void pack_weights(const floats w[4], ints *even, ints *odd) {
    const float one = ROW_ONE / 6.0F;
    ints w0 = __builtin_convertvector(w[0] * one + 0.5F, ints);
    ints w1 = __builtin_convertvector(w[1] * one + 0.5F, ints);
    ints w3 = __builtin_convertvector(w[3] * one + 0.5F, ints);
    *even = w0 | ((ROW_ONE - w0 - w1 - w3) << 16);
    *odd = w1 | (w3 << 16);
}

BODY floats join_rows(const floats rows[4], const floats wy[4]) {
    return ((rows[0] * wy[0] + rows[1] * wy[1]) + (rows[2] * wy[2] + rows[3] * wy[3])) *
           (1.0F / (6.0F * ROW_ONE));
}

static void sample_patch(const psfm_pyramid_level *level, const psfm_patch_map *map, const float *u,
                         const float *v, size_t num, float *out) {
    float low_x = (float)(1 - map->base_x), high_x = (float)(level->width - 3 - map->base_x);
    float low_y = (float)(1 - map->base_y), high_y = (float)(level->height - 3 - map->base_y);
    for (size_t k = 0; k < num; k += WIDTH) {
        floats x, y, wx[4], wy[4], rows[4];
        ints ix, iy, even, odd, four;
        polynomial(map->x, (const floats *)(u + k), (const floats *)(v + k), &x);
        polynomial(map->y, (const floats *)(u + k), (const floats *)(v + k), &y);
        clamp(low_x, high_x, &x);
        clamp(low_y, high_y, &y);
        spline_weights(&x, &ix, wx);
        spline_weights(&y, &iy, wy);
        pack_weights(wx, &even, &odd);
        ints at = (iy + (map->base_y - 1)) * level->width + (ix + (map->base_x - 1));
        for (int r = 0; r < 4; ++r, at += level->width) {
            fetch(level->pixels, &at, &four);
            dot(&four, &even, &odd, &rows[r]);
        }
        *(floats *)(out + k) = join_rows(rows, wy);
    }
}

#define GRID_SIDE (2 * PSFM_PATCH_GRID_RADIUS + 1)
#define GRID_COLUMNS ((GRID_SIDE + PSFM_PATCH_LANES - 1) / PSFM_PATCH_LANES * PSFM_PATCH_LANES)
#define GRID_ROWS ((int)(PSFM_PATCH_GRID_STEP * GRID_SIDE) + 5)

/* Where the samples of one axis of a grid lie; those that fill a vector repeat the last one. */
BODY void grid_axis(float origin, float step, int radius, int first, ints *whole, floats w[4]) {
    static const float lanes[PSFM_PATCH_LANES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                  8, 9, 10, 11, 12, 13, 14, 15};
    floats x = *(const floats *)lanes + (float)(first - radius);
    clamp((float)-radius, (float)radius, &x);
    x = origin + step * x;
    spline_weights(&x, whole, w);
}

/* Columns first to first + WIDTH of num rows of the image from `row` on, along the rows. */
BODY void grid_columns(const uint8_t *row, size_t stride, const psfm_patch_map *map, int radius,
                       int first, int num, float (*sums)[GRID_COLUMNS]) {
    ints whole, even, odd, four;
    floats w[4];
    grid_axis(map->x[0], map->x[1], radius, first, &whole, w);
    pack_weights(w, &even, &odd);
    const ints offset = whole - whole[0];
    const uint8_t *at = row + (map->base_x + whole[0] - 1);
    for (int k = 0; k < num; ++k, at += stride) {
        pick(at, &offset, &four);
        dot(&four, &even, &odd, (floats *)&sums[k][first]);
    }
}

static void sample_grid(const psfm_pyramid_level *level, const psfm_patch_map *map, int radius,
                        float *out) {
    float sums[GRID_ROWS][GRID_COLUMNS], weights[4][GRID_COLUMNS];
    int row[GRID_COLUMNS], side = 2 * radius + 1;
    size_t stride = (size_t)level->width;
    for (int k = 0; k < side; k += WIDTH) {
        ints whole;
        floats w[4];
        grid_axis(map->y[0], map->y[2], radius, k, &whole, w);
        memcpy(row + k, &whole, sizeof whole);
        for (int r = 0; r < 4; ++r)
            memcpy(&weights[r][k], &w[r], sizeof w[r]);
    }
    const uint8_t *top = level->pixels + (size_t)(map->base_y + row[0] - 1) * stride;
    for (int k = 0; k < side; k += WIDTH)
        grid_columns(top, stride, map, radius, k, row[side - 1] - row[0] + 4, sums);
    for (int y = 0; y < side; ++y, out += side) {
        floats rows[4], wy[4];
        for (int r = 0; r < 4; ++r)
            wy[r] = weights[r][y] - (floats){0};
        for (int k = 0; k < side; k += WIDTH) {
            for (int r = 0; r < 4; ++r)
                memcpy(&rows[r], &sums[row[y] - row[0] + r][k], sizeof rows[r]);
            *(floats *)(out + k) = join_rows(rows, wy);
        }
    }
}

BODY floats load(const float *at) {
    return *(const floats *)at;
}

/* Adds the lanes of a sum, the upper half to the lower one again and again. */
BODY float add_lanes(const floats sum[PARTS]) {
    float s[PSFM_PATCH_LANES];
    memcpy(s, sum, sizeof s);
    for (int half = PSFM_PATCH_LANES / 2; half > 0; half /= 2)
        for (int k = 0; k < half; ++k)
            s[k] += s[k + half];
    return s[0];
}

static void sum_products(const float *w, float offset, const float *step_x, const float *step_y,
                         const float *pattern, const float *window, size_t num,
                         psfm_patch_sums *sums) {
    floats s[5][PARTS] = {{{0}}};
    for (size_t k = 0; k < num; k += PSFM_PATCH_LANES) {
        for (size_t h = 0, at = k; h < PARTS; ++h, at += WIDTH) {
            floats d = load(w + at) - offset, weighted = d * load(window + at);
            s[0][h] += weighted;
            s[1][h] += weighted * d;
            s[2][h] += d * load(step_x + at);
            s[3][h] += d * load(step_y + at);
            s[4][h] += d * load(pattern + at);
        }
    }
    *sums = (psfm_patch_sums){add_lanes(s[0]), add_lanes(s[1]), add_lanes(s[2]), add_lanes(s[3]),
                              add_lanes(s[4])};
}

static void sum_moments(const float *t, float offset, const float *gx, const float *gy,
                        const float *window, size_t num, psfm_patch_moments *out) {
    floats s[9][PARTS] = {{{0}}};
    for (size_t k = 0; k < num; k += PSFM_PATCH_LANES) {
        for (size_t h = 0, at = k; h < PARTS; ++h, at += WIDTH) {
            floats w = load(window + at), d = load(t + at) - offset;
            floats x = load(gx + at), y = load(gy + at), wd = w * d, wx = w * x, wy = w * y;
            s[0][h] += wd;
            s[1][h] += wx;
            s[2][h] += wy;
            s[3][h] += wd * d;
            s[4][h] += wd * x;
            s[5][h] += wd * y;
            s[6][h] += wx * x;
            s[7][h] += wx * y;
            s[8][h] += wy * y;
        }
    }
    *out = (psfm_patch_moments){add_lanes(s[0]), add_lanes(s[1]), add_lanes(s[2]),
                                add_lanes(s[3]), add_lanes(s[4]), add_lanes(s[5]),
                                add_lanes(s[6]), add_lanes(s[7]), add_lanes(s[8])};
}

static void weigh_template(const psfm_patch_weights *p, const float *window, size_t num, float *t,
                           float *gx, float *gy) {
    const float *a = p->step_x, *b = p->step_y;
    for (size_t k = 0; k < num; k += WIDTH) {
        floats w = load(window + k), d = load(t + k) - p->offset;
        floats x = load(gx + k), y = load(gy + k);
        *(floats *)(t + k) = w * (d * p->norm);
        *(floats *)(gx + k) = w * (((a[0] * x + a[1] * y) + a[2] * d) + a[3]);
        *(floats *)(gy + k) = w * (((b[0] * x + b[1] * y) + b[2] * d) + b[3]);
    }
}

#endif
