/* Focal lengths of all cameras from the epipolar geometries of their pairs.
 *
 * Each pair has two equations for its focal lengths: F with the right ones is an essential matrix
 * (Kruppa's equations, or two equal singular values). Here they are not written down. The errors of
 * a pair's matches are minimised over its motion alone (pair_motion.c), for F = K2^-T [t]x R K1^-1;
 * what the minimum costs more than that of a free F is, with the right focal lengths, chi-square
 * distributed with two degrees of freedom. Its sum over all pairs, each under a Cauchy loss, is
 * minimised over the logarithms of the focal lengths, by Levenberg and Marquardt with motions
 * eliminated. So each pair counts for what its matches say: a pair whose cameras look at one point
 * tells only one of the two numbers, one whose matches are all but on a plane tells little, and
 * nobody needs a threshold for either.
 *
 * Standard deviations come from the inverse of the normal equations, in which principal points and
 * k1 are free within what is usual. Where optical axes meet they are all that an equation may rest
 * on. */
#include "core/calibration/pair_adjust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/block_spd.h"
#include "core/linalg/levenberg.h"
#include "core/linalg/loss.h"
#include "core/linalg/order_statistics.h"

#define DIM PSFM_LENS_DIM
#define LOSS_SCALE 9.0   /* least scale of the loss, an excess */
#define LOOSE 4.0        /* its scale in medians while the start is rough */
#define TIGHT 2.0        /* and afterwards */
#define MOTION_STEPS 6   /* of a pair's motion each time */
#define START_STEPS 15   /* the first time */
#define TOLERANCE 1e-6   /* relative decrease of the last step */
#define MAX_LOG 0.3      /* of a step in a focal length */
#define COMMON_K1 0.3    /* standard deviation of the common one */
#define COMMON_FOCAL 1.0 /* and of the common log f */
#define FIXED 1e12       /* information of what is fixed */
#define MAX_TRIALS 8
#define MAX_FACTOR 3.0 /* log of the focal length over that of the rays, at most */
#define MAX_EXCESS 8.0 /* of a pair in the variance: four times what two numbers have */

typedef struct {
    psfm_motion *motions; /* per pair */
    double *excess;       /* per pair */
    double *log_factor;   /* per group */
} pair_state;

typedef struct {
    const psfm_pair_problem *p;
    psfm_block_pattern pattern; /* a block per group, and a last one for the common k1 */
    size_t *slot;               /* per pair: place of its block off the diagonal */
    psfm_block_spd *spd;
    pair_state now, trial;
    psfm_lens_information *information; /* per pair */
    double (*normal)[DIM * DIM];        /* per place of the pattern */
    double *rhs, *step, *scratch;
    double median_focal; /* log, in units of the longer side, of the free groups */
    double scale;        /* of the loss now */
    bool all;            /* principal points and k1 are free */
} adjustment;

/* Log of the focal length of the rays, in units of the longer side. */
static double log_scale(const psfm_lens_prior *prior) {
    return 0.5 * log(prior->scale[0] * prior->scale[1]);
}

static psfm_pair_lenses lenses_of(const psfm_pair_problem *p, size_t pair,
                                  const double *log_factor) {
    psfm_pair_lenses lenses;
    for (int side = 0; side < 2; ++side) {
        uint32_t g = p->group[pair][side];
        memcpy(lenses.scale[side], p->priors[g].scale, sizeof lenses.scale[side]);
        lenses.factor[side] = exp(log_factor[g]);
    }
    return lenses;
}

/* Motions from the fundamental matrices. */
static psfm_status start_pair(psfm_context *ctx, size_t k, int worker, void *user) {
    (void)ctx;
    (void)worker;
    adjustment *a = user;
    const psfm_measured_pair *pair = &a->p->pairs[k];
    psfm_pair_lenses lenses = lenses_of(a->p, k, a->now.log_factor);
    psfm_motion *motion = &a->now.motions[k];
    double cost = INFINITY;
    if (psfm_pair_motion_start(pair, &lenses, motion))
        cost = psfm_pair_motion_refine(pair, &lenses, START_STEPS, motion);
    a->now.excess[k] = isfinite(cost) ? fmax(cost - pair->free_cost, 0.0) : 1e9;
    return PSFM_OK;
}

