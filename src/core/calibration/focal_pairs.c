/* Focal lengths from fundamental matrices.
 *
 * Two views whose epipolar geometry is known give two equations for their focal lengths. Planes
 * need no such pair and are surer, but where there is none, a fundamental matrix is: cameras that
 * planes leave undetermined are adjusted to the pairs that have one (pair_motion.c,
 * pair_adjust.c). The search starts from several focal lengths common to all of them; the best
 * minimum is taken.
 *
 * Known degeneracies (optical axes that meet, motion without turns) need no case of their own: the
 * equations then depend on each other, and the standard deviation says so. It is that of the
 * adjustment, with principal points and distortions free within what is usual, widened by
 * - the scatter of the pairs, and of the camera's own, beyond what their matches say;
 * - what pairs of one image have in common, the errors of its keypoints: a camera's pairs are not
 *   independent, and count as if there were half as many, as homographies of planes do;
 * - other minima that fit a camera's pairs nearly as well, by their distance and likelihood;
 * - principal points and lenses that are never exactly as assumed. */
#include "core/calibration/focal_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/calibration/measured_planes.h"
#include "core/calibration/radial_search.h"
#include "core/linalg/loss.h"
#include "core/linalg/order_statistics.h"

#define FREE_SIGMA 0.6     /* of log f about the median of all */
#define CENTER_SIGMA 0.005 /* of principal points, as a share of the longer side */
#define CERTAIN 1e-3       /* standard deviation of what is given */
#define MODEL_SIGMA 0.005  /* by lenses that are not as assumed */
#define FIRST_FOCAL 0.5    /* of the starts, in units of the longer side, */
#define FOCAL_STEP 1.4142  /* and from one to the next */
#define START_ITERATIONS 12
#define LAST_ITERATIONS 30
#define LOSS_SCALE 9.0 /* excess of a pair at which it begins to count less */
#define AROUND 2.0     /* standard deviations to either side at which they are looked at again, */
#define GROWS 1.1      /* once more if they grow by this factor, */
#define MAX_LOOKS 4    /* so often at most */
#define OTHERS 8.0     /* equations for which all pairs count in those of a camera */
#define K1_SURE 5.0    /* standard deviations from which on k1 is more than chance */

enum { NUM_STARTS = 7 };

/* A minimum: focal lengths, and what it costs each camera's pairs. */
typedef struct {
    double *log_factor, *local_cost, *local_excess; /* per camera */
    double cost;
} minimum;

typedef struct {
    psfm_context *ctx;
    const psfm_match_set *set;
    const psfm_camera_knowledge *known;
    psfm_measured_pairs measured;
    psfm_pair_problem problem;
    uint32_t (*group)[2];
    psfm_lens_prior *priors;
    psfm_lens_posterior *posterior;
    uint32_t *num_pairs; /* per camera */
    double *excess;      /* per pair */
    double *scratch;     /* per camera */
    minimum minima[NUM_STARTS + 1];
} search;

static psfm_status list_wanted(psfm_context *ctx, const psfm_match_set *set,
                               const psfm_camera_knowledge *known, bool **wanted) {
    double scale[2];
    psfm_status status = PSFM_ALLOC(ctx, set->num_pairs, wanted);
    for (size_t p = 0; status == PSFM_OK && p < set->num_pairs; ++p) {
        uint32_t c1 = set->views[set->pairs[p].view1].camera_idx;
        uint32_t c2 = set->views[set->pairs[p].view2].camera_idx;
        (*wanted)[p] = (known[c1].free || known[c2].free) &&
                       (known[c1].free || isfinite(known[c1].sigma)) &&
                       (known[c2].free || isfinite(known[c2].sigma)) &&
                       psfm_image_scale(&set->cameras[c1], scale) &&
                       psfm_image_scale(&set->cameras[c2], scale);
    }
    return status;
}

/* Log of the focal length of a camera's rays, in units of the longer side. */
static double log_scale(const psfm_lens_prior *prior) {
    return 0.5 * log(prior->scale[0] * prior->scale[1]);
}

