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

/* The four cells that a sample is shared among; and these for two directions. */
typedef float psfm_float4 __attribute__((vector_size(16), aligned(4), may_alias));

enum { PSFM_SIFT_CHUNK = 32 };

#define PSFM_SIFT_HIGHEST 4.9999F /* position of a sample in cells, just below the last */

typedef struct {
    int32_t offset[PSFM_SIFT_CHUNK]; /* of its eight values */
    float share[PSFM_SIFT_CHUNK][4]; /* of the four cells, (x, y), (x+1, y), (x, y+1), (x+1, y+1) */
    float turn[PSFM_SIFT_CHUNK];     /* share of the higher direction */
} psfm_sift_shares;

#endif
