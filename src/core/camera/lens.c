/* The perspective and fisheye models of COLMAP are one lens with some coefficients absent: a model
 * is a row of a table (camera_model.c) that says which of its parameters is which. Projection,
 * derivatives and refinement read it. With s = u^2 + v^2,
 *
 *   rho(s) = N / D,  N = 1 + k1 s + ... + k6 s^6,  D = 1 + d1 s + d2 s^2 + d3 s^3,
 *   u' = u rho + 2 p1 u v + p2 (s + 2 u^2) + sx s,
 *   v' = v rho + 2 p2 u v + p1 (s + 2 v^2) + sy s.
 *
 * In RAD_TAN_THIN_PRISM_FISHEYE the second part takes what the radial part came to, not (u, v), and
 * also has terms of s^2. Two models have another rho, and nothing beside it:
 *
 *   division:  u = u' / (1 + k s'),  so  rho = 2 / (1 + q),                    q = sqrt(1 - 4 k s),
 *   unified:   u' = X / (alpha sqrt(beta (X^2 + Y^2) + Z^2) + (1 - alpha) Z),
 *                               so  rho = 1 / (alpha q + 1 - alpha),           q = sqrt(1 + beta
 * s).
 *
 * Range. The radial part has the eigenvalues rho (around) and A = rho + 2 s rho' (outward).
 * rho is the mean of A over the radius, so A > a on the way from the centre makes both greater
 * than a. The tangential part's derivative is linear in the point; let m be the least eigenvalue of
 * its symmetric part there, or 0 if that is positive. Where A + m > 0 all the way, the symmetric
 * part of the whole derivative is positive definite, and such a map is one-to-one on every convex
 * set. A D^2 is a polynomial in s; that it is positive on [0, s] is decided with its Bernstein
 * coefficients, halving the interval where they leave it open. Where the parts are chained, each
 * has to be one-to-one where it is applied; terms (a, b) s^2 change m by -4 |(a, b)| s^(3/2) at
 * most, and the points where 1 + m > 0 are then a convex set. The division model is one-to-one
 * where 1 - 4 k s > 0; the unified one has A = rho^2 (alpha / q + 1 - alpha).
 *
 * Inverse. The radial part by Newton's method on the radius between a lower bound inside and an
 * upper bound that is outside or beyond; with tangential terms then Newton's method in the plane,
 * steps halved until they stay in range and reduce the error. The division and the unified model
 * have theirs in closed form.
 *
 * Sources: D. Brown, "Close-range camera calibration" (1971); F. Devernay and O. Faugeras,
 * "Straight lines have to be straight" (2001); A. Fitzgibbon, "Simultaneous linear estimation of
 * multiple view geometry and lens distortion" (2001), for division; J. Kannala and S. Brandt, "A
 * generic camera model" (2006); B. Khomutenko, G. Garcia and P. Martinet, "An enhanced unified
 * camera model" (2016); COLMAP's documentation of its camera models for names, order of the
 * parameters and the chained fisheye, which is that of Project Aria. */
#include "core/camera/lens.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/camera/camera_model.h"

#define MAX_DEGREE 7         /* of N D + 2 s (N' D - N D') */
#define MAX_HALVINGS 24      /* of the range's interval */
#define SMALLEST_OMEGA 1e-8  /* below, the FOV model is the pinhole to double precision */
#define UNIFIED_SLACK 0.01   /* of alpha beyond 0 and 1: room for differences at these */
#define MAX_RADIUS_STEPS 200 /* bisection alone needs about 60 to 110 */
#define MAX_NEWTON_STEPS 20  /* on the radius; then bisection takes over */
#define MAX_PLANE_STEPS 50   /* Newton's method needs about 5 */
#define MAX_STEP_HALVINGS 24 /* of a Newton step in the plane */

/* hypot without its care for huge numbers, which are out of range anyway. */
static double vector_length(double x, double y) {
    return sqrt(x * x + y * y);
}

/* The coefficient at an index of the table, where 0 stands for an absent one. */
static double get_coefficient(const psfm_camera *camera, int index) {
    return index == 0 ? 0.0 : camera->params[index];
}

/* Copies coefficients and says whether one of them is not zero. */
static bool get_coefficients(const psfm_camera *camera, const int *indices, int n, double *out) {
    bool any = false;
    for (int k = 0; k < n; ++k) {
        out[k] = get_coefficient(camera, indices[k]);
        any = any || out[k] != 0.0;
    }
    return any;
}

