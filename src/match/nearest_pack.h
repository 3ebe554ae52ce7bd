/* Descriptors and shortened ones as the loops of match/nearest_kernel.h want them. */
#ifndef PSFM_MATCH_NEAREST_PACK_H
#define PSFM_MATCH_NEAREST_PACK_H

#include "match/nearest_kernel.h"

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

#endif
