/* Loops that the compiler turns into vector code by itself; each version of the kernels compiles
 * its own copy. Only sift_kernel*.c include this. */
#ifndef PSFM_FEATURE_SIFT_KERNEL_BODY_H
#define PSFM_FEATURE_SIFT_KERNEL_BODY_H

#include "images/feature/sift_kernel.h"

#include <string.h>

#define PSFM_SIFT_INLINE __attribute__((always_inline)) static inline

/* Eight pixels; gcc splits it where the machine has narrower registers. */
typedef float psfm_float8 __attribute__((vector_size(32), aligned(4), may_alias));

/* A row above the first output and one below the second are loaded for each weight; those between
 * are the ones of the weight before. */
PSFM_SIFT_INLINE void smooth_down_body(const float *const *rows, const float *kernel, int radius,
                                       size_t n, float *const out[2]) {
    const float *const *middle = rows + radius;
    for (size_t x = 0; x < n; x += 16) {
        psfm_float8 above[2], below[2], sum[2][2];
        for (size_t v = 0; v < 2; ++v) {
            above[v] = ((const psfm_float8 *)(middle[0] + x))[v];
            below[v] = ((const psfm_float8 *)(middle[1] + x))[v];
            sum[0][v] = above[v] * kernel[0];
            sum[1][v] = below[v] * kernel[0];
        }
        for (int j = 1; j <= radius; ++j) {
            const psfm_float8 *higher = (const psfm_float8 *)(middle[-j] + x);
            const psfm_float8 *lower = (const psfm_float8 *)(middle[j + 1] + x);
            for (size_t v = 0; v < 2; ++v) {
                sum[0][v] += (higher[v] + below[v]) * kernel[j];
                sum[1][v] += (above[v] + lower[v]) * kernel[j];
                above[v] = higher[v];
                below[v] = lower[v];
            }
        }
        for (size_t i = 0; i < 2; ++i)
            for (size_t v = 0; v < 2; ++v)
                ((psfm_float8 *)(out[i] + x))[v] = sum[i][v];
    }
}

PSFM_SIFT_INLINE void smooth_along_body(const float *row, const float *kernel, int radius, size_t n,
                                        float *out) {
    for (size_t x = 0; x < n; x += 32) {
        psfm_float8 sum[4];
        for (size_t v = 0; v < 4; ++v)
            sum[v] = ((const psfm_float8 *)(row + x))[v] * kernel[0];
        for (int j = 1; j <= radius; ++j) {
            const psfm_float8 *left = (const psfm_float8 *)(row + x - j);
            const psfm_float8 *right = (const psfm_float8 *)(row + x + j);
            for (size_t v = 0; v < 4; ++v)
                sum[v] += (left[v] + right[v]) * kernel[j];
        }
        for (size_t v = 0; v < 4; ++v)
            ((psfm_float8 *)(out + x))[v] = sum[v];
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
