/* The plain version of the inner loops of patch alignment, and the choice for this machine. Sums
 * run in eight lanes that are added in a fixed order, as vectors do. */
#include "photo/patch_kernel.h"

#include <math.h>

#include "base/cpu.h"

static float polynomial(const float c[6], float u, float v) {
    return ((c[0] + c[1] * u) + c[2] * v) + u * (c[3] * u + c[4] * v) + v * (c[5] * v);
}

static float clamp(float x, float low, float high) {
    x = x > low ? x : low;
    return x < high ? x : high;
}

/* Weights of the four pixels about a position t in [0, 1) between the middle two, times 6. */
static void spline_weights(float t, float w[4]) {
    float r = 1.0F - t;
    w[0] = r * r * r;
    w[3] = t * t * t;
    w[1] = (3.0F * t - 6.0F) * (t * t) + 4.0F;
    w[2] = ((6.0F - w[0]) - w[1]) - w[3];
}

static void sample(const psfm_pyramid_level *level, const psfm_patch_map *map, const float *u,
                   const float *v, size_t num, float *out) {
    float low_x = (float)(1 - map->base_x), high_x = (float)(level->width - 3 - map->base_x);
    float low_y = (float)(1 - map->base_y), high_y = (float)(level->height - 3 - map->base_y);
    for (size_t k = 0; k < num; ++k) {
        float x = clamp(polynomial(map->x, u[k], v[k]), low_x, high_x);
        float y = clamp(polynomial(map->y, u[k], v[k]), low_y, high_y);
        float fx = floorf(x), fy = floorf(y), wx[4], wy[4], rows[4];
        spline_weights(x - fx, wx);
        spline_weights(y - fy, wy);
        int ix = map->base_x - 1 + (int)fx, iy = map->base_y - 1 + (int)fy;
        const uint8_t *p = level->pixels + (size_t)iy * (size_t)level->width + (size_t)ix;
        for (int r = 0; r < 4; ++r, p += level->width)
            rows[r] = ((wx[0] * (float)p[0] + wx[1] * (float)p[1]) +
                       (wx[2] * (float)p[2] + wx[3] * (float)p[3])) *
                      wy[r];
        out[k] = ((rows[0] + rows[1]) + (rows[2] + rows[3])) * (1.0F / 36.0F);
    }
}

static float add_lanes(const float *s) {
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

static void sum(const float *w, float offset, const float *step_x, const float *step_y,
                const float *pattern, const float *window, size_t num, psfm_patch_sums *sums) {
    float value[PSFM_PATCH_LANES] = {0}, square[PSFM_PATCH_LANES] = {0};
    float sx[PSFM_PATCH_LANES] = {0}, sy[PSFM_PATCH_LANES] = {0}, product[PSFM_PATCH_LANES] = {0};
    for (size_t k = 0; k < num; k += PSFM_PATCH_LANES) {
        for (size_t l = 0; l < PSFM_PATCH_LANES; ++l) {
            float d = w[k + l] - offset, weighted = d * window[k + l];
            value[l] += weighted;
            square[l] += weighted * d;
            sx[l] += d * step_x[k + l];
            sy[l] += d * step_y[k + l];
            product[l] += d * pattern[k + l];
        }
    }
    sums->value = add_lanes(value);
    sums->square = add_lanes(square);
    sums->step_x = add_lanes(sx);
    sums->step_y = add_lanes(sy);
    sums->product = add_lanes(product);
}

static const psfm_patch_kernel plain = {sample, sum};

const psfm_patch_kernel *psfm_patch_kernel_choose(void) {
#if defined(__x86_64__)
    if (psfm_cpu() >= PSFM_CPU_AVX2)
        return &psfm_patch_kernel_avx2;
#endif
    return &plain;
}
