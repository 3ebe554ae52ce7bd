/* All of COLMAP's models are one lens with some coefficients absent: a model is a row of a table
 * that says which of its parameters is which. Projection, derivatives and refinement read it. With
 * s = u^2 + v^2,
 *
 *   N(s) = 1 + k1 s + k2 s^2 + k3 s^3 + k4 s^4,    D(s) = 1 + d1 s + d2 s^2 + d3 s^3,
 *   u' = u N/D + 2 p1 u v + p2 (s + 2 u^2) + sx s,
 *   v' = v N/D + 2 p2 u v + p1 (s + 2 v^2) + sy s.
 *
 * Range. The radial part has the eigenvalues rho = N/D (around) and A = rho + 2 s rho' (outward).
 * rho is the mean of A over the radius, so A > a on the way from the centre makes both greater
 * than a. The tangential part's derivative is linear in the point; let m be the least eigenvalue of
 * its symmetric part there, or 0 if that is positive. Where A + m > 0 all the way, the symmetric
 * part of the whole derivative is positive definite, and such a map is one-to-one on every convex
 * set. A D^2 is a polynomial in s; that it is positive on [0, s] is decided with its Bernstein
 * coefficients, halving the interval where they leave it open.
 *
 * Inverse. The radial part by Newton's method on the radius between a lower bound inside and an
 * upper bound that is outside or beyond; with tangential terms then Newton's method in the plane,
 * steps halved until they stay in range and reduce the error.
 *
 * Sources: D. Brown, "Close-range camera calibration" (1971); F. Devernay and O. Faugeras,
 * "Straight lines have to be straight" (2001); J. Kannala and S. Brandt, "A generic camera model"
 * (2006); COLMAP's documentation of its camera models for names and order of the parameters. */
#include "core/camera/lens.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/camera/camera_model.h"

#define MAX_DEGREE 7         /* of N D + 2 s (N' D - N D') */
#define MAX_HALVINGS 24      /* of the range's interval */
#define SMALLEST_OMEGA 1e-8  /* below, the FOV model is the pinhole to double precision */
#define MAX_RADIUS_STEPS 200 /* bisection alone needs about 60 to 110 */
#define MAX_NEWTON_STEPS 20  /* on the radius; then bisection takes over */
#define MAX_PLANE_STEPS 50   /* Newton's method needs about 5 */
#define MAX_STEP_HALVINGS 24 /* of a Newton step in the plane */

const char *const psfm_camera_model_names[PSFM_NUM_CAMERA_MODELS + 1] = {
    [PSFM_CAMERA_SIMPLE_PINHOLE] = "SIMPLE_PINHOLE",
    [PSFM_CAMERA_PINHOLE] = "PINHOLE",
    [PSFM_CAMERA_SIMPLE_RADIAL] = "SIMPLE_RADIAL",
    [PSFM_CAMERA_RADIAL] = "RADIAL",
    [PSFM_CAMERA_OPENCV] = "OPENCV",
    [PSFM_CAMERA_OPENCV_FISHEYE] = "OPENCV_FISHEYE",
    [PSFM_CAMERA_FULL_OPENCV] = "FULL_OPENCV",
    [PSFM_CAMERA_FOV] = "FOV",
    [PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE] = "SIMPLE_RADIAL_FISHEYE",
    [PSFM_CAMERA_RADIAL_FISHEYE] = "RADIAL_FISHEYE",
    [PSFM_CAMERA_THIN_PRISM_FISHEYE] = "THIN_PRISM_FISHEYE",
};

const psfm_camera_model_info psfm_camera_models[PSFM_NUM_CAMERA_MODELS] = {
    [PSFM_CAMERA_SIMPLE_PINHOLE] = {.parameters = "f cx cy",
                                    .num_params = 3,
                                    .focal = {0, 0},
                                    .center = {1, 2}},
    [PSFM_CAMERA_PINHOLE] = {.parameters = "fx fy cx cy",
                             .num_params = 4,
                             .focal = {0, 1},
                             .center = {2, 3}},
    [PSFM_CAMERA_SIMPLE_RADIAL] = {.parameters = "f cx cy k",
                                   .num_params = 4,
                                   .focal = {0, 0},
                                   .center = {1, 2},
                                   .radial = {3}},
    [PSFM_CAMERA_RADIAL] = {.parameters = "f cx cy k1 k2",
                            .num_params = 5,
                            .focal = {0, 0},
                            .center = {1, 2},
                            .radial = {3, 4}},
    [PSFM_CAMERA_OPENCV] = {.parameters = "fx fy cx cy k1 k2 p1 p2",
                            .num_params = 8,
                            .focal = {0, 1},
                            .center = {2, 3},
                            .radial = {4, 5},
                            .tangential = {6, 7}},
    [PSFM_CAMERA_OPENCV_FISHEYE] = {.parameters = "fx fy cx cy k1 k2 k3 k4",
                                    .num_params = 8,
                                    .focal = {0, 1},
                                    .center = {2, 3},
                                    .is_fisheye = true,
                                    .radial = {4, 5, 6, 7}},
    [PSFM_CAMERA_FULL_OPENCV] = {.parameters = "fx fy cx cy k1 k2 p1 p2 k3 k4 k5 k6",
                                 .num_params = 12,
                                 .focal = {0, 1},
                                 .center = {2, 3},
                                 .radial = {4, 5, 8},
                                 .denominator = {9, 10, 11},
                                 .tangential = {6, 7}},
    [PSFM_CAMERA_FOV] = {.parameters = "fx fy cx cy omega",
                         .num_params = 5,
                         .focal = {0, 1},
                         .center = {2, 3},
                         .omega = 4},
    [PSFM_CAMERA_SIMPLE_RADIAL_FISHEYE] = {.parameters = "f cx cy k",
                                           .num_params = 4,
                                           .focal = {0, 0},
                                           .center = {1, 2},
                                           .is_fisheye = true,
                                           .radial = {3}},
    [PSFM_CAMERA_RADIAL_FISHEYE] = {.parameters = "f cx cy k1 k2",
                                    .num_params = 5,
                                    .focal = {0, 0},
                                    .center = {1, 2},
                                    .is_fisheye = true,
                                    .radial = {3, 4}},
    [PSFM_CAMERA_THIN_PRISM_FISHEYE] = {.parameters = "fx fy cx cy k1 k2 p1 p2 k3 k4 sx1 sy1",
                                        .num_params = 12,
                                        .focal = {0, 1},
                                        .center = {2, 3},
                                        .is_fisheye = true,
                                        .radial = {4, 5, 8, 9},
                                        .tangential = {6, 7},
                                        .prism = {10, 11}},
};

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
    if (info == NULL)
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
    bool radial = get_coefficients(camera, info->radial, 4, lens->radial);
    lens->has_denominator = get_coefficients(camera, info->denominator, 3, lens->denominator);
    lens->has_radial = radial || lens->has_denominator;
    bool tangential = get_coefficients(camera, info->tangential, 2, lens->tangential);
    bool prism = get_coefficients(camera, info->prism, 2, lens->prism);
    lens->has_tangential = tangential || prism;
    return true;
}

