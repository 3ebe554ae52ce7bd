/* Four rows by 16 columns, values widened to 16 bits: bytes would overflow the 16-bit sums of
 * vpmaddubsw. */
#include "match/nearest_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define ROWS ((size_t)4)
#define VECTORS ((size_t)2) /* of 8 columns */
#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET __attribute__((always_inline)) static inline

/* Group k of a row in every lane. */
INLINE __m256i broadcast(const int16_t *row, size_t k) {
    int32_t two;
    memcpy(&two, row + 2 * k, sizeof two);
    return _mm256_set1_epi32(two);
}

INLINE __m256i load(const void *from) {
    return _mm256_loadu_si256(from);
}

INLINE void save(void *to, __m256i value) {
    _mm256_storeu_si256(to, value);
}

INLINE void multiply(const int16_t *rows, const int16_t *panel, size_t size,
                     __m256i products[ROWS][VECTORS]) {
    for (size_t k = 0; k < size / 2; ++k) {
        __m256i b[VECTORS];
        for (size_t c = 0; c < VECTORS; ++c)
            b[c] = load(panel + 16 * (VECTORS * k + c));
        for (size_t r = 0; r < ROWS; ++r) {
            __m256i a = broadcast(rows + r * size, k);
            for (size_t c = 0; c < VECTORS; ++c)
                products[r][c] = _mm256_add_epi32(products[r][c], _mm256_madd_epi16(a, b[c]));
        }
    }
}

INLINE void fold(__m256i product, __m256i *best, __m256i *second) {
    *second = _mm256_max_epi32(*second, _mm256_min_epi32(*best, product));
    *best = _mm256_max_epi32(*best, product);
}

TARGET static void fold_panel(const void *rows, size_t num_rows, const void *panel,
                              const int32_t *col_bias, int32_t *row_best, int32_t *row_second,
                              int32_t *col_best, int32_t *col_second) {
    const int16_t *a = rows;
    for (size_t i = 0; i < num_rows; i += ROWS, a += ROWS * PSFM_SIFT_SIZE) {
        __m256i products[ROWS][VECTORS];
        for (size_t c = 0; c < VECTORS; ++c)
            for (size_t r = 0; r < ROWS; ++r)
                products[r][c] = load(col_bias + 8 * c);
        multiply(a, panel, PSFM_SIFT_SIZE, products);
        for (size_t c = 0; c < VECTORS; ++c) {
            __m256i best = load(col_best + 8 * c), second = load(col_second + 8 * c);
            for (size_t r = 0; r < ROWS; ++r)
                fold(products[r][c], &best, &second);
            save(col_best + 8 * c, best);
            save(col_second + 8 * c, second);
        }
        for (size_t r = 0; r < ROWS; ++r) {
            __m256i best = load(row_best + 8 * (i + r)), second = load(row_second + 8 * (i + r));
            for (size_t c = 0; c < VECTORS; ++c)
                fold(products[r][c], &best, &second);
            save(row_best + 8 * (i + r), best);
            save(row_second + 8 * (i + r), second);
        }
    }
}

TARGET static size_t screen_panel(const void *rows, size_t num_rows, const void *panel,
                                  const int32_t *row_bias, const int32_t *row_limit,
                                  const int32_t *col_bias, const int32_t *col_limit,
                                  uint32_t *hits) {
    const int16_t *a = rows;
    size_t num = 0;
    for (size_t i = 0; i < num_rows; i += ROWS, a += ROWS * PSFM_NEAREST_HEAD) {
        __m256i products[ROWS][VECTORS];
        for (size_t c = 0; c < VECTORS; ++c)
            for (size_t r = 0; r < ROWS; ++r)
                products[r][c] =
                    _mm256_add_epi32(load(col_bias + 8 * c), _mm256_set1_epi32(row_bias[i + r]));
        multiply(a, panel, PSFM_NEAREST_HEAD, products);
        uint32_t masks[ROWS]; /* apart from the loop over their bits, so that this one unrolls */
        for (size_t r = 0; r < ROWS; ++r) {
            __m256i limit = _mm256_set1_epi32(row_limit[i + r]);
            masks[r] = 0;
            for (size_t c = 0; c < VECTORS; ++c) {
                __m256i lower = _mm256_min_epi32(limit, load(col_limit + 8 * c));
                __m256i above = _mm256_cmpgt_epi32(products[r][c], lower);
                masks[r] |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(above)) << (8 * c);
            }
        }
        for (size_t r = 0; r < ROWS; ++r)
            num = psfm_nearest_list_hits(masks[r], i + r, hits, num);
    }
    return num;
}

/* Four sums of the lanes of four vectors. */
INLINE __m128i sum_lanes(__m256i a, __m256i b, __m256i c, __m256i d) {
    __m256i sums = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    return _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
}

TARGET static void multiply_hits(const void *rows, const uint8_t *cols, const int32_t *col_bias,
                                 uint32_t *hits, size_t num, int32_t *products) {
    for (size_t k = num; k % PSFM_NEAREST_BATCH != 0; ++k)
        hits[k] = 0;
    for (size_t k = 0; k < num; k += PSFM_NEAREST_BATCH) {
        __m256i sum[PSFM_NEAREST_BATCH];
        for (size_t h = 0; h < PSFM_NEAREST_BATCH; ++h) {
            const int16_t *a = (const int16_t *)rows + (size_t)(hits[k + h] >> 16) * PSFM_SIFT_SIZE;
            const uint8_t *b = cols + (size_t)(hits[k + h] & 0xffff) * PSFM_SIFT_SIZE;
            sum[h] = _mm256_setzero_si256();
            for (size_t c = 0; c < PSFM_SIFT_SIZE; c += 16) {
                __m256i y = _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)(b + c)));
                sum[h] = _mm256_add_epi32(sum[h], _mm256_madd_epi16(load(a + c), y));
            }
        }
        _mm_storeu_si128((void *)(products + k), sum_lanes(sum[0], sum[1], sum[2], sum[3]));
        for (size_t h = 0; h < PSFM_NEAREST_BATCH; ++h)
            products[k + h] += col_bias[hits[k + h] & 0xffff];
    }
}

TARGET static int32_t dot(const uint8_t *a, const uint8_t *b) {
    __m256i sum = _mm256_setzero_si256();
    for (size_t k = 0; k < PSFM_SIFT_SIZE; k += 16) {
        __m256i x = _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)(a + k)));
        __m256i y = _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)(b + k)));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, y));
    }
    int32_t lanes[8], total = 0;
    save(lanes, sum);
    for (int k = 0; k < 8; ++k)
        total += lanes[k];
    return total;
}

const psfm_nearest_kernel psfm_nearest_kernel_avx2 = {.rows = ROWS,
                                                      .cols = 8 * VECTORS,
                                                      .lanes = 8,
                                                      .sample = 2,
                                                      .group = 2,
                                                      .fold_panel = fold_panel,
                                                      .screen_panel = screen_panel,
                                                      .multiply_hits = multiply_hits,
                                                      .dot = dot};
#endif
