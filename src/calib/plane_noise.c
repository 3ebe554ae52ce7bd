/* How much more the homographies of each plane scatter than they say.
 *
 * Not every plane is flat: stands are steps, fields have furrows. The matches of such a plane err
 * together, and its homographies are off by more than their inliers' scatter tells. What is left of
 * them in the adjustment shows it. But a plane has few more measurements than unknowns, down to
 * none at all in a chain, and an adjustment with as many unknowns leaves nothing. So the residuals
 * are compared with the measurements that are left over: 8 an edge, less 6 a sight, less its share
 * of the focal lengths, and 4 more for its origin, axes and unit.
 *
 * The variance is the least one that explains the residuals if none counts for more than MAX_EDGE
 * times it: a few homographies that are of no plane do not matter where many are left over. Where
 * few are, a loss that lets go of them leaves nothing of the others, and this counts.
 *
 * A plane that has few measurements left over is taken for like the others, as if these had one
 * homography to add to its own. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calib/plane_adjust_internal.h"

#define FREE_SIGMA 0.1 /* of a prior from which on the data find a focal length */
#define MAX_EDGE 16.0  /* chi^2 of an edge, at most: twice what eight numbers have */
#define OTHERS 8.0     /* measurements for which all planes count in each */
#define SETTLED 1e-3   /* relative change of a variance that matters no more */

/* Measurements left over, per plane. */
static psfm_status count_left(psfm_context *ctx, const psfm_plane_problem *p, double *left) {
    double *sights = NULL; /* per group */
    psfm_status status = PSFM_ALLOC(ctx, p->num_groups, &sights);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < p->num_planes; ++k)
        left[k] = 4.0;
    for (size_t k = 0; k < p->num_sights; ++k)
        sights[p->sights[k].group] += 1.0;
    for (size_t k = 0; k < p->num_sights; ++k) {
        uint32_t g = p->sights[k].group;
        left[p->sights[k].plane] -= 6.0 + (p->prior_sigma[g] > FREE_SIGMA ? 1.0 / sights[g] : 0.0);
    }
    for (size_t e = 0; e < p->num_edges; ++e)
        left[p->sights[p->edges[e].sight1].plane] += 8.0;
    for (size_t k = 0; k < p->num_planes; ++k)
        left[k] = fmax(left[k], 0.0);
    free(sights);
    return PSFM_OK;
}

/* chi^2 of the edges in units of each plane's variance, cut off; summed per plane. */
static void sum_residuals(const psfm_plane_adjustment *a, const double *variance, double *sum) {
    const psfm_plane_problem *p = a->p;
    for (size_t k = 0; k < p->num_planes; ++k)
        sum[k] = 0.0;
    for (size_t e = 0; e < p->num_edges; ++e) {
        uint32_t k = p->sights[p->edges[e].sight1].plane;
        double chi2 = a->now.chi[e] * a->now.chi[e] / a->weight[k];
        sum[k] += fmin(chi2, MAX_EDGE * variance[k]);
    }
}

/* One variance for all planes. It only grows, as the cut does. */
static double find_common(const psfm_plane_adjustment *a, const double *left, double *variance,
                          double *sum) {
    double total_left = 0.0, common = 1.0, before;
    for (size_t k = 0; k < a->p->num_planes; ++k)
        total_left += left[k];
    if (!(total_left > 0.0))
        return 1.0;
    do {
        double total = 0.0;
        before = common;
        for (size_t k = 0; k < a->p->num_planes; ++k)
            variance[k] = common;
        sum_residuals(a, variance, sum);
        for (size_t k = 0; k < a->p->num_planes; ++k)
            total += sum[k];
        common = fmax(common, total / total_left);
    } while (common > before * (1.0 + SETTLED));
    return common;
}

static void find_own(const psfm_plane_adjustment *a, const double *left, double common,
                     double *variance, double *sum) {
    bool grows;
    for (size_t k = 0; k < a->p->num_planes; ++k)
        variance[k] = 1.0;
    do {
        grows = false;
        sum_residuals(a, variance, sum);
        for (size_t k = 0; k < a->p->num_planes; ++k) {
            double next = (sum[k] + OTHERS * common) / (left[k] + OTHERS);
            grows = grows || next > variance[k] * (1.0 + SETTLED);
            variance[k] = fmax(variance[k], next);
        }
    } while (grows);
}

psfm_status psfm_plane_measure_noise(psfm_context *ctx, psfm_plane_adjustment *a) {
    double *left = NULL, *variance = NULL, *sum = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, a->p->num_planes, &left)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, a->p->num_planes, &variance)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, a->p->num_planes, &sum)) != PSFM_OK ||
        (status = count_left(ctx, a->p, left)) != PSFM_OK)
        goto cleanup;
    find_own(a, left, find_common(a, left, variance, sum), variance, sum);
    for (size_t k = 0; k < a->p->num_planes; ++k)
        a->weight[k] = 1.0 / variance[k];

cleanup:
    free(left);
    free(variance);
    free(sum);
    return status;
}
