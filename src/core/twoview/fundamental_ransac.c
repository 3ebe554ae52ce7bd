/* Robust estimation of a fundamental matrix, much as essential_ransac.c has it for known focal
 * lengths: samples of two matches off a plane complete its homography to F = [e]x H, samples of
 * seven need no plane. The best is refined with a bound that fits the noise.
 *
 * Where most matches are on one plane, any F = [e]x H explains them: it is the others that carry
 * it, and they must be more than wrong matches that happen to lie near epipolar lines (ransac.h).
 * The noise is measured by the inliers' mean square. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/matches/ransac.h"
#include "core/twoview/fundamental.h"
#include "core/twoview/homography.h"
#include "core/twoview/point_spread.h"

#define LOCAL_BLOCKS 32       /* 256 pairs for the local optimisation */
#define MAX_SCORED_BLOCKS 256 /* 2048 pairs are enough to tell models apart */
#define TWO_POINT_SAMPLES 100
#define SEVEN_POINT_SAMPLES 1000
#define CONFIDENCE 0.999
#define TEST_BLOCKS 8       /* 64 pairs that show whether a sample is worth scoring */
#define MIN_TEST_SHARE 0.15 /* of them must agree; samples hardly find smaller shares */
#define MAX_LOG10_FALSE_ALARMS (-3.0)
#define MIN_SIGMA_PX 1e-6 /* of noise-free data: numbers are no better */

typedef struct {
    psfm_context *ctx;
    const psfm_ray_pairs *pairs;
    psfm_ray_pairs scored; /* the first of them, at most MAX_SCORED_BLOCKS */
    psfm_ray_pairs off;    /* pairs that H does not explain */
    const double *H;
    psfm_rng *rng;
    double max_squared, log10_chance;
    psfm_loss loss;  /* of the search */
    double *squared; /* scratch, per lane */
    uint32_t *idx;   /* scratch, per pair */
    double best[9], best_cost;
} seeker;

/* Optimises F locally and keeps it if it is the best so far. */
static bool consider_matrix(seeker *s, const double F[9]) {
    double G[9];
    psfm_loss wide = s->loss;
    wide.max_squared *= 4.0;
    memcpy(G, F, sizeof G);
    psfm_fundamental_refine(s->pairs, LOCAL_BLOCKS, wide, 2, G);
    psfm_fundamental_refine(s->pairs, LOCAL_BLOCKS, s->loss, 3, G);
    double cost = psfm_essential_cost(&s->scored, G, s->loss, s->best_cost);
    if (!(cost < s->best_cost))
        return false;
    memcpy(s->best, G, sizeof s->best);
    s->best_cost = cost;
    return true;
}

static size_t count_inliers(const seeker *s, const psfm_ray_pairs *pairs, double max_squared) {
    size_t num = 0;
    psfm_essential_errors(pairs, s->best, s->squared);
    for (size_t i = 0; i < pairs->num; ++i)
        num += s->squared[i] < max_squared;
    return num;
}

/* Pairs that the plane does not explain. */
static psfm_status select_off_plane(seeker *s) {
    size_t num = 0;
    psfm_homography_errors(s->pairs, s->H, s->squared);
    for (size_t i = 0; i < s->pairs->num; ++i)
        if (!(s->squared[i] < s->max_squared))
            s->idx[num++] = (uint32_t)i;
    return psfm_ray_pairs_select(s->ctx, s->pairs, s->idx, num, &s->off);
}

/* F = [e]x H from two pairs off the plane; false if they do not determine e. */
static bool draw_two_points(seeker *s, double F[9]) {
    uint32_t idx[2];
    double line[2][3], e[3];
    psfm_rng_sample(s->rng, s->off.num, 2, idx);
    for (int k = 0; k < 2; ++k) {
        double ray1[3], ray2[3];
        psfm_ray_pairs_get(&s->off, idx[k], ray1, ray2);
        psfm_mat3_mul_vec(s->H, ray1, line[k]);
        psfm_cross3(line[k], ray2, line[k]);
    }
    psfm_cross3(line[0], line[1], e);
    if (!(psfm_normalize3(e) > 1e-12))
        return false;
    const double cross[9] = {0, -e[2], e[1], e[2], 0, -e[0], -e[1], e[0], 0};
    psfm_mat3_mul(cross, s->H, F);
    return true;
}

static void sample_two_points(seeker *s) {
    psfm_ray_pairs scored = psfm_ray_pairs_head(&s->off, MAX_SCORED_BLOCKS);
    double F[9], cost_best = INFINITY;
    for (int k = 0; k < TWO_POINT_SAMPLES && s->off.num >= 4; ++k) {
        if (!draw_two_points(s, F))
            continue;
        double cost = psfm_essential_cost(&scored, F, s->loss, cost_best);
        if (!(cost < cost_best))
            continue;
        cost_best = cost;
        consider_matrix(s, F);
    }
}

