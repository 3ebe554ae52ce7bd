/* Robust estimation of the relative motion.
 *
 * With a plane. If H is the homography of a plane, E = [t]x H, and two matches off the plane give
 * t: each requires t to lie in the plane through H x1 and x2 (plane and parallax; Irani and Anandan
 * 1996; Chum, Werner and Matas 2005 use it against degenerate samples). So the starts are the
 * motions of the homographies, then samples of two matches off the largest plane: in flat scenes
 * matches off the plane are few and mostly wrong, and hardly a sample of five has two of them.
 *
 * Five-point samples follow, as many as the share of inliers asks for: what looked like a plane may
 * be round (a statue, a tree), and then neither its motions nor what two points make of them need
 * be near the truth, however many inliers they gather. Without a plane, and where the essential
 * matrix is to know nothing of the homographies, these samples are all there is. In the end the
 * motions that a flat relief leaves open are compared (bas_relief.h).
 *
 * Chance. A wrong match lies within T of the epipolar line with probability of about
 * 2 T (1 / sqrt(a1) + 1 / sqrt(a2)); the a contrario test of ransac.h tells whether the inliers off
 * the plane are more than that. */
#include "core/twoview/essential_ransac.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "core/matches/ransac.h"
#include "core/twoview/bas_relief.h"
#include "core/twoview/five_point.h"
#include "core/twoview/homography.h"
#include "core/twoview/point_spread.h"

#define LOCAL_BLOCKS 32       /* 256 pairs for the local optimisation */
#define MAX_SCORED_BLOCKS 256 /* 2048 pairs are enough to tell models apart */
#define TWO_POINT_ITERATIONS 100
#define FIVE_POINT_MOST 1000 /* where there is a plane, or its motions are not to be used */
#define FIVE_POINT_LEAST 50  /* where a plane's motions explain nearly all */
#define FIVE_POINT_SPARE 3   /* a sample without a wrong match still fails by noise this often */
#define TEST_BLOCKS 8        /* 64 pairs that show whether a five-point sample is worth scoring */
#define MIN_TEST_SHARE 0.08  /* of them must agree; samples can only find larger shares anyway */
#define NUM_VOTERS 64        /* inliers that choose among the four motions of an E */
#define MIN_SHARE_IN_FRONT                                                 \
    0.9 /* of those that another relief had there; noise puts a few behind \
         */
#define MAX_LOG10_FALSE_ALARMS (-3.0)

typedef struct {
    psfm_context *ctx;
    const psfm_ray_pairs *pairs;
    psfm_ray_pairs scored; /* the first of them, at most MAX_SCORED_BLOCKS */
    const psfm_plane_set *planes;
    const psfm_two_view_options *options;
    psfm_rng *rng;
    double max_squared;
    psfm_loss loss; /* of the search */
    double log10_chance;
    double *squared;    /* scratch, per lane */
    uint32_t *idx;      /* scratch, per pair */
    psfm_ray_pairs off; /* pairs off the largest plane */
    psfm_motion best;
    double best_cost; /* over `scored`; INFINITY if there is no best */
} seeker;

/* What the inliers of E behind a camera cost beyond their errors: as much as wrong matches, which
 * they are under this motion. */
static double cost_behind(seeker *s, const psfm_motion *motion, const double E[9]) {
    double sum = 0.0;
    psfm_essential_errors(&s->scored, E, s->squared);
    for (size_t i = 0; i < s->scored.num; ++i) {
        double ray1[3], ray2[3];
        if (!(s->squared[i] < s->max_squared))
            continue;
        psfm_ray_pairs_get(s->pairs, i, ray1, ray2);
        if (!psfm_in_front(motion, ray1, ray2))
            sum += s->max_squared - psfm_loss_value(s->loss, s->squared[i]);
    }
    return sum;
}

/* Optimises a motion locally and keeps it if it is the best so far. */
static bool consider_motion(seeker *s, const psfm_motion *motion) {
    double E[9];
    psfm_motion m = *motion;
    psfm_loss wide = s->loss;
    wide.max_squared *= 4.0;
    psfm_motion_refine(s->pairs, LOCAL_BLOCKS, wide, 2, &m);
    psfm_motion_refine(s->pairs, LOCAL_BLOCKS, s->loss, 3, &m);
    psfm_essential_from_motion(&m, E);
    double cost = psfm_essential_cost(&s->scored, E, s->loss, s->best_cost);
    if (cost < s->best_cost)
        cost += cost_behind(s, &m, E);
    if (!(cost < s->best_cost))
        return false;
    s->best = m;
    s->best_cost = cost;
    return true;
}