/* rho and d rho / d s. */
static void radial_factor(const psfm_lens *lens, double s, double *rho, double *d_rho) {
    const double *k = lens->radial, *d = lens->denominator;
    double N = 1.0 + s * (k[0] + s * (k[1] + s * (k[2] + s * k[3])));
    double dN = k[0] + s * (2.0 * k[1] + s * (3.0 * k[2] + s * 4.0 * k[3]));
    if (lens->has_denominator) {
        double inverse = 1.0 / (1.0 + s * (d[0] + s * (d[1] + s * d[2])));
        double dD = d[0] + s * (2.0 * d[1] + s * 3.0 * d[2]);
        N *= inverse;
        dN = (dN - N * dD) * inverse;
    }
    *rho = N;
    *d_rho = dN;
}

/* The derivative of the tangential and prism terms. */
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

void psfm_lens_distort(const psfm_lens *lens, const double uv[2], double out[2], double J[4]) {
    double u = uv[0], v = uv[1];
    double s = u * u + v * v;
    double rho = 1.0, d_rho = 0.0;
    if (lens->has_radial)
        radial_factor(lens, s, &rho, &d_rho);
    double x = u * rho, y = v * rho;
    double T[4] = {0};
    if (lens->has_tangential) {
        double p1 = lens->tangential[0], p2 = lens->tangential[1];
        x += 2.0 * p1 * u * v + p2 * (s + 2.0 * u * u) + lens->prism[0] * s;
        y += 2.0 * p2 * u * v + p1 * (s + 2.0 * v * v) + lens->prism[1] * s;
        if (J != NULL)
            tangential_derivative(lens, uv, T);
    }
    if (J != NULL) {
        J[0] = rho + 2.0 * d_rho * u * u + T[0];
        J[1] = 2.0 * d_rho * u * v + T[1];
        J[2] = 2.0 * d_rho * u * v + T[2];
        J[3] = rho + 2.0 * d_rho * v * v + T[3];
    }
    out[0] = x;
    out[1] = y;
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
        c[0] = 1.0 + m;
        for (int i = 0; i < 4; ++i)
            c[i + 1] = (2 * i + 3) * k[i];
        return 4;
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

/* Whether A + m > 0 from the centre out to the radius sqrt(s). */
static bool radial_in_range(const psfm_lens *lens, double s, double m) {
    if (!(s < HUGE_VAL))
        return false;
    if (!lens->has_radial)
        return 1.0 + m > 0.0;
    double c[MAX_DEGREE + 1];
    if (lens->has_denominator) {
        const double D[4] = {1.0, lens->denominator[0], lens->denominator[1], lens->denominator[2]};
        if (!positive_on(D, 3, s))
            return false;
    }
    int degree = range_polynomial(lens, m, c);
    return positive_on(c, degree, s);
}

bool psfm_lens_in_range(const psfm_lens *lens, const double uv[2]) {
    if (!lens->has_radial && !lens->has_tangential)
        return true;
    double m = 0.0;
    if (lens->has_tangential) {
        double T[4];
        tangential_derivative(lens, uv, T);
        double least = 0.5 * (T[0] + T[3]) - 0.5 * vector_length(T[0] - T[3], T[1] + T[2]);
        m = fmin(least, 0.0);
    }
    return radial_in_range(lens, uv[0] * uv[0] + uv[1] * uv[1], m);
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

bool psfm_lens_undistort(const psfm_lens *lens, const double distorted[2], double uv[2]) {
    double target = vector_length(distorted[0], distorted[1]);
    if (!(target < HUGE_VAL))
        return false;
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
