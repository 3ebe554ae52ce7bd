/* The plain version of the products of descriptors, and the choice of the version for this
 * machine. All are integers, so that all versions agree. */
#include "images/match/nearest_kernel.h"

#include "core/base/cpu.h"

#define COLS 16

static void fold_panel(const void *rows, size_t num_rows, const void *panel,
                       const int32_t *col_bias, int32_t *row_best, int32_t *row_second,
                       int32_t *col_best, int32_t *col_second) {
    const int16_t *a = rows, *b = panel;
    for (size_t i = 0; i < num_rows; ++i, a += PSFM_SIFT_SIZE) {
        for (size_t j = 0; j < COLS; ++j) {
            int32_t sum = col_bias[j];
            for (size_t k = 0; k < PSFM_SIFT_SIZE; ++k)
                sum += a[k] * b[j * PSFM_SIFT_SIZE + k];
            psfm_nearest_fold(sum, &row_best[i], &row_second[i]);
            psfm_nearest_fold(sum, &col_best[j], &col_second[j]);
        }
    }
}

static void seek_panel(const void *rows, size_t num_rows, const void *panel, const int32_t *codes,
                       int32_t *best) {
    const int16_t *a = rows, *b = panel;
    for (size_t i = 0; i < num_rows; ++i, a += PSFM_NEAREST_HEAD) {
        for (size_t j = 0; j < COLS; ++j) {
            int32_t sum = 0;
            for (size_t k = 0; k < PSFM_NEAREST_HEAD; ++k)
                sum += a[k] * b[j * PSFM_NEAREST_HEAD + k];
            sum = PSFM_NEAREST_CODES * sum + codes[j];
            best[i * COLS + j] = sum > best[i * COLS + j] ? sum : best[i * COLS + j];
        }
    }
}

static size_t screen_panel(const void *rows, size_t num_rows, const void *panel,
                           const int32_t *row_bias, const int32_t *row_limit,
                           const int32_t *col_bias, const int32_t *col_limit, uint32_t *hits) {
    const int16_t *a = rows, *b = panel;
    size_t num = 0;
    for (size_t i = 0; i < num_rows; ++i, a += PSFM_NEAREST_HEAD) {
        for (size_t j = 0; j < COLS; ++j) {
            int32_t sum = row_bias[i] + col_bias[j];
            for (size_t k = 0; k < PSFM_NEAREST_HEAD; ++k)
                sum += a[k] * b[j * PSFM_NEAREST_HEAD + k];
            hits[num] = (uint32_t)(i << 16 | j);
            num += sum > (row_limit[i] < col_limit[j] ? row_limit[i] : col_limit[j]);
        }
    }
    return num;
}

static void multiply_hits(const void *rows, const uint8_t *cols, const int32_t *col_bias,
                          uint32_t *hits, size_t num, int32_t *products) {
    for (size_t k = 0; k < num; ++k) {
        const int16_t *a = (const int16_t *)rows + (size_t)(hits[k] >> 16) * PSFM_SIFT_SIZE;
        const uint8_t *b = cols + (size_t)(hits[k] & 0xffff) * PSFM_SIFT_SIZE;
        products[k] = col_bias[hits[k] & 0xffff];
        for (size_t c = 0; c < PSFM_SIFT_SIZE; ++c)
            products[k] += a[c] * b[c];
    }
}

static int32_t dot_product(const uint8_t *a, const uint8_t *b) {
    int32_t sum = 0;
    for (int k = 0; k < PSFM_SIFT_SIZE; ++k)
        sum += a[k] * b[k];
    return sum;
}

/* A group is a whole descriptor or head: columns are not interleaved. */
static const psfm_nearest_kernel plain = {
    .rows = 1,
    .cols = COLS,
    .lanes = 1,
    .whole = {2, PSFM_SIFT_SIZE, 2 * PSFM_SIFT_SIZE, 2 * PSFM_SIFT_SIZE},
    .head = {2, PSFM_NEAREST_HEAD, 2 * PSFM_NEAREST_HEAD, 2 * PSFM_NEAREST_HEAD},
    .fold_panel = fold_panel,
    .seek_panel = seek_panel,
    .screen_panel = screen_panel,
    .multiply_hits = multiply_hits,
    .dot = dot_product};

const psfm_nearest_kernel *psfm_nearest_kernel_choose(void) {
#if defined(__x86_64__)
    psfm_cpu_level level = psfm_cpu();
    if (level == PSFM_CPU_AVX512)
        return &psfm_nearest_kernel_avx512;
    if (level == PSFM_CPU_AVX2)
        return &psfm_nearest_kernel_avx2;
#endif
    return &plain;
}
