/* Weights of soft planes, and how flat a plane is.
 *
 * The distance of a point from its plane counts in pixels: times the pixels that a scene unit
 * covers at the point (root mean square over its images and all directions, following their
 * distances as these change), over sigma, the expected distance in pixels. If sigma is not given it
 * is estimated plane by plane, at the start and after rough adjustments with it. A point's images
 * alone would put it at the distance d from the plane, with the variance v; both follow from its
 * normal equations without the plane's term, a = V_nn - V_nt V_tt^-1 V_tn,   v = sigma0^2 / a,   d
 * = (found distance) (a + w^2) / a, w being the weight it had. So d^2 / (sigma^2 + v) should be chi
 * squared with one degree of freedom; sigma solves sum u (min(d^2 / (sigma^2 + v), c^2) - E
 * min(chi^2, c^2)) = 0 with u = sigma^2 / (sigma^2 + v), which gives most say to the points that
 * can tell (Huber's proposal 2 for a scale). sigma0 is the noise of the observations, from the
 * median of their residuals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/bundle_internal.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

#define MIN_SIGMA_PX 0.05
#define MAX_SIGMA_PX 1000.0
#define MIN_OWN_POINTS 20   /* a plane with fewer shares the estimate of all planes */
#define BISECTIONS 24       /* to a millionth */
#define MAX_RESIDUALS 20000 /* evenly spaced; more would not change a variance */
#define CLIP2 4.0           /* c^2 */
#define CLIP_MEAN 0.92045   /* E min(chi^2, c^2) for one degree of freedom */

/* What the images say about a point's distance from its plane, in pixels. */
typedef struct {
    double d2, v;
} distance_sample;

static void set_sigma(psfm_bundle *b, size_t plane, double sigma_px) {
    b->now.planes[plane].sigma_px = b->trial.planes[plane].sigma_px = sigma_px;
}

/* Sets obs_px2 of a point so that its pixels per unit are, at the start, the root mean square over
 * its images and all directions. */
static void weigh_images(psfm_bundle *b, uint32_t p) {
    uint32_t num = 0;
    for (uint32_t o = b->point_begin[p]; o < b->point_begin[p + 1]; ++o) {
        uint32_t image = b->obs_image[o];
        const psfm_camera *camera = &b->now.cameras[b->problem->image_camera[image]];
        double D[3], Y[3], xy[2], A[6];
        psfm_sub3(b->now.X[p], b->now.c[image], D);
        psfm_mat3_mul_vec(b->now.R[image], D, Y);
        if (!psfm_camera_project_jacobian(camera, Y, xy, A))
            continue;
        b->obs_px2[o] = 0.5 * (psfm_dot3(A, A) + psfm_dot3(A + 3, A + 3)) * psfm_dot3(D, D);
        ++num;
    }
    for (uint32_t o = b->point_begin[p]; num > 0 && o < b->point_begin[p + 1]; ++o)
        b->obs_px2[o] /= num;
}

static psfm_status weigh_points(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx, (void)worker;
    psfm_bundle *b = user;
    for (uint32_t p = (uint32_t)(index * PSFM_BUNDLE_POINTS_PER_TASK);
         p < psfm_bundle_task_end(b, index); ++p)
        if (b->point_plane[p] != PSFM_BUNDLE_NONE)
            weigh_images(b, p);
    return PSFM_OK;
}

psfm_status psfm_bundle_weigh_planes(psfm_context *ctx, psfm_bundle *b) {
    psfm_status status =
        b->options.planes == PSFM_PLANES_SOFT ? PSFM_ALLOC(ctx, b->num_obs, &b->obs_px2) : PSFM_OK;
    if (status != PSFM_OK || b->options.planes != PSFM_PLANES_SOFT)
        return status;
    for (size_t k = 0; k < b->problem->num_planes; ++k) {
        double sigma = b->problem->planes[k].sigma_px;
        bool used = b->plane_begin[k] < b->plane_begin[k + 1];
        sigma = sigma > 0.0 ? sigma : b->options.plane_sigma_px;
        b->estimates_sigma = b->estimates_sigma || (used && !(sigma > 0.0));
        set_sigma(b, k, sigma > 0.0 ? sigma : PSFM_BUNDLE_START_SIGMA_PX);
    }
    return psfm_bundle_for(ctx, b, psfm_bundle_num_point_tasks(b), weigh_points, b);
}

/* Variance of an observation's coordinate: the median of a squared residual with two equal
 * coordinates is 2 ln 2 of it, less what the unknowns took up. */
static psfm_status observation_variance(psfm_context *ctx, const psfm_bundle *b, double *variance) {
    double *squares = NULL;
    size_t num = 0, step = b->num_obs / MAX_RESIDUALS + 1;
    psfm_status status = PSFM_ALLOC(ctx, b->num_obs / step + 1, &squares);
    for (size_t o = 0; status == PSFM_OK && o < b->num_obs; o += step) {
        double r[2];
        if (psfm_bundle_residual(b, &b->now, (uint32_t)o, b->now.X[b->obs_point[o]], r))
            squares[num++] = r[0] * r[0] + r[1] * r[1];
    }
    if (status == PSFM_OK && num > 0) {
        double redundancy = fmax((double)psfm_bundle_redundancy(b), 1.0);
        double all = fmin((double)num * (double)step, (double)b->num_obs);
        *variance = psfm_select(squares, num, num / 2) / (2.0 * M_LN2) * 2.0 * all / redundancy;
    }
    free(squares);
    return status;
}

