/* Points of a photograph about which a patch can be aligned. */
#ifndef PSFM_PHOTO_CORNERS_H
#define PSFM_PHOTO_CORNERS_H

#include "photo/pyramid.h"

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