bool psfm_lens_from_camera(const psfm_camera *camera, psfm_lens *lens) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    if (info == NULL || info->is_panorama)
        return false;
    for (int k = 0; k < 2; ++k) {
        lens->focal[k] = camera->params[info->focal[k]];
        lens->center[k] = camera->params[info->center[k]];
    }
    lens->is_angular = info->is_fisheye;
    lens->angle_in = lens->angle_out = 1.0;
    if (info->omega != 0) {
        double omega = fabs(camera->params[info->omega]);
        if (!(omega < M_PI))
            return false;
        lens->is_angular = omega > SMALLEST_OMEGA;
        lens->angle_in = 2.0 * tan(0.5 * omega);
        lens->angle_out = omega;
    }
    bool radial = get_coefficients(camera, info->radial, 6, lens->radial);
    lens->has_high = lens->radial[4] != 0.0 || lens->radial[5] != 0.0;
    lens->has_denominator = get_coefficients(camera, info->denominator, 3, lens->denominator);
    lens->has_radial = radial || lens->has_denominator;
    bool tangential = get_coefficients(camera, info->tangential, 2, lens->tangential);
    bool prism = get_coefficients(camera, info->prism, 4, lens->prism);
    lens->has_tangential = tangential || prism;
    lens->is_chained = info->is_chained;
    lens->shape = PSFM_LENS_POLYNOMIAL;
    if (get_coefficients(camera, &info->division, 1, lens->closed))
        lens->shape = PSFM_LENS_DIVISION;
    else if (info->unified[0] != 0 && get_coefficients(camera, info->unified, 2, lens->closed))
        lens->shape = PSFM_LENS_UNIFIED;
    lens->has_radial = lens->has_radial || lens->shape != PSFM_LENS_POLYNOMIAL;
    return lens->shape != PSFM_LENS_UNIFIED ||
           (fabs(lens->closed[0] - 0.5) <= 0.5 + UNIFIED_SLACK && lens->closed[1] > 0.0);
}

/* The same where it is no quotient of polynomials. */
static void closed_factor(const psfm_lens *lens, double s, double *rho, double *d_rho) {
    double a = lens->closed[0], b = lens->closed[1];
    if (lens->shape == PSFM_LENS_DIVISION) {
        double q = sqrt(1.0 - 4.0 * a * s);
        *rho = 2.0 / (1.0 + q);
        *d_rho = a * *rho * *rho / q;
    } else {
        double q = sqrt(1.0 + b * s);
        *rho = 1.0 / (a * q + 1.0 - a);
        *d_rho = -0.5 * a * b * *rho * *rho / q;
    }
}

/* rho and d rho / d s. */
static void radial_factor(const psfm_lens *lens, double s, double *rho, double *d_rho) {
    const double *k = lens->radial, *d = lens->denominator;
    if (lens->shape != PSFM_LENS_POLYNOMIAL) {
        closed_factor(lens, s, rho, d_rho);
        return;
    }
    double high = lens->has_high ? s * (k[4] + s * k[5]) : 0.0;
    double d_high = lens->has_high ? s * (5.0 * k[4] + s * 6.0 * k[5]) : 0.0;
    double N = 1.0 + s * (k[0] + s * (k[1] + s * (k[2] + s * (k[3] + high))));
    double dN = k[0] + s * (2.0 * k[1] + s * (3.0 * k[2] + s * (4.0 * k[3] + d_high)));
    if (lens->has_denominator) {
        double inverse = 1.0 / (1.0 + s * (d[0] + s * (d[1] + s * d[2])));
        double dD = d[0] + s * (2.0 * d[1] + s * 3.0 * d[2]);
        N *= inverse;
        dN = (dN - N * dD) * inverse;
    }
    *rho = N;
    *d_rho = dN;
}

/* The derivative of the tangential and prism terms, less those of s^2. */
static void tangential_derivative(const psfm_lens *lens, const double uv[2], double T[4]) {
    double u = uv[0], v = uv[1];
    double p1 = lens->tangential[0], p2 = lens->tangential[1];
    double sx = lens->prism[0], sy = lens->prism[1];
    double cross = 2.0 * (p1 * u + p2 * v);
    T[0] = 2.0 * (p1 * v + (3.0 * p2 + sx) * u);
    T[1] = cross + 2.0 * sx * v;
    T[2] = cross + 2.0 * sy * u;
    T[3] = 2.0 * (p2 * u + (3.0 * p1 + sy) * v);
}

