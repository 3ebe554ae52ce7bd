/* SIFT's inner loops, eight pixels at a time. Every operation rounds as in sift_kernel.c, so that
 * the results agree in every bit. */
#include "images/feature/sift_kernel.h"

#if defined(__x86_64__)

#include <float.h>
#include <immintrin.h>

#include "images/feature/sift_angle.h"
#include "images/feature/sift_kernel_body.h"

#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET __attribute__((always_inline)) static inline

TARGET static void smooth_down(const float *const *rows, const float *kernel, int radius, size_t n,
                               float *const out[2]) {
    smooth_down_body(rows, kernel, radius, n, out);
}

TARGET static void smooth_along(const float *row, const float *kernel, int radius, size_t n,
                                float *out) {
    smooth_along_body(row, kernel, radius, n, out);
}

INLINE __m256 difference(const float *lower, const float *upper) {
    return _mm256_sub_ps(_mm256_loadu_ps(upper), _mm256_loadu_ps(lower));
}

/* Lanes in which a value is still greater (smaller) than all differences that it was compared with.
 */
typedef struct {
    __m256 value, greater, smaller;
} extremes;

INLINE void compare(const float *lower, const float *upper, ptrdiff_t at, extremes *e) {
    __m256 d = difference(lower + at, upper + at);
    e->greater = _mm256_and_ps(e->greater, _mm256_cmp_ps(e->value, d, _CMP_GT_OQ));
    e->smaller = _mm256_and_ps(e->smaller, _mm256_cmp_ps(e->value, d, _CMP_LT_OQ));
}

INLINE bool is_any_left(const extremes *e) {
    return _mm256_movemask_ps(_mm256_or_ps(e->greater, e->smaller)) != 0;
}

/* The four neighbours in one difference that are nearest: hardly anything is left after them. They
 * are compared at once, for a branch after each would mostly be guessed wrong. */
INLINE bool keep_cross(const float *lower, const float *upper, ptrdiff_t stride, extremes *e) {
    compare(lower, upper, 1, e);
    compare(lower, upper, -1, e);
    compare(lower, upper, stride, e);
    compare(lower, upper, -stride, e);
    return is_any_left(e);
}

INLINE bool keep_corners(const float *lower, const float *upper, ptrdiff_t stride, extremes *e) {
    compare(lower, upper, stride + 1, e);
    compare(lower, upper, stride - 1, e);
    compare(lower, upper, -stride + 1, e);
    compare(lower, upper, -stride - 1, e);
    return is_any_left(e);
}

/* The nine of another difference. */
INLINE bool keep_nine(const float *lower, const float *upper, ptrdiff_t stride, extremes *e) {
    compare(lower, upper, 0, e);
    return keep_cross(lower, upper, stride, e) && keep_corners(lower, upper, stride, e);
}

TARGET static size_t find_extrema(const float *const levels[4], ptrdiff_t stride, int width,
                                  float threshold, uint32_t *found) {
    const __m256 high = _mm256_set1_ps(threshold), low = _mm256_set1_ps(-threshold);
    size_t num = 0;
    for (int x = 1; x < width - 1; x += 8) {
        const float *l[4] = {levels[0] + x, levels[1] + x, levels[2] + x, levels[3] + x};
        extremes e = {.value = difference(l[1], l[2])};
        e.greater = _mm256_cmp_ps(e.value, high, _CMP_GE_OQ);
        e.smaller = _mm256_cmp_ps(e.value, low, _CMP_LE_OQ);
        if (!is_any_left(&e) || !keep_cross(l[1], l[2], stride, &e) ||
            !keep_corners(l[1], l[2], stride, &e) || !keep_nine(l[0], l[1], stride, &e) ||
            !keep_nine(l[2], l[3], stride, &e))
            continue;
        unsigned mask = (unsigned)_mm256_movemask_ps(_mm256_or_ps(e.greater, e.smaller));
        for (; mask != 0; mask &= mask - 1) {
            int at = x + __builtin_ctz(mask);
            if (at < width - 1)
                found[num++] = (uint32_t)at;
        }
    }
    return num;
}

