/* Resection by locally optimised RANSAC.
 *
 * Samples of three points give up to four poses each (p3p.c). Poses are scored by the sum of
 * min(e^2, max_error^2) (MSAC), e being the reprojection error in pixels, linearised at the
 * observed ray. A new best pose is improved on its inliers by Gauss-Newton with a robust loss on
 * the exact projection before it competes. A planar set of points needs nothing special: three
 * points are always planar, and the fourth one decides.
 *
 * Sources: M. Fischler and R. Bolles (1981); P. Torr and A. Zisserman, "MLESAC" (2000); O. Chum,
 * J. Matas, J. Kittler, "Locally optimized RANSAC" (2003). */
#include "core/structure/resection.h"
#include "core/camera/camera_model.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/levenberg.h"
#include "core/linalg/loss.h"
#include "core/linalg/mat3.h"
#include "core/matches/ransac.h"

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(psfm_resection_options, max_error_px, "max-error-px", 4.0, 0.01, 1000.0,
                       "largest reprojection error of an inlier, in pixels"),
};
/* Three determine a pose, three more confirm it; among many points more are asked for, see
 * is_beyond_chance. */
static const psfm_resection_options unlisted = {.min_inliers = 6};
const psfm_option_table psfm_resection_option_table =
    PSFM_OPTION_TABLE_FROM("resection", rows, unlisted);

#define SAMPLE 3
#define MAX_ITERATIONS 10000 /* enough for nine wrong points of ten */
#define MAX_LOG10_FALSE_ALARMS (-3.0)
#define MIN_ITERATIONS 20
#define POLISH_STEPS 5  /* of a new best pose */
#define FINAL_STEPS 30  /* of the result */
#define MAX_HALVINGS 4  /* of a step */
#define MIN_PIVOT 1e-10 /* of the scaled normal equations, below the pose is not determined */

/* The usable correspondences. */
typedef struct {
    const psfm_camera *camera;
    size_t num;
    uint32_t *source; /* index into the caller's arrays */
    double (*xy)[2];
    double (*rays)[3];
    double (*px_from_ray)[6];
    double (*points)[3];
    double max_error2;
} correspondences;

typedef struct {
    double R[9], c[3];
    double cost; /* MSAC */
    size_t num_inliers;
} pose;

static void free_correspondences(correspondences *s) {
    free(s->source);
    free(s->xy);
    free(s->rays);
    free(s->px_from_ray);
    free(s->points);
}

static psfm_status list_correspondences(psfm_context *ctx, const psfm_seen_points *seen,
                                        correspondences *s) {
    size_t n = seen->num;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &s->source)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &s->xy)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &s->rays)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &s->px_from_ray)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &s->points)) != PSFM_OK)
        return status;
    for (size_t k = 0; k < n; ++k) {
        double again[2], *ray = s->rays[s->num];
        if (!psfm_all_finite(seen->points[k], 3) ||
            !psfm_camera_unproject(s->camera, seen->xy[k], ray) ||
            !psfm_camera_project_jacobian(s->camera, ray, again, s->px_from_ray[s->num]))
            continue;
        memcpy(s->xy[s->num], seen->xy[k], sizeof *s->xy);
        memcpy(s->points[s->num], seen->points[k], sizeof *s->points);
        s->source[s->num++] = (uint32_t)k;
    }
    return PSFM_OK;
}

/* Squared reprojection error in pixels, linearised at the ray; infinite behind the camera. */
static double squared_error(const correspondences *s, const pose *p, size_t k) {
    double D[3], Y[3];
    psfm_sub3(s->points[k], p->c, D);
    psfm_mat3_mul_vec(p->R, D, Y);
    double depth = psfm_dot3(Y, s->rays[k]);
    if (!(depth > 0.0))
        return INFINITY;
    double x = psfm_dot3(s->px_from_ray[k], Y) / depth;
    double y = psfm_dot3(s->px_from_ray[k] + 3, Y) / depth;
    return x * x + y * y;
}

/* Scores a pose; gives up when it cannot beat `limit`. */
static bool score_pose(const correspondences *s, double limit, pose *p) {
    p->cost = 0.0;
    p->num_inliers = 0;
    for (size_t k = 0; k < s->num && p->cost < limit; ++k) {
        double e2 = squared_error(s, p, k);
        p->num_inliers += e2 < s->max_error2;
        p->cost += e2 < s->max_error2 ? e2 : s->max_error2;
    }
    return p->cost < limit;
}

/* Solves H d = g for a 6 x 6 positive definite H (lower triangle used, overwritten) scaled to unit
 * diagonal; false if a pivot vanishes. */
