/* The inner loops of the SIFT matcher, in versions for different instructions.
 *
 * Set 1 is laid out row by row, set 2 in panels of `cols` descriptors whose values are interleaved
 * by groups, [group of values][descriptor][value in the group], so that one vector holds a group
 * of several descriptors. All arithmetic is on integers: the versions agree in every bit. */
#ifndef PSFM_MATCH_NEAREST_KERNEL_H
#define PSFM_MATCH_NEAREST_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define PSFM_SIFT_SIZE 128
#define PSFM_NEAREST_HEAD 32 /* values of a shortened descriptor */
#define PSFM_NEAREST_CODES 256
#define PSFM_NEAREST_BATCH 4 /* hits that are multiplied at once */

/* Shortened descriptors have values up to HEAD_MOST and squared lengths up to HEAD_SQUARE, so that
 * their products fit 16 bits, and so does a sum of two values of one times those of another plus
 * HEAD_MOST. */
#define PSFM_NEAREST_HEAD_MOST 90
#define PSFM_NEAREST_HEAD_SQUARE 32767

typedef struct {
    size_t sample;       /* bytes per packed value */
    size_t group;        /* consecutive values of a column that lie together */
    size_t column_bytes; /* of all values */
    size_t row_bytes;    /* the same, or four more: a lead before the values */
} psfm_nearest_layout;

typedef struct {
    size_t rows, cols; /* of a block that is multiplied at once */
    size_t lanes;      /* of the partial results of a row */
    psfm_nearest_layout whole, head;
    /* Bytes are multiplied as unsigned by signed ones. Descriptors of set 1 are stored minus this,
     * biases of set 2 make up for it ... */
    int row_offset;
    /* ... and shortened ones of set 2, which are signed, plus this; biases of set 1 make up for it,
     * or, if rows have a lead, the two 16-bit numbers there, for values 0, 1, 4, 5 .. and 2, 3, 6,
     * 7 .. */
    int head_offset;

    /* The loops take flat arrays, eight of them rather than a struct, so that the compiler keeps
     * them in registers and needs no proof that the results do not overwrite the pointers. */

    /* Multiplies num_rows rows (a multiple of `rows`) with one panel and folds the products plus
     * col_bias into the two largest of each row (num_rows x lanes) and column (cols). */
    void (*fold_panel)(const void *rows, size_t num_rows, const void *panel,
                       const int32_t *col_bias, int32_t *row_best, int32_t *row_second,
                       int32_t *col_best, int32_t *col_second);

    /* Multiplies shortened descriptors. For each row and each place in a panel, `best` (num_rows x
     * cols) keeps the largest of PSFM_NEAREST_CODES times the product plus the code of the column,
     * where products are less a number per row. Products are below 2^18, codes below 2^30. */
    void (*seek_panel)(const void *rows, size_t num_rows, const void *panel, const int32_t *codes,
                       int32_t *best);

    /* Multiplies shortened descriptors and lists the products that, with both biases, exceed the
     * lower of the limits of their row and column. Returns their number; a hit is
     * row << 16 | column, there is room for num_rows * cols of them and PSFM_NEAREST_BATCH more.
     * num_rows < 65536. */
    size_t (*screen_panel)(const void *rows, size_t num_rows, const void *panel,
                           const int32_t *row_bias, const int32_t *row_limit,
                           const int32_t *col_bias, const int32_t *col_limit, uint32_t *hits);

    /* Full products of the hits of screen_panel, rows packed, columns as they came (n x 128) with
     * the biases that fold_panel takes. Reads and writes up to PSFM_NEAREST_BATCH - 1 hits and
     * products beyond num; what lies there is set by it. */
    void (*multiply_hits)(const void *rows, const uint8_t *cols, const int32_t *col_bias,
                          uint32_t *hits, size_t num, int32_t *products);

    /* Dot product of two descriptors of 128 bytes. */
    int32_t (*dot)(const uint8_t *a, const uint8_t *b);
} psfm_nearest_kernel;

/* The fastest version that this machine can run. */
const psfm_nearest_kernel *psfm_nearest_kernel_choose(void);

#if defined(__x86_64__)
extern const psfm_nearest_kernel psfm_nearest_kernel_avx2;
extern const psfm_nearest_kernel psfm_nearest_kernel_avx512;
#endif

/* Lists the pairs whose bits are set, 2^log_cols of a row and then those of the next, from
 * hits[num] on, and returns the new number. Most masks have a few or none: these take no branch, of
 * which the processor could guess the outcome wrongly. May write two hits beyond the last. */
static inline size_t psfm_nearest_list_hits(uint64_t mask, size_t first_row, int log_cols,
                                            uint32_t *hits, size_t num) {
    uint32_t first = (uint32_t)(first_row << 16), last = (UINT32_C(1) << log_cols) - 1;
    for (int k = 0; mask != 0 || k < 2; ++k, mask &= mask - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(mask | UINT64_C(1) << 63);
        hits[num] = first + (bit >> log_cols << 16 | (bit & last));
        num += mask != 0;
    }
    return num;
}

/* Folds one more product into the largest two. */
static inline void psfm_nearest_fold(int32_t product, int32_t *best, int32_t *second) {
    int32_t lower = product < *best ? product : *best;
    *second = lower > *second ? lower : *second;
    *best = product > *best ? product : *best;
}

#endif