/* From the normal equations of a point; false if its images do not tell the distance. */
static bool sample_distance(const psfm_bundle *b, uint32_t p, double variance,
                            distance_sample *out) {
    const psfm_bundle_system *s = &b->systems[p];
    const psfm_bundle_plane *plane = &b->now.planes[b->point_plane[p]];
    double w2 = s->w_soft * s->w_soft;
    double det = s->V[0] * s->V[3] - s->V[1] * s->V[1];
    if (!(det > 1e-12 * s->V[0] * s->V[3]))
        return false;
    double taken = (s->V[2] * s->V[2] * s->V[3] - 2.0 * s->V[1] * s->V[2] * s->V[4] +
                    s->V[4] * s->V[4] * s->V[0]) /
                   det;
    double a = s->V[5] - w2 - taken;
    if (!(a > 1e-9 * s->V[5]))
        return false;
    double px = psfm_bundle_px_per_unit(b, &b->now, p, b->now.X[p]);
    double d = px * (psfm_dot3(plane->normal, b->now.X[p]) - plane->distance) * (a + w2) / a;
    out->d2 = d * d;
    out->v = variance * px * px / a;
    return true;
}

/* The distances of all points; d2 is NAN where there is none. */
typedef struct {
    const psfm_bundle *b;
    double variance;
    distance_sample *of_point;
} sampling;

static psfm_status sample_points(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx, (void)worker;
    const sampling *s = user;
    for (uint32_t p = (uint32_t)(index * PSFM_BUNDLE_POINTS_PER_TASK);
         p < psfm_bundle_task_end(s->b, index); ++p)
        if (s->b->point_plane[p] == PSFM_BUNDLE_NONE ||
            !sample_distance(s->b, p, s->variance, &s->of_point[p]))
            s->of_point[p].d2 = NAN;
    return PSFM_OK;
}

static double sum_misfit(const distance_sample *samples, size_t num, double sigma) {
    double sum = 0.0, sigma2 = sigma * sigma;
    for (size_t k = 0; k < num; ++k) {
        double total = sigma2 + samples[k].v;
        sum += sigma2 / total * (fmin(samples[k].d2 / total, CLIP2) - CLIP_MEAN);
    }
    return sum;
}

/* The sigma that fits the samples, by bisection of its logarithm. */
static double fit_sigma(const distance_sample *samples, size_t num) {
    double low = MIN_SIGMA_PX, high = MAX_SIGMA_PX;
    if (num == 0 || sum_misfit(samples, num, low) <= 0.0)
        return low;
    for (int k = 0; k < BISECTIONS; ++k) {
        double middle = sqrt(low * high);
        if (sum_misfit(samples, num, middle) > 0.0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Those of some points that have one, all points without a list; returns how many. */
static size_t gather_samples(const sampling *s, const uint32_t *points, size_t num_points,
                             distance_sample *out) {
    size_t num = 0;
    for (size_t k = 0; k < num_points; ++k) {
        const distance_sample *sample = &s->of_point[points == NULL ? k : points[k]];
        if (!isnan(sample->d2))
            out[num++] = *sample;
    }
    return num;
}

/* Planes with enough points have a sigma of their own, the others that of all planes together. */
static void set_sigmas(const sampling *s, psfm_bundle *b, double most_px,
                       distance_sample *samples) {
    /* The adjustment takes observations to have unit variance, so it is the ratio that counts. */
    const double sigma0 = sqrt(fmax(s->variance, 1e-12));
    double common = 0.0; /* 0: not needed yet */
    for (size_t k = 0; k < b->problem->num_planes; ++k) {
        if (b->problem->planes[k].sigma_px > 0.0)
            continue;
        size_t num = gather_samples(s, b->plane_points + b->plane_begin[k],
                                    b->plane_begin[k + 1] - b->plane_begin[k], samples);
        double sigma = num < MIN_OWN_POINTS ? common : fit_sigma(samples, num);
        if (num < MIN_OWN_POINTS && common == 0.0)
            sigma = common = fit_sigma(samples, gather_samples(s, NULL, b->num_points, samples));
        set_sigma(b, k, fmin(fmax(sigma / sigma0, MIN_SIGMA_PX), most_px));
    }
}

psfm_status psfm_bundle_estimate_sigma(psfm_context *ctx, psfm_bundle *b, double most_px) {
    distance_sample *samples = NULL;
    sampling s = {.b = b, .variance = 1.0};
    psfm_status status = PSFM_ALLOC(ctx, b->num_points, &samples);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, b->num_points, &s.of_point);
    if (status == PSFM_OK)
        status = observation_variance(ctx, b, &s.variance);
    if (status == PSFM_OK)
        status = psfm_bundle_for(ctx, b, psfm_bundle_num_point_tasks(b), sample_points, &s);
    if (status == PSFM_OK)
        set_sigmas(&s, b, most_px, samples);
    free(s.of_point);
    free(samples);
    return status;
}