/* Motions of the trial from those of now. */
static psfm_status try_pair(psfm_context *ctx, size_t k, int worker, void *user) {
    (void)ctx;
    (void)worker;
    adjustment *a = user;
    const psfm_measured_pair *pair = &a->p->pairs[k];
    psfm_pair_lenses lenses = lenses_of(a->p, k, a->trial.log_factor);
    a->trial.motions[k] = a->now.motions[k];
    double cost = psfm_pair_motion_refine(pair, &lenses, MOTION_STEPS, &a->trial.motions[k]);
    a->trial.excess[k] = isfinite(cost) ? fmax(cost - pair->free_cost, 0.0) : 1e9;
    return PSFM_OK;
}

static psfm_status inform_pair(psfm_context *ctx, size_t k, int worker, void *user) {
    (void)ctx;
    (void)worker;
    adjustment *a = user;
    psfm_pair_lenses lenses = lenses_of(a->p, k, a->now.log_factor);
    if (!psfm_pair_information(&a->p->pairs[k], &lenses, &a->now.motions[k], a->all,
                               &a->information[k]))
        memset(&a->information[k], 0, sizeof a->information[k]);
    return PSFM_OK;
}

static double median_excess(const adjustment *a) {
    memcpy(a->scratch, a->now.excess, a->p->num_pairs * sizeof *a->scratch);
    return psfm_median(a->scratch, a->p->num_pairs);
}

static double loss_scale(const adjustment *a, double medians) {
    return fmax(LOSS_SCALE, medians * median_excess(a));
}

/* How far a focal length is from its prior: if it is free, from the median of all free ones. Many
 * cameras that were each drawn a little to the same guess would be drawn far. */
static double off_prior(const adjustment *a, const pair_state *s, size_t g) {
    const psfm_lens_prior *prior = &a->p->priors[g];
    return s->log_factor[g] -
           (prior->is_free ? a->median_focal - log_scale(prior) : prior->log_factor);
}

static double total_cost(const adjustment *a, const pair_state *s, double scale) {
    double cost = 0.0;
    for (size_t k = 0; k < a->p->num_pairs; ++k)
        cost += psfm_cauchy(s->excess[k], scale);
    for (size_t g = 0; g < a->p->num_groups; ++g) {
        double off = off_prior(a, s, g) / a->p->priors[g].sigma;
        cost += off * off;
    }
    return cost;
}

static void find_median(adjustment *a) {
    size_t num = 0;
    for (size_t g = 0; g < a->p->num_groups; ++g)
        if (a->p->priors[g].is_free)
            a->scratch[num++] = a->now.log_factor[g] + log_scale(&a->p->priors[g]);
    a->median_focal = psfm_median(a->scratch, num);
}

/* Adds part (i, j) of a pair's information to a block of the normal equations. */
static void add_block(const psfm_lens_information *from, int i, int j, double weight, double *to) {
    for (int r = 0; r < DIM; ++r)
        for (int c = 0; c < DIM; ++c)
            to[DIM * r + c] += weight * from->N[DIM * i + r][DIM * j + c];
}

/* A value x of group g is p + c, c the common one, with a standard deviation: (x - p - c)^2 /
 * sigma^2. */
static void tie_to_common(adjustment *a, size_t g, int which, double p, double sigma) {
    size_t common = a->p->num_groups, corner = (DIM + 1) * (size_t)which;
    double inverse = 1.0 / (sigma * sigma);
    a->normal[a->pattern.row_begin[g]][corner] += inverse;
    a->normal[a->pattern.row_begin[common]][corner] += inverse;
    a->normal[a->pattern.row_begin[g + 1] - 1][corner] -= inverse;
    a->rhs[DIM * g + (size_t)which] += inverse * p;
    a->rhs[DIM * common + (size_t)which] -= inverse * p;
}

/* Priors on the diagonal; what is fixed gets something there and nothing else. While focal lengths
 * are searched the common one is their median; in the end it is as unknown as they are. */
