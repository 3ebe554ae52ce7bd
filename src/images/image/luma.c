/* Gray values. Eight pixels at a time where the machine can, to the same bits. */
#include "core/base/cpu.h"
#include "images/image/image_io.h"

/* Single precision and the order of the terms are FreeImage's; they decide the rounding of ties. */
#define RED 0.2126F
#define GREEN 0.7152F
#define BLUE 0.0722F

uint8_t psfm_luma(uint8_t r, uint8_t g, uint8_t b) {
    return (uint8_t)(RED * (float)r + GREEN * (float)g + BLUE * (float)b + 0.5F);
}

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

/* One of the three colours of four pixels in either half, times its weight. */
TARGET __attribute__((always_inline)) static inline __m256 weigh(__m256i pixels, int color,
                                                                 float weight) {
    const __m256i first = _mm256_set1_epi32((int)0xffffff00U);
    const __m256i places = _mm256_setr_epi32(0, 3, 6, 9, 0, 3, 6, 9);
    __m256i chosen = _mm256_or_si256(_mm256_add_epi32(places, _mm256_set1_epi32(color)), first);
    return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_shuffle_epi8(pixels, chosen)),
                         _mm256_set1_ps(weight));
}

/* Returns how many pixels it did: their bytes are read a few too far. */
TARGET static size_t luma_avx2(const uint8_t *rgb, size_t width, uint8_t *gray) {
    size_t x = 0;
    for (; x + 10 <= width; x += 8) {
        const uint8_t *at = rgb + 3 * x;
        __m256i pixels =
            _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)at)),
                                    _mm_loadu_si128((const void *)(at + 12)), 1);
        __m256 sum = _mm256_add_ps(weigh(pixels, 0, RED), weigh(pixels, 1, GREEN));
        sum = _mm256_add_ps(_mm256_add_ps(sum, weigh(pixels, 2, BLUE)), _mm256_set1_ps(0.5F));
        __m256i values = _mm256_cvttps_epi32(sum);
        __m128i words =
            _mm_packus_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
        _mm_storel_epi64((void *)(gray + x), _mm_packus_epi16(words, words));
    }
    return x;
}

#endif

void psfm_luma_row(const uint8_t *rgb, size_t width, uint8_t *gray) {
    size_t x = 0;
#if defined(__x86_64__)
    if (psfm_cpu() >= PSFM_CPU_AVX2)
        x = luma_avx2(rgb, width, gray);
#endif
    for (; x < width; ++x)
        gray[x] = psfm_luma(rgb[3 * x], rgb[3 * x + 1], rgb[3 * x + 2]);
}
