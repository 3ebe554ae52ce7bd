/* Keypoints of SIFT: extrema of the difference of Gaussians. */
#ifndef PSFM_FEATURE_SIFT_DETECT_H
#define PSFM_FEATURE_SIFT_DETECT_H

#include "feature/sift_space.h"

/* In pixels of its octave, centre of the first pixel at 0. */
typedef struct {
    int octave; /* position in the scale space, from 0 */
    int level;  /* s at which it was found, 0 .. S - 1 */
    float x, y, sigma;
} psfm_sift_point;

typedef struct {
    psfm_sift_point *points;
    size_t num, capacity;
} psfm_sift_points;

/* Appends the keypoints of an octave, sorted by level, row and column where they were found.
 * `position` of the octave in the space is noted in them. */
psfm_status psfm_sift_detect(psfm_context *ctx, const psfm_sift_octave *octave, int position,
                             const psfm_sift_options *options, psfm_sift_points *points);

#endif