/* The same for an essential matrix, whose motion the first inliers decide. */
static bool consider_essential(seeker *s, const double E[9]) {
    psfm_motion m;
    size_t num = 0;
    psfm_essential_errors(&s->scored, E, s->squared);
    for (size_t i = 0; i < s->scored.num && num < NUM_VOTERS; ++i)
        if (s->squared[i] < s->max_squared)
            s->idx[num++] = (uint32_t)i;
    return psfm_essential_to_motion(s->pairs, s->idx, num, E, &m) && consider_motion(s, &m);
}

static size_t count_inliers(const seeker *s, const psfm_ray_pairs *pairs) {
    double E[9];
    size_t num = 0;
    psfm_essential_from_motion(&s->best, E);
    psfm_essential_errors(pairs, E, s->squared);
    for (size_t i = 0; i < pairs->num; ++i)
        num += s->squared[i] < s->max_squared;
    return num;
}

static bool is_significant(const seeker *s, size_t num, size_t num_inliers, size_t sample_size) {
    psfm_chance_group evidence = {num, num_inliers, s->log10_chance};
    return psfm_log10_false_alarms(&evidence, 1, sample_size) < MAX_LOG10_FALSE_ALARMS;
}

/* E = [t]x H with t from two random pairs off the plane; false if they do not determine it. */
static bool draw_two_points(seeker *s, const double H[9], double E[9]) {
    uint32_t idx[2];
    double line[2][3], t[3];
    psfm_rng_sample(s->rng, s->off.num, 2, idx);
    for (int k = 0; k < 2; ++k) {
        double ray1[3], ray2[3];
        psfm_ray_pairs_get(&s->off, idx[k], ray1, ray2);
        psfm_mat3_mul_vec(H, ray1, line[k]);
        psfm_cross3(line[k], ray2, line[k]);
    }
    psfm_cross3(line[0], line[1], t);
    if (!(psfm_normalize3(t) > 1e-12))
        return false;
    const double cross[9] = {0, -t[2], t[1], t[2], 0, -t[0], -t[1], t[0], 0};
    psfm_mat3_mul(cross, H, E);
    return true;
}

/* Samples of two pairs off the plane, which complete its homography to an essential matrix. */
static void sample_two_points(seeker *s) {
    psfm_ray_pairs scored = psfm_ray_pairs_head(&s->off, MAX_SCORED_BLOCKS);
    double E[9], cost_best = INFINITY;
    if (s->off.num < 4)
        return;
    /* below this, clearly more agree than the sample and chance */
    double chance = pow(10.0, s->log10_chance) * (double)scored.num;
    double worthwhile = ((double)scored.num - 2.0 * chance - 4.0) * s->max_squared;
    if (isfinite(s->best_cost)) {
        psfm_essential_from_motion(&s->best, E);
        cost_best = psfm_essential_cost(&scored, E, s->loss, INFINITY);
    }
    for (int iteration = 0; iteration < TWO_POINT_ITERATIONS; ++iteration) {
        if (!draw_two_points(s, s->planes->H_21[0], E))
            continue;
        double cost = psfm_essential_cost(&scored, E, s->loss, cost_best);
        if (!(cost < cost_best))
            continue;
        cost_best = cost;
        if (cost < worthwhile)
            consider_essential(s, E);
    }
}