/* psfm_sift_angle, operation by operation. */
INLINE __m256 angle_of(__m256 gx, __m256 gy) {
    const __m256 zero = _mm256_setzero_ps(), sign_bit = _mm256_set1_ps(-0.0F);
    const __m256 eight = _mm256_set1_ps(8.0F);
    __m256 ay = _mm256_add_ps(_mm256_andnot_ps(sign_bit, gy), _mm256_set1_ps(FLT_EPSILON));
    __m256 right = _mm256_cmp_ps(gx, zero, _CMP_GE_OQ);
    __m256 sum = _mm256_add_ps(gx, ay);
    __m256 numerator = _mm256_blendv_ps(sum, _mm256_sub_ps(gx, ay), right);
    __m256 denominator = _mm256_blendv_ps(_mm256_sub_ps(ay, gx), sum, right);
    __m256 r = _mm256_div_ps(numerator, denominator);
    __m256 angle = _mm256_blendv_ps(_mm256_set1_ps(3.0F), _mm256_set1_ps(1.0F), right);
    __m256 cubic = _mm256_mul_ps(_mm256_mul_ps(_mm256_set1_ps(PSFM_ANGLE_C3), r), r);
    cubic = _mm256_mul_ps(_mm256_sub_ps(cubic, _mm256_set1_ps(PSFM_ANGLE_C1)), r);
    angle = _mm256_add_ps(angle, cubic);
    angle =
        _mm256_blendv_ps(angle, _mm256_sub_ps(eight, angle), _mm256_cmp_ps(gy, zero, _CMP_LT_OQ));
    __m256 wrapped = _mm256_sub_ps(angle, eight);
    __m256 over = _mm256_cmp_ps(angle, eight, _CMP_GE_OQ);
    __m256 under = _mm256_cmp_ps(angle, zero, _CMP_LT_OQ);
    return _mm256_blendv_ps(_mm256_andnot_ps(under, angle), wrapped, over);
}

TARGET static void gradient(const float *row, const float *above, const float *below,
                            float y_factor, size_t n, float *magnitude, float *angle) {
    const __m256 half = _mm256_set1_ps(0.5F), factor = _mm256_set1_ps(y_factor);
    for (size_t x = 0; x < n; x += 8) {
        __m256 gx = _mm256_mul_ps(half, difference(row + x - 1, row + x + 1));
        __m256 gy = _mm256_mul_ps(factor, difference(above + x, below + x));
        __m256 square = _mm256_add_ps(_mm256_mul_ps(gx, gx), _mm256_mul_ps(gy, gy));
        _mm256_storeu_ps(magnitude + x, _mm256_sqrt_ps(square));
        _mm256_storeu_ps(angle + x, angle_of(gx, gy));
    }
}

/* 0 <= value < 5. */
INLINE __m256 is_inside(__m256 value) {
    return _mm256_and_ps(_mm256_cmp_ps(value, _mm256_setzero_ps(), _CMP_GE_OQ),
                         _mm256_cmp_ps(value, _mm256_set1_ps(5.0F), _CMP_LT_OQ));
}

INLINE __m256 clamp(__m256 value) {
    return _mm256_min_ps(_mm256_max_ps(value, _mm256_setzero_ps()),
                         _mm256_set1_ps(PSFM_SIFT_HIGHEST));
}

/* Angle from the keypoint's orientation, 0 to 8. */
INLINE __m256 turn_from(const psfm_sift_row *row, size_t at) {
    const __m256 eight = _mm256_set1_ps(8.0F);
    __m256 t = _mm256_sub_ps(_mm256_loadu_ps(row->angle + at), _mm256_set1_ps(row->angle0));
    __m256 under = _mm256_cmp_ps(t, _mm256_setzero_ps(), _CMP_LT_OQ);
    t = _mm256_blendv_ps(t, _mm256_add_ps(t, eight), under);
    __m256 over = _mm256_cmp_ps(t, eight, _CMP_GE_OQ);
    return _mm256_blendv_ps(t, _mm256_sub_ps(t, eight), over);
}