/* A camera of which nothing is known and that takes no part has a prior, too, so that the equations
 * have a solution. */
static psfm_lens_prior prior_of(const psfm_camera *camera, const psfm_camera_knowledge *known) {
    bool is_open = known->free || !isfinite(known->sigma);
    psfm_lens_prior prior = {.is_free = known->free,
                             .sigma = is_open ? FREE_SIGMA : fmax(known->sigma, CERTAIN),
                             .center_sigma = known->is_certain ? CERTAIN : CENTER_SIGMA,
                             .k1_sigma = known->k1_sigma};
    if (known->k1_sigma > 0.0)
        prior.k1 = -psfm_radial_strength(camera);
    psfm_image_scale(camera, prior.scale);
    prior.log_factor = known->free ? 0.0 : log(known->focal) - log_scale(&prior);
    return prior;
}

static psfm_status set_up(search *s) {
    const psfm_match_set *set = s->set;
    size_t num = set->num_cameras;
    psfm_status status;
    if ((status = PSFM_ALLOC(s->ctx, s->measured.num, &s->group)) != PSFM_OK ||
        (status = PSFM_ALLOC(s->ctx, s->measured.num, &s->excess)) != PSFM_OK ||
        (status = PSFM_ALLOC(s->ctx, num, &s->scratch)) != PSFM_OK ||
        (status = PSFM_ALLOC(s->ctx, num, &s->priors)) != PSFM_OK ||
        (status = PSFM_ALLOC(s->ctx, num, &s->posterior)) != PSFM_OK ||
        (status = PSFM_ALLOC(s->ctx, num, &s->num_pairs)) != PSFM_OK)
        return status;
    for (int k = 0; k <= NUM_STARTS; ++k)
        if ((status = PSFM_ALLOC(s->ctx, num, &s->minima[k].log_factor)) != PSFM_OK ||
            (status = PSFM_ALLOC(s->ctx, num, &s->minima[k].local_cost)) != PSFM_OK ||
            (status = PSFM_ALLOC(s->ctx, num, &s->minima[k].local_excess)) != PSFM_OK)
            return status;
    for (size_t c = 0; c < num; ++c)
        s->priors[c] = prior_of(&set->cameras[c], &s->known[c]);
    for (size_t k = 0; k < s->measured.num; ++k) {
        s->group[k][0] = set->views[s->measured.items[k].view1].camera_idx;
        s->group[k][1] = set->views[s->measured.items[k].view2].camera_idx;
        ++s->num_pairs[s->group[k][0]];
        s->num_pairs[s->group[k][1]] += s->group[k][1] != s->group[k][0];
    }
    s->problem = (psfm_pair_problem){
        s->measured.num, num, s->measured.items, (const uint32_t(*)[2])s->group, s->priors, NULL};
    return PSFM_OK;
}

/* Adjusts a minimum in place. */
static psfm_status adjust_minimum(search *s, int iterations, psfm_lens_posterior *posterior,
                                  minimum *m, psfm_pair_fit *fit) {
    *fit = (psfm_pair_fit){.excess = s->excess};
    psfm_status status =
        psfm_pair_adjust(s->ctx, &s->problem, iterations, m->log_factor, posterior, fit);
    if (status != PSFM_OK)
        return status;
    m->cost = fit->cost;
    memset(m->local_cost, 0, s->problem.num_groups * sizeof *m->local_cost);
    memset(m->local_excess, 0, s->problem.num_groups * sizeof *m->local_excess);
    for (size_t k = 0; k < s->problem.num_pairs; ++k)
        for (int side = 0; side < (s->group[k][0] == s->group[k][1] ? 1 : 2); ++side) {
            m->local_cost[s->group[k][side]] += psfm_cauchy(s->excess[k], LOSS_SCALE);
            m->local_excess[s->group[k][side]] += s->excess[k];
        }
    return PSFM_OK;
}

