/* The inner loops of SIFT over pixels, in versions for different instructions. They do the same
 * operations in the same order without fused multiply-add, so that all versions agree in every bit.
 */
#ifndef PSFM_FEATURE_SIFT_KERNEL_H
#define PSFM_FEATURE_SIFT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Arrays of pixels may be read and written up to the next multiple of this. */
#define PSFM_SIFT_PAD 32

/* Widest half of a smoothing kernel. */
#define PSFM_SIFT_MAX_RADIUS 63

/* What the samples of one row of a descriptor window contribute: see sift_describe.c. */
typedef struct {
    const float *magnitude, *angle; /* of n pixels from the first column of the window on */
    const float *weight_x;          /* Gaussian weight of each column */
    float weight_y;                 /* and of the row */
    float nx, ny;                   /* position of the first pixel, in cells, 0 to 5 */
    float step_nx, step_ny;         /* from one pixel to the next */
    float angle0;                   /* orientation of the keypoint, in eighths of a turn */
    size_t n;
} psfm_sift_row;

typedef struct {
    /* Two rows smoothed down the columns, which share most of what they are made of. rows[k], k = 0
     * .. 2 radius + 1, are rows of the image that follow each other:
     *   out[i][x] = kernel[0] rows[c][x] + sum_j kernel[j] (rows[c - j][x] + rows[c + j][x]),
     * c = radius + i, j = 1 .. radius, for n pixels. */
    void (*smooth_down)(const float *const *rows, const float *kernel, int radius, size_t n,
                        float *const out[2]);
    /* One row smoothed along itself; it has `radius` more pixels on either side. */
    void (*smooth_along)(const float *row, const float *kernel, int radius, size_t n, float *out);

    /* Finds the pixels x = 1 .. width - 2 of a row at which the middle one of three differences of
     * the four levels (pointers to the row) is at least `threshold` in size and strictly greater,
     * or smaller, than its 26 neighbours. Returns their number; found has room for width. */
    size_t (*find_extrema)(const float *const levels[4], ptrdiff_t stride, int width,
                           float threshold, uint32_t *found);

    /* Gradient of n pixels: length, and direction in eighths of a turn, 0 <= angle < 8. The
     * difference in x is between row[x + 1] and row[x - 1] times 0.5, in y between below and above
     * times y_factor. */
    void (*gradient)(const float *row, const float *above, const float *below, float y_factor,
                     size_t n, float *magnitude, float *angle);

    /* Adds a row of samples to PSFM_SIFT_SHARES values. */
    void (*add_row)(const psfm_sift_row *row, float *shares);
} psfm_sift_kernel;

/* A sample is shared among 2 x 2 cells and two directions. Samples whose first cell is x, y of 5 x
 * 5 and whose first direction is t of 8 are summed in the eight values from 8 (8 (5 y + x) + t) on,
 * so that a sample is one addition: for the first direction the cells (x, y), (x+1, y), (x, y+1),
 * (x+1, y+1), and the same for the second one. */
#define PSFM_SIFT_SHARES (5 * 5 * 8 * 8)

const psfm_sift_kernel *psfm_sift_kernel_choose(void);

#if defined(__x86_64__)
extern const psfm_sift_kernel psfm_sift_kernel_avx2;
#endif

#endif
