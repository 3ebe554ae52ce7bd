/* Early guesses of the two nearest of every descriptor. */
#ifndef PSFM_MATCH_NEAREST_SEED_H
#define PSFM_MATCH_NEAREST_SEED_H

#include "match/nearest_head.h"

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