/* The minima from all starts; the best of them, adjusted to its end, is the last. */
static psfm_status find_minima(search *s, psfm_pair_fit *fit) {
    int best = 0;
    psfm_status status = PSFM_OK;
    minimum *last = &s->minima[NUM_STARTS];
    size_t num = s->problem.num_groups;
    for (int k = 0; status == PSFM_OK && k < NUM_STARTS; ++k) {
        double start = log(FIRST_FOCAL * pow(FOCAL_STEP, k));
        for (size_t c = 0; c < num; ++c)
            s->minima[k].log_factor[c] =
                s->known[c].free ? start - log_scale(&s->priors[c]) : s->priors[c].log_factor;
        status = adjust_minimum(s, START_ITERATIONS, NULL, &s->minima[k], fit);
        if (s->minima[k].cost < s->minima[best].cost)
            best = k;
    }
    memcpy(last->log_factor, s->minima[best].log_factor, num * sizeof *last->log_factor);
    return status == PSFM_OK ? adjust_minimum(s, LAST_ITERATIONS, s->posterior, last, fit) : status;
}

/* The median over the cameras that are searched. */
static double median_sigma(const search *s) {
    size_t num = 0;
    for (size_t c = 0; c < s->problem.num_groups; ++c)
        if (s->known[c].free && s->num_pairs[c] > 0)
            s->scratch[num++] = s->posterior[c].sigma;
    return psfm_median(s->scratch, num);
}

/* What the loss leaves of each pair at the last minimum, in place of its excess. */
static const double *weights_of(search *s) {
    for (size_t k = 0; k < s->problem.num_pairs; ++k)
        s->excess[k] = psfm_cauchy_weight(s->excess[k], LOSS_SCALE);
    return s->excess;
}

/* Standard deviations are those at the minimum, and far from it they may be larger: a turntable's
 * focal length has some minimum, where principal points seem not to matter. So all free focal
 * lengths are taken to either side by what they are thought to be unsure by, motions follow, and
 * the largest standard deviation counts, until it grows no more. */
static psfm_status look_around(search *s, double widening) {
    const minimum *last = &s->minima[NUM_STARTS];
    size_t num = s->problem.num_groups;
    double *shifted = NULL, shift = 0.0, before;
    psfm_lens_posterior *there = NULL;
    psfm_pair_problem problem = s->problem;
    problem.weight = weights_of(s);
    psfm_status status = PSFM_ALLOC(s->ctx, num, &shifted);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(s->ctx, num, &there);
    for (int round = 0; status == PSFM_OK && round < MAX_LOOKS; ++round) {
        before = shift;
        shift = AROUND * widening * median_sigma(s);
        if (!(shift > GROWS * before))
            break;
        for (int side = -1; status == PSFM_OK && side <= 1; side += 2) {
            psfm_pair_fit fit = {0};
            for (size_t c = 0; c < num; ++c)
                shifted[c] = last->log_factor[c] + (s->known[c].free ? side * shift : 0.0);
            status = psfm_pair_adjust(s->ctx, &problem, 0, shifted, there, &fit);
            for (size_t c = 0; status == PSFM_OK && c < num; ++c)
                s->posterior[c].sigma = fmax(s->posterior[c].sigma, there[c].sigma);
        }
    }
    free(shifted);
    free(there);
    return status;
}

/* How far other minima that fit the camera's pairs nearly as well are from the last. */
static double ambiguity_of(const search *s, size_t c, double variance) {
    const minimum *last = &s->minima[NUM_STARTS];
    double largest = 0.0;
    for (int k = 0; k < NUM_STARTS; ++k) {
        const minimum *m = &s->minima[k];
        double worse = fmax(m->local_cost[c] - last->local_cost[c], 0.0) / variance;
        double weight = exp(-0.25 * worse);
        largest = fmax(largest, weight * fabs(m->log_factor[c] - last->log_factor[c]));
    }
    return largest;
}

