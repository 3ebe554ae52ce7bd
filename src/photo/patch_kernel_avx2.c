/* Eight samples at a time: one gather fetches the four neighbouring pixels of a row, a byte each,
 * for all eight. */
#include "photo/patch_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET __attribute__((always_inline)) static inline

INLINE __m256 mul(__m256 a, __m256 b) {
    return _mm256_mul_ps(a, b);
}

INLINE __m256 add(__m256 a, __m256 b) {
    return _mm256_add_ps(a, b);
}

INLINE __m256 polynomial(const float c[6], __m256 u, __m256 v) {
    __m256 linear =
        add(add(_mm256_set1_ps(c[0]), mul(_mm256_set1_ps(c[1]), u)), mul(_mm256_set1_ps(c[2]), v));
    __m256 mixed = mul(u, add(mul(_mm256_set1_ps(c[3]), u), mul(_mm256_set1_ps(c[4]), v)));
    return add(add(linear, mixed), mul(v, mul(_mm256_set1_ps(c[5]), v)));
}

INLINE __m256 clamp(__m256 x, float low, float high) {
    return _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(low)), _mm256_set1_ps(high));
}

INLINE void spline_weights(__m256 t, __m256 w[4]) {
    __m256 r = _mm256_sub_ps(_mm256_set1_ps(1.0F), t);
    w[0] = mul(mul(r, r), r);
    w[3] = mul(mul(t, t), t);
    __m256 linear = _mm256_sub_ps(mul(_mm256_set1_ps(3.0F), t), _mm256_set1_ps(6.0F));
    w[1] = add(mul(linear, mul(t, t)), _mm256_set1_ps(4.0F));
    __m256 rest = _mm256_sub_ps(_mm256_set1_ps(6.0F), w[0]);
    w[2] = _mm256_sub_ps(_mm256_sub_ps(rest, w[1]), w[3]);
}

/* The four pixels from byte offset `at` on, weighted. */
INLINE __m256 row(const uint8_t *pixels, __m256i at, const __m256 w[4]) {
    const __m256i byte = _mm256_set1_epi32(255);
    __m256i p = _mm256_i32gather_epi32((const int *)(const void *)pixels, at, 1);
    __m256 p0 = _mm256_cvtepi32_ps(_mm256_and_si256(p, byte));
    __m256 p1 = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(p, 8), byte));
    __m256 p2 = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(p, 16), byte));
    __m256 p3 = _mm256_cvtepi32_ps(_mm256_srli_epi32(p, 24));
    return add(add(mul(w[0], p0), mul(w[1], p1)), add(mul(w[2], p2), mul(w[3], p3)));
}

TARGET static void sample(const psfm_pyramid_level *level, const psfm_patch_map *map,
                          const float *u, const float *v, size_t num, float *out) {
    float low_x = (float)(1 - map->base_x), high_x = (float)(level->width - 3 - map->base_x);
    float low_y = (float)(1 - map->base_y), high_y = (float)(level->height - 3 - map->base_y);
    const __m256i stride = _mm256_set1_epi32(level->width);
    const __m256i first_x = _mm256_set1_epi32(map->base_x - 1);
    const __m256i first_y = _mm256_set1_epi32(map->base_y - 1);
    for (size_t k = 0; k < num; k += PSFM_PATCH_LANES) {
        __m256 uk = _mm256_loadu_ps(u + k), vk = _mm256_loadu_ps(v + k), wx[4], wy[4];
        __m256 x = clamp(polynomial(map->x, uk, vk), low_x, high_x);
        __m256 y = clamp(polynomial(map->y, uk, vk), low_y, high_y);
        __m256 fx = _mm256_floor_ps(x), fy = _mm256_floor_ps(y);
        spline_weights(_mm256_sub_ps(x, fx), wx);
        spline_weights(_mm256_sub_ps(y, fy), wy);
        __m256i ix = _mm256_add_epi32(_mm256_cvttps_epi32(fx), first_x);
        __m256i iy = _mm256_add_epi32(_mm256_cvttps_epi32(fy), first_y);
        __m256i at = _mm256_add_epi32(_mm256_mullo_epi32(iy, stride), ix);
        __m256 r0 = mul(row(level->pixels, at, wx), wy[0]);
        at = _mm256_add_epi32(at, stride);
        __m256 r1 = mul(row(level->pixels, at, wx), wy[1]);
        at = _mm256_add_epi32(at, stride);
        __m256 r2 = mul(row(level->pixels, at, wx), wy[2]);
        at = _mm256_add_epi32(at, stride);
        __m256 r3 = mul(row(level->pixels, at, wx), wy[3]);
        __m256 all = add(add(r0, r1), add(r2, r3));
        _mm256_storeu_ps(out + k, mul(all, _mm256_set1_ps(1.0F / 36.0F)));
    }
}

INLINE float add_lanes(__m256 s) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

TARGET static void sum(const float *w, float offset, const float *step_x, const float *step_y,
                       const float *pattern, const float *window, size_t num,
                       psfm_patch_sums *sums) {
    __m256 value = _mm256_setzero_ps(), square = value, sx = value, sy = value, product = value;
    const __m256 shift = _mm256_set1_ps(offset);
    for (size_t k = 0; k < num; k += PSFM_PATCH_LANES) {
        __m256 d = _mm256_sub_ps(_mm256_loadu_ps(w + k), shift);
        __m256 weighted = mul(d, _mm256_loadu_ps(window + k));
        value = add(value, weighted);
        square = add(square, mul(weighted, d));
        sx = add(sx, mul(d, _mm256_loadu_ps(step_x + k)));
        sy = add(sy, mul(d, _mm256_loadu_ps(step_y + k)));
        product = add(product, mul(d, _mm256_loadu_ps(pattern + k)));
    }
    *sums = (psfm_patch_sums){add_lanes(value), add_lanes(square), add_lanes(sx), add_lanes(sy),
                              add_lanes(product)};
}

const psfm_patch_kernel psfm_patch_kernel_avx2 = {sample, sum};

#endif
