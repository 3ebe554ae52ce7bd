/* Points of a photograph about which a patch can be aligned. */
#ifndef PSFM_PHOTO_CORNERS_H
#define PSFM_PHOTO_CORNERS_H

#include "photo/pyramid.h"

typedef struct {
    float x, y; /* pixels, the centre of one */
    float
        strength; /* smaller eigenvalue of the mean of gradient gradient^T, gray levels^2 / px^2 */
} psfm_corner;

/* At most one corner in each square of `spacing` pixels (at least 4): the pixel with the largest
 * strength over a window of 2 radius + 1, if that is at least min_strength. `margin` pixels at the
 * border are left out. *corners is malloc'ed, row by row of squares. Cost: some 10 ns a pixel. */
psfm_status psfm_corners_find(psfm_context *ctx, const psfm_pyramid *photo, int spacing, int radius,
                              int margin, double min_strength, psfm_corner **corners, size_t *num);

#endif
