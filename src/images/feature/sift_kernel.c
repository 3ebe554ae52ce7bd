/* The plain version of SIFT's inner loops, and the choice of the version for this machine. */
#include "images/feature/sift_kernel.h"

#include <math.h>

#include "core/base/cpu.h"
#include "images/feature/sift_angle.h"
#include "images/feature/sift_kernel_body.h"

static void smooth_down(const float *const *rows, const float *kernel, int radius, size_t n,
                        float *const out[2]) {
    smooth_down_body(rows, kernel, radius, n, out);
}

static void smooth_along(const float *row, const float *kernel, int radius, size_t n, float *out) {
    smooth_along_body(row, kernel, radius, n, out);
}

/* Whether `sign` times the middle difference at x exceeds all neighbours in one of the three. */
static bool exceeds_neighbours(const float *lower, const float *upper, ptrdiff_t stride,
                               float value, float sign, bool with_centre) {
    for (ptrdiff_t dy = -1; dy <= 1; ++dy)
        for (ptrdiff_t dx = -1; dx <= 1; ++dx) {
            ptrdiff_t at = dy * stride + dx;
            if ((at != 0 || with_centre) && !(sign * value > sign * (upper[at] - lower[at])))
                return false;
        }
    return true;
}

static size_t find_extrema(const float *const levels[4], ptrdiff_t stride, int width,
                           float threshold, uint32_t *found) {
    size_t num = 0;
    for (int x = 1; x < width - 1; ++x) {
        float value = levels[2][x] - levels[1][x];
        float sign = value < 0.0F ? -1.0F : 1.0F;
        if (sign * value >= threshold &&
            exceeds_neighbours(levels[1] + x, levels[2] + x, stride, value, sign, false) &&
            exceeds_neighbours(levels[0] + x, levels[1] + x, stride, value, sign, true) &&
            exceeds_neighbours(levels[2] + x, levels[3] + x, stride, value, sign, true))
            found[num++] = (uint32_t)x;
    }
    return num;
}

static void fill_gradient(const float *row, const float *above, const float *below, float y_factor,
                          size_t n, float *magnitude, float *angle) {
    for (size_t x = 0; x < n; ++x) {
        float gx = 0.5F * (row[x + 1] - row[(ptrdiff_t)x - 1]);
        float gy = y_factor * (below[x] - above[x]);
        magnitude[x] = sqrtf(gx * gx + gy * gy);
        angle[x] = psfm_sift_angle(gx, gy);
    }
}

/* Positions are shifted by 2.5, so that the six cells from -2.5 to 2.5 + 1 have the indices 0 to 5
 * and conversion to an integer rounds down. A sample outside counts for nothing, whatever its
 * length and angle: they may never have been set. */
static void split_samples(const psfm_sift_row *row, size_t first, size_t count,
                          psfm_sift_shares *s) {
    const float highest = PSFM_SIFT_HIGHEST;
    for (size_t k = 0; k < count; ++k) {
        float i = (float)(int32_t)(first + k);
        float fx = row->nx + i * row->step_nx, fy = row->ny + i * row->step_ny;
        float weight = row->magnitude[first + k] * row->weight_x[first + k] * row->weight_y;
        bool is_inside = fx >= 0.0F && fx < 5.0F && fy >= 0.0F && fy < 5.0F;
        weight = is_inside ? weight : 0.0F;
        fx = fx < 0.0F ? 0.0F : fx > highest ? highest : fx;
        fy = fy < 0.0F ? 0.0F : fy > highest ? highest : fy;
        float t = row->angle[first + k] - row->angle0;
        t = t < 0.0F ? t + 8.0F : t;
        t = !is_inside ? 0.0F : t >= 8.0F ? t - 8.0F : t;
        int32_t cx = (int32_t)fx, cy = (int32_t)fy, ct = (int32_t)t;
        float rx = fx - (float)cx, ry = fy - (float)cy;
        float right = weight * rx, left = weight - right;
        float lower_right = right * ry, lower_left = left * ry;
        s->offset[k] = ((5 * cy + cx) * 8 + ct) * 8;
        s->share[k][0] = left - lower_left;
        s->share[k][1] = right - lower_right;
        s->share[k][2] = lower_left;
        s->share[k][3] = lower_right;
        s->turn[k] = t - (float)ct;
    }
}

static void add_shares(const psfm_sift_shares *s, size_t count, float *histogram) {
    for (size_t k = 0; k < count; ++k) {
        psfm_float4 *h = (psfm_float4 *)(histogram + s->offset[k]);
        psfm_float4 share = *(const psfm_float4 *)s->share[k], high = share * s->turn[k];
        h[0] += share - high;
        h[1] += high;
    }
}

static void add_row(const psfm_sift_row *row, float *histogram) {
    psfm_sift_shares shares;
    for (size_t first = 0; first < row->n; first += PSFM_SIFT_CHUNK) {
        size_t left = row->n - first, count = left < PSFM_SIFT_CHUNK ? left : PSFM_SIFT_CHUNK;
        split_samples(row, first, count, &shares);
        add_shares(&shares, count, histogram);
    }
}

static const psfm_sift_kernel plain = {smooth_down, smooth_along, find_extrema, fill_gradient,
                                       add_row};

const psfm_sift_kernel *psfm_sift_kernel_choose(void) {
#if defined(__x86_64__)
    if (psfm_cpu() >= PSFM_CPU_AVX2)
        return &psfm_sift_kernel_avx2;
#endif
    return &plain;
}
