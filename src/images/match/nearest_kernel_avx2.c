/* Four rows by 16 columns. Values are widened to 16 bits: bytes would overflow the 16-bit sums of
 * vpmaddubsw. Shortened descriptors are small enough to stay bytes, which takes half the
 * instructions: with a up to 90 and b + 90 up to 180 a sum of two products is at most 32400. Sums
 * of more, which start at -90 a, may wrap on their way; in the end they are parts of a product of
 * two vectors not longer than the root of 32767, and fit. */
#include "images/match/nearest_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define ROWS ((size_t)4)
#define VECTORS ((size_t)2) /* of 8 columns */
#define LEAD ((size_t)4)    /* bytes before a shortened row */
#define HEAD_ROW (LEAD + PSFM_NEAREST_HEAD)
/* Keeps the compiler from summing in another order, for which registers do not suffice. */
#define KEEP_ORDER(sum) __asm__("" : "+x"(sum))
#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET __attribute__((always_inline)) static inline

/* In every lane. */
INLINE __m256i four_bytes(const void *from) {
    int32_t four;
    memcpy(&four, from, sizeof four);
    return _mm256_set1_epi32(four);
}

INLINE __m256i load(const void *from) {
    return _mm256_loadu_si256(from);
}

INLINE void save(void *to, __m256i value) {
    _mm256_storeu_si256(to, value);
}

INLINE void multiply(const int16_t *rows, const int16_t *panel, __m256i products[ROWS][VECTORS]) {
    for (size_t k = 0; k < PSFM_SIFT_SIZE / 2; ++k) {
        __m256i b[VECTORS];
        for (size_t c = 0; c < VECTORS; ++c)
            b[c] = load(panel + 16 * (VECTORS * k + c));
        for (size_t r = 0; r < ROWS; ++r) {
            __m256i a = four_bytes(rows + r * PSFM_SIFT_SIZE + 2 * k);
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
        multiply(a, panel, products);
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

/* Bytes by bytes, the sums of values 0, 1, 4, 5 .. and 2, 3, 6, 7 .. in the halves of a lane. */
INLINE void multiply_heads(const int8_t *rows, const uint8_t *panel,
                           __m256i products[ROWS][VECTORS]) {
    for (size_t r = 0; r < ROWS; ++r)
        for (size_t c = 0; c < VECTORS; ++c)
            products[r][c] = four_bytes(rows + r * HEAD_ROW);
#pragma GCC unroll 8
    for (size_t k = 0; k < PSFM_NEAREST_HEAD / 4; ++k) {
        __m256i b[VECTORS];
        for (size_t c = 0; c < VECTORS; ++c)
            b[c] = load(panel + 32 * (VECTORS * k + c));
        for (size_t r = 0; r < ROWS; ++r) {
            __m256i a = four_bytes(rows + r * HEAD_ROW + LEAD + 4 * k);
            for (size_t c = 0; c < VECTORS; ++c) {
                products[r][c] = _mm256_add_epi16(products[r][c], _mm256_maddubs_epi16(b[c], a));
                KEEP_ORDER(products[r][c]);
            }
        }
    }
}

TARGET static void seek_panel(const void *rows, size_t num_rows, const void *panel,
                              const int32_t *codes, int32_t *best) {
    const __m256i scale = _mm256_set1_epi16(PSFM_NEAREST_CODES);
    const int8_t *a = rows;
    for (size_t i = 0; i < num_rows; i += ROWS, a += ROWS * HEAD_ROW) {
        __m256i products[ROWS][VECTORS];
        multiply_heads(a, panel, products);
        for (size_t r = 0; r < ROWS; ++r) {
            for (size_t c = 0; c < VECTORS; ++c) {
                int32_t *to = best + 8 * (VECTORS * (i + r) + c);
                __m256i sum =
                    _mm256_add_epi32(_mm256_madd_epi16(products[r][c], scale), load(codes + 8 * c));
                save(to, _mm256_max_epi32(load(to), sum));
            }
        }
    }
}

TARGET static size_t screen_panel(const void *rows, size_t num_rows, const void *panel,
                                  const int32_t *row_bias, const int32_t *row_limit,
                                  const int32_t *col_bias, const int32_t *col_limit,
                                  uint32_t *hits) {
    const __m256i ones = _mm256_set1_epi16(1);
    const int8_t *a = rows;
    size_t num = 0;
    for (size_t i = 0; i < num_rows; i += ROWS, a += ROWS * HEAD_ROW) {
        __m256i products[ROWS][VECTORS];
        multiply_heads(a, panel, products);
        uint64_t mask = 0; /* of all rows: most blocks have a hit or none */
        for (size_t r = 0; r < ROWS; ++r) {
            __m256i bias = _mm256_set1_epi32(row_bias[i + r]),
                    limit = _mm256_set1_epi32(row_limit[i + r]);
            for (size_t c = 0; c < VECTORS; ++c) {
                __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(products[r][c], ones),
                                               _mm256_add_epi32(bias, load(col_bias + 8 * c)));
                __m256i lower = _mm256_min_epi32(limit, load(col_limit + 8 * c));
                __m256i above = _mm256_cmpgt_epi32(sum, lower);
                mask |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(above))
                        << (8 * (VECTORS * r + c));
            }
        }
        num = psfm_nearest_list_hits(mask, i, 4, hits, num);
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

const psfm_nearest_kernel psfm_nearest_kernel_avx2 = {
    .rows = ROWS,
    .cols = 8 * VECTORS,
    .lanes = 8,
    .whole = {2, 2, 2 * PSFM_SIFT_SIZE, 2 * PSFM_SIFT_SIZE},
    .head = {1, 4, PSFM_NEAREST_HEAD, HEAD_ROW},
    .head_offset = PSFM_NEAREST_HEAD_MOST,
    .fold_panel = fold_panel,
    .seek_panel = seek_panel,
    .screen_panel = screen_panel,
    .multiply_hits = multiply_hits,
    .dot = dot};
#endif
