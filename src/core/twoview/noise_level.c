/* The noise of keypoints, by the scale at which two-view models are least likely to be chance.
 *
 * With n matches of which k lie within T of a model, unrelated matches would do so with a
 * probability p(T) that grows with T^2 for a homography (an area in the other image) and with T for
 * an essential matrix (a strip along a line). The expected number of models that chance supports as
 * well, about C(n, k) p(T)^k (core/matches/ransac.h), is least where T takes in the noise and no
 * more: a smaller T loses inliers, a larger one pays for room that holds none (a contrario; Moisan,
 * Moulon and Monasse 2012). For normal noise that is at 2.7 standard deviations. From the bound
 * asked for it is doubled, or else halved, until the evidence of the sample, summed, falls. At the
 * best one each pair gives a standard deviation, from the lower quartile of the squared residuals
 * within twice the bound, which neither wrong matches nor points off a plane move much; their
 * median is the set's.
 *
 * A bound at which models are found by one pair in four only is no basis. Where brief searches find
 * none, most matches are wrong, and longer ones follow; where these find none either, nothing is
 * said. */
#include "core/twoview/noise_level.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/order_statistics.h"
#include "core/matches/ransac.h"
#include "core/twoview/essential.h"
#include "core/twoview/homography.h"
#include "core/twoview/point_spread.h"

enum {
    MAX_PAIRS = 24,    /* in the sample */
    MIN_PAIRS = 3,     /* that must have a say */
    MIN_MATCHES = 30,  /* of a pair, to tell a scale */
    MAX_MATCHES = 400, /* of a pair, that are looked at: more say the same */
    MAX_STEPS = 6,     /* doublings or halvings of the bound */
    BRIEF = 5000,      /* samples: usually pairs that need more need not have a say */
    LONG = 100000,     /* samples where brief searches tell nothing */
};

/* What one pair of the sample says at one bound. */
typedef struct {
    double evidence; /* - log10 of the false alarms of its better model; 0: it has none */
    double sigma_px; /* of that model's residuals */
} opinion;

typedef struct {
    const psfm_match_set *set;
    psfm_two_view_options options;
    size_t pair[MAX_PAIRS];
    size_t num_pairs;
    opinion opinions[MAX_PAIRS];
} sample;

/* Pairs with enough matches, spread evenly over the set. */
static void choose_pairs(const psfm_match_set *set, sample *s) {
    size_t num = 0, seen = 0;
    for (size_t p = 0; p < set->num_pairs; ++p)
        num += set->pairs[p].num_matches >= MIN_MATCHES;
    for (size_t p = 0; p < set->num_pairs && s->num_pairs < MAX_PAIRS; ++p) {
        if (set->pairs[p].num_matches < MIN_MATCHES)
            continue;
        if (num <= MAX_PAIRS || seen * MAX_PAIRS / num >= s->num_pairs)
            s->pair[s->num_pairs++] = p;
        ++seen;
    }
}

static double evidence_of(size_t num, size_t num_inliers, double p, size_t sample_size) {
    if (num_inliers <= sample_size)
        return 0.0;
    psfm_chance_group group = {num, num_inliers, log10(fmin(p, 0.5))};
    return fmax(-psfm_log10_false_alarms(&group, 1, sample_size), 0.0);
}

/* Standard deviation behind squared errors of so many coordinates. Reorders the values. */
static double find_sigma(double *squared, size_t num, int dimension, double bound_px) {
    double window = 4.0 * bound_px * bound_px;
    return sqrt(psfm_noise_bound(squared, num, dimension, window)) / PSFM_NOISE_BOUND_SIGMAS;
}

static psfm_status weigh_models(psfm_context *ctx, const psfm_correspondences *c,
                                const psfm_image_pair *images, const psfm_two_view *view,
                                double bound_px, opinion *out) {
    psfm_ray_pairs pairs = {0};
    double *squared = NULL, E[9];
    double area1 = images->size[0][0] * images->size[0][1];
    double area2 = images->size[1][0] * images->size[1][1];
    psfm_status status = psfm_ray_pairs_init(ctx, c, NULL, &pairs);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, pairs.num_blocks * PSFM_LANES, &squared);
    if (status == PSFM_OK && view->num_homographies > 0) {
        const psfm_homography *h = &view->homographies[0];
        double p = 3.141592653589793 * bound_px * bound_px * (1.0 / area1 + 1.0 / area2);
        out->evidence = evidence_of(pairs.num, h->num_inliers, p, 4);
        psfm_homography_errors(&pairs, h->H_21, squared);
        out->sigma_px = find_sigma(squared, pairs.num, 2, bound_px);
    }
    if (status == PSFM_OK && view->essential.found) {
        double strip = 2.0 * bound_px * hypot(images->size[1][0], images->size[1][1]) / area2;
        double evidence = evidence_of(pairs.num, view->essential.num_inliers, strip, 5);
        if (evidence > out->evidence) {
            psfm_motion motion;
            memcpy(motion.R_21, view->essential.R_21, sizeof motion.R_21);
            memcpy(motion.t_21, view->essential.t_21, sizeof motion.t_21);
            psfm_essential_from_motion(&motion, E);
            psfm_essential_errors(&pairs, E, squared);
            *out = (opinion){evidence, find_sigma(squared, pairs.num, 1, bound_px)};
        }
    }
    free(squared);
    psfm_ray_pairs_free(&pairs);
    return status;
}

