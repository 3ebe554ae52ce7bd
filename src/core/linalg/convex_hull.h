/* Convex hull in the plane. */
#ifndef PSFM_LINALG_CONVEX_HULL_H
#define PSFM_LINALG_CONVEX_HULL_H

#include "core/base/context.h"

/* Corners of the hull of num points, counter-clockwise, as indices in *corners (malloc'ed,
 * *num_corners of them; collinear points are left out). Fewer than three corners if the points
 * coincide or are collinear. Andrew's monotone chain, O(n log n). */
psfm_status psfm_convex_hull(psfm_context *ctx, size_t num, const double (*xy)[2],
                             uint32_t **corners, uint32_t *num_corners);

/* Area of a polygon given by corners, positive if counter-clockwise. */
double psfm_polygon_area(const double (*xy)[2], const uint32_t *corners, uint32_t num_corners);

#endif
