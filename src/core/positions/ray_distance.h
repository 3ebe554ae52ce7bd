/* Distance of a point from a ray { s g : s >= 1 }, and the same smoothed. Internal to positions by
 * LUD. */
#ifndef PSFM_POSITIONS_RAY_DISTANCE_H
#define PSFM_POSITIONS_RAY_DISTANCE_H

/* The residual of v: its part across g, and q g with a smooth q(x) for min(x, 0), x = g . v - 1. */
typedef struct {
    double r[3];
    double norm;    /* sqrt(r^2 + d^2), with the smoothing d */
    double slope;   /* q', in [0, 1] */
    double x, root; /* and sqrt(x^2 + D^2), D the smoothing of the bound */
    double d;
} psfm_smooth_ray;

double psfm_ray_distance(const double g[3], const double v[3]);
psfm_smooth_ray psfm_smooth_ray_make(const double g[3], const double v[3], double d);

/* y = B x, with B = I - (1 - q') g g^T: dr = B dv. */
void psfm_smooth_ray_project(const psfm_smooth_ray *s, const double g[3], const double x[3],
                             double y[3]);

/* What Newton's method carries from step to step about the bound of an edge; zero at first. */
typedef struct {
    double slope; /* q' as the last step foresaw it, in [0, 1] */
    double hold;  /* share of the edge's weight that a spring against crossing the bound has */
} psfm_ray_bound;

/* Curvature of the model along g, not negative, at the point of s with the multiplier z, z . g <=
 * 0: the bound as far as the multipliers know of it, a spring if the last step would have crossed
 * it, and a weak one from afar. */
double psfm_ray_bound_curvature(const psfm_ray_bound *b, const psfm_smooth_ray *s,
                                const double g[3], const double z[3]);

/* What is foreseen at v + dv, from the point s of v. */
void psfm_ray_bound_move(psfm_ray_bound *b, const psfm_smooth_ray *s, const double g[3],
                         const double v[3], const double dv[3]);

#endif
