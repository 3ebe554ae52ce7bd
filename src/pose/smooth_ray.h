/* Distance of a point from a ray { s g : s >= 1 }, and the same smoothed. Internal to positions by
 * LUD. */
#ifndef PSFM_POSE_SMOOTH_RAY_H
#define PSFM_POSE_SMOOTH_RAY_H

/* The residual of v: its part across g, and q g with a smooth q(x) for min(x, 0), x = g . v - 1. */
typedef struct {
    double r[3];
    double norm;        /* sqrt(r^2 + d^2), with the smoothing d */
    double slope, bend; /* q', in [0, 1], and q'' <= 0 */
} psfm_smooth_ray;

double psfm_ray_distance(const double g[3], const double v[3]);
psfm_smooth_ray psfm_smooth_ray_make(const double g[3], const double v[3], double d);

/* y = B x, with B = I - (1 - q') g g^T: dr = B dv. */
void psfm_smooth_ray_project(const psfm_smooth_ray *s, const double g[3], const double x[3],
                             double y[3]);

#endif
