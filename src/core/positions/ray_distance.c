/* With D = BOUND d, q(x) = (x - sqrt(x^2 + D^2)) / 2, a hyperbola between 0 and x. It is concave
 * and not positive, so that the smoothed norm is convex. Its long tail is what lets Newton's method
 * see the bound from afar, but it would also drive on for ever what nothing else holds: lengths of
 * edges that hang loose. So it is raised to be 0 from x = TAIL D on; the kink there is 1 / (4
 * TAIL^2).
 *
 * Newton's method on q alone is blind to the bound beyond a few D: a step makes one edge in
 * thousands far too short, and the line search then cuts the whole step, so that large graphs take
 * many. Three things go with an edge against that. None changes the gradient, so the minimum stays.
 *
 * A multiplier w for the slope. w = q'(x) is the same as (1 - 2 w) root = x, root = sqrt(x^2 +
 * D^2), which is linearised in w and x: dw = q' - w + c dx, c = -(1 - (1 - 2 w) x / root) / (2
 * root). With dw put into the equation of forces q' stays where it was, and c takes the place of
 * q''; they are equal where w = q'. Where a step foresees the bound, c is near -1 / root, the slope
 * of the chord, and not the almost nothing that q'' is there.
 *
 * A spring for an edge that the whole step would take across the bound, either way. The force of
 * the edge along g changes by h there, a share of its weight, within the distance |x|, hence the
 * curvature h / root. As long as the edge does not cross, the spring's own force is what it is
 * needed for, so h shrinks to that.
 *
 * A weak spring for all edges that are off the bound, FAR d / x^2, the curvature of a barrier. What
 * is all but free would otherwise move by many times the lengths of its edges. It goes with d, so
 * that it does not hinder the end. */
#include "core/positions/ray_distance.h"

#include <math.h>
#include <stdbool.h>

#include "core/linalg/vec3.h"

#define BOUND 4.0 /* smoothing of the bound, in units of that of the norm */
#define TAIL 30.0
#define HOLD 0.5 /* of the chord's curvature */
#define FAR 0.1

double psfm_ray_distance(const double g[3], const double v[3]) {
    double r[3];
    psfm_axpy3(v, -fmax(1.0, psfm_dot3(g, v)), g, r);
    return psfm_norm3(r);
}

/* (x - root) / 2, root = sqrt(x^2 + D^2) */
static double smooth_hyperbola(double x, double D, double root) {
    return x > 0.0 ? -0.5 * D * D / (root + x) : 0.5 * (x - root);
}

psfm_smooth_ray psfm_smooth_ray_make(const double g[3], const double v[3], double d) {
    double along = psfm_dot3(g, v), x = along - 1.0, D = BOUND * d, root = sqrt(x * x + D * D);
    double q = smooth_hyperbola(x, D, root);
    psfm_smooth_ray s = {.slope = -q / root, .x = x, .root = root, .d = d};
    q -= smooth_hyperbola(TAIL * D, D, sqrt(TAIL * TAIL + 1.0) * D);
    if (x >= TAIL * D)
        q = s.slope = 0.0;
    psfm_axpy3(v, q - along, g, s.r);
    s.norm = sqrt(psfm_dot3(s.r, s.r) + d * d);
    return s;
}

void psfm_smooth_ray_project(const psfm_smooth_ray *s, const double g[3], const double x[3],
                             double y[3]) {
    psfm_axpy3(x, (s->slope - 1.0) * psfm_dot3(g, x), g, y);
}

/* c */
static double slope_change(const psfm_ray_bound *b, const psfm_smooth_ray *s) {
    return -0.5 * (1.0 - (1.0 - 2.0 * b->slope) * s->x / s->root) / s->root;
}

double psfm_ray_bound_curvature(const psfm_ray_bound *b, const psfm_smooth_ray *s,
                                const double g[3], const double z[3]) {
    double far = s->x > 0.0 ? FAR * s->d / s->root : 0.0;
    return slope_change(b, s) * psfm_dot3(z, g) + fmax(HOLD * b->hold, far) / s->root;
}

/* Of the smoothed norm along g, per weight. */
static double ray_force(const psfm_smooth_ray *s, const double g[3]) {
    return psfm_dot3(s->r, g) / s->norm * s->slope;
}

void psfm_ray_bound_move(psfm_ray_bound *b, const psfm_smooth_ray *s, const double g[3],
                         const double v[3], const double dv[3]) {
    double end[3], dx = psfm_dot3(g, dv), nearer = s->x > 0.0 ? -dx : dx;
    psfm_axpy3(v, 1.0, dv, end);
    psfm_smooth_ray t = psfm_smooth_ray_make(g, end, s->d);
    b->slope = fmin(fmax(s->slope + slope_change(b, s) * dx, 0.0), 1.0);
    bool crosses = (s->slope < 0.5) != (t.slope < 0.5);
    if (crosses)
        b->hold = fmin(fabs(ray_force(&t, g) - ray_force(s, g)), 1.0);
    else
        b->hold *= fmin(fmax(nearer / s->root, 0.0), 1.0);
}
