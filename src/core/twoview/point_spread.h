/* How points spread over an image. */
#ifndef PSFM_TWOVIEW_POINT_SPREAD_H
#define PSFM_TWOVIEW_POINT_SPREAD_H

#include <stddef.h>
#include <stdint.h>

#include "core/matches/ray_pairs.h"

/* Area of the convex hull of the points idx[0 .. num) (NULL: the first num), px^2: of the polygon
 * of the extreme points in 16 directions, which is a few per cent less. O(n). */
double psfm_hull_area(const double (*xy)[2], const uint32_t *idx, size_t num);

/* The smaller of the shares of the two images' areas (px^2) that the hull of the pairs
 * idx[0 .. num) covers. */
double psfm_covered_share(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                          const double image_area[2]);

/* The area over which points spread evenly would meet as often as these do by chance: their hull's,
 * or less if they cluster. Looks at the first points only, which must be a fair sample. */
double psfm_effective_area(const double (*xy)[2], size_t num);

/* Share of the pairs idx[0 .. num) that are not within `radius` pixels of an earlier one in both
 * images (repeated keypoints are no evidence). Looks at the first points only. */
double psfm_distinct_share(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                           double radius);

/* Standard deviations of the noise at which psfm_noise_bound puts its bound, but for its limits. */
#define PSFM_NOISE_BOUND_SIGMAS 3.5

/* A bound for squared errors of `dimension` (1 or 2) coordinates that keeps nearly all of the noise
 * of those below max_squared, judged by their lower quartile (so that a good part of them may be
 * something else): at most max_squared, at least 1/64 of it. Reorders the values. O(n). */
double psfm_noise_bound(double *squared, size_t num, int dimension, double max_squared);

#endif
