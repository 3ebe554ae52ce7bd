/* Four rows by 64 columns: 16 accumulators of 16 products, four values at a time (VNNI). */
#include "images/match/nearest_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define ROWS ((size_t)4)
#define VECTORS ((size_t)4) /* of 16 columns */
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define INLINE TARGET __attribute__((always_inline)) static inline

/* Group k of a row in every lane. */
INLINE __m512i broadcast(const int8_t *row, size_t k) {
    int32_t four;
    memcpy(&four, row + 4 * k, sizeof four);
    return _mm512_set1_epi32(four);
}

/* Adds `size`-dimensional products of ROWS rows with the panel. */
INLINE void multiply(const int8_t *rows, const uint8_t *panel, size_t size,
                     __m512i products[ROWS][VECTORS]) {
    for (size_t k = 0; k < size / 4; ++k) {
        __m512i b[VECTORS];
        for (size_t c = 0; c < VECTORS; ++c)
            b[c] = _mm512_loadu_si512(panel + 64 * (VECTORS * k + c));
        for (size_t r = 0; r < ROWS; ++r) {
            __m512i a = broadcast(rows + r * size, k);
            for (size_t c = 0; c < VECTORS; ++c)
                products[r][c] = _mm512_dpbusd_epi32(products[r][c], b[c], a);
        }
    }
}

INLINE void fold(__m512i product, __m512i *best, __m512i *second) {
    *second = _mm512_max_epi32(*second, _mm512_min_epi32(*best, product));
    *best = _mm512_max_epi32(*best, product);
}

TARGET static void fold_panel(const void *rows, size_t num_rows, const void *panel,
                              const int32_t *col_bias, int32_t *row_best, int32_t *row_second,
                              int32_t *col_best, int32_t *col_second) {
    const int8_t *a = rows;
    for (size_t i = 0; i < num_rows; i += ROWS, a += ROWS * PSFM_SIFT_SIZE) {
        __m512i products[ROWS][VECTORS];
        for (size_t c = 0; c < VECTORS; ++c)
            for (size_t r = 0; r < ROWS; ++r)
                products[r][c] = _mm512_loadu_si512(col_bias + 16 * c);
        multiply(a, panel, PSFM_SIFT_SIZE, products);
        for (size_t c = 0; c < VECTORS; ++c) {
            __m512i best = _mm512_loadu_si512(col_best + 16 * c);
            __m512i second = _mm512_loadu_si512(col_second + 16 * c);
            for (size_t r = 0; r < ROWS; ++r)
                fold(products[r][c], &best, &second);
            _mm512_storeu_si512(col_best + 16 * c, best);
            _mm512_storeu_si512(col_second + 16 * c, second);
        }
        for (size_t r = 0; r < ROWS; ++r) {
            __m512i best = _mm512_loadu_si512(row_best + 16 * (i + r));
            __m512i second = _mm512_loadu_si512(row_second + 16 * (i + r));
            for (size_t c = 0; c < VECTORS; ++c)
                fold(products[r][c], &best, &second);
            _mm512_storeu_si512(row_best + 16 * (i + r), best);
            _mm512_storeu_si512(row_second + 16 * (i + r), second);
        }
    }
}

TARGET static void seek_panel(const void *rows, size_t num_rows, const void *panel,
                              const int32_t *codes, int32_t *best) {
    const __m512i scale = _mm512_set1_epi32(PSFM_NEAREST_CODES);
    const int8_t *a = rows;
    for (size_t i = 0; i < num_rows; i += ROWS, a += ROWS * PSFM_NEAREST_HEAD) {
        __m512i products[ROWS][VECTORS];
        for (size_t r = 0; r < ROWS; ++r)
            for (size_t c = 0; c < VECTORS; ++c)
                products[r][c] = _mm512_setzero_si512();
        multiply(a, panel, PSFM_NEAREST_HEAD, products);
        for (size_t r = 0; r < ROWS; ++r) {
            for (size_t c = 0; c < VECTORS; ++c) {
                int32_t *to = best + 16 * (VECTORS * (i + r) + c);
                __m512i sum = _mm512_add_epi32(_mm512_mullo_epi32(products[r][c], scale),
                                               _mm512_loadu_si512(codes + 16 * c));
                _mm512_storeu_si512(to, _mm512_max_epi32(_mm512_loadu_si512(to), sum));
            }
        }
    }
}

