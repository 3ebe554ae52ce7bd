/* With D = BOUND d, q(x) = (x - sqrt(x^2 + D^2)) / 2, a hyperbola between 0 and x. It is concave
 * and not positive, so that the smoothed norm is convex. Its long tail is what lets Newton's method
 * see the bound from afar, but it would also drive on for ever what nothing else holds: lengths of
 * edges that hang loose. So it is raised to be 0 from x = TAIL D on; the kink there is 1 / (4
 * TAIL^2). */
#include "pose/smooth_ray.h"

#include <math.h>

#include "linalg/vec3.h"

#define BOUND 4.0 /* smoothing of the bound, in units of that of the norm */
#define TAIL 30.0

double psfm_ray_distance(const double g[3], const double v[3]) {
    double r[3];
    psfm_axpy3(v, -fmax(1.0, psfm_dot3(g, v)), g, r);
    return psfm_norm3(r);
}

/* (x - root) / 2, root = sqrt(x^2 + D^2) */
static double hyperbola(double x, double D, double root) {
    return x > 0.0 ? -0.5 * D * D / (root + x) : 0.5 * (x - root);
}

psfm_smooth_ray psfm_smooth_ray_make(const double g[3], const double v[3], double d) {
    double along = psfm_dot3(g, v), x = along - 1.0, D = BOUND * d, root = sqrt(x * x + D * D);
    double q = hyperbola(x, D, root);
    psfm_smooth_ray s = {.slope = -q / root, .bend = -0.5 * D * D / (root * root * root)};
    q -= hyperbola(TAIL * D, D, sqrt(TAIL * TAIL + 1.0) * D);
    if (x >= TAIL * D)
        q = s.slope = s.bend = 0.0;
    psfm_axpy3(v, q - along, g, s.r);
    s.norm = sqrt(psfm_dot3(s.r, s.r) + d * d);
    return s;
}

void psfm_smooth_ray_project(const psfm_smooth_ray *s, const double g[3], const double x[3],
                             double y[3]) {
    psfm_axpy3(x, (s->slope - 1.0) * psfm_dot3(g, x), g, y);
}
