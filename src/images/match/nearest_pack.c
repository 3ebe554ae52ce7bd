/* Packing: bytes become samples of one or two bytes, with the offset that the kernel wants, and
 * columns are spread over panels group by group. Cost: a pass over the descriptors. */
#include "images/match/nearest_pack.h"

#include <string.h>

#define WORD ((size_t)4) /* bytes of a group, where there are several */

/* Where the first group of column j is. */
static size_t place_of(const psfm_nearest_kernel *kernel, const psfm_nearest_layout *layout,
                       size_t j) {
    size_t cols = kernel->cols;
    return j / cols * cols * layout->column_bytes + j % cols * layout->group * layout->sample;
}

static void spread_samples(const psfm_nearest_kernel *kernel, const psfm_nearest_layout *layout,
                           const void *samples, size_t j, void *panels) {
    size_t bytes = layout->group * layout->sample;
    char *to = (char *)panels + place_of(kernel, layout, j);
    if (bytes != WORD)
        memcpy(to, samples, bytes);
    for (size_t k = 0; bytes == WORD && k < layout->column_bytes;
         k += WORD, to += kernel->cols * WORD)
        memcpy(to, (const char *)samples + k, WORD);
}

static void put_bytes(const psfm_nearest_layout *layout, const uint8_t *values, int offset,
                      void *out) {
    if (layout->sample == 1)
        for (size_t k = 0; k < PSFM_SIFT_SIZE; ++k)
            ((uint8_t *)out)[k] = (uint8_t)(values[k] + offset);
    else
        for (size_t k = 0; k < PSFM_SIFT_SIZE; ++k)
            ((int16_t *)out)[k] = (int16_t)(values[k] + offset);
}

static void put_head(const psfm_nearest_layout *layout, const int8_t *values, int offset,
                     void *out) {
    if (layout->sample == 1)
        for (size_t k = 0; k < PSFM_NEAREST_HEAD; ++k)
            ((uint8_t *)out)[k] = (uint8_t)(values[k] + offset);
    else
        for (size_t k = 0; k < PSFM_NEAREST_HEAD; ++k)
            ((int16_t *)out)[k] = (int16_t)(values[k] + offset);
}

void psfm_nearest_pack_row(const psfm_nearest_kernel *kernel, const uint8_t *descriptor,
                           void *row) {
    put_bytes(&kernel->whole, descriptor, -kernel->row_offset, row);
}

void psfm_nearest_pack_column(const psfm_nearest_kernel *kernel, const uint8_t *descriptor,
                              size_t j, void *panels) {
    int16_t samples[PSFM_SIFT_SIZE];
    put_bytes(&kernel->whole, descriptor, 0, samples);
    spread_samples(kernel, &kernel->whole, samples, j, panels);
}

int32_t psfm_nearest_column_bias(const psfm_nearest_kernel *kernel, const uint8_t *descriptor) {
    int32_t sum = 0;
    if (kernel->row_offset != 0)
        for (size_t k = 0; k < PSFM_SIFT_SIZE; ++k)
            sum += descriptor[k];
    return kernel->row_offset * sum;
}

int32_t psfm_nearest_pack_head_row(const psfm_nearest_kernel *kernel, const int8_t *values,
                                   void *row) {
    int32_t sums[2] = {0, 0};
    for (size_t k = 0; k < PSFM_NEAREST_HEAD; k += 4) {
        sums[0] += values[k] + values[k + 1];
        sums[1] += values[k + 2] + values[k + 3];
    }
    size_t lead_bytes = kernel->head.row_bytes - kernel->head.column_bytes;
    put_head(&kernel->head, values, 0, (char *)row + lead_bytes);
    if (lead_bytes == 0)
        return -kernel->head_offset * (sums[0] + sums[1]);
    const uint16_t lead[2] = {(uint16_t)(-kernel->head_offset * sums[0]),
                              (uint16_t)(-kernel->head_offset * sums[1])}; /* may wrap */
    memcpy(row, lead, sizeof lead);
    return 0;
}

void psfm_nearest_pack_head_column(const psfm_nearest_kernel *kernel, const int8_t *values,
                                   size_t j, void *panels) {
    int16_t samples[PSFM_NEAREST_HEAD];
    put_head(&kernel->head, values, kernel->head_offset, samples);
    spread_samples(kernel, &kernel->head, samples, j, panels);
}

void psfm_nearest_copy_head_column(const psfm_nearest_kernel *kernel, const void *from, size_t j,
                                   void *to, size_t k) {
    const psfm_nearest_layout *layout = &kernel->head;
    size_t bytes = layout->group * layout->sample;
    const char *source = (const char *)from + place_of(kernel, layout, j);
    char *target = (char *)to + place_of(kernel, layout, k);
    for (size_t g = 0; g < PSFM_NEAREST_HEAD / layout->group; ++g)
        memcpy(target + g * kernel->cols * bytes, source + g * kernel->cols * bytes, bytes);
}

/* ---- seeds ---- */

/* Limits of rows and columns (images/match/nearest_score.c) grow with their best products, so good
 * ones are wanted before anything is screened. The bounds of a row with some columns are a fair
 * guess whose products are large; a code beside the bound tells which column it was of. A row keeps
 * the largest bound per place in a panel and takes the best two of these. */

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
static void choose_seeds(const int32_t *codes, size_t n, psfm_nearest_seeds seeds) {
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
        choose_seeds(w.best + i % STRIP * kernel->cols, kernel->cols, seeds[i]);
        for (int k = 0; k < 2; ++k)
            psfm_nearest_fold(
                kernel->dot(d, cols->set->descriptors + (size_t)seeds[i][k] * PSFM_SIFT_SIZE),
                &best[i], &second[i]);
    }
}
