/* Limits of rows and columns (match/nearest_score.c) grow with their best products, so good ones
 * are wanted before anything is screened. The bounds of a row with some columns are a fair guess
 * whose products are large; a code beside the bound tells which column it was of. A row keeps the
 * largest bound per place in a panel and takes the best two of these. */
#include "match/nearest_seed.h"

#include <string.h>

#include "match/nearest_pack.h"

#define STRIP ((size_t)96)         /* rows at once; a multiple of the kernels' */
#define MAX_COLS ((size_t)64)      /* of a panel */
#define MOST_BIAS INT32_C(2000000) /* with which codes are below 2^30 */

typedef struct {
    _Alignas(64) char panels[PSFM_NEAREST_CODES * PSFM_NEAREST_HEAD * sizeof(int16_t)];
    _Alignas(64) char rows[STRIP * PSFM_NEAREST_HEAD * sizeof(int16_t)];
    int32_t codes[PSFM_NEAREST_CODES];
    int32_t best[STRIP * MAX_COLS];
} work;

static void take_columns(const psfm_nearest_kernel *kernel, const psfm_nearest_head *head,
                         work *w) {
    for (size_t j = 0; j < PSFM_NEAREST_CODES; ++j) {
        int32_t bias = head->bias[j] < MOST_BIAS ? head->bias[j] : MOST_BIAS;
        bias = bias > -MOST_BIAS ? bias : -MOST_BIAS;
        psfm_nearest_pack_head_column(kernel, head->values + j * PSFM_NEAREST_HEAD, j, w->panels);
        w->codes[j] = PSFM_NEAREST_CODES * bias + (int32_t)j;
    }
}

/* The largest bounds of rows [first, first + count). Their own biases do not matter. */
static void seek_strip(const psfm_nearest_kernel *kernel, const psfm_nearest_head *head,
                       size_t first, size_t count, work *w) {
    for (size_t i = 0; i < count; ++i)
        psfm_nearest_pack_head_row(kernel, head->values + (first + i) * PSFM_NEAREST_HEAD,
                                   w->rows + i * kernel->head.row_bytes);
    for (size_t k = 0; k < STRIP * kernel->cols; ++k)
        w->best[k] = INT32_MIN;
    size_t whole = (count + kernel->rows - 1) / kernel->rows * kernel->rows;
    for (size_t j = 0; j < PSFM_NEAREST_CODES; j += kernel->cols)
        kernel->seek_panel(w->rows, whole, w->panels + j * kernel->head.column_bytes, w->codes + j,
                           w->best);
}

/* The columns of the two largest of n codes. */
static void choose(const int32_t *codes, size_t n, psfm_nearest_seeds seeds) {
    int32_t best = INT32_MIN, second = INT32_MIN;
    for (size_t k = 0; k < n; ++k)
        psfm_nearest_fold(codes[k], &best, &second);
    seeds[0] = (uint8_t)((uint32_t)best % PSFM_NEAREST_CODES);
    seeds[1] = (uint8_t)((uint32_t)second % PSFM_NEAREST_CODES);
}

void psfm_nearest_seek(const psfm_nearest_kernel *kernel, const psfm_nearest_side *rows,
                       const psfm_nearest_side *cols, int32_t *best, int32_t *second,
                       psfm_nearest_seeds *seeds) {
    work w;
    memset(w.rows, 0, sizeof w.rows);
    take_columns(kernel, cols->head, &w);
    for (size_t i = 0; i < rows->set->n; ++i) {
        if (i % STRIP == 0)
            seek_strip(kernel, rows->head, i, rows->set->n - i < STRIP ? rows->set->n - i : STRIP,
                       &w);
        const uint8_t *d = rows->set->descriptors + i * PSFM_SIFT_SIZE;
        choose(w.best + i % STRIP * kernel->cols, kernel->cols, seeds[i]);
        for (int k = 0; k < 2; ++k)
            psfm_nearest_fold(
                kernel->dot(d, cols->set->descriptors + (size_t)seeds[i][k] * PSFM_SIFT_SIZE),
                &best[i], &second[i]);
    }
}