/* Adds the tangential and prism terms of a point to `out`, their derivative to T or NULL. */
static void add_tangential(const psfm_lens *lens, const double uv[2], double out[2], double T[4]) {
    double u = uv[0], v = uv[1], s = u * u + v * v;
    double p1 = lens->tangential[0], p2 = lens->tangential[1];
    const double *high = lens->prism + 2;
    out[0] += 2.0 * p1 * u * v + p2 * (s + 2.0 * u * u) + lens->prism[0] * s;
    out[1] += 2.0 * p2 * u * v + p1 * (s + 2.0 * v * v) + lens->prism[1] * s;
    if (T != NULL)
        tangential_derivative(lens, uv, T);
    for (int r = 0; r < 2 && lens->is_chained; ++r) {
        out[r] += high[r] * s * s;
        for (int c = 0; c < 2 && T != NULL; ++c)
            T[2 * r + c] += 4.0 * high[r] * s * uv[c];
    }
}

/* J = (1 + T) J. */
static void chain_derivative(const double T[4], double J[4]) {
    for (int c = 0; c < 2; ++c) {
        double top = J[c], bottom = J[2 + c];
        J[c] += T[0] * top + T[1] * bottom;
        J[2 + c] += T[2] * top + T[3] * bottom;
    }
}

void psfm_lens_distort(const psfm_lens *lens, const double uv[2], double out[2], double J[4]) {
    double u = uv[0], v = uv[1];
    double rho = 1.0, d_rho = 0.0, T[4] = {0};
    if (lens->has_radial)
        radial_factor(lens, u * u + v * v, &rho, &d_rho);
    double at[2] = {u * rho, v * rho};
    out[0] = at[0];
    out[1] = at[1];
    if (lens->has_tangential)
        add_tangential(lens, lens->is_chained ? at : uv, out, J == NULL ? NULL : T);
    if (J == NULL)
        return;
    J[0] = rho + 2.0 * d_rho * u * u;
    J[1] = J[2] = 2.0 * d_rho * u * v;
    J[3] = rho + 2.0 * d_rho * v * v;
    if (lens->is_chained)
        chain_derivative(T, J);
    else
        for (int k = 0; k < 4; ++k)
            J[k] += T[k];
}

/* Whether a polynomial given by its n + 1 Bernstein coefficients is positive on [0, 1]. */
static bool bernstein_positive(const double *b, int n, int halvings) {
    bool all = true;
    for (int k = 0; k <= n; ++k)
        all = all && b[k] > 0.0;
    if (all)
        return true;
    if (halvings == 0 || !(b[0] > 0.0 && b[n] > 0.0))
        return false;
    /* De Casteljau: the first entries of the rows belong to the left half, the last to the right */
    double left[MAX_DEGREE + 1], row[MAX_DEGREE + 1];
    memcpy(row, b, ((size_t)n + 1) * sizeof *row);
    for (int level = 0; level <= n; ++level) {
        left[level] = row[0];
        for (int k = 0; k < n - level; ++k)
            row[k] = 0.5 * (row[k] + row[k + 1]);
    }
    return bernstein_positive(left, n, halvings - 1) && bernstein_positive(row, n, halvings - 1);
}

/* Whether the polynomial c[0] + c[1] s + .. + c[n] s^n is positive on all of [0, s]. */
static bool positive_on(const double *c, int n, double s) {
    double b[MAX_DEGREE + 1], worst = c[0], power = 1.0;
    b[0] = c[0];
    for (int k = 1; k <= n; ++k) {
        power *= s;
        b[k] = c[k] * power;
        worst += fmin(b[k], 0.0);
    }
    if (worst > 0.0)
        return true;
    /* Powers to Bernstein: divide by the binomials of n, then take running sums. */
    double binomial = 1.0;
    for (int k = 1; k <= n; ++k) {
        binomial *= (double)(n - k + 1) / k;
        b[k] /= binomial;
    }
    for (int round = 1; round <= n; ++round)
        for (int k = n; k >= round; --k)
            b[k] += b[k - 1];
    return bernstein_positive(b, n, MAX_HALVINGS);
}

