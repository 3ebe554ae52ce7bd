/* Robust triangulation on rays.
 *
 * First all observations of a track together: the point nearest to all rays (linear), refined by
 * Gauss-Newton on the reprojection errors. If every observation then is within the threshold, that
 * is it, and it is so for most tracks. Otherwise points from pairs of rays are scored by
 * sum min(e^2, max_error^2), all pairs of a short track, random ones of a long track until an
 * all-inlier pair was seen almost surely; the best one is refined on its inliers until these stay
 * the same.
 *
 * While searching, errors are linearised at the observed ray (see match_set.h); refinement and
 * the final test use the exact projection. */
#include "core/structure/triangulate_point.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/linalg/angle.h"
#include "core/linalg/levenberg.h"
#include "core/linalg/mat3.h"

#define EXHAUSTIVE_LENGTH 8 /* up to this, all pairs are tried */
#define MAX_PAIRS 200
#define CONFIDENCE 0.999
#define MAX_STEPS 10    /* of Gauss-Newton */
#define MAX_HALVINGS 3  /* of a step */
#define MAX_ROUNDS 4    /* of choosing inliers and refining */
#define MIN_SINE2 1e-10 /* squared sine of the smallest angle of a pair that is tried at all */

static double squared_error(const psfm_ray_observation *s, const double X[3]) {
    double D[3], Y[3];
    psfm_sub3(X, s->c, D);
    double depth = psfm_dot3(D, s->direction);
    if (!(depth > 0.0))
        return INFINITY;
    psfm_mat3_mul_vec(s->R, D, Y);
    double x = psfm_dot3(s->px_from_ray, Y), y = psfm_dot3(s->px_from_ray + 3, Y);
    return (x * x + y * y) / (depth * depth);
}

/* The point nearest to the rays of all inliers: sum (I - d d^T) (X - c) = 0. */
static bool nearest_to_rays(const psfm_ray_observation *s, size_t num, double X[3]) {
    double A[9] = {0}, b[3] = {0};
    for (size_t k = 0; k < num; ++k) {
        if (!s[k].inlier)
            continue;
        const double *d = s[k].direction;
        double along = psfm_dot3(d, s[k].c);
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 3; ++c)
                A[3 * r + c] += (r == c ? 1.0 : 0.0) - d[r] * d[c];
            b[r] += s[k].c[r] - along * d[r];
        }
    }
    return psfm_mat3_solve(A, b, X);
}

/* The same for two rays; false if they are parallel or meet behind a camera. */
static bool intersect_two(const psfm_ray_observation *a, const psfm_ray_observation *b,
                          double X[3]) {
    double D[3];
    double cosine = psfm_dot3(a->direction, b->direction), sine2 = 1.0 - cosine * cosine;
    if (!(sine2 > MIN_SINE2))
        return false;
    psfm_sub3(b->c, a->c, D);
    double along_a = psfm_dot3(D, a->direction), along_b = psfm_dot3(D, b->direction);
    double depth_a = (along_a - cosine * along_b) / sine2;
    double depth_b = (cosine * along_a - along_b) / sine2;
    if (!(depth_a > 0.0 && depth_b > 0.0))
        return false;
    for (int k = 0; k < 3; ++k)
        X[k] = 0.5 * (a->c[k] + depth_a * a->direction[k] + b->c[k] + depth_b * b->direction[k]);
    return true;
}

/* Normal equations of the inliers' reprojection errors; false if one has no image. */
static bool normal_equations(const psfm_ray_observation *s, size_t num, const double X[3],
                             double H[9], double g[3], double *cost) {
    memset(H, 0, 9 * sizeof *H);
    memset(g, 0, 3 * sizeof *g);
    *cost = 0.0;
    for (size_t k = 0; k < num; ++k) {
        if (!s[k].inlier)
            continue;
        double D[3], Y[3], xy[2], A[6];
        psfm_sub3(X, s[k].c, D);
        psfm_mat3_mul_vec(s[k].R, D, Y);
        if (!psfm_camera_project_jacobian(s[k].camera, Y, xy, A))
            return false;
        for (size_t side = 0; side < 2; ++side) {
            double J[3], r = xy[side] - s[k].xy[side];
            psfm_mat3_tmul_vec(s[k].R, A + 3 * side, J);
            for (int u = 0; u < 3; ++u) {
                for (int v = 0; v < 3; ++v)
                    H[3 * u + v] += J[u] * J[v];
                g[u] -= J[u] * r;
            }
            *cost += r * r;
        }
    }
    return true;
}