/* Whether the distortion of all lenses, or of one, is more than chance. */
static bool is_k1_sure(const search *s, const psfm_pair_fit *fit, double widening,
                       const psfm_pair_estimate *e) {
    bool sure = fabs(fit->common_k1) > K1_SURE * widening * fit->common_k1_sigma;
    for (size_t c = 0; c < s->problem.num_groups; ++c) {
        const psfm_camera_knowledge *known = &s->known[c];
        if (s->num_pairs[c] > 0 && known->free && known->k1_sigma > 0.0)
            sure = sure || fabs(e->k1[c] - s->priors[c].k1) > K1_SURE * e->k1_sigma[c];
    }
    return sure;
}

/* Pairs of one image share the errors of its keypoints: the variance that is lost by that. */
static double dependence_of(const search *s) {
    return fmax(1.0, (double)s->problem.num_pairs / (double)s->set->num_views);
}

/* Variance of the pairs of a camera, beside what their matches say: what is left of them compared
 * with the redundant equations, as if OTHERS more were like those of all. */
static double local_variance(const search *s, size_t c, double variance) {
    double num = 2.0 * (double)s->problem.num_pairs, free = 0.0;
    for (size_t g = 0; g < s->problem.num_groups; ++g)
        free += s->known[g].free && s->num_pairs[g] > 0;
    double left = 2.0 * (double)s->num_pairs[c] * fmax(0.0, 1.0 - free / num);
    double sum = s->minima[NUM_STARTS].local_excess[c] + OTHERS * variance;
    return fmax(variance, sum / (left + OTHERS));
}

static void fill_estimate(const search *s, const psfm_pair_fit *fit, psfm_pair_estimate *out) {
    double common = sqrt(dependence_of(s) * fit->variance);
    for (size_t c = 0; c < s->problem.num_groups; ++c) {
        double variance = local_variance(s, c, fit->variance);
        double widening = sqrt(dependence_of(s) * variance);
        double sigma = widening * s->posterior[c].sigma, other = ambiguity_of(s, c, variance);
        out->focal[c] = exp(s->minima[NUM_STARTS].log_factor[c] + log_scale(&s->priors[c]));
        if (s->num_pairs[c] > 0 && s->known[c].free)
            out->sigma[c] = sqrt(sigma * sigma + other * other + MODEL_SIGMA * MODEL_SIGMA);
        out->k1[c] = s->posterior[c].k1;
        out->k1_sigma[c] = fmin(widening * s->posterior[c].k1_sigma, s->known[c].k1_sigma);
    }
    out->asks_k1 = is_k1_sure(s, fit, common, out);
}

static psfm_status alloc_estimate(psfm_context *ctx, size_t num, psfm_pair_estimate *out) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, num, &out->focal)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &out->sigma)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &out->k1)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num, &out->k1_sigma)) != PSFM_OK)
        return status;
    for (size_t c = 0; c < num; ++c)
        out->sigma[c] = INFINITY;
    return PSFM_OK;
}

static void free_search(search *s) {
    psfm_measured_pairs_free(&s->measured);
    free(s->group);
    free(s->excess);
    free(s->scratch);
    free(s->priors);
    free(s->posterior);
    free(s->num_pairs);
    for (int k = 0; k <= NUM_STARTS; ++k) {
        free(s->minima[k].log_factor);
        free(s->minima[k].local_cost);
        free(s->minima[k].local_excess);
    }
}