/* The coefficients of (A + m) D^2 in s; returns the degree. */
static int range_polynomial(const psfm_lens *lens, double m, double c[MAX_DEGREE + 1]) {
    const double *k = lens->radial, *d = lens->denominator;
    if (!lens->has_denominator) {
        int degree = lens->has_high ? 6 : 4;
        c[0] = 1.0 + m;
        for (int i = 0; i < degree; ++i)
            c[i + 1] = (2 * i + 3) * k[i];
        return degree;
    }
    double N[5] = {1.0, k[0], k[1], k[2], k[3]}, D[4] = {1.0, d[0], d[1], d[2]};
    memset(c, 0, (MAX_DEGREE + 1) * sizeof *c);
    for (int i = 0; i <= 4; ++i)
        for (int j = 0; j <= 3; ++j)
            c[i + j] += (1 + 2 * (i - j)) * N[i] * D[j];
    for (int i = 0; i <= 3; ++i)
        for (int j = 0; j <= 3; ++j)
            c[i + j] += m * D[i] * D[j];
    return MAX_DEGREE;
}

/* Whether A > 0 from the centre out to the radius sqrt(s) where rho is no quotient of polynomials:
 * 1 / rho and A / rho^2 are monotone, so their signs at the end are those on the way. */
static bool closed_in_range(const psfm_lens *lens, double s) {
    double a = lens->closed[0], b = lens->closed[1];
    if (lens->shape == PSFM_LENS_DIVISION)
        return 1.0 - 4.0 * a * s > 0.0 && -4.0 * a * s < HUGE_VAL;
    double q = sqrt(1.0 + b * s);
    return q < HUGE_VAL && a * q + 1.0 - a > 0.0 && a / q + 1.0 - a > 0.0;
}

/* Whether A + m > 0 from the centre out to the radius sqrt(s). */
static bool radial_in_range(const psfm_lens *lens, double s, double m) {
    if (!(s < HUGE_VAL))
        return false;
    if (!lens->has_radial)
        return 1.0 + m > 0.0;
    if (lens->shape != PSFM_LENS_POLYNOMIAL)
        return closed_in_range(lens, s);
    double c[MAX_DEGREE + 1];
    if (lens->has_denominator) {
        const double D[4] = {1.0, lens->denominator[0], lens->denominator[1], lens->denominator[2]};
        if (!positive_on(D, 3, s))
            return false;
    }
    int degree = range_polynomial(lens, m, c);
    return positive_on(c, degree, s);
}

/* m of a point: a lower bound of the tangential part's slope in any direction, 0 at most. */
static double find_least_slope(const psfm_lens *lens, const double uv[2]) {
    double T[4];
    tangential_derivative(lens, uv, T);
    double least = 0.5 * (T[0] + T[3]) - 0.5 * vector_length(T[0] - T[3], T[1] + T[2]);
    double radius = vector_length(uv[0], uv[1]);
    double high = lens->is_chained ? vector_length(lens->prism[2], lens->prism[3]) : 0.0;
    return fmin(least, 0.0) - 4.0 * high * radius * radius * radius;
}

bool psfm_lens_in_range(const psfm_lens *lens, const double uv[2]) {
    if (!lens->has_radial && !lens->has_tangential)
        return true;
    double s = uv[0] * uv[0] + uv[1] * uv[1], rho = 1.0, d_rho;
    if (!lens->has_tangential || !lens->is_chained)
        return radial_in_range(lens, s, lens->has_tangential ? find_least_slope(lens, uv) : 0.0);
    if (!radial_in_range(lens, s, 0.0))
        return false;
    if (lens->has_radial)
        radial_factor(lens, s, &rho, &d_rho);
    const double at[2] = {rho * uv[0], rho * uv[1]};
    return 1.0 + find_least_slope(lens, at) > 0.0;
}

/* The radius that the radial part takes to `target`. False if there is none; *radius is then the
 * largest one that was found in range. */
static bool undistort_radius(const psfm_lens *lens, double target, double *radius) {
    double low = 0.0, high = HUGE_VAL, r = target;
    bool high_in_range = false;
    for (int step = 0; step < MAX_RADIUS_STEPS; ++step) {
        double next = HUGE_VAL;
        if (radial_in_range(lens, r * r, 0.0)) {
            double rho, d_rho;
            radial_factor(lens, r * r, &rho, &d_rho);
            double error = r * rho - target;
            next = r - error / (rho + 2.0 * r * r * d_rho);
            if (fabs(next - r) <= 4.0 * DBL_EPSILON * r) {
                *radius = r;
                return true;
            }
            low = error < 0.0 ? r : low;
            high = error < 0.0 ? high : r;
            high_in_range = high_in_range || error >= 0.0;
        } else {
            high = r;
        }
        if (high < HUGE_VAL && high - low <= 2.0 * DBL_EPSILON * high) {
            *radius = high_in_range ? high : low;
            return high_in_range;
        }
        bool trust = next > low && next < high && (step < MAX_NEWTON_STEPS || high == HUGE_VAL);
        r = trust ? next : high < HUGE_VAL ? 0.5 * (low + high) : 2.0 * r;
    }
    *radius = low;
    return false;
}