/* The point, the equations there, and the same where the last step led. */
typedef struct {
    const psfm_ray_observation *s;
    size_t num;
    double X[3], tried[3];
    double H[9], g[3], d[3], tried_H[9], tried_g[3];
    int steps_left;
    bool is_undetermined;
} point_descent;

static psfm_status attempt_step(psfm_context *ctx, void *user, double damping, double *cost) {
    point_descent *p = user;
    (void)ctx;
    if (damping == 1.0 && !psfm_mat3_solve(p->H, p->g, p->d)) {
        p->is_undetermined = true;
        return PSFM_ERR_NUMERIC;
    }
    psfm_axpy3(p->X, 1.0 / damping, p->d, p->tried);
    if (!normal_equations(p->s, p->num, p->tried, p->tried_H, p->tried_g, cost))
        *cost = INFINITY;
    return PSFM_OK;
}

static bool accept_step(void *user, double before, double after) {
    point_descent *p = user;
    memcpy(p->X, p->tried, sizeof p->X);
    memcpy(p->H, p->tried_H, sizeof p->H);
    memcpy(p->g, p->tried_g, sizeof p->g);
    return --p->steps_left == 0 || !(after > 0.0) || before - after <= 1e-10 * before;
}

/* Gauss-Newton. False if the point is not determined, or an inlier has no image of it. */
static bool refine_point(const psfm_ray_observation *s, size_t num, double X[3]) {
    static const psfm_damping halved = PSFM_HALVED_STEPS(MAX_HALVINGS);
    point_descent p = {.s = s, .num = num, .X = {X[0], X[1], X[2]}, .steps_left = MAX_STEPS};
    double cost;
    if (!normal_equations(s, num, X, p.H, p.g, &cost))
        return false;
    if (cost > 0.0)
        (void)psfm_descend(&(psfm_descent){&p, 1.0, &halved, attempt_step, accept_step}, INT_MAX,
                           cost);
    memcpy(X, p.X, sizeof p.X);
    return !p.is_undetermined;
}

static bool exact_error(const psfm_ray_observation *s, const double X[3], double *error) {
    double D[3], Y[3], xy[2];
    psfm_sub3(X, s->c, D);
    psfm_mat3_mul_vec(s->R, D, Y);
    if (!psfm_camera_project(s->camera, Y, xy))
        return false;
    *error = hypot(xy[0] - s->xy[0], xy[1] - s->xy[1]);
    return true;
}

/* Marks the unused observations within the threshold of X; *changed if that is news. */
static size_t choose_inliers(psfm_ray_observation *s, size_t num, double max_error,
                             const double X[3], bool *changed) {
    size_t count = 0;
    *changed = false;
    for (size_t k = 0; k < num; ++k) {
        double error;
        bool inlier = !s[k].used && exact_error(&s[k], X, &error) && error <= max_error;
        *changed = *changed || inlier != s[k].inlier;
        s[k].inlier = inlier;
        count += inlier;
    }
    return count;
}

/* Refines X on its inliers until these stay the same; returns their number. */
static size_t refine_inliers(psfm_ray_observation *s, size_t num, double max_error_px,
                             double X[3]) {
    bool changed = true;
    size_t count = choose_inliers(s, num, max_error_px, X, &changed);
    for (int round = 0; round < MAX_ROUNDS && count >= 2; ++round) {
        if (!refine_point(s, num, X))
            return 0;
        count = choose_inliers(s, num, max_error_px, X, &changed);
        if (!changed)
            break;
    }
    return count;
}

/* Score of a point over the unused observations, and how many agree. */
static double score_point(const psfm_ray_observation *s, size_t num, double max_error2,
                          double limit, const double X[3], size_t *agree) {
    double sum = 0.0;
    *agree = 0;
    for (size_t k = 0; k < num && sum < limit; ++k) {
        double e2 = s[k].used ? 0.0 : squared_error(&s[k], X);
        *agree += !s[k].used && e2 < max_error2;
        sum += e2 < max_error2 ? e2 : max_error2;
    }
    return sum;
}

