/* Similarity between two sets of corresponding points.
 *
 * Least squares in closed form: with centroids taken off, the singular value decomposition of the
 * cross-covariance sum w y x^T gives the rotation, its trace over the variance of x the scale
 * (Umeyama, "Least-squares estimation of transformation parameters between two point patterns",
 * 1991).
 *
 * The robust fit tries samples of three points, all of them if there are few points, and keeps the
 * one with the smallest residual at the 60 % quantile (a least-quantile estimator, which 40 % of
 * arbitrary outliers cannot move). Points within a few times that residual are the inliers, and a
 * sum of unsquared residuals over them is minimised by iteratively reweighted least squares. */
#include "core/linalg/sim3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

#define QUANTILE 0.6
#define EXHAUSTIVE_UP_TO 20 /* points: 1140 samples */
#define NUM_SAMPLES 500
#define SCORED_POINTS 2000 /* points that score a sample, evenly spaced */
#define CUT 4.0            /* inliers are within this multiple of the quantile residual */
#define MAX_REWEIGHTS 50

void psfm_sim3_apply(const psfm_sim3 *s, const double x[3], double y[3]) {
    double Rx[3];
    psfm_mat3_mul_vec(s->R, x, Rx);
    psfm_axpy3(s->t, s->scale, Rx, y);
}

static double weight_of(const double *weight, size_t k) {
    return weight == NULL ? 1.0 : weight[k];
}

/* Centroids of the points with weight > 0; returns how many there are. */
static size_t find_centroids(size_t num, const double (*x)[3], const double (*y)[3],
                             const double *weight, double x_mean[3], double y_mean[3]) {
    size_t used = 0;
    double total = 0.0;
    memset(x_mean, 0, 3 * sizeof *x_mean);
    memset(y_mean, 0, 3 * sizeof *y_mean);
    for (size_t k = 0; k < num; ++k) {
        double w = weight_of(weight, k);
        if (!(w > 0.0))
            continue;
        psfm_axpy3(x_mean, w, x[k], x_mean);
        psfm_axpy3(y_mean, w, y[k], y_mean);
        total += w;
        ++used;
    }
    if (used > 0) {
        psfm_scale3(1.0 / total, x_mean, x_mean);
        psfm_scale3(1.0 / total, y_mean, y_mean);
    }
    return used;
}

bool psfm_sim3_fit(size_t num, const double (*x)[3], const double (*y)[3], const double *weight,
                   psfm_sim3 *out) {
    double x_mean[3], y_mean[3], C[9] = {0}, x_var = 0.0;
    if (find_centroids(num, x, y, weight, x_mean, y_mean) < 3)
        return false;
    for (size_t k = 0; k < num; ++k) {
        double w = weight_of(weight, k), a[3], b[3];
        if (!(w > 0.0))
            continue;
        psfm_sub3(x[k], x_mean, a);
        psfm_sub3(y[k], y_mean, b);
        x_var += w * psfm_dot3(a, a);
        for (int i = 0; i < 9; ++i)
            C[i] += w * b[i / 3] * a[i % 3];
    }
    psfm_sim3 s;
    if (!isfinite(x_var) || !(x_var > 0.0) || !psfm_mat3_nearest_rotation(C, s.R))
        return false;
    double trace = 0.0, Rx[3];
    for (int i = 0; i < 9; ++i)
        trace += s.R[i] * C[i];
    s.scale = trace / x_var;
    psfm_mat3_mul_vec(s.R, x_mean, Rx);
    psfm_axpy3(y_mean, -s.scale, Rx, s.t);
    if (!isfinite(s.scale) || !(s.scale > 0.0))
        return false;
    *out = s;
    return true;
}

static psfm_status not_determined(psfm_context *ctx) {
    return psfm_fail(ctx, PSFM_ERR_DATA,
                     "the similarity is not determined: fewer than three points, or all on a line");
}

static double find_residual(const psfm_sim3 *s, const double x[3], const double y[3]) {
    double mapped[3], d[3];
    psfm_sim3_apply(s, x, mapped);
    psfm_sub3(mapped, y, d);
    return psfm_norm3(d);
}

typedef struct {
    size_t num;
    const double (*x)[3];
    const double (*y)[3];
    double *scratch;
    psfm_sim3 best;
    double best_score; /* INFINITY: none yet */
} search;

