/* Straight line segments. */
#ifndef PSFM_LINES_SEGMENTS_H
#define PSFM_LINES_SEGMENTS_H

#include "lines/line_pixels.h"

typedef struct {
    double a[2], b[2]; /* ends; pixels, the first centre at 0.5 */
    double length;     /* pixels */
    double rms;        /* of its line pixels' distances from it, pixels */
    double polarity;   /* mean of its line pixels', -1 to 1 */
    double strength;   /* mean, grey levels */
} psfm_segment;

/* Longest first. Owns the array. */
typedef struct {
    psfm_segment *items;
    size_t num, capacity;
} psfm_segments;

/* Joins line pixels that touch and run the same way, and fits a straight line to each group; a
 * group shorter than min_length pixels, or one that is not straight, is left out. Line pixels may
 * have moved (psfm_line_pixels_rectify): neighbours are sought by their places. The caller frees
 * *out with psfm_segments_free. O(n log n). */
psfm_status psfm_segments_find(psfm_context *ctx, const psfm_line_pixels *pixels, double min_length,
                               psfm_segments *out);

void psfm_segments_free(psfm_segments *segments);

#endif
