/* The inner loops of patch alignment, in versions for different instructions. They do the same
 * operations in the same order without fused multiply-add, so that all versions agree in every bit.
 */
#ifndef PSFM_PHOTOMETRIC_PATCH_KERNEL_H
#define PSFM_PHOTOMETRIC_PATCH_KERNEL_H

#include "images/photometric/pyramid.h"

#define PSFM_PATCH_LANES 16
#define PSFM_PATCH_GRID_RADIUS 16 /* of sample_grid, at most */
#define PSFM_PATCH_GRID_STEP 1.5F /* pixels from sample to sample, at most */

/* Where in a level the sample (u, v) of a patch lies, first pixel centre at 0:
 *   x = base_x + x[0] + x[1] u + x[2] v + x[3] u^2 + x[4] u v + x[5] v^2, y likewise. */
typedef struct {
    int base_x, base_y;
    float x[6], y[6];
} psfm_patch_map;

/* Sums over a patch w that was sampled from the other image, less an offset. */
typedef struct {
    float value, square;  /* of w, of w^2, by the window */
    float step_x, step_y; /* of w times the two step images, which contain the window */
    float product;        /* of w times the template, which does too */
} psfm_patch_sums;

/* Sums over a template t less an offset and its gradient (gx, gy), by the window. */
typedef struct {
    float t, gx, gy;
    float tt, tx, ty;
    float xx, xy, yy;
} psfm_patch_moments;

/* What becomes of a template: t to window norm (t - offset), the gradient to the step images
 *   window (step[0] gx + step[1] gy + step[2] (t - offset) + step[3]). */
typedef struct {
    float offset, norm;
    float step_x[4], step_y[4];
} psfm_patch_weights;

/* All counts are multiples of PSFM_PATCH_LANES. */
typedef struct {
    /* Values at the samples by the cubic B-spline on the gray values, 0 to 255: an interpolation
     * that smooths like a Gaussian of 0.58 pixels and has continuous second derivatives. The
     * weights along a row are rounded to 2^-14. Samples beyond the image take the value at its
     * border. */
    void (*sample)(const psfm_pyramid_level *level, const psfm_patch_map *map, const float *u,
                   const float *v, size_t num, float *out);

    /* The same for the samples (-radius, -radius) to (radius, radius), row by row, of a map that
     * neither turns nor curves: x by u alone and y by v alone, in steps above 0, and within the
     * image. Rows are interpolated once for all samples that need them. May write
     * PSFM_PATCH_LANES floats too many. */
    void (*sample_grid)(const psfm_pyramid_level *level, const psfm_patch_map *map, int radius,
                        float *out);

    /* Flat arrays, because this is the innermost loop: a struct would be read through each time. */
    void (*sum)(const float *w, float offset, const float *step_x, const float *step_y,
                const float *pattern, const float *window, size_t num, psfm_patch_sums *sums);

    void (*moments)(const float *t, float offset, const float *gx, const float *gy,
                    const float *window, size_t num, psfm_patch_moments *moments);

    /* In place: the template, and the gradient that becomes the step images. */
    void (*weigh)(const psfm_patch_weights *weights, const float *window, size_t num, float *t,
                  float *gx, float *gy);
} psfm_patch_kernel;

const psfm_patch_kernel *psfm_patch_kernel_choose(void);

#if defined(__x86_64__)
extern const psfm_patch_kernel psfm_patch_kernel_avx2;
extern const psfm_patch_kernel psfm_patch_kernel_avx512;
#endif

#endif