static bool solve_6x6(double H[36], const double g[6], double d[6]) {
    double scale[6];
    for (size_t k = 0; k < 6; ++k)
        scale[k] = H[7 * k] > 0.0 ? 1.0 / sqrt(H[7 * k]) : 0.0;
    for (size_t r = 0; r < 6; ++r) {
        for (size_t c = 0; c <= r; ++c) {
            double v = H[6 * r + c] * scale[r] * scale[c];
            for (size_t k = 0; k < c; ++k)
                v -= H[6 * r + k] * H[6 * c + k];
            if (r == c && !(v > MIN_PIVOT))
                return false;
            H[6 * r + c] = r == c ? sqrt(v) : v / H[7 * c];
        }
        d[r] = g[r] * scale[r];
        for (size_t k = 0; k < r; ++k)
            d[r] -= H[6 * r + k] * d[k];
        d[r] /= H[7 * r];
    }
    for (size_t r = 6; r-- > 0;) {
        for (size_t k = r + 1; k < 6; ++k)
            d[r] -= H[6 * k + r] * d[k];
        d[r] /= H[7 * r];
    }
    for (size_t k = 0; k < 6; ++k)
        d[k] *= scale[k];
    return true;
}

/* Adds one correspondence to the normal equations, with Cauchy weights that are one half at the
 * inlier threshold. Beyond twice the threshold it does not take part. Returns its loss. */
static double add_equation(const correspondences *s, const pose *p, size_t k, double H[36],
                           double g[6]) {
    double D[3], Y[3], xy[2], A[6], J[12];
    psfm_sub3(s->points[k], p->c, D);
    psfm_mat3_mul_vec(p->R, D, Y);
    double most = psfm_cauchy(4.0 * s->max_error2, s->max_error2);
    if (!psfm_camera_project_jacobian(s->camera, Y, xy, A))
        return most;
    double r[2] = {xy[0] - s->xy[k][0], xy[1] - s->xy[k][1]};
    double e2 = r[0] * r[0] + r[1] * r[1];
    if (!(e2 < 4.0 * s->max_error2))
        return most;
    for (size_t side = 0; side < 2; ++side) {
        psfm_cross3(Y, A + 3 * side, J + 6 * side);
        psfm_mat3_tmul_vec(p->R, A + 3 * side, J + 6 * side + 3);
        psfm_scale3(-1.0, J + 6 * side + 3, J + 6 * side + 3);
    }
    double weight = psfm_cauchy_weight(e2, s->max_error2);
    for (int u = 0; u < 6; ++u) {
        for (int v = 0; v <= u; ++v)
            H[6 * u + v] += weight * (J[u] * J[v] + J[6 + u] * J[6 + v]);
        g[u] -= weight * (J[u] * r[0] + J[6 + u] * r[1]);
    }
    return psfm_cauchy(e2, s->max_error2);
}

static double normal_equations(const correspondences *s, const pose *p, double H[36], double g[6]) {
    double loss = 0.0;
    memset(H, 0, 36 * sizeof *H);
    memset(g, 0, 6 * sizeof *g);
    for (size_t k = 0; k < s->num; ++k)
        loss += add_equation(s, p, k, H, g);
    return loss;
}

/* The pose, the equations there, and the same where the last step led. */
typedef struct {
    const correspondences *s;
    pose p, tried;
    double H[36], g[6], d[6], tried_H[36], tried_g[6];
    int steps_left;
    bool is_undetermined;
} pose_descent;

static psfm_status attempt_step(psfm_context *ctx, void *user, double damping, double *loss) {
    pose_descent *m = user;
    double w[3], E[9], share = 1.0 / damping;
    (void)ctx;
    if (damping == 1.0 && !solve_6x6(m->H, m->g, m->d)) {
        m->is_undetermined = true;
        return PSFM_ERR_NUMERIC;
    }
    psfm_scale3(share, m->d, w);
    psfm_rotation_exp(w, E);
    psfm_mat3_mul(E, m->p.R, m->tried.R);
    psfm_axpy3(m->p.c, share, m->d + 3, m->tried.c);
    *loss = normal_equations(m->s, &m->tried, m->tried_H, m->tried_g);
    return PSFM_OK;
}

static bool accept_step(void *user, double before, double after) {
    pose_descent *m = user;
    m->p = m->tried;
    memcpy(m->H, m->tried_H, sizeof m->H);
    memcpy(m->g, m->tried_g, sizeof m->g);
    return --m->steps_left == 0 || before - after <= 1e-12 * before;
}

/* Gauss-Newton on the robust cost. False if the pose is not determined. */
static bool refine_pose(const correspondences *s, int max_steps, pose *p) {
    static const psfm_damping halved = PSFM_HALVED_STEPS(MAX_HALVINGS);
    pose_descent m = {.s = s, .p = *p, .tried = *p, .steps_left = max_steps};
    const double loss = normal_equations(s, p, m.H, m.g);
    (void)psfm_descend(&(psfm_descent){&m, 1.0, &halved, attempt_step, accept_step}, INT_MAX, loss);
    *p = m.p;
    return !m.is_undetermined;
}

