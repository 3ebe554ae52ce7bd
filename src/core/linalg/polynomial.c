/* Real roots by bracketing: between two neighbouring roots of the derivative a polynomial is
 * monotone, so it has at most one root there, and its signs at the ends tell whether it has. The
 * derivatives are treated from the linear one upwards. Only [-1, 1] is searched, where powers do
 * not overflow; the roots outside are the reciprocals of those of the reversed polynomial inside.
 */
#include "core/linalg/polynomial.h"

#include <math.h>
#include <stdbool.h>

/* Steps below these end the iteration; the roots of derivatives only separate others. */
#define BRACKET_TOLERANCE 1e-4
#define ROOT_TOLERANCE 4e-16

/* A leading coefficient this small against the largest one is zero: its root is out of reach. */
#define ZERO_COEFFICIENT 1e-15

static double evaluate_polynomial(const double *c, int degree, double x) {
    double v = c[degree];
    for (int k = degree - 1; k >= 0; --k)
        v = v * x + c[k];
    return v;
}

/* Newton's method kept inside a bracket with a change of sign, until a step is below `tolerance`;
 * bisects where Newton leaves the bracket. */
static double root_in(const double *c, const double *derivative, int degree, double low,
                      double high, double at_low, double tolerance) {
    double x = 0.5 * (low + high);
    for (int iteration = 0; iteration < 100; ++iteration) {
        double v = evaluate_polynomial(c, degree, x);
        if (v == 0.0)
            return x;
        if ((v < 0.0) == (at_low < 0.0))
            low = x;
        else
            high = x;
        double step = v / evaluate_polynomial(derivative, degree - 1, x);
        double next = x - step;
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        if (fabs(next - x) <= tolerance)
            return next;
        x = next;
    }
    return x;
}

/* Roots in (-1, 1), ascending. */
static int roots_inside(const double *c, int degree, double *roots) {
    double derivatives[PSFM_MAX_DEGREE + 1][PSFM_MAX_DEGREE + 1];
    for (int k = 0; k <= degree; ++k)
        derivatives[degree][k] = c[k];
    for (int d = degree; d > 1; --d)
        for (int k = 0; k < d; ++k)
            derivatives[d - 1][k] = (k + 1) * derivatives[d][k + 1];
    derivatives[0][0] = 0.0;
    double stationary[PSFM_MAX_DEGREE + 1];
    int num = 0;
    for (int d = 1; d <= degree; ++d) {
        const double *p = derivatives[d];
        const double slope[1] = {p[1]}, *derivative = d > 1 ? derivatives[d - 1] : slope;
        double tolerance = d < degree ? BRACKET_TOLERANCE : ROOT_TOLERANCE;
        double found[PSFM_MAX_DEGREE + 1], low = -1.0, at_low = evaluate_polynomial(p, d, low);
        int num_found = 0;
        for (int k = 0; k <= num; ++k) {
            double high = k < num ? stationary[k] : 1.0, at_high = evaluate_polynomial(p, d, high);
            if ((at_low < 0.0) != (at_high < 0.0))
                found[num_found++] = root_in(p, derivative, d, low, high, at_low, tolerance);
            low = high;
            at_low = at_high;
        }
        for (num = 0; num < num_found; ++num)
            stationary[num] = found[num];
    }
    for (int k = 0; k < num; ++k)
        roots[k] = stationary[k];
    return num;
}

int psfm_polynomial_roots(const double *c, int degree, double *roots) {
    double reversed[PSFM_MAX_DEGREE + 1] = {0}, outside[PSFM_MAX_DEGREE], most = 0.0;
    for (int k = 0; k <= degree; ++k)
        most = fmax(most, fabs(c[k]));
    while (degree > 0 && !(fabs(c[degree]) > ZERO_COEFFICIENT * most))
        --degree;
    for (int k = 0; k <= degree; ++k)
        reversed[k] = c[degree - k];
    int num = roots_inside(c, degree, roots);
    int num_outside = roots_inside(reversed, degree, outside);
    for (int k = 0; k < num_outside && num < degree; ++k)
        if (outside[k] != 0.0)
            roots[num++] = 1.0 / outside[k];
    return num;
}
