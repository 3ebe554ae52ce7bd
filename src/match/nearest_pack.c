/* Packing: bytes become samples of one or two bytes, with the offset that the kernel wants, and
 * columns are spread over panels group by group. Cost: a pass over the descriptors. */
#include "match/nearest_pack.h"

#include <string.h>

#define WORD ((size_t)4) /* bytes of a group, where there are several */

/* Where the first group of column j is. */
static size_t place_of(const psfm_nearest_kernel *kernel, const psfm_nearest_layout *layout,
                       size_t j) {
    size_t cols = kernel->cols;
    return j / cols * cols * layout->column_bytes + j % cols * layout->group * layout->sample;
}

static void spread(const psfm_nearest_kernel *kernel, const psfm_nearest_layout *layout,
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
    spread(kernel, &kernel->whole, samples, j, panels);
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
    spread(kernel, &kernel->head, samples, j, panels);
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