/* Matches of a pair, at even spaces where there are many. `some` has room for MAX_MATCHES. */
static psfm_match_pair thin_out(const psfm_match_pair *pair, uint32_t (*some)[2]) {
    psfm_match_pair thin = *pair;
    if (pair->num_matches <= MAX_MATCHES)
        return thin;
    for (size_t k = 0; k < MAX_MATCHES; ++k)
        memcpy(some[k], pair->matches[k * pair->num_matches / MAX_MATCHES], sizeof some[k]);
    thin.matches = some;
    thin.num_matches = MAX_MATCHES;
    return thin;
}

static psfm_status ask_pair(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    sample *s = user;
    uint32_t some[MAX_MATCHES][2];
    const psfm_match_pair pair = thin_out(&s->set->pairs[s->pair[index]], some);
    const psfm_image_pair images = psfm_image_pair_of(s->set, &pair);
    psfm_correspondences c = {0};
    psfm_two_view view = {0};
    s->opinions[index] = (opinion){0};
    psfm_status status = psfm_correspondences_init(ctx, s->set, &pair, &c);
    if (status == PSFM_OK)
        status = psfm_two_view_estimate(ctx, &c, &images, &s->options, &view);
    if (status == PSFM_OK)
        status =
            weigh_models(ctx, &c, &images, &view, s->options.max_error_px, &s->opinions[index]);
    psfm_two_view_free(&view);
    psfm_correspondences_free(&c);
    return status;
}

/* Evidence of the whole sample at the bound of its options, and the median standard deviation. */
static psfm_status ask_pairs(psfm_context *ctx, sample *s, double *evidence,
                             psfm_noise_level *level) {
    double sigma[MAX_PAIRS];
    *level = (psfm_noise_level){0};
    *evidence = 0.0;
    psfm_status status = psfm_parallel_for(ctx, NULL, s->num_pairs, ask_pair, s);
    for (size_t k = 0; status == PSFM_OK && k < s->num_pairs; ++k) {
        *evidence += s->opinions[k].evidence;
        if (s->opinions[k].evidence > 0.0)
            sigma[level->num_pairs++] = s->opinions[k].sigma_px;
    }
    if (level->num_pairs >= MIN_PAIRS && 4 * level->num_pairs >= s->num_pairs)
        level->sigma_px = psfm_median(sigma, level->num_pairs);
    return status;
}

/* Goes on to bounds `step` times the last while the evidence grows, or is none. */
static psfm_status climb_bounds(psfm_context *ctx, double step, sample *s, double *best,
                                psfm_noise_level *out) {
    double first = s->options.max_error_px;
    psfm_status status = PSFM_OK;
    for (int k = 0; status == PSFM_OK && k < MAX_STEPS; ++k) {
        psfm_noise_level level;
        double evidence;
        s->options.max_error_px *= step;
        status = ask_pairs(ctx, s, &evidence, &level);
        if (status != PSFM_OK || (evidence <= *best && *best > 0.0))
            break;
        *best = evidence;
        *out = level;
    }
    s->options.max_error_px = first;
    return status;
}

/* The level from searches of so many samples. */
static psfm_status search_level(psfm_context *ctx, int max_samples, sample *s,
                                psfm_noise_level *out) {
    double best;
    s->options.max_iterations = max_samples;
    s->options.max_five_point = max_samples / 50;
    psfm_status status = ask_pairs(ctx, s, &best, out);
    double first = best;
    if (status == PSFM_OK)
        status = climb_bounds(ctx, 2.0, s, &best, out);
    if (status == PSFM_OK && best == first && best > 0.0)
        status = climb_bounds(ctx, 0.5, s, &best, out);
    return status;
}

psfm_status psfm_noise_level_measure(psfm_context *ctx, const psfm_match_set *set,
                                     const psfm_two_view_options *options, psfm_noise_level *out) {
    sample s = {.set = set, .options = *options};
    *out = (psfm_noise_level){0};
    s.options.max_homographies = 1;
    choose_pairs(set, &s);
    if (s.num_pairs < MIN_PAIRS)
        return PSFM_OK;
    psfm_status status = search_level(ctx, BRIEF, &s, out);
    if (status == PSFM_OK && out->sigma_px == 0.0)
        status = search_level(ctx, LONG, &s, out);
    return status;
}