TARGET static size_t screen_panel(const void *rows, size_t num_rows, const void *panel,
                                  const int32_t *row_bias, const int32_t *row_limit,
                                  const int32_t *col_bias, const int32_t *col_limit,
                                  uint32_t *hits) {
    const int8_t *a = rows;
    size_t num = 0;
    for (size_t i = 0; i < num_rows; i += ROWS, a += ROWS * PSFM_NEAREST_HEAD) {
        __m512i products[ROWS][VECTORS];
        for (size_t c = 0; c < VECTORS; ++c)
            for (size_t r = 0; r < ROWS; ++r)
                products[r][c] = _mm512_add_epi32(_mm512_loadu_si512(col_bias + 16 * c),
                                                  _mm512_set1_epi32(row_bias[i + r]));
        multiply(a, panel, PSFM_NEAREST_HEAD, products);
        uint64_t masks[ROWS]; /* apart from the loop over their bits, so that this one unrolls */
        for (size_t r = 0; r < ROWS; ++r) {
            __m512i limit = _mm512_set1_epi32(row_limit[i + r]);
            masks[r] = 0;
            for (size_t c = 0; c < VECTORS; ++c) {
                __m512i lower = _mm512_min_epi32(limit, _mm512_loadu_si512(col_limit + 16 * c));
                masks[r] |= (uint64_t)_mm512_cmpgt_epi32_mask(products[r][c], lower) << (16 * c);
            }
        }
        for (size_t r = 0; r < ROWS; ++r)
            num = psfm_nearest_list_hits(masks[r], i + r, 6, hits, num);
    }
    return num;
}

/* Halves of a vector, added. */
INLINE __m256i fold_half(__m512i a) {
    return _mm256_add_epi32(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1));
}

/* Four sums of the lanes of four vectors. */
INLINE __m128i sum_lanes(const __m512i v[PSFM_NEAREST_BATCH]) {
    __m256i first = _mm256_hadd_epi32(fold_half(v[0]), fold_half(v[1]));
    __m256i last = _mm256_hadd_epi32(fold_half(v[2]), fold_half(v[3]));
    __m256i sums = _mm256_hadd_epi32(first, last);
    return _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
}

TARGET static void multiply_hits(const void *rows, const uint8_t *cols, const int32_t *col_bias,
                                 uint32_t *hits, size_t num, int32_t *products) {
    for (size_t k = num; k % PSFM_NEAREST_BATCH != 0; ++k)
        hits[k] = 0;
    for (size_t k = 0; k < num; k += PSFM_NEAREST_BATCH) {
        __m512i sum[PSFM_NEAREST_BATCH];
        for (size_t h = 0; h < PSFM_NEAREST_BATCH; ++h) {
            const int8_t *a = (const int8_t *)rows + (size_t)(hits[k + h] >> 16) * PSFM_SIFT_SIZE;
            const uint8_t *b = cols + (size_t)(hits[k + h] & 0xffff) * PSFM_SIFT_SIZE;
            sum[h] = _mm512_setzero_si512();
            for (size_t c = 0; c < PSFM_SIFT_SIZE; c += 64)
                sum[h] = _mm512_dpbusd_epi32(sum[h], _mm512_loadu_si512(b + c),
                                             _mm512_loadu_si512(a + c));
        }
        _mm_storeu_si128((void *)(products + k), sum_lanes(sum));
        for (size_t h = 0; h < PSFM_NEAREST_BATCH; ++h)
            products[k + h] += col_bias[hits[k + h] & 0xffff];
    }
}

TARGET static int32_t dot(const uint8_t *a, const uint8_t *b) {
    __m512i sum = _mm512_setzero_si512();
    for (size_t k = 0; k < PSFM_SIFT_SIZE; k += 32) {
        __m512i x = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)(a + k)));
        __m512i y = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)(b + k)));
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(x, y));
    }
    return _mm512_reduce_add_epi32(sum);
}

const psfm_nearest_kernel psfm_nearest_kernel_avx512 = {
    .rows = ROWS,
    .cols = 16 * VECTORS,
    .lanes = 16,
    .whole = {1, 4, PSFM_SIFT_SIZE, PSFM_SIFT_SIZE},
    .head = {1, 4, PSFM_NEAREST_HEAD, PSFM_NEAREST_HEAD},
    .row_offset = 128,
    .head_offset = 128,
    .fold_panel = fold_panel,
    .seek_panel = seek_panel,
    .screen_panel = screen_panel,
    .multiply_hits = multiply_hits,
    .dot = dot};
#endif
