/* Covariance of the poses: blocks of the inverse of the reduced normal equations.
 *
 * With the loss rho(s), s the squared residual, w = rho'(s), the estimate solves sum w J^T r = 0.
 * To first order its covariance is A^-1 B A^-1 with A = E[w + s w'] sum J^T J and
 * B = E[w^2 s / 2] sum J^T J (Huber's sandwich for a two-dimensional residual). The weighted normal
 * matrix of the last iteration is N = E[w] sum J^T J, so that
 *   covariance = (E[w^2 s / 2] E[w] / E[w + s w']^2) N^-1.
 * Without a loss the factor is the usual variance of unit weight. Expectations are means over the
 * observations, the first one with the redundancy as its number.
 *
 * Source: P. Huber, "Robust statistics" (1981), chapter 7. */
#include "core/bundle/covariance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/bundle_internal.h"

/* So small that it does not show, but keeps the system of a point without parallax solvable: what
 * its images do not tell about it, they do not tell about the poses either. */
#define DAMPING 1e-12

/* Sums over observations. */
typedef struct {
    double psi, weights, slopes, num;
} loss_sums;

typedef struct {
    const psfm_bundle *b;
    loss_sums *sums; /* per task */
} loss_job;

static psfm_status add_losses(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx, (void)worker;
    const loss_job *job = user;
    const psfm_bundle *b = job->b;
    const psfm_loss_kind kind = (psfm_loss_kind)b->options.loss;
    const double scale2 = b->options.loss_scale_px * b->options.loss_scale_px;
    loss_sums sum = {0};
    const uint32_t first = b->point_begin[index * PSFM_BUNDLE_POINTS_PER_TASK];
    for (uint32_t o = first; o < b->point_begin[psfm_bundle_task_end(b, index)]; ++o) {
        double r[2];
        if (!psfm_bundle_residual(b, &b->now, o, b->now.X[b->obs_point[o]], r))
            continue;
        double squared = r[0] * r[0] + r[1] * r[1];
        double weight = psfm_rho_weight(kind, squared, scale2);
        sum.psi += weight * weight * squared;
        sum.weights += weight;
        sum.slopes += psfm_rho_slope(kind, squared, scale2);
        sum.num += 1.0;
    }
    job->sums[index] = sum;
    return PSFM_OK;
}

/* The factor of the formula above. */
static psfm_status estimate_variance(psfm_context *ctx, const psfm_bundle *b, long long redundancy,
                                     double *variance) {
    const size_t num_tasks = psfm_bundle_num_point_tasks(b);
    loss_job job = {.b = b};
    loss_sums all = {0};
    psfm_status status = PSFM_ALLOC(ctx, num_tasks, &job.sums);
    if (status == PSFM_OK)
        status = psfm_bundle_for(ctx, b, num_tasks, add_losses, &job);
    for (size_t k = 0; status == PSFM_OK && k < num_tasks; ++k) {
        all.psi += job.sums[k].psi;
        all.weights += job.sums[k].weights;
        all.slopes += job.sums[k].slopes;
        all.num += job.sums[k].num;
    }
    free(job.sums);
    if (status != PSFM_OK)
        return status;
    if (redundancy <= 0 || !(all.slopes > 0.0))
        return psfm_fail(ctx, PSFM_ERR_NUMERIC,
                         "the residuals do not tell their variance: %lld more than unknowns",
                         redundancy);
    *variance = all.psi / (double)redundancy * all.weights * all.num / (all.slopes * all.slopes);
    return PSFM_OK;
}

/* The direction whose pivot holds the distance is known, not of variance 1 / pivot. */
static void remove_fixed_direction(const psfm_bundle *b, uint32_t image, double C[36]) {
    if (b->scale_anchor[image] == PSFM_BUNDLE_NONE)
        return;
    double u[6] = {0}, P[36], T[36], length = 0.0;
    for (int k = 0; k < 3; ++k) {
        u[3 + k] = b->now.c[image][k] - b->now.c[b->scale_anchor[image]][k];
        length += u[3 + k] * u[3 + k];
    }
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c)
            P[6 * r + c] = (r == c ? 1.0 : 0.0) - u[r] * u[c] / length;
    for (int pass = 0; pass < 2; ++pass) { /* C <- (P C)^T twice is P C P */
        for (int r = 0; r < 6; ++r)
            for (int c = 0; c < 6; ++c) {
                T[6 * c + r] = 0.0;
                for (int k = 0; k < 6; ++k)
                    T[6 * c + r] += P[6 * r + k] * C[6 * k + c];
            }
        memcpy(C, T, sizeof T);
    }
}