psfm_status psfm_focal_from_pairs(psfm_context *ctx, const psfm_match_set *set,
                                  const psfm_two_view *two_views,
                                  const psfm_two_view_options *options,
                                  const psfm_camera_knowledge *known, psfm_pair_estimate *out) {
    search s = {.ctx = ctx, .set = set, .known = known};
    psfm_pair_fit fit = {0};
    bool *wanted = NULL;
    *out = (psfm_pair_estimate){0};
    psfm_status status;
    if ((status = alloc_estimate(ctx, set->num_cameras, out)) != PSFM_OK ||
        (status = list_wanted(ctx, set, known, &wanted)) != PSFM_OK ||
        (status = psfm_measured_pairs_init(ctx, set, two_views, wanted, options, &s.measured)) !=
            PSFM_OK ||
        (status = set_up(&s)) != PSFM_OK)
        goto cleanup;
    out->num_pairs = (uint32_t)s.measured.num;
    if (s.measured.num > 0)
        status = find_minima(&s, &fit);
    if (status == PSFM_OK && s.measured.num > 0)
        status = look_around(&s, sqrt(dependence_of(&s) * fit.variance));
    if (status == PSFM_OK && s.measured.num > 0)
        fill_estimate(&s, &fit, out);

cleanup:
    free(wanted);
    free_search(&s);
    if (status != PSFM_OK)
        psfm_pair_estimate_free(out);
    return status;
}

void psfm_pair_estimate_free(psfm_pair_estimate *estimate) {
    free(estimate->focal);
    free(estimate->sigma);
    free(estimate->k1);
    free(estimate->k1_sigma);
    *estimate = (psfm_pair_estimate){0};
}

/* Lenses of cameras that planes leave undetermined: their distortion moves points, not fundamental
 * matrices, so it is known to first order only, and is applied and estimated again until nothing
 * moves. A distortion that matches do not ask for stays away; it is in the standard deviations all
 * the same.
 */

#define K1_CONVERGED 0.1 /* of its standard deviation: a change that matters no more */
#define MAX_ROUNDS 5

static bool can_distort(const psfm_camera_knowledge *known) {
    return known->free && known->k1_sigma > 0.0;
}

/* Whether a lens that may have distortion has some. */
static bool is_distorted(const psfm_match_set *set, const psfm_camera_knowledge *known) {
    for (size_t c = 0; c < set->num_cameras; ++c)
        if (can_distort(&known[c]) && psfm_radial_strength(&set->cameras[c]) != 0.0)
            return true;
    return false;
}

/* Changes the distortion of the lenses by the estimate, and computes their rays anew; *moved says
 * whether that changed much. */
static psfm_status distort_lenses(psfm_context *ctx, psfm_match_set *set,
                                  const psfm_camera_knowledge *known,
                                  const psfm_pair_estimate *estimate, double *total, bool *moved) {
    *moved = false;
    for (size_t c = 0; c < set->num_cameras; ++c) {
        psfm_camera *camera = &set->cameras[c];
        if (!can_distort(&known[c]) || !isfinite(estimate->sigma[c]))
            continue;
        psfm_radial_set(camera, psfm_radial_strength(camera) + estimate->k1[c]);
        total[c] += estimate->k1[c];
        *moved = *moved || fabs(estimate->k1[c]) > K1_CONVERGED * estimate->k1_sigma[c];
    }
    return psfm_match_set_compute_rays(ctx, set, NULL);
}

psfm_status psfm_lenses_from_pairs(psfm_context *ctx, psfm_match_set *set,
                                   const psfm_two_view *two_views,
                                   const psfm_two_view_options *options,
                                   const psfm_camera_knowledge *known, psfm_pair_estimate *out) {
    double *total = NULL;
    bool again = true;
    *out = (psfm_pair_estimate){0};
    psfm_status status = PSFM_ALLOC(ctx, set->num_cameras, &total);
    for (int round = 0; status == PSFM_OK && again && round < MAX_ROUNDS; ++round) {
        psfm_pair_estimate_free(out);
        status = psfm_focal_from_pairs(ctx, set, two_views, options, known, out);
        again = status == PSFM_OK && (out->asks_k1 || is_distorted(set, known));
        if (again)
            status = distort_lenses(ctx, set, known, out, total, &again);
    }
    if (status == PSFM_OK) {
        free(out->k1);
        out->k1 = total;
    } else {
        free(total);
        psfm_pair_estimate_free(out);
    }
    return status;
}