static void add_priors(adjustment *a) {
    double fixed = a->all ? FIXED : 1.0;
    double *common = a->normal[a->pattern.row_begin[a->p->num_groups]];
    for (int k = 0; k < DIM; ++k)
        common[(DIM + 1) * k] = k == PSFM_LENS_K1      ? 1.0 / (COMMON_K1 * COMMON_K1)
                                : k == PSFM_LENS_FOCAL ? 1.0 / (COMMON_FOCAL * COMMON_FOCAL)
                                                       : 1.0;
    for (size_t g = 0; g < a->p->num_groups; ++g) {
        const psfm_lens_prior *prior = &a->p->priors[g];
        double *block = a->normal[a->pattern.row_begin[g]], off = off_prior(a, &a->now, g);
        if (a->all && prior->is_free) {
            tie_to_common(a, g, PSFM_LENS_FOCAL, -off, prior->sigma);
        } else {
            block[0] += 1.0 / (prior->sigma * prior->sigma);
            a->rhs[DIM * g] -= off / (prior->sigma * prior->sigma);
        }
        for (int k = PSFM_LENS_CENTER; k < PSFM_LENS_K1; ++k)
            block[(DIM + 1) * k] +=
                a->all ? 1.0 / (prior->center_sigma * prior->center_sigma) : fixed;
        if (a->all && prior->k1_sigma > 0.0)
            tie_to_common(a, g, PSFM_LENS_K1, prior->k1, prior->k1_sigma);
        else
            block[(DIM + 1) * PSFM_LENS_K1] += fixed;
    }
}

static psfm_status linearize_pairs(psfm_context *ctx, adjustment *a, double scale) {
    const psfm_pair_problem *p = a->p;
    psfm_status status = psfm_parallel_for(ctx, NULL, p->num_pairs, inform_pair, a);
    memset(a->normal, 0, a->pattern.row_begin[p->num_groups + 1] * sizeof *a->normal);
    memset(a->rhs, 0, DIM * (p->num_groups + 1) * sizeof *a->rhs);
    for (size_t k = 0; status == PSFM_OK && k < p->num_pairs; ++k) {
        const psfm_lens_information *from = &a->information[k];
        double weight = a->all && p->weight != NULL ? p->weight[k]
                                                    : psfm_cauchy_weight(a->now.excess[k], scale);
        uint32_t g1 = p->group[k][0], g2 = p->group[k][1];
        add_block(from, 0, 0, weight, a->normal[a->pattern.row_begin[g1]]);
        add_block(from, 1, 1, weight, a->normal[a->pattern.row_begin[g2]]);
        add_block(from, g1 <= g2 ? 0 : 1, g1 <= g2 ? 1 : 0, weight, a->normal[a->slot[k]]);
        if (g1 == g2)
            add_block(from, 1, 0, weight, a->normal[a->slot[k]]);
        for (int r = 0; r < DIM; ++r) {
            a->rhs[DIM * g1 + (size_t)r] -= weight * from->g[r];
            a->rhs[DIM * g2 + (size_t)r] -= weight * from->g[DIM + r];
        }
    }
    add_priors(a);
    return status;
}

static psfm_status factor_normal(psfm_context *ctx, adjustment *a, double damping) {
    for (size_t g = 0; g <= a->p->num_groups; ++g) {
        double block[DIM * DIM];
        size_t begin = a->pattern.row_begin[g];
        memcpy(block, a->normal[begin], sizeof block);
        for (int k = 0; k < DIM; ++k)
            block[(DIM + 1) * k] *= 1.0 + damping;
        psfm_block_spd_set(a->spd, begin, block);
        for (size_t k = begin + 1; k < a->pattern.row_begin[g + 1]; ++k)
            psfm_block_spd_set(a->spd, k, a->normal[k]);
    }
    return psfm_block_spd_factor(ctx, a->spd);
}

static void move_groups(adjustment *a) {
    for (size_t g = 0; g < a->p->num_groups; ++g) {
        double step = fmin(fmax(a->step[DIM * g], -MAX_LOG), MAX_LOG);
        a->trial.log_factor[g] = fmin(fmax(a->now.log_factor[g] + step, -MAX_FACTOR), MAX_FACTOR);
    }
}

static psfm_status attempt_step(psfm_context *ctx, void *user, double damping, double *cost) {
    adjustment *a = user;
    psfm_status status = factor_normal(ctx, a, damping);
    if (status == PSFM_OK)
        status = psfm_block_spd_solve(ctx, a->spd, 1, a->rhs, a->step);
    if (status != PSFM_OK)
        return status;
    move_groups(a);
    status = psfm_parallel_for(ctx, NULL, a->p->num_pairs, try_pair, a);
    *cost = total_cost(a, &a->trial, a->scale);
    return status;
}

static bool accept_step(void *user, double before, double after) {
    adjustment *a = user;
    (void)before, (void)after;
    pair_state swap = a->now;
    a->now = a->trial;
    a->trial = swap;
    return false;
}

static psfm_status linearize_loosely(psfm_context *ctx, void *user, bool is_loose, double *cost) {
    adjustment *a = user;
    a->scale = loss_scale(a, is_loose ? LOOSE : TIGHT);
    find_median(a);
    *cost = total_cost(a, &a->now, a->scale);
    return linearize_pairs(ctx, a, a->scale);
}

