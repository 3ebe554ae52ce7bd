/* How points spread over an image: areas of hulls, by 16 directions in O(n); how much they
 * cluster, by counting pairs that are close among the first points of a shuffled list; the noise
 * of inliers, by the lower quartile of their errors, which outliers below the bound hardly move. */
#include "core/twoview/point_spread.h"

#include <math.h>
#include <string.h>

#include "core/linalg/order_statistics.h"

#define NUM_DIRECTIONS 16
#define MIN_FOR_NOISE 20 /* errors needed to judge the noise */
#define MAX_LOOK 64      /* points of a fair sample that pairwise counts look at */

/* Extreme points in NUM_DIRECTIONS directions, anticlockwise. */
static void extreme_points(const double (*xy)[2], const uint32_t *idx, size_t num,
                           double polygon[NUM_DIRECTIONS][2]) {
    double best[NUM_DIRECTIONS], direction[NUM_DIRECTIONS][2];
    for (int d = 0; d < NUM_DIRECTIONS; ++d) {
        double angle = 6.283185307179586 * d / NUM_DIRECTIONS;
        direction[d][0] = cos(angle);
        direction[d][1] = sin(angle);
        best[d] = -INFINITY;
    }
    for (size_t i = 0; i < num; ++i) {
        const double *p = xy[idx == NULL ? i : idx[i]];
        for (int d = 0; d < NUM_DIRECTIONS; ++d) {
            double along = direction[d][0] * p[0] + direction[d][1] * p[1];
            if (along > best[d]) {
                best[d] = along;
                polygon[d][0] = p[0];
                polygon[d][1] = p[1];
            }
        }
    }
}

double psfm_hull_area(const double (*xy)[2], const uint32_t *idx, size_t num) {
    double polygon[NUM_DIRECTIONS][2] = {{0}}, twice = 0.0;
    if (num < 3)
        return 0.0;
    extreme_points(xy, idx, num, polygon);
    for (int d = 1; d + 1 < NUM_DIRECTIONS; ++d) {
        double ax = polygon[d][0] - polygon[0][0], ay = polygon[d][1] - polygon[0][1];
        double bx = polygon[d + 1][0] - polygon[0][0], by = polygon[d + 1][1] - polygon[0][1];
        twice += ax * by - ay * bx;
    }
    return 0.5 * twice;
}

double psfm_covered_share(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                          const double image_area[2]) {
    double area1 = psfm_hull_area((const double(*)[2])pairs->xy1, idx, num);
    double area2 = psfm_hull_area((const double(*)[2])pairs->xy2, idx, num);
    return fmin(area1 / image_area[0], area2 / image_area[1]);
}

double psfm_effective_area(const double (*xy)[2], size_t num) {
    double area = psfm_hull_area(xy, NULL, num);
    size_t look = num < MAX_LOOK ? num : MAX_LOOK, meetings = 0;
    if (look < MAX_LOOK / 2 || !(area > 0.0))
        return area; /* too few to count */
    double radius2 = 0.01 * area;
    for (size_t i = 0; i < look; ++i) {
        for (size_t j = 0; j < i; ++j) {
            double dx = xy[i][0] - xy[j][0], dy = xy[i][1] - xy[j][1];
            meetings += dx * dx + dy * dy < radius2;
        }
    }
    double possible = 0.5 * (double)look * (double)(look - 1);
    double even = 3.141592653589793 * radius2 / area * possible;
    return (double)meetings > even ? area * even / (double)meetings : area;
}

double psfm_distinct_share(const psfm_ray_pairs *pairs, const uint32_t *idx, size_t num,
                           double radius) {
    size_t look = num < MAX_LOOK ? num : MAX_LOOK, distinct = 0;
    for (size_t i = 0; i < look; ++i) {
        size_t j = 0;
        for (; j < i; ++j) {
            const double *a1 = pairs->xy1[idx[i]], *b1 = pairs->xy1[idx[j]];
            const double *a2 = pairs->xy2[idx[i]], *b2 = pairs->xy2[idx[j]];
            if (fabs(a1[0] - b1[0]) < radius && fabs(a1[1] - b1[1]) < radius &&
                fabs(a2[0] - b2[0]) < radius && fabs(a2[1] - b2[1]) < radius)
                break;
        }
        distinct += j == i;
    }
    return look > 0 ? (double)distinct / (double)look : 1.0;
}

double psfm_noise_bound(double *squared, size_t num, int dimension, double max_squared) {
    /* lower quartile of the squared length of a standard normal vector */
    double quartile = dimension == 1 ? 0.1015 : 0.5754, bound = max_squared;
    for (int round = 0; round < 3; ++round) {
        size_t kept = 0;
        for (size_t i = 0; i < num; ++i) {
            if (squared[i] < bound) {
                double swap = squared[kept];
                squared[kept++] = squared[i];
                squared[i] = swap;
            }
        }
        if (kept < MIN_FOR_NOISE)
            break;
        double variance = psfm_select(squared, kept, kept / 4) / quartile;
        bound = fmin(bound, PSFM_NOISE_BOUND_SIGMAS * PSFM_NOISE_BOUND_SIGMAS * variance);
        num = kept;
    }
    return fmax(bound, max_squared / 64.0);
}