/* Residual at the quantile, over every `stride`-th point. */
static double quantile_residual(const search *s, const psfm_sim3 *sim, size_t stride) {
    size_t num = 0;
    for (size_t k = 0; k < s->num; k += stride) {
        double r = find_residual(sim, s->x[k], s->y[k]);
        s->scratch[num++] = isnan(r) ? INFINITY : r;
    }
    size_t rank = (size_t)ceil(QUANTILE * (double)num);
    return psfm_select(s->scratch, num, rank == 0 ? 0 : rank - 1);
}

static void try_sample(search *s, const uint32_t pick[3]) {
    double x[3][3], y[3][3];
    psfm_sim3 sim;
    for (int k = 0; k < 3; ++k) {
        memcpy(x[k], s->x[pick[k]], sizeof x[k]);
        memcpy(y[k], s->y[pick[k]], sizeof y[k]);
    }
    if (!psfm_sim3_fit(3, (const double(*)[3])x, (const double(*)[3])y, NULL, &sim))
        return;
    double score = quantile_residual(s, &sim, (s->num - 1) / SCORED_POINTS + 1);
    if (score < s->best_score) {
        s->best_score = score;
        s->best = sim;
    }
}

static void search_samples(psfm_context *ctx, search *s) {
    uint32_t pick[3];
    if (s->num <= EXHAUSTIVE_UP_TO) {
        for (pick[0] = 0; pick[0] < s->num; ++pick[0])
            for (pick[1] = pick[0] + 1; pick[1] < s->num; ++pick[1])
                for (pick[2] = pick[1] + 1; pick[2] < s->num; ++pick[2])
                    try_sample(s, pick);
        return;
    }
    psfm_rng rng = psfm_rng_make(psfm_context_seed(ctx), PSFM_RNG_ALIGN, s->num, 0);
    for (int k = 0; k < NUM_SAMPLES; ++k) {
        psfm_rng_sample(&rng, s->num, 3, pick);
        try_sample(s, pick);
    }
}

/* Root mean square distance of the true points from their centroid, for relative floors. */
static double find_spread(size_t num, const double (*y)[3]) {
    double mean[3] = {0}, sum = 0.0;
    for (size_t k = 0; k < num; ++k)
        psfm_axpy3(mean, 1.0 / (double)num, y[k], mean);
    for (size_t k = 0; k < num; ++k) {
        double d[3];
        psfm_sub3(y[k], mean, d);
        sum += psfm_dot3(d, d) / (double)num;
    }
    return sqrt(sum);
}

/* Reweights within the inliers until the similarity rests. */
static bool refine_similarity(search *s, double *weight) {
    double floor_abs = 1e-13 * find_spread(s->num, s->y);
    /* Few points leave few residuals above the sample's own; widen the cut for them. */
    double cut = CUT * (1.0 + 5.0 / (double)s->num) * s->best_score + 10.0 * floor_abs;
    double floor = fmax(1e-3 * s->best_score, floor_abs), before = INFINITY;
    for (int round = 0; round < MAX_REWEIGHTS; ++round) {
        double sum = 0.0;
        for (size_t k = 0; k < s->num; ++k) {
            double r = find_residual(&s->best, s->x[k], s->y[k]);
            weight[k] = r <= cut ? 1.0 / fmax(r, floor) : 0.0;
            sum += fmin(r, cut);
        }
        if (!(sum < before * (1.0 - 1e-12)))
            return true;
        before = sum;
        if (!psfm_sim3_fit(s->num, s->x, s->y, weight, &s->best))
            return round > 0;
    }
    return true;
}

psfm_status psfm_sim3_fit_robust(psfm_context *ctx, size_t num, const double (*x)[3],
                                 const double (*y)[3], psfm_sim3 *out) {
    double *weight = NULL;
    search s = {.num = num, .x = x, .y = y, .best_score = INFINITY};
    psfm_status status =
        psfm_check_given(ctx, "psfm_sim3_fit_robust", x != NULL && y != NULL && out != NULL);
    if (status != PSFM_OK)
        return status;
    if (num < 3)
        return not_determined(ctx);
    status = PSFM_ALLOC(ctx, num, &weight);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &s.scratch);
    if (status == PSFM_OK) {
        search_samples(ctx, &s);
        if (isinf(s.best_score) || !refine_similarity(&s, weight))
            status = not_determined(ctx);
    }
    if (status == PSFM_OK)
        *out = s.best;
    free(weight);
    free(s.scratch);
    return status;
}
