/* Ceres on a bundle adjustment problem, for comparison. */
#ifndef PSFM_BENCH_CERES_ADJUST_H
#define PSFM_BENCH_CERES_ADJUST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { CERES_SPARSE_SCHUR, CERES_DENSE_SCHUR, CERES_ITERATIVE_SCHUR } ceres_way;

typedef struct {
    size_t num_images, num_points, num_observations;
    double (*poses)[6];            /* rotation vector of cam_from_world, centre; adjusted */
    const double (*pinholes)[4];   /* per image: fx, fy, cx, cy */
    size_t held;                   /* index of the image that does not move */
    double (*points)[3];           /* adjusted */
    const uint32_t *image, *point; /* per observation */
    const double (*xy)[2];
    double cauchy_px; /* scale of the loss; 0: squares */
} ceres_problem;

typedef struct {
    double cost;
    int steps;
} ceres_outcome;

/* Until a step lowers the cost by less than the share `tolerance`, as Ceres' own defaults have it
 * but for threads. */
ceres_outcome ceres_adjust(const ceres_problem *problem, ceres_way way, double tolerance,
                           int threads);

#ifdef __cplusplus
}
#endif
#endif