/* Four shares of eight samples, sample by sample. */
INLINE void store_shares(__m256 a, __m256 b, __m256 c, __m256 d, float (*out)[4]) {
    __m256 ab[2] = {_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)};
    __m256 cd[2] = {_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d)};
    for (int half = 0; half < 2; ++half) {
        __m256 even = _mm256_shuffle_ps(ab[half], cd[half], 0x44);
        __m256 odd = _mm256_shuffle_ps(ab[half], cd[half], 0xee);
        _mm_storeu_ps(out[2 * half], _mm256_castps256_ps128(even));
        _mm_storeu_ps(out[2 * half + 1], _mm256_castps256_ps128(odd));
        _mm_storeu_ps(out[2 * half + 4], _mm256_extractf128_ps(even, 1));
        _mm_storeu_ps(out[2 * half + 5], _mm256_extractf128_ps(odd, 1));
    }
}

/* As in sift_kernel.c, operation by operation, for eight samples from `at` on. */
INLINE void split_eight(const psfm_sift_row *row, size_t at, size_t k, psfm_sift_shares *s) {
    __m256 i = _mm256_cvtepi32_ps(
        _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32((int)at)));
    __m256 fx =
        _mm256_add_ps(_mm256_set1_ps(row->nx), _mm256_mul_ps(i, _mm256_set1_ps(row->step_nx)));
    __m256 fy =
        _mm256_add_ps(_mm256_set1_ps(row->ny), _mm256_mul_ps(i, _mm256_set1_ps(row->step_ny)));
    __m256 weight = _mm256_mul_ps(
        _mm256_mul_ps(_mm256_loadu_ps(row->magnitude + at), _mm256_loadu_ps(row->weight_x + at)),
        _mm256_set1_ps(row->weight_y));
    __m256 inside = _mm256_and_ps(is_inside(fx), is_inside(fy));
    weight = _mm256_and_ps(weight, inside);
    fx = clamp(fx);
    fy = clamp(fy);
    __m256 t = _mm256_and_ps(turn_from(row, at), inside);
    __m256i cx = _mm256_cvttps_epi32(fx), cy = _mm256_cvttps_epi32(fy), ct = _mm256_cvttps_epi32(t);
    __m256 rx = _mm256_sub_ps(fx, _mm256_cvtepi32_ps(cx));
    __m256 ry = _mm256_sub_ps(fy, _mm256_cvtepi32_ps(cy));
    __m256 right = _mm256_mul_ps(weight, rx), left = _mm256_sub_ps(weight, right);
    __m256 lower_right = _mm256_mul_ps(right, ry), lower_left = _mm256_mul_ps(left, ry);
    __m256i cell = _mm256_add_epi32(_mm256_mullo_epi32(cy, _mm256_set1_epi32(5)), cx);
    __m256i offset = _mm256_slli_epi32(_mm256_add_epi32(_mm256_slli_epi32(cell, 3), ct), 3);
    _mm256_storeu_si256((__m256i *)(void *)(s->offset + k), offset);
    store_shares(_mm256_sub_ps(left, lower_left), _mm256_sub_ps(right, lower_right), lower_left,
                 lower_right, s->share + k);
    _mm256_storeu_ps(s->turn + k, _mm256_sub_ps(t, _mm256_cvtepi32_ps(ct)));
}

/* All eight values of a sample at once. */
INLINE void add_shares(const psfm_sift_shares *s, size_t count, float *histogram) {
    for (size_t k = 0; k < count; ++k) {
        float *h = histogram + s->offset[k];
        __m256 share = _mm256_broadcast_ps((const __m128 *)(const void *)s->share[k]);
        __m256 high = _mm256_mul_ps(share, _mm256_broadcast_ss(s->turn + k));
        __m256 both = _mm256_blend_ps(_mm256_sub_ps(share, high), high, 0xf0);
        _mm256_storeu_ps(h, _mm256_add_ps(_mm256_loadu_ps(h), both));
    }
}

TARGET static void add_row(const psfm_sift_row *row, float *histogram) {
    psfm_sift_shares shares;
    for (size_t first = 0; first < row->n; first += PSFM_SIFT_CHUNK) {
        size_t left = row->n - first, count = left < PSFM_SIFT_CHUNK ? left : PSFM_SIFT_CHUNK;
        for (size_t k = 0; k < count; k += 8)
            split_eight(row, first + k, k, &shares);
        add_shares(&shares, count, histogram);
    }
}

const psfm_sift_kernel psfm_sift_kernel_avx2 = {smooth_down, smooth_along, find_extrema, gradient,
                                                add_row};

#endif