static psfm_status iterate_descent(psfm_context *ctx, adjustment *a, int max_iterations) {
    const psfm_descent descent = {a, 1e-3, &psfm_patient_damping, attempt_step, accept_step};
    const psfm_robust_descent robust = {max_iterations, MAX_TRIALS, TOLERANCE, TOLERANCE,
                                        linearize_loosely};
    return psfm_descend_robustly(ctx, &descent, &robust);
}

/* What is known of the lenses in the end. */
static psfm_status find_posterior(psfm_context *ctx, adjustment *a, psfm_lens_posterior *out,
                                  psfm_pair_fit *fit) {
    size_t *begin = NULL, num = a->p->num_groups, corner = (DIM + 1) * PSFM_LENS_K1;
    double *blocks = NULL;
    a->all = true;
    psfm_status status = linearize_pairs(ctx, a, loss_scale(a, TIGHT));
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num + 1, &begin);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, DIM * DIM * (num + 1), &blocks);
    for (size_t g = 0; status == PSFM_OK && g <= num; ++g)
        begin[g] = DIM * DIM * g;
    if (status == PSFM_OK)
        status = factor_normal(ctx, a, 0.0);
    const psfm_block_range range = {0, (uint32_t)num + 1, begin, blocks};
    if (status == PSFM_OK)
        status = psfm_block_spd_inverse(ctx, a->spd, &range);
    if (status == PSFM_OK)
        status = psfm_block_spd_solve(ctx, a->spd, 1, a->rhs, a->step);
    for (size_t g = 0; g < num; ++g) {
        const psfm_lens_prior *prior = &a->p->priors[g];
        out[g] = (psfm_lens_posterior){prior->sigma, prior->k1, prior->k1_sigma};
        if (status != PSFM_OK)
            continue; /* nothing is known beyond the priors */
        out[g].sigma = sqrt(fmax(blocks[DIM * DIM * g], 0.0));
        out[g].k1 = a->step[DIM * g + PSFM_LENS_K1];
        out[g].k1_sigma = sqrt(fmax(blocks[DIM * DIM * g + corner], 0.0));
    }
    fit->common_k1 = status == PSFM_OK ? a->step[DIM * num + PSFM_LENS_K1] : 0.0;
    fit->common_k1_sigma =
        status == PSFM_OK ? sqrt(fmax(blocks[DIM * DIM * num + corner], 0.0)) : COMMON_K1;
    free(begin);
    free(blocks);
    return status == PSFM_ERR_NUMERIC ? PSFM_OK : status;
}

/* Redundant equations of the pairs: two each, less the focal lengths that they find. */
static double count_left(const adjustment *a) {
    const psfm_pair_problem *p = a->p;
    double left = 2.0 * (double)p->num_pairs, *is_seen = a->scratch; /* per group */
    memset(is_seen, 0, p->num_groups * sizeof *is_seen);
    for (size_t k = 0; k < p->num_pairs; ++k)
        is_seen[p->group[k][0]] = is_seen[p->group[k][1]] = 1.0;
    for (size_t g = 0; g < p->num_groups; ++g)
        left -= p->priors[g].sigma > 0.1 ? is_seen[g] : 0.0;
    return fmax(left, 1.0);
}

/* The least variance that explains the excess of the pairs, of which none counts for more than
 * MAX_EXCESS times it, compared with the redundant equations. */
static double find_variance(const adjustment *a) {
    const psfm_pair_problem *p = a->p;
    double left = count_left(a), variance = 1.0, before;
    do {
        double sum = 0.0;
        before = variance;
        for (size_t k = 0; k < p->num_pairs; ++k)
            sum += fmin(a->now.excess[k], MAX_EXCESS * variance);
        variance = fmax(1.0, sum / left);
    } while (variance > before * (1.0 + 1e-3) && variance < 1e6);
    return variance;
}

typedef struct {
    uint32_t row, col;
} place;

static place place_of(const psfm_pair_problem *p, size_t k) {
    uint32_t g1 = p->group[k][0], g2 = p->group[k][1];
    return g1 < g2 ? (place){g1, g2} : (place){g2, g1};
}