/* What the shape adds to the block of a pose: y C y^T, y being the columns of S^-1 B there. */
static void add_shape(const psfm_bundle *b, uint32_t block, const double shape[4], double C[36]) {
    const double *y0 = b->solved_border + b->pattern.scalar_begin[block];
    const double *y1 = y0 + b->pattern.scalar_begin[b->pattern.num_blocks];
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c)
            C[6 * r + c] += y0[r] * (shape[0] * y0[c] + shape[1] * y1[c]) +
                            y1[r] * (shape[2] * y0[c] + shape[3] * y1[c]);
}

static void store_covariances(const psfm_bundle *b, double *blocks, double variance,
                              double (*covariance)[36]) {
    double shape[4] = {0};
    if (b->border != NULL)
        psfm_bundle_shape_covariance(b, shape);
    for (size_t i = 0; i < b->problem->num_images; ++i)
        for (int k = 0; k < 36; ++k)
            covariance[i][k] = b->image_state[i] == PSFM_IMAGE_LEFT_OUT ? NAN : 0.0;
    for (uint32_t k = 0; k < b->num_pose_blocks; ++k) {
        double *C = covariance[b->block_source[k]];
        if (b->border != NULL)
            add_shape(b, k, shape, blocks + 36 * (size_t)k);
        for (int v = 0; v < 36; ++v)
            C[v] = variance * blocks[36 * (size_t)k + (size_t)v];
        remove_fixed_direction(b, b->block_source[k], C);
    }
}

/* Takes the diagonals of the cameras' blocks. */
static void store_cameras(const psfm_bundle *b, const size_t *begin, const double *blocks,
                          double variance, double (*sigma)[PSFM_CAMERA_MAX_PARAMS]) {
    for (uint32_t k = b->num_pose_blocks; k < b->num_pose_blocks + b->num_camera_blocks; ++k) {
        uint32_t camera = b->block_source[k], num = b->num_free_params[camera];
        for (uint32_t u = 0; u < num; ++u)
            sigma[camera][b->free_params[camera][u]] =
                sqrt(variance * fmax(blocks[begin[k] + u * num + u], 0.0));
    }
}

/* What is asked of the one inverse. */
typedef struct {
    bool known_sigma;   /* the observations have unit variance */
    bool weighs_priors; /* against observations of the variance that their residuals have */
    double (*pose)[36]; /* per image; NULL: not asked for */
    double (*camera)[PSFM_CAMERA_MAX_PARAMS]; /* sigmas, per camera; NULL: not asked for */
    psfm_covariance_stats *stats;
} request;

/* The normal equations have unit weights, so that a prior counts for the variance times its
 * information. */
static void weigh_priors(psfm_bundle *b, double variance) {
    for (size_t c = 0; c < b->problem->num_cameras; ++c)
        for (uint32_t k = 0; k < b->num_free_params[c]; ++k)
            b->prior_weight[c][k] *= variance;
}

/* Blocks of the inverse from `first` on: block k at blocks + begin[k]. */
static psfm_status invert_blocks(psfm_context *ctx, psfm_bundle *b, uint32_t first, uint32_t num,
                                 size_t **begin, double **blocks) {
    double cost;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)first + num + 1, begin);
    for (uint32_t k = first; status == PSFM_OK && k < first + num; ++k) {
        size_t dim = b->pattern.scalar_begin[k + 1] - b->pattern.scalar_begin[k];
        (*begin)[k + 1] = (*begin)[k] + dim * dim;
    }
    if (status != PSFM_OK || (status = PSFM_ALLOC(ctx, (*begin)[first + num], blocks)) != PSFM_OK)
        return status;
    if ((status = psfm_bundle_linearize(ctx, b, &cost)) != PSFM_OK ||
        (status = psfm_bundle_reduce(ctx, b, DAMPING)) != PSFM_OK ||
        (status = psfm_bundle_inverse(ctx, b, first, num, *begin, *blocks)) != PSFM_OK)
        return status;
    return b->border == NULL ? PSFM_OK : psfm_bundle_reduce_shape(ctx, b, DAMPING);
}

