/* Loops that the compiler turns into vector code by itself; each version of the kernels compiles
 * its own copy. Only sift_kernel*.c include this. */
#ifndef PSFM_FEATURE_SIFT_KERNEL_BODY_H
#define PSFM_FEATURE_SIFT_KERNEL_BODY_H

#include "feature/sift_kernel.h"

#include <string.h>

#define PSFM_SIFT_INLINE __attribute__((always_inline)) static inline

/* Eight pixels; gcc splits it where the machine has narrower registers. */
typedef float psfm_float8 __attribute__((vector_size(32), aligned(4), may_alias));

PSFM_SIFT_INLINE void symmetric_sum_body(const float *centre, const float *const *low,
                                         const float *const *high, const float *kernel, int radius,
                                         size_t n, float *out) {
    for (size_t x = 0; x < n; x += 32) {
        psfm_float8 sum[4];
        for (size_t v = 0; v < 4; ++v)
            sum[v] = *(const psfm_float8 *)(centre + x + 8 * v) * kernel[0];
        for (int j = 1; j <= radius; ++j) {
            const float *l = low[j] + x, *h = high[j] + x;
            for (size_t v = 0; v < 4; ++v)
                sum[v] += (*(const psfm_float8 *)(l + 8 * v) + *(const psfm_float8 *)(h + 8 * v)) *
                          kernel[j];
        }
        for (size_t v = 0; v < 4; ++v)
            *(psfm_float8 *)(out + x + 8 * v) = sum[v];
    }
}

/* Two neighbouring directions of a cell. */
typedef float psfm_float2 __attribute__((vector_size(8), aligned(4), may_alias));

enum { PSFM_SIFT_CHUNK = 32 };

#define PSFM_SIFT_HIGHEST 4.9999F /* position of a sample in cells, just below the last */

typedef struct {
    int32_t offset[PSFM_SIFT_CHUNK]; /* of the lowest of the eight bins */
    float share[4][PSFM_SIFT_CHUNK]; /* of the four cells, (x, y), (x+1, y), (x, y+1), (x+1, y+1) */
    float turn[PSFM_SIFT_CHUNK];     /* share of the higher direction */
} psfm_sift_shares;

PSFM_SIFT_INLINE void add_shares(const psfm_sift_shares *s, size_t count, float *histogram) {
    static const int cells[4] = {0, PSFM_SIFT_CELL, 6 * PSFM_SIFT_CELL, 7 * PSFM_SIFT_CELL};
    for (size_t k = 0; k < count; ++k) {
        float *h = histogram + s->offset[k];
        psfm_float2 turns = {1.0F - s->turn[k], s->turn[k]};
        for (int c = 0; c < 4; ++c)
            *(psfm_float2 *)(h + cells[c]) += turns * s->share[c][k];
    }
}

#endif