/* Which blocks of the normal equations are not zero. */
static psfm_status make_pattern(psfm_context *ctx, adjustment *a) {
    const psfm_pair_problem *p = a->p;
    psfm_block_pattern *pattern = &a->pattern;
    place *places = NULL;
    size_t num = 0, kept = 0, most = 2 * p->num_groups + 2 + p->num_pairs;
    uint32_t num_blocks = (uint32_t)p->num_groups + 1;
    pattern->num_blocks = num_blocks;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, most, &places)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, most, &pattern->col)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_blocks + 1, &pattern->scalar_begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_blocks + 1, &pattern->row_begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_pairs, &a->slot)) != PSFM_OK)
        goto cleanup;
    for (uint32_t g = 0; g < num_blocks; ++g) {
        pattern->scalar_begin[g + 1] = DIM * (g + 1);
        places[num++] = (place){g, g};
        places[num++] = (place){g, num_blocks - 1};
    }
    for (size_t k = 0; k < p->num_pairs; ++k)
        places[num++] = place_of(p, k);
    qsort(places, num, sizeof *places, psfm_compare_u32_pair);
    for (size_t k = 0; k < num; ++k) {
        if (kept > 0 && psfm_compare_u32_pair(&places[kept - 1], &places[k]) == 0)
            continue;
        places[kept] = places[k];
        pattern->col[kept++] = places[k].col;
        ++pattern->row_begin[places[k].row + 1];
    }
    for (size_t g = 0; g < num_blocks; ++g)
        pattern->row_begin[g + 1] += pattern->row_begin[g];
    for (size_t k = 0; k < p->num_pairs; ++k) {
        place key = place_of(p, k);
        a->slot[k] =
            (size_t)((place *)bsearch(&key, places, kept, sizeof *places, psfm_compare_u32_pair) -
                     places);
    }
    status = psfm_block_spd_create(ctx, pattern, &a->spd);

cleanup:
    free(places);
    return status;
}

static psfm_status alloc_state(psfm_context *ctx, const psfm_pair_problem *p,
                               const double *log_factor, pair_state *s) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->num_pairs, &s->motions)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_pairs, &s->excess)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_groups, &s->log_factor)) != PSFM_OK)
        return status;
    memcpy(s->log_factor, log_factor, p->num_groups * sizeof *log_factor);
    return PSFM_OK;
}

static void free_state(pair_state *s) {
    free(s->motions);
    free(s->excess);
    free(s->log_factor);
}

static psfm_status set_up(psfm_context *ctx, adjustment *a, const double *log_factor) {
    const psfm_pair_problem *p = a->p;
    psfm_status status;
    if ((status = make_pattern(ctx, a)) != PSFM_OK ||
        (status = alloc_state(ctx, p, log_factor, &a->now)) != PSFM_OK ||
        (status = alloc_state(ctx, p, log_factor, &a->trial)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_pairs, &a->information)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, a->pattern.row_begin[p->num_groups + 1], &a->normal)) !=
            PSFM_OK ||
        (status = PSFM_ALLOC(ctx, DIM * (p->num_groups + 1), &a->rhs)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, DIM * (p->num_groups + 1), &a->step)) != PSFM_OK)
        return status;
    return PSFM_ALLOC(ctx, p->num_pairs + p->num_groups, &a->scratch);
}

psfm_status psfm_pair_adjust(psfm_context *ctx, const psfm_pair_problem *problem,
                             int max_iterations, double *log_factor, psfm_lens_posterior *posterior,
                             psfm_pair_fit *fit) {
    adjustment a = {.p = problem};
    psfm_status status = set_up(ctx, &a, log_factor);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, problem->num_pairs, start_pair, &a);
    if (status == PSFM_OK)
        find_median(&a);
    if (status == PSFM_OK)
        status = iterate_descent(ctx, &a, max_iterations);
    if (status == PSFM_OK && posterior != NULL)
        status = find_posterior(ctx, &a, posterior, fit);
    if (status == PSFM_OK) {
        fit->cost = total_cost(&a, &a.now, LOSS_SCALE);
        fit->variance = find_variance(&a);
        if (fit->excess != NULL)
            memcpy(fit->excess, a.now.excess, problem->num_pairs * sizeof *fit->excess);
        memcpy(log_factor, a.now.log_factor, problem->num_groups * sizeof *log_factor);
    }
    free_state(&a.now);
    free_state(&a.trial);
    psfm_block_pattern_free(&a.pattern);
    psfm_block_spd_destroy(&a.spd);
    free(a.slot);
    free(a.information);
    free(a.normal);
    free(a.rhs);
    free(a.step);
    free(a.scratch);
    return status;
}