/* Samples still needed, given the share of inliers. */
static int iterations_needed(double share) {
    double all_good = share * share * share;
    if (all_good >= 1.0)
        return MIN_ITERATIONS;
    double needed = log(1.0 - PSFM_RANSAC_CONFIDENCE) / log1p(-all_good);
    needed = needed < MIN_ITERATIONS ? MIN_ITERATIONS : needed;
    return needed < MAX_ITERATIONS ? (int)ceil(needed) : MAX_ITERATIONS;
}

/* Scores the poses of one sample; a new best one is polished. True if `best` changed. */
static bool try_sample(const correspondences *s, psfm_rng *rng, pose *best) {
    uint32_t pick[3];
    double rays[3][3], points[3][3], R[4][9], c[4][3];
    bool improved = false;
    psfm_rng_sample(rng, s->num, 3, pick);
    for (size_t k = 0; k < 3; ++k) {
        memcpy(rays[k], s->rays[pick[k]], sizeof rays[k]);
        memcpy(points[k], s->points[pick[k]], sizeof points[k]);
    }
    int num = psfm_p3p((const double(*)[3])rays, (const double(*)[3])points, R, c);
    for (int k = 0; k < num; ++k) {
        pose p;
        memcpy(p.R, R[k], sizeof p.R);
        memcpy(p.c, c[k], sizeof p.c);
        if (!score_pose(s, best->cost, &p))
            continue;
        *best = p;
        improved = true;
        if (p.num_inliers > 3 && refine_pose(s, POLISH_STEPS, &p) && score_pose(s, best->cost, &p))
            *best = p;
    }
    return improved;
}

static int search_pose(psfm_context *ctx, const correspondences *s, uint64_t stream, pose *best) {
    psfm_rng rng = psfm_rng_make(psfm_context_seed(ctx), PSFM_RNG_RESECTION, stream, 0);
    int needed = MAX_ITERATIONS, k = 0;
    best->cost = INFINITY;
    for (; k < needed; ++k)
        if (try_sample(s, &rng, best))
            needed = iterations_needed((double)best->num_inliers / (double)s->num);
    return k;
}

/* Whether so many inliers are more than chance: an unrelated point lies within the error of its
 * pixel with the probability that a disc of it has in the image; see core/matches/ransac.h. Six of
 * six points are a pose, six of a thousand are not. */
static bool is_beyond_chance(const correspondences *s, size_t num_inliers) {
    double area = (double)s->camera->width * (double)s->camera->height;
    double p = fmin(3.141592653589793 * s->max_error2 / fmax(area, 1.0), 0.5);
    psfm_chance_group group = {s->num, num_inliers, log10(p)};
    return num_inliers > SAMPLE &&
           psfm_log10_false_alarms(&group, 1, SAMPLE) < MAX_LOG10_FALSE_ALARMS;
}

static void report_pose(const correspondences *s, const pose *p, psfm_resection *out,
                        bool *inlier) {
    double sum = 0.0;
    out->found = true;
    memcpy(out->cam_from_world, p->R, sizeof p->R);
    memcpy(out->center, p->c, sizeof p->c);
    for (size_t k = 0; k < s->num; ++k) {
        double e2 = squared_error(s, p, k);
        if (!(e2 < s->max_error2))
            continue;
        ++out->num_inliers;
        sum += e2;
        if (inlier != NULL)
            inlier[s->source[k]] = true;
    }
    out->rms_px = sqrt(sum / (double)out->num_inliers);
}

psfm_status psfm_resection_estimate(psfm_context *ctx, const psfm_seen_points *seen,
                                    uint64_t stream, const psfm_resection_options *options,
                                    psfm_resection *out, bool *inlier) {
    psfm_resection_options defaults;
    pose best = {0};
    *out = (psfm_resection){0};
    psfm_options_init(&psfm_resection_option_table, &defaults);
    options = options == NULL ? &defaults : options;
    if (inlier != NULL)
        memset(inlier, 0, seen->num * sizeof *inlier);
    correspondences s = {.camera = seen->camera,
                         .max_error2 = options->max_error_px * options->max_error_px};
    psfm_status status = psfm_options_check(ctx, &psfm_resection_option_table, options);
    if (status == PSFM_OK)
        status = psfm_camera_check_lens(ctx, seen->camera);
    if (status == PSFM_OK)
        status = list_correspondences(ctx, seen, &s);
    if (status != PSFM_OK || s.num < (size_t)options->min_inliers)
        goto cleanup;
    out->iterations = search_pose(ctx, &s, stream, &best);
    bool determined = isfinite(best.cost) && best.num_inliers >= (size_t)options->min_inliers;
    if (determined && refine_pose(&s, FINAL_STEPS, &best) && score_pose(&s, INFINITY, &best) &&
        best.num_inliers >= (size_t)options->min_inliers && is_beyond_chance(&s, best.num_inliers))
        report_pose(&s, &best, out, inlier);

cleanup:
    free_correspondences(&s);
    return status;
}