static psfm_status answer_request(psfm_context *ctx, psfm_bundle *b, const request *r) {
    const uint32_t first = r->pose == NULL ? b->num_pose_blocks : 0;
    const uint32_t end = b->num_pose_blocks + (r->camera == NULL ? 0 : b->num_camera_blocks);
    const long long redundancy = psfm_bundle_redundancy(b);
    double *blocks = NULL, variance = 1.0;
    size_t *begin = NULL;
    psfm_status status = PSFM_OK;
    if (!r->known_sigma && first < end)
        status = estimate_variance(ctx, b, redundancy, &variance);
    if (status == PSFM_OK && r->weighs_priors)
        weigh_priors(b, variance);
    if (status == PSFM_OK && first < end)
        status = invert_blocks(ctx, b, first, end - first, &begin, &blocks);
    if (status == PSFM_OK && r->pose != NULL)
        store_covariances(b, blocks, variance, r->pose);
    if (status == PSFM_OK && r->camera != NULL)
        store_cameras(b, begin, blocks, variance, r->camera);
    if (r->stats != NULL)
        *r->stats = (psfm_covariance_stats){sqrt(variance), redundancy};
    free(begin);
    free(blocks);
    return status;
}

static psfm_status find_covariances(psfm_context *ctx, const psfm_bundle_problem *problem,
                                    const psfm_bundle_options *options, const request *r) {
    psfm_bundle b;
    for (size_t c = 0; r->camera != NULL && c < problem->num_cameras; ++c)
        for (int k = 0; k < PSFM_CAMERA_MAX_PARAMS; ++k)
            r->camera[c][k] = NAN;
    psfm_status status = psfm_bundle_setup(ctx, problem, options, &b);
    if (status != PSFM_OK)
        return status;
    if (r->pose != NULL)
        status = psfm_bundle_prefer_factor(ctx, &b);
    if (status == PSFM_OK)
        status = answer_request(ctx, &b, r);
    psfm_bundle_teardown(&b);
    return status;
}

psfm_status psfm_pose_covariance(psfm_context *ctx, const psfm_bundle_problem *problem,
                                 const psfm_bundle_options *options, bool known_sigma,
                                 double (*covariance)[36], psfm_covariance_stats *stats) {
    const request r = {.known_sigma = known_sigma, .pose = covariance, .stats = stats};
    return find_covariances(ctx, problem, options, &r);
}

psfm_status psfm_camera_sigmas(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_bundle_options *options,
                               double (*sigma)[PSFM_CAMERA_MAX_PARAMS]) {
    const request r = {.camera = sigma};
    return find_covariances(ctx, problem, options, &r);
}

psfm_status psfm_uncertainty(psfm_context *ctx, const psfm_bundle_problem *problem,
                             const psfm_bundle_options *options, double (*covariance)[36],
                             double (*sigma)[PSFM_CAMERA_MAX_PARAMS]) {
    const request r = {.weighs_priors = true, .pose = covariance, .camera = sigma};
    return find_covariances(ctx, problem, options, &r);
}

psfm_status psfm_shape_sigmas(psfm_context *ctx, const psfm_bundle_problem *problem,
                              const psfm_bundle_options *options, double sigma[2]) {
    psfm_bundle b;
    double cost, variance, covariance[4];
    sigma[0] = sigma[1] = 0.0;
    psfm_status status = psfm_bundle_setup(ctx, problem, options, &b);
    if (status != PSFM_OK || b.border == NULL)
        goto cleanup;
    if ((status = estimate_variance(ctx, &b, psfm_bundle_redundancy(&b), &variance)) != PSFM_OK ||
        (status = psfm_bundle_linearize(ctx, &b, &cost)) != PSFM_OK ||
        (status = psfm_bundle_reduce(ctx, &b, DAMPING)) != PSFM_OK ||
        (status = psfm_bundle_reduce_shape(ctx, &b, DAMPING)) != PSFM_OK)
        goto cleanup;
    psfm_bundle_shape_covariance(&b, covariance);
    for (int d = 0; d < 2; ++d)
        sigma[d] = sqrt(variance * fmax(covariance[3 * d], 0.0));

cleanup:
    psfm_bundle_teardown(&b);
    return status;
}
