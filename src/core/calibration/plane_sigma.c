/* How surely the adjustment of planes knows the lenses: two parts.
 *
 * Noise of the homographies: the inverse of the normal equations. Homographies are not independent,
 * though: a view's keypoints are in those to all of its neighbours. They are taken for as much as
 * one homography a view would tell.
 *
 * Principal points: the adjustment holds them in the middle, but nobody knows them exactly, and
 * over flat ground an offset looks like a tilt, which is all that tells the focal length there. If
 * they are off by c, the unknowns are off by x = N^-1 B c, B being the products with their
 * derivatives. (This is more than if they were unknowns with a prior: then the homographies would
 * correct them.) The variance of x, the diagonal of N^-1 B S B^T N^-1, would take as many solves as
 * there are lenses. It is estimated by draws of c instead, each principal point one standard
 * deviation to either side along either axis: 64 draws give a standard deviation to within 9 %, and
 * each is a solve with the factor that is there.
 *
 * Cost: a factorisation, two more for the diagonal of the inverse, and 64 solves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/calibration/plane_adjust_internal.h"

#define BATCH 16 /* draws that are solved at once */

/* The share of what they say for which homographies count. */
static double independent_share(const psfm_plane_problem *p) {
    return p->num_edges <= p->num_poses ? 1.0 : (double)p->num_poses / (double)p->num_edges;
}

/* Variances by noise, of the unknowns of the groups. */
static psfm_status add_noise(psfm_context *ctx, psfm_plane_adjustment *a, double *variance) {
    size_t *begin = NULL, num = a->p->num_groups, dim = (size_t)a->eq.lens_dim;
    double *blocks = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num, &begin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, dim * dim * num, &blocks);
    for (size_t g = 0; status == PSFM_OK && g < num; ++g)
        begin[g] = dim * dim * g;
    const psfm_block_range range = {0, (uint32_t)num, begin, blocks};
    if (status == PSFM_OK)
        status = psfm_block_spd_inverse(ctx, a->eq.spd, &range);
    for (size_t k = 0; status == PSFM_OK && k < dim * num; ++k)
        variance[k] += fmax(blocks[begin[k / dim] + k % dim * (dim + 1)], 0.0);
    free(begin);
    free(blocks);
    return status;
}

/* Variances by principal points. */
static psfm_status add_centers(psfm_context *ctx, psfm_plane_adjustment *a, double scale,
                               double share, double *variance) {
    size_t n = a->eq.pattern.scalar_begin[a->eq.pattern.num_blocks];
    size_t num = a->eq.pattern.scalar_begin[a->p->num_groups];
    uint64_t(*signs)[2] = NULL;
    double *x = NULL;
    psfm_status status = PSFM_ALLOC(ctx, a->p->num_groups, &signs);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n * BATCH, &x);
    psfm_rng rng = psfm_rng_make(psfm_context_seed(ctx), PSFM_RNG_CALIBRATION, 0, 1);
    for (size_t g = 0; status == PSFM_OK && g < a->p->num_groups; ++g)
        for (int k = 0; k < 2; ++k)
            signs[g][k] = psfm_rng_next(&rng);
    for (int s = 0; status == PSFM_OK && s < PSFM_NUM_DRAWS; s += BATCH) {
        memset(x, 0, n * BATCH * sizeof *x);
        psfm_plane_displace(a, scale, share, (const uint64_t(*)[2])signs, s, BATCH, x);
        status = psfm_block_spd_solve(ctx, a->eq.spd, BATCH, x, x);
        for (size_t k = 0; status == PSFM_OK && k < BATCH * num; ++k) {
            double off = x[k / num * n + k % num];
            variance[k % num] += off * off / PSFM_NUM_DRAWS;
        }
    }
    free(signs);
    free(x);
    return status;
}

psfm_status psfm_plane_find_sigma(psfm_context *ctx, psfm_plane_adjustment *a, double scale,
                                  double *sigma, double *k1_sigma) {
    const psfm_plane_problem *p = a->p;
    size_t dim = (size_t)a->eq.lens_dim;
    double *variance = NULL, share = independent_share(p);
    bool free_k1 = k1_sigma != NULL && p->k1 != NULL;
    psfm_status status = PSFM_ALLOC(ctx, dim * p->num_groups, &variance);
    if (status == PSFM_OK) {
        psfm_plane_linearize(a, scale, share);
        status = psfm_plane_factor(ctx, a, 0.0);
    }
    if (status == PSFM_OK)
        status = add_noise(ctx, a, variance);
    if (status == PSFM_OK)
        status = add_centers(ctx, a, scale, share, variance);
    for (size_t g = 0; status == PSFM_OK && g < p->num_groups; ++g) {
        sigma[g] = fmin(sqrt(variance[dim * g]), p->prior_sigma[g]);
        if (free_k1)
            k1_sigma[g] = fmin(sqrt(variance[dim * g + PSFM_LENS_K1]), p->prior_k1_sigma[g]);
    }
    if (status == PSFM_ERR_NUMERIC) { /* nothing is known beyond the priors */
        memcpy(sigma, p->prior_sigma, p->num_groups * sizeof *sigma);
        if (free_k1)
            memcpy(k1_sigma, p->prior_k1_sigma, p->num_groups * sizeof *sigma);
        status = PSFM_OK;
    }
    free(variance);
    return status;
}
