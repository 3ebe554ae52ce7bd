/* Fundamental matrices of pairs, with their inliers: the sum of these matches' squared errors, as a
 * function of F, is what is kept of a pair. It is the log likelihood of F, so nothing is lost where
 * F is nearly degenerate and no normal distribution would describe it.
 *
 * Matches of one pair often err together (a lens not quite modelled), so that hundreds of them are
 * not as good as their number says: they count as EFFECTIVE at most, as those of planes do. */
#include "calib/measured_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"

#define EFFECTIVE 200.0 /* inliers whose errors are independent, at most */
#define MIN_INLIERS 30  /* of a pair: fewer say little, and their noise is not known */
#define MAX_BLOCKS 64   /* 512 inliers are kept, a fair sample */
#define MAX_STEPS 200

const psfm_loss psfm_pair_loss = {1e12, 0.0};

typedef struct {
    const psfm_match_set *set;
    const psfm_two_view *two_views;
    const bool *wanted;
    const psfm_two_view_options *options;
    psfm_measured_pair *items; /* per pair of the set */
} measuring;

/* Keeps the inliers of what was found, as rays with the best F for them. */
static psfm_status keep(psfm_context *ctx, const psfm_ray_pairs *all,
                        const psfm_fundamental_found *found, psfm_measured_pair *m) {
    size_t num = found->num_inliers, most = MAX_BLOCKS * PSFM_LANES;
    psfm_status status =
        psfm_ray_pairs_select(ctx, all, found->inliers, num < most ? num : most, &m->rays);
    if (status != PSFM_OK)
        return status;
    memcpy(m->F, found->F, sizeof m->F);
    m->weight = fmin(1.0, EFFECTIVE / (double)m->rays.num) / (found->sigma_px * found->sigma_px);
    m->free_cost = m->weight * psfm_fundamental_refine(&m->rays, m->rays.num_blocks, psfm_pair_loss,
                                                       MAX_STEPS, m->F);
    return PSFM_OK;
}

static psfm_status measure_pair(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const measuring *job = user;
    const psfm_match_pair *pair = &job->set->pairs[index];
    const psfm_two_view *view = &job->two_views[index];
    const psfm_image_pair images = psfm_image_pair_of(job->set, pair);
    psfm_rng rng =
        psfm_rng_make(psfm_context_seed(ctx), PSFM_RNG_CALIBRATION, images.id[0], images.id[1]);
    psfm_correspondences c = {0};
    psfm_ray_pairs all = {0};
    psfm_fundamental_found found = {0};
    if (!job->wanted[index] || pair->num_matches < MIN_INLIERS)
        return PSFM_OK;
    job->items[index].view1 = pair->view1;
    job->items[index].view2 = pair->view2;
    psfm_status status = psfm_correspondences_init(ctx, job->set, pair, &c);
    if (status == PSFM_OK)
        status = psfm_ray_pairs_init(ctx, &c, &rng, &all);
    if (status == PSFM_OK)
        status = psfm_fundamental_ransac(
            ctx, &all, view->num_homographies > 0 ? view->homographies[0].H_21 : NULL,
            job->options->max_error_px, &rng, &found);
    if (status == PSFM_OK && found.found && found.num_inliers >= MIN_INLIERS &&
        found.plane_share < job->options->degenerate_share)
        status = keep(ctx, &all, &found, &job->items[index]);
    free(found.inliers);
    psfm_ray_pairs_free(&all);
    psfm_correspondences_free(&c);
    return status;
}

psfm_status psfm_measured_pairs_init(psfm_context *ctx, const psfm_match_set *set,
                                     const psfm_two_view *two_views, const bool *wanted,
                                     const psfm_two_view_options *options,
                                     psfm_measured_pairs *out) {
    measuring job = {set, two_views, wanted, options, NULL};
    *out = (psfm_measured_pairs){0};
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs, &job.items);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, set->num_pairs, measure_pair, &job);
    for (size_t p = 0; job.items != NULL && p < set->num_pairs; ++p)
        if (job.items[p].rays.num > 0)
            job.items[out->num++] = job.items[p];
    out->items = job.items;
    if (status != PSFM_OK)
        psfm_measured_pairs_free(out);
    return status;
}

void psfm_measured_pairs_free(psfm_measured_pairs *pairs) {
    for (size_t k = 0; k < pairs->num; ++k)
        psfm_ray_pairs_free(&pairs->items[k].rays);
    free(pairs->items);
    *pairs = (psfm_measured_pairs){0};
}