static void sample_five_points(seeker *s, int max_iterations, double confidence) {
    int needed = max_iterations;
    psfm_ray_pairs head = psfm_ray_pairs_head(s->pairs, TEST_BLOCKS);
    double hopeless = (double)head.num * (1.0 - MIN_TEST_SHARE) * s->max_squared;
    for (int iteration = 0; iteration < needed; ++iteration) {
        uint32_t idx[5];
        double ray1[5][3], ray2[5][3], E[10][9];
        psfm_rng_sample(s->rng, s->pairs->num, 5, idx);
        for (int k = 0; k < 5; ++k)
            psfm_ray_pairs_get(s->pairs, idx[k], ray1[k], ray2[k]);
        int num = psfm_five_point((const double(*)[3])ray1, (const double(*)[3])ray2, E);
        bool better = false;
        for (int k = 0; k < num; ++k) {
            if (psfm_essential_cost(&head, E[k], s->loss, hopeless) >= hopeless)
                continue;
            double cost = psfm_essential_cost(&s->scored, E[k], s->loss, s->best_cost);
            better = (cost < s->best_cost && consider_essential(s, E[k])) || better;
        }
        if (better)
            needed =
                psfm_ransac_iterations((double)count_inliers(s, &s->scored) / (double)s->scored.num,
                                       5, confidence, max_iterations);
    }
}

/* Pairs that the largest plane does not explain. */
static psfm_status select_off_plane(seeker *s) {
    size_t num = 0;
    psfm_homography_errors(s->pairs, s->planes->H_21[0], s->squared);
    for (size_t i = 0; i < s->pairs->num; ++i)
        if (!(s->squared[i] < s->max_squared))
            s->idx[num++] = (uint32_t)i;
    return psfm_ray_pairs_select(s->ctx, s->pairs, s->idx, num, &s->off);
}

/* The search where there is a plane. */
static void seek_with_plane(seeker *s, const psfm_motion_list *starts) {
    for (size_t k = 0; k < starts->num; ++k)
        consider_motion(s, &starts->items[k]);
    sample_two_points(s);
    if (!isfinite(s->best_cost))
        return;
    double share = (double)count_inliers(s, s->pairs) / (double)s->pairs->num;
    int needed = FIVE_POINT_SPARE * psfm_ransac_iterations(share, 5, PSFM_RANSAC_CONFIDENCE,
                                                           FIVE_POINT_MOST / FIVE_POINT_SPARE);
    sample_five_points(s, needed > FIVE_POINT_LEAST ? needed : FIVE_POINT_LEAST,
                       PSFM_RANSAC_CONFIDENCE);
}

/* Takes a motion of another relief, if it is better. */
static void compare_reliefs(seeker *s) {
    static const double factors[] = {-1.0, 0.5, 0.7, 1.4, 2.0};
    const psfm_motion first = s->best;
    double E[9];
    size_t num = 0;
    psfm_essential_from_motion(&first, E);
    psfm_essential_errors(&s->scored, E, s->squared);
    for (size_t i = 0; i < s->scored.num; ++i)
        if (s->squared[i] < s->max_squared)
            s->idx[num++] = (uint32_t)i;
    for (size_t k = 0; k < sizeof factors / sizeof *factors; ++k) {
        psfm_motion other;
        psfm_bas_relief(s->pairs, s->idx, num, &first, factors[k], &other);
        consider_motion(s, &other);
    }
}

/* Inliers of the final motion, those behind a camera left out. */
static psfm_status collect_inliers(seeker *s, psfm_essential_found *out) {
    double E[9];
    psfm_essential_from_motion(&s->best, E);
    psfm_essential_errors(s->pairs, E, s->squared);
    psfm_status status = PSFM_ALLOC(s->ctx, s->pairs->num, &out->inliers);
    for (size_t i = 0; status == PSFM_OK && i < s->pairs->num; ++i) {
        double ray1[3], ray2[3];
        psfm_ray_pairs_get(s->pairs, i, ray1, ray2);
        if (s->squared[i] < s->max_squared && psfm_in_front(&s->best, ray1, ray2))
            out->inliers[out->num_inliers++] = (uint32_t)i;
    }
    return status;
}

/* Share of the inliers that the best single homography explains, and whether the others, off the
 * largest plane, are more than chance. */