/* Index of a pair: all pairs (a, b), a < b, in order. */
static void nth_pair(size_t n, size_t index, size_t *a, size_t *b) {
    size_t first = 0;
    while (index >= n - 1 - first) {
        index -= n - 1 - first;
        ++first;
    }
    *a = first;
    *b = first + 1 + index;
}

/* The best point from pairs of unused observations; false if no pair meets. */
static bool search_point(const psfm_ray_observation *s, size_t num, double max_error_px,
                         psfm_rng *rng, double best[3]) {
    double max_error2 = max_error_px * max_error_px;
    double best_score = INFINITY;
    size_t all = num * (num - 1) / 2, needed = num <= EXHAUSTIVE_LENGTH ? all : MAX_PAIRS;
    for (size_t k = 0; k < needed; ++k) {
        size_t a, b, agree;
        double X[3];
        if (num <= EXHAUSTIVE_LENGTH) {
            nth_pair(num, k, &a, &b);
        } else {
            uint32_t pick[2];
            psfm_rng_sample(rng, num, 2, pick);
            a = pick[0];
            b = pick[1];
        }
        if (s[a].used || s[b].used || !intersect_two(&s[a], &s[b], X))
            continue;
        double sum = score_point(s, num, max_error2, best_score, X, &agree);
        if (!(sum < best_score))
            continue;
        best_score = sum;
        memcpy(best, X, sizeof X);
        double good = (double)agree / (double)num;
        if (num > EXHAUSTIVE_LENGTH && good < 1.0) {
            double wanted = log(1.0 - CONFIDENCE) / log1p(-good * good);
            needed = wanted < MAX_PAIRS ? (size_t)wanted + 1 : MAX_PAIRS;
        } else if (num > EXHAUSTIVE_LENGTH) {
            break;
        }
    }
    return isfinite(best_score);
}

/* Largest angle at X between the rays of two inliers, in degrees. */
static double largest_angle(const psfm_ray_observation *s, size_t num, const double X[3]) {
    double least = 2.0, angle = 0.0;
    for (size_t a = 0; a < num; ++a) {
        if (!s[a].inlier)
            continue;
        double u[3];
        psfm_sub3(s[a].c, X, u);
        psfm_normalize3(u);
        for (size_t b = a + 1; b < num; ++b) {
            if (!s[b].inlier)
                continue;
            double v[3];
            psfm_sub3(s[b].c, X, v);
            double cosine = psfm_dot3(u, v) / psfm_norm3(v);
            if (cosine < least) {
                least = cosine;
                angle = psfm_angle3(u, v);
            }
        }
    }
    return psfm_degrees(angle);
}

static double mean_error(const psfm_ray_observation *s, size_t num, const double X[3]) {
    double sum = 0.0, error;
    size_t count = 0;
    for (size_t k = 0; k < num; ++k)
        if (s[k].inlier && exact_error(&s[k], X, &error)) {
            sum += error;
            ++count;
        }
    return sum / (double)count;
}

/* One point from the unused observations. */
psfm_point_outcome psfm_triangulate_point(psfm_ray_observation *s, size_t num, size_t min_length,
                                          double max_error_px, double min_angle_deg, psfm_rng *rng,
                                          psfm_triangulated_point *p) {
    size_t unused = 0, count = 0;
    for (size_t k = 0; k < num; ++k) {
        s[k].inlier = !s[k].used;
        unused += !s[k].used;
    }
    if (unused < min_length)
        return PSFM_POINT_FEW;
    if (nearest_to_rays(s, num, p->X) && refine_point(s, num, p->X)) {
        bool changed;
        count = choose_inliers(s, num, max_error_px, p->X, &changed);
    }
    if (count < unused) {
        if (!search_point(s, num, max_error_px, rng, p->X))
            return PSFM_POINT_NO_AGREEMENT;
        count = refine_inliers(s, num, max_error_px, p->X);
    }
    if (count < min_length)
        return PSFM_POINT_NO_AGREEMENT;
    p->error_px = mean_error(s, num, p->X);
    p->angle_deg = largest_angle(s, num, p->X);
    return p->angle_deg < min_angle_deg ? PSFM_POINT_SMALL_ANGLE : PSFM_POINT_FOUND;
}
