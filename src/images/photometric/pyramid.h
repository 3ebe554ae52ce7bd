/* A photograph as patches are sampled from it: gray values at full size and halved again and
 * again. */
#ifndef PSFM_PHOTOMETRIC_PYRAMID_H
#define PSFM_PHOTOMETRIC_PYRAMID_H

#include <stddef.h>
#include <stdint.h>

#include "images/image/image_io.h"

#define PSFM_PYRAMID_MAX_LEVELS 6
#define PSFM_PYRAMID_MIN_SIDE 24 /* pixels of the smallest level */

/* Rows of width pixels without padding; a few bytes after the last row may be read. */
typedef struct {
    int width, height;
    const uint8_t *pixels;
} psfm_pyramid_level;

/* A point x of the photograph (pixels, first centre at 0.5) is x / 2^k in level k. */
typedef struct {
    int num_levels;
    psfm_pyramid_level levels[PSFM_PYRAMID_MAX_LEVELS];
    uint8_t *memory; /* of all levels; owned */
    size_t num_bytes;
} psfm_pyramid;

/* Copies the gray values and averages 2 x 2 pixels for each further level. The image must have at
 * least PSFM_PYRAMID_MIN_SIDE pixels a side. The caller frees *photo with psfm_pyramid_free. */
psfm_status psfm_pyramid_init(psfm_context *ctx, const psfm_image *image, psfm_pyramid *photo);

/* Reads a file, whose size must be width x height. */
psfm_status psfm_pyramid_read(psfm_context *ctx, const char *path, uint64_t width, uint64_t height,
                              psfm_pyramid *photo);

void psfm_pyramid_free(psfm_pyramid *photo);

typedef struct {
    float x, y; /* pixels, the centre of one at the level where it was found */
    float
        strength; /* smaller eigenvalue of the mean of gradient gradient^T, gray levels^2 / px^2 */
} psfm_corner;

/* Where corners are looked for. */
typedef struct {
    int spacing;         /* pixels; at most one corner in each square of so many (at least 4) */
    int radius;          /* the strength is that of a window of 2 radius + 1 pixels */
    int margin;          /* pixels at the border that are left out */
    double min_strength; /* of a corner */
} psfm_corner_grid;

/* The strongest pixel of each square, if it is strong enough. *corners is malloc'ed, row by row of
 * squares; of a coarser level where squares are larger than 127 pixels. Cost: some 10 ns a pixel of
 * the level. */
psfm_status psfm_corners_find(psfm_context *ctx, const psfm_pyramid *photo,
                              const psfm_corner_grid *grid, psfm_corner **corners, size_t *num);

#endif
