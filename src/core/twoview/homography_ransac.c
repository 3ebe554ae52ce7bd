/* Locally optimised RANSAC for homographies (Chum, Matas and Kittler 2003) with truncated squares
 * as score (MSAC; Torr and Zisserman 2000).
 *
 * Pairs are in random order, so a score is given up as soon as its partial sum exceeds the best
 * (most samples see a fraction of the pairs), and a few leading blocks are a fair subset for the
 * local optimisation: each new best sample is refined on them, first with a wider bound because
 * four noisy points predict poorly away from themselves. The first hypothesis is the linear fit to
 * the leading pairs, which is enough for matches without outliers. Samples compete under the
 * graded loss of loss.h, the winner is refined with squares truncated where its noise ends. */
#include "core/twoview/homography_ransac.h"

#include <math.h>
#include <string.h>

#include "core/twoview/homography.h"
#include "core/twoview/point_spread.h"

#define SAMPLE 4
#define LOCAL_BLOCKS 16       /* 128 pairs for the local optimisation */
#define FIRST_BLOCKS 4        /* 32 pairs for the linear fit */
#define MAX_SCORED_BLOCKS 256 /* 2048 pairs are enough to tell models apart */
#define TEST_BLOCKS 8         /* 64 pairs that show whether a sample is worth scoring */
#define WINDOW 24             /* places of the spatial order that a local sample comes from */

/* Draws four pairs and solves for their homography. */
static bool draw_sample(const psfm_ray_pairs *pairs, const psfm_homography_search *search,
                        int iteration, psfm_rng *rng, uint32_t idx[SAMPLE], double H[9]) {
    double ray1[SAMPLE][3], ray2[SAMPLE][3];
    if (search->order != NULL && iteration % 2 == 0)
        psfm_sample_window(rng, search->order, pairs->num, WINDOW, SAMPLE, idx);
    else
        psfm_rng_sample(rng, pairs->num, SAMPLE, idx);
    for (int k = 0; k < SAMPLE; ++k)
        psfm_ray_pairs_get(pairs, idx[k], ray1[k], ray2[k]);
    return psfm_homography_from_four((const double(*)[3])ray1, (const double(*)[3])ray2, H);
}

/* Cost of the homography of a sample; INFINITY if, in the leading blocks, nothing agrees with it
 * but the sample itself. That ends the scoring of almost all contaminated samples early; a plane
 * with a tenth of the pairs has six more of them there. */
static double score_sample(const psfm_ray_pairs *pairs, const double H[9],
                           const uint32_t idx[SAMPLE], psfm_loss loss, double stop_above) {
    if (pairs->num_blocks < (size_t)2 * TEST_BLOCKS)
        return psfm_homography_cost(pairs, H, loss, stop_above);
    psfm_ray_pairs head = psfm_ray_pairs_head(pairs, TEST_BLOCKS), tail = *pairs;
    tail.blocks += TEST_BLOCKS;
    tail.num_blocks -= TEST_BLOCKS;
    tail.num -= head.num;
    double agreeing = 0.5;
    for (int k = 0; k < SAMPLE; ++k)
        agreeing += idx[k] < head.num;
    double cost = psfm_homography_cost(&head, H, loss, stop_above);
    if (cost > ((double)head.num - agreeing) * loss.max_squared)
        return INFINITY;
    return cost + psfm_homography_cost(&tail, H, loss, stop_above - cost);
}

/* Refines H on a subset and keeps it if all pairs together like it better. */
static void optimize_locally(const psfm_ray_pairs *pairs, psfm_loss loss,
                             psfm_homography_found *best) {
    double H[9];
    memcpy(H, best->H_21, sizeof H);
    psfm_loss wide = {6.0 * loss.max_squared, loss.graded};
    psfm_homography_refine(pairs, LOCAL_BLOCKS, wide, 2, H);
    psfm_homography_refine(pairs, LOCAL_BLOCKS, loss, 3, H);
    double cost = psfm_homography_cost(pairs, H, loss, best->cost);
    if (cost < best->cost) {
        memcpy(best->H_21, H, sizeof H);
        best->cost = cost;
    }
}

/* Refines on all pairs with a bound that fits the noise. */
static void refine_to_noise(const psfm_ray_pairs *pairs, double max_squared, double *squared,
                            psfm_homography_found *best) {
    psfm_loss graded = psfm_search_loss(max_squared, pairs->num);
    psfm_homography_refine(pairs, pairs->num_blocks, graded, 3, best->H_21);
    psfm_homography_errors(pairs, best->H_21, squared);
    psfm_loss loss = {psfm_noise_bound(squared, pairs->num, 2, max_squared), 0.0};
    best->cost = psfm_homography_refine(pairs, pairs->num_blocks, loss, 20, best->H_21);
}

bool psfm_homography_ransac(const psfm_ray_pairs *pairs, const psfm_homography_search *search,
                            psfm_rng *rng, psfm_homography_found *found) {
    if (pairs->num < SAMPLE)
        return false;
    psfm_ray_pairs scored = psfm_ray_pairs_head(pairs, MAX_SCORED_BLOCKS);
    double max_squared = search->max_error_px * search->max_error_px;
    psfm_loss loss = psfm_search_loss(max_squared, pairs->num);
    psfm_homography_found best = {.cost = INFINITY};
    /* below this, more than the sample agrees, or nearly all there is */
    double worthwhile = ((double)scored.num - (pairs->num > 8 ? 5.5 : 3.5)) * max_squared;
    int needed = search->max_iterations, iteration = 0;
    for (; iteration < needed; ++iteration) {
        uint32_t idx[SAMPLE] = {0};
        double H[9];
        bool ok = iteration == 0 && search->order == NULL
                      ? psfm_homography_fit(pairs, FIRST_BLOCKS, H)
                      : draw_sample(pairs, search, iteration, rng, idx, H);
        if (!ok)
            continue;
        double cost = score_sample(&scored, H, idx, loss, best.cost);
        if (!(cost < best.cost))
            continue;
        best.cost = cost;
        memcpy(best.H_21, H, sizeof H);
        if (cost > worthwhile)
            continue;
        optimize_locally(&scored, loss, &best);
        best.num_inliers = psfm_homography_count(&scored, best.H_21, search->max_error_px);
        needed = psfm_ransac_iterations((double)best.num_inliers / (double)scored.num, SAMPLE,
                                        search->confidence, search->max_iterations);
    }
    if (!isfinite(best.cost))
        return false;
    best.num_iterations = iteration;
    refine_to_noise(pairs, max_squared, search->scratch, &best);
    best.num_inliers = psfm_homography_count(pairs, best.H_21, search->max_error_px);
    *found = best;
    return true;
}
