/* Gaussian smoothing of planes of floats. */
#ifndef PSFM_LINES_SMOOTH_H
#define PSFM_LINES_SMOOTH_H

#include <stddef.h>

/* Widest half of a kernel, and so the largest sigma: 3 sigma are kept. */
#define PSFM_SMOOTH_MAX_RADIUS 32

/* Floats of scratch memory that psfm_smooth wants for rows of this width. */
size_t psfm_smooth_scratch(int width);

/* Convolves a plane (rows from the top, no padding) with a Gaussian of `sigma` pixels, at most
 * PSFM_SMOOTH_MAX_RADIUS / 3; beyond the border the outermost pixels go on. `out` is another plane.
 * O(width height sigma); the inner loops run along rows, so that the compiler makes vectors of
 * them. */
void psfm_smooth(const float *in, int width, int height, double sigma, float *scratch, float *out);

#endif
