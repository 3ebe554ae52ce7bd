/* Eight samples at a time: a gather fetches the four neighbouring pixels of a row, a byte each. */
#include "images/photometric/patch_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define WIDTH 8
#include "images/photometric/patch_kernel_body.h"

BODY void fetch(const uint8_t *pixels, const ints *at, ints *four) {
    __m256i from = _mm256_loadu_si256((const __m256i *)at);
    const int *base = (const int *)(const void *)pixels;
    _mm256_storeu_si256((__m256i *)four, _mm256_i32gather_epi32(base, from, 1));
}

BODY void pick(const uint8_t *first, const ints *offset, ints *four) {
    __m256i bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)first));
    const ints order = *offset * 0x01010101 + 0x03020100;
    _mm256_storeu_si256((__m256i *)four, _mm256_shuffle_epi8(bytes, (__m256i)order));
}

BODY void dot(const ints *four, const ints *even, const ints *odd, floats *out) {
    const __m256i mask = _mm256_set1_epi32(0x00ff00ff);
    __m256i p = _mm256_loadu_si256((const __m256i *)four);
    __m256i a =
        _mm256_madd_epi16(_mm256_and_si256(p, mask), _mm256_loadu_si256((const __m256i *)even));
    __m256i b = _mm256_madd_epi16(_mm256_and_si256(_mm256_srli_epi32(p, 8), mask),
                                  _mm256_loadu_si256((const __m256i *)odd));
    _mm256_storeu_ps((float *)out, _mm256_cvtepi32_ps(_mm256_add_epi32(a, b)));
}

const psfm_patch_kernel psfm_patch_kernel_avx2 = {sample_patch, sample_grid, sum_products,
                                                  sum_moments, weigh_template};

#endif