/* Moves towards the centre, which is in range, until the point is. False for coefficients so wild
 * that there is no range to speak of. */
static bool retreat_into_range(const psfm_lens *lens, double uv[2]) {
    for (int step = 0; step < MAX_RADIUS_STEPS; ++step) {
        if (psfm_lens_in_range(lens, uv))
            return true;
        uv[0] *= 0.5;
        uv[1] *= 0.5;
    }
    return false;
}

/* One damped Newton step from *uv with error e = distort(uv) - target. False if none reduces it. */
static bool plane_step(const psfm_lens *lens, const double target[2], double uv[2], double e[2]) {
    double image[2], J[4], norm = vector_length(e[0], e[1]);
    psfm_lens_distort(lens, uv, image, J);
    double det = J[0] * J[3] - J[1] * J[2];
    double du = (J[3] * e[0] - J[1] * e[1]) / det, dv = (J[0] * e[1] - J[2] * e[0]) / det;
    double share = 2.0;
    for (int halving = 0; halving < MAX_STEP_HALVINGS; ++halving) {
        share *= 0.5;
        double trial[2] = {uv[0] - share * du, uv[1] - share * dv};
        if (!psfm_lens_in_range(lens, trial))
            continue;
        psfm_lens_distort(lens, trial, image, NULL);
        double error[2] = {image[0] - target[0], image[1] - target[1]};
        if (vector_length(error[0], error[1]) < norm) {
            memcpy(uv, trial, sizeof trial);
            memcpy(e, error, sizeof error);
            return true;
        }
    }
    return false;
}

/* The inverse of what is no quotient of polynomials. */
static bool undistort_closed(const psfm_lens *lens, const double distorted[2], double uv[2]) {
    double a = lens->closed[0], b = lens->closed[1];
    double s = distorted[0] * distorted[0] + distorted[1] * distorted[1], depth = 1.0 + a * s;
    bool found = lens->shape == PSFM_LENS_UNIFIED || a * s < 1.0;
    if (lens->shape == PSFM_LENS_UNIFIED)
        depth = (1.0 - a * a * b * s) / (a * sqrt(1.0 - (2.0 * a - 1.0) * b * s) + 1.0 - a);
    uv[0] = distorted[0] / depth;
    uv[1] = distorted[1] / depth;
    return found && depth > 0.0 && psfm_lens_in_range(lens, uv);
}

/* The inverse of the tangential part, then of the radial one. */
static bool undistort_chain(const psfm_lens *lens, const double distorted[2], double uv[2]) {
    psfm_lens last = *lens, first = *lens;
    double at[2];
    last.has_radial = first.has_tangential = false;
    return psfm_lens_undistort(&last, distorted, at) && psfm_lens_undistort(&first, at, uv);
}

bool psfm_lens_undistort(const psfm_lens *lens, const double distorted[2], double uv[2]) {
    double target = vector_length(distorted[0], distorted[1]);
    if (!(target < HUGE_VAL))
        return false;
    if (lens->shape != PSFM_LENS_POLYNOMIAL)
        return undistort_closed(lens, distorted, uv);
    if (lens->is_chained && lens->has_radial && lens->has_tangential)
        return undistort_chain(lens, distorted, uv);
    double scale = 1.0;
    if (lens->has_radial && target > 0.0) {
        double radius;
        bool found = undistort_radius(lens, target, &radius);
        if (!found && !lens->has_tangential)
            return false;
        scale = radius / target;
    }
    uv[0] = scale * distorted[0];
    uv[1] = scale * distorted[1];
    if (!lens->has_tangential)
        return true;
    if (!retreat_into_range(lens, uv))
        return false;
    double e[2];
    psfm_lens_distort(lens, uv, e, NULL);
    e[0] -= distorted[0];
    e[1] -= distorted[1];
    double floor = 2.0 * DBL_EPSILON * target;
    for (int step = 0; step < MAX_PLANE_STEPS && vector_length(e[0], e[1]) > floor; ++step)
        if (!plane_step(lens, distorted, uv, e))
            break;
    return vector_length(e[0], e[1]) <= 50.0 * floor;
}