static void compare_with_planes(seeker *s, psfm_essential_found *out) {
    size_t on_first = 0;
    out->plane_share = 0.0;
    for (size_t p = 0; p < s->planes->num_planes; ++p) {
        size_t on = 0;
        psfm_homography_errors(s->pairs, s->planes->H_21[p], s->squared);
        for (size_t i = 0; i < out->num_inliers; ++i)
            on += s->squared[out->inliers[i]] < s->max_squared;
        on_first = p == 0 ? on : on_first;
        if (out->num_inliers > 0)
            out->plane_share = fmax(out->plane_share, (double)on / (double)out->num_inliers);
    }
    if (s->planes->num_planes == 0) {
        out->has_off_plane = is_significant(s, s->pairs->num, out->num_inliers, 5);
        return;
    }
    size_t num = 0, num_inliers = 0; /* on the other planes, which are beyond chance themselves */
    for (size_t i = 0; i < s->pairs->num; ++i)
        num += s->planes->plane[i] != 0 && s->planes->plane[i] < s->planes->num_planes;
    for (size_t k = 0; k < out->num_inliers; ++k) {
        uint32_t p = s->planes->plane[out->inliers[k]];
        num_inliers += p != 0 && p < s->planes->num_planes;
    }
    out->has_off_plane = is_significant(s, s->off.num, out->num_inliers - on_first, 3) ||
                         is_significant(s, num, num_inliers, 3);
}

/* Refines the best motion on all pairs with a bound that fits the noise. */
static void refine_to_noise(seeker *s) {
    double E[9];
    psfm_essential_from_motion(&s->best, E);
    psfm_essential_errors(s->pairs, E, s->squared);
    psfm_loss loss = {psfm_noise_bound(s->squared, s->pairs->num, 1, s->max_squared), 0.0};
    psfm_motion_refine(s->pairs, s->pairs->num_blocks, loss, 20, &s->best);
}

static psfm_status run_search(seeker *s, const psfm_motion_list *starts,
                              psfm_essential_found *out) {
    psfm_status status = PSFM_OK;
    if (s->planes->num_planes > 0)
        status = select_off_plane(s);
    if (status != PSFM_OK)
        return status;
    if (s->options->independent)
        sample_five_points(s, FIVE_POINT_MOST, PSFM_RANSAC_CONFIDENCE);
    else if (s->planes->num_planes > 0)
        seek_with_plane(s, starts);
    else
        sample_five_points(s, s->options->max_five_point, PSFM_RANSAC_CONFIDENCE);
    if (!isfinite(s->best_cost))
        return PSFM_OK;
    compare_reliefs(s);
    refine_to_noise(s);
    out->motion = s->best;
    status = collect_inliers(s, out);
    if (status != PSFM_OK)
        return status;
    compare_with_planes(s, out);
    /* a plane with parallax supports its motion, nothing else does but the rest of the scene */
    out->found = starts->num > 0 || out->has_off_plane ||
                 (s->options->independent && is_significant(s, s->pairs->num, out->num_inliers, 5));
    return PSFM_OK;
}

bool psfm_essential_is_determined(const psfm_essential_found *essential) {
    return essential->found && essential->has_off_plane &&
           essential->plane_share < PSFM_DEGENERATE_SHARE;
}

psfm_status psfm_essential_ransac(psfm_context *ctx, const psfm_ray_pairs *pairs,
                                  const psfm_plane_set *planes, const psfm_motion_list *starts,
                                  const psfm_two_view_options *options, psfm_rng *rng,
                                  psfm_essential_found *out) {
    seeker s = {.ctx = ctx,
                .pairs = pairs,
                .planes = planes,
                .options = options,
                .rng = rng,
                .max_squared = options->max_error_px * options->max_error_px,
                .best_cost = INFINITY};
    s.loss = psfm_search_loss(s.max_squared, pairs->num);
    s.scored = psfm_ray_pairs_head(pairs, MAX_SCORED_BLOCKS);
    memset(out, 0, sizeof *out);
    if (pairs->num < 5)
        return PSFM_OK;
    double side1 = sqrt(psfm_effective_area((const double(*)[2])pairs->xy1, pairs->num));
    double side2 = sqrt(psfm_effective_area((const double(*)[2])pairs->xy2, pairs->num));
    double chance = 2.0 * options->max_error_px * (1.0 / side1 + 1.0 / side2);
    s.log10_chance = log10(fmin(chance, 0.5));
    size_t lanes = pairs->num_blocks * PSFM_LANES;
    psfm_status status = PSFM_ALLOC(ctx, lanes, &s.squared);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, lanes, &s.idx);
    if (status == PSFM_OK)
        status = run_search(&s, starts, out);
    psfm_ray_pairs_free(&s.off);
    free(s.squared);
    free(s.idx);
    if (status != PSFM_OK || !out->found) {
        free(out->inliers);
        memset(out, 0, sizeof *out);
    }
    return status;
}