static void sample_seven_points(seeker *s) {
    int needed = SEVEN_POINT_SAMPLES;
    psfm_ray_pairs head = psfm_ray_pairs_head(s->pairs, TEST_BLOCKS);
    double hopeless = (double)head.num * (1.0 - MIN_TEST_SHARE) * s->max_squared;
    for (int iteration = 0; iteration < needed; ++iteration) {
        uint32_t idx[7];
        double ray1[7][3], ray2[7][3], F[3][9];
        bool better = false;
        psfm_rng_sample(s->rng, s->pairs->num, 7, idx);
        for (int k = 0; k < 7; ++k)
            psfm_ray_pairs_get(s->pairs, idx[k], ray1[k], ray2[k]);
        int num = psfm_seven_point((const double(*)[3])ray1, (const double(*)[3])ray2, F);
        for (int k = 0; k < num; ++k) {
            if (psfm_essential_cost(&head, F[k], s->loss, hopeless) >= hopeless)
                continue;
            double cost = psfm_essential_cost(&s->scored, F[k], s->loss, s->best_cost);
            better = (cost < s->best_cost && consider_matrix(s, F[k])) || better;
        }
        if (better)
            needed = psfm_ransac_iterations((double)count_inliers(s, &s->scored, s->max_squared) /
                                                (double)s->scored.num,
                                            7, CONFIDENCE, SEVEN_POINT_SAMPLES);
    }
}

/* Refines the best one on all pairs with a bound that fits the noise, which is returned. */
static double refine_to_noise(seeker *s) {
    double max_squared = s->max_squared;
    for (int round = 0; round < 2; ++round) {
        psfm_essential_errors(s->pairs, s->best, s->squared);
        max_squared = psfm_noise_bound(s->squared, s->pairs->num, 1, s->max_squared);
        psfm_fundamental_refine(s->pairs, s->pairs->num_blocks, (psfm_loss){max_squared, 0.0}, 20,
                                s->best);
    }
    return max_squared;
}

static psfm_status collect_inliers(seeker *s, double max_squared, psfm_fundamental_found *out) {
    size_t on_plane = 0;
    double sum = 0.0;
    psfm_status status = PSFM_ALLOC(s->ctx, s->pairs->num, &out->inliers);
    if (status != PSFM_OK)
        return status;
    psfm_essential_errors(s->pairs, s->best, s->squared);
    for (size_t i = 0; i < s->pairs->num; ++i) {
        if (!(s->squared[i] < max_squared))
            continue;
        sum += s->squared[i];
        out->inliers[out->num_inliers++] = (uint32_t)i;
    }
    if (s->H != NULL) {
        psfm_homography_errors(s->pairs, s->H, s->squared);
        for (size_t k = 0; k < out->num_inliers; ++k)
            on_plane += s->squared[out->inliers[k]] < s->max_squared;
    }
    double left = fmax((double)out->num_inliers - 7.0, 1.0);
    out->sigma_px = fmax(sqrt(sum / left), MIN_SIGMA_PX);
    out->plane_share = (double)on_plane / fmax((double)out->num_inliers, 1.0);
    memcpy(out->F, s->best, sizeof out->F);
    return PSFM_OK;
}

/* Whether the inliers, those off the plane if there is one, are more than chance. */
static bool is_significant(const seeker *s, double max_squared) {
    const psfm_ray_pairs *pairs = s->H != NULL ? &s->off : s->pairs;
    double narrower = 0.5 * log10(max_squared / s->max_squared);
    psfm_chance_group evidence = {pairs->num, count_inliers(s, pairs, max_squared),
                                  s->log10_chance + narrower};
    size_t sample = s->H != NULL ? 3 : 7;
    return evidence.num_inliers > sample &&
           psfm_log10_false_alarms(&evidence, 1, sample) < MAX_LOG10_FALSE_ALARMS;
}

static psfm_status run_search(seeker *s, psfm_fundamental_found *out) {
    psfm_status status = s->H != NULL ? select_off_plane(s) : PSFM_OK;
    if (status != PSFM_OK)
        return status;
    if (s->H != NULL) { /* what two points off the plane do not find, seven would not either */
        sample_two_points(s);
        if (!isfinite(s->best_cost) || !is_significant(s, s->max_squared))
            return PSFM_OK;
    }
    sample_seven_points(s);
    if (!isfinite(s->best_cost))
        return PSFM_OK;
    double max_squared = refine_to_noise(s);
    out->found = is_significant(s, max_squared);
    return out->found ? collect_inliers(s, max_squared, out) : PSFM_OK;
}

psfm_status psfm_fundamental_ransac(psfm_context *ctx, const psfm_ray_pairs *pairs, const double *H,
                                    double max_error_px, psfm_rng *rng,
                                    psfm_fundamental_found *out) {
    seeker s = {.ctx = ctx,
                .pairs = pairs,
                .H = H,
                .rng = rng,
                .max_squared = max_error_px * max_error_px,
                .best_cost = INFINITY};
    *out = (psfm_fundamental_found){0};
    if (pairs->num < 8)
        return PSFM_OK;
    s.loss = psfm_search_loss(s.max_squared, pairs->num);
    s.scored = psfm_ray_pairs_head(pairs, MAX_SCORED_BLOCKS);
    double side1 = sqrt(psfm_effective_area((const double(*)[2])pairs->xy1, pairs->num));
    double side2 = sqrt(psfm_effective_area((const double(*)[2])pairs->xy2, pairs->num));
    s.log10_chance = log10(fmin(2.0 * max_error_px * (1.0 / side1 + 1.0 / side2), 0.5));
    size_t lanes = pairs->num_blocks * PSFM_LANES;
    psfm_status status = PSFM_ALLOC(ctx, lanes, &s.squared);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, lanes, &s.idx);
    if (status == PSFM_OK)
        status = run_search(&s, out);
    psfm_ray_pairs_free(&s.off);
    free(s.squared);
    free(s.idx);
    if (status != PSFM_OK) {
        free(out->inliers);
        *out = (psfm_fundamental_found){0};
    }
    return status;
}
