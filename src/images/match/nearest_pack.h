/* Descriptors and shortened ones as the loops of images/match/nearest_kernel.h want them. */
#ifndef PSFM_MATCH_NEAREST_PACK_H
#define PSFM_MATCH_NEAREST_PACK_H

#include "images/match/nearest_head.h"
#include "images/match/nearest_kernel.h"

/* One descriptor as a row. */
void psfm_nearest_pack_row(const psfm_nearest_kernel *kernel, const uint8_t *descriptor, void *row);

/* Puts one as column j into panels of kernel->cols. */
void psfm_nearest_pack_column(const psfm_nearest_kernel *kernel, const uint8_t *descriptor,
                              size_t j, void *panels);
/* What is to be added to its products. */
int32_t psfm_nearest_column_bias(const psfm_nearest_kernel *kernel, const uint8_t *descriptor);

/* The same for shortened ones. Here it is rows that have a bias, to be added to their own. */
int32_t psfm_nearest_pack_head_row(const psfm_nearest_kernel *kernel, const int8_t *values,
                                   void *row);
void psfm_nearest_pack_head_column(const psfm_nearest_kernel *kernel, const int8_t *values,
                                   size_t j, void *panels);

/* Copies column j of one array of panels of heads to column k of another. */
void psfm_nearest_copy_head_column(const psfm_nearest_kernel *kernel, const void *from, size_t j,
                                   void *to, size_t k);

/* Indices of two descriptors of the other set. */
typedef uint8_t psfm_nearest_seeds[2];

/* One of the two sets, with its heads. */
typedef struct {
    const psfm_nearest_set *set;
    const psfm_nearest_head *head;
} psfm_nearest_side;

/* For every descriptor of `rows` seeks two of the first PSFM_NEAREST_CODES of `cols` (there must be
 * as many) whose products with it are about the largest, by heads; best and second are those
 * products in full. Cost: that of screening these pairs. */
void psfm_nearest_seek(const psfm_nearest_kernel *kernel, const psfm_nearest_side *rows,
                       const psfm_nearest_side *cols, int32_t *best, int32_t *second,
                       psfm_nearest_seeds *seeds);

#endif
