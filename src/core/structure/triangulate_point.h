/* One point from its observations: what triangulation does with the observations of a track. */
#ifndef PSFM_STRUCTURE_TRIANGULATE_POINT_H
#define PSFM_STRUCTURE_TRIANGULATE_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/rng.h"
#include "planarsfm/camera.h"

/* One observation with a pose. The pointers belong to the match set and the poses. */
typedef struct {
    size_t element; /* of the tracks */
    const psfm_camera *camera;
    const double *R, *c, *ray, *px_from_ray, *xy;
    double direction[3]; /* of the ray in the world */
    bool used;           /* by a point already */
    bool inlier;         /* of the point being looked for */
} psfm_ray_observation;

typedef enum {
    PSFM_POINT_FOUND,
    PSFM_POINT_FEW,          /* too few unused observations */
    PSFM_POINT_NO_AGREEMENT, /* no point that enough of them agree on */
    PSFM_POINT_SMALL_ANGLE,  /* all rays are nearly parallel */
} psfm_point_outcome;

typedef struct {
    double X[3];
    double error_px;  /* mean over the inliers */
    double angle_deg; /* largest angle at X between the rays of two inliers */
} psfm_triangulated_point;

/* Finds a point from the unused observations and marks its inliers: at least min_length, within
 * max_error_px by exact projection, in front of their cameras. */
psfm_point_outcome psfm_triangulate_point(psfm_ray_observation *s, size_t num, size_t min_length,
                                          double max_error_px, double min_angle_deg, psfm_rng *rng,
                                          psfm_triangulated_point *p);

#endif
