/* Mutual nearest neighbours of SIFT descriptors: the result of a double loop, faster.
 *
 * The best and second-best products of every row and column are found first, in one pass
 * (images/match/nearest_score.c), without noting who they belong to: the partner of a row is then
 * the column whose best has the same value and whose product with the row is that value. Where
 * there are many descriptors, shortened ones (images/match/nearest_head.h) screen out products that
 * cannot matter; the result is the same. One task a pair; cost n1 n2 products. */
#include "images/match/nearest_neighbour.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/order_statistics.h"
#include "images/match/nearest_limit.h"

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(psfm_nearest_options, max_ratio, "max-ratio", 0.8, 0.01, 1.0,
                       "largest ratio of the best to the second-best descriptor distance"),
};
/* COLMAP's default, so that its users get the matches they know. */
static const psfm_nearest_options unlisted = {.max_distance = 0.7};
const psfm_option_table psfm_nearest_option_table =
    PSFM_OPTION_TABLE_FROM("matching", rows, unlisted);

void psfm_match_list_free(psfm_match_list *list) {
    free(list->matches);
    *list = (psfm_match_list){0};
}

typedef struct {
    psfm_nearest_set set1, set2;
    const psfm_nearest_limits *limits;
    psfm_nearest_scores scores;
} problem;

typedef struct {
    int32_t best;
    uint32_t idx;
} candidate;

static int by_best(const void *a, const void *b) {
    const candidate *p = a, *q = b;
    if (p->best != q->best)
        return p->best < q->best ? -1 : 1;
    return p->idx < q->idx ? -1 : p->idx > q->idx;
}

/* The descriptors of set 2 that pass, sorted by their best product. */
static psfm_status collect_candidates(psfm_context *ctx, const problem *p, candidate **out,
                                      size_t *num) {
    psfm_status status = PSFM_ALLOC(ctx, p->set2.n, out);
    *num = 0;
    for (size_t j = 0; status == PSFM_OK && j < p->set2.n; ++j)
        if (psfm_nearest_passes(p->limits, p->scores.best2[j], p->scores.second2[j]))
            (*out)[(*num)++] = (candidate){p->scores.best2[j], (uint32_t)j};
    if (status == PSFM_OK)
        qsort(*out, *num, sizeof **out, by_best);
    return status;
}

static void append_match(psfm_match_list *list, size_t i, size_t j) {
    list->matches[list->num][0] = (uint32_t)i;
    list->matches[list->num][1] = (uint32_t)j;
    ++list->num;
}

/* The partner of row i has the same best product, so few need to be looked at. */
static void match_mutual(const problem *p, const candidate *c, size_t num, psfm_match_list *list) {
    int32_t (*dot)(const uint8_t *, const uint8_t *) = psfm_nearest_kernel_choose()->dot;
    for (size_t i = 0; i < p->set1.n; ++i) {
        int32_t best = p->scores.best1[i];
        if (!psfm_nearest_passes(p->limits, best, p->scores.second1[i]))
            continue;
        const uint8_t *d = p->set1.descriptors + i * PSFM_SIFT_SIZE;
        const candidate first = {best, 0};
        for (size_t k = psfm_lower_bound(&first, c, num, sizeof *c, by_best);
             k < num && c[k].best == best; ++k) {
            if (dot(d, p->set2.descriptors + c[k].idx * (size_t)PSFM_SIFT_SIZE) == best) {
                append_match(list, i, c[k].idx);
                break;
            }
        }
    }
}

static psfm_status alloc_scores(psfm_context *ctx, size_t n1, size_t n2, int32_t **memory,
                                psfm_nearest_scores *scores) {
    psfm_status status = PSFM_ALLOC(ctx, 2 * (n1 + n2), memory);
    if (status == PSFM_OK)
        *scores =
            (psfm_nearest_scores){*memory, *memory + n1, *memory + 2 * n1, *memory + 2 * n1 + n2};
    return status;
}

static psfm_status find_matches(psfm_context *ctx, const problem *p, psfm_match_list *list) {
    candidate *candidates = NULL;
    size_t num = 0;
    psfm_status status = PSFM_ALLOC(ctx, p->set1.n, &list->matches);
    if (status == PSFM_OK)
        status = collect_candidates(ctx, p, &candidates, &num);
    if (status == PSFM_OK)
        match_mutual(p, candidates, num, list);
    free(candidates);
    return status;
}

/* The matches of two sets; the screen may be NULL. */
static psfm_status match_sets(psfm_context *ctx, problem *p, const psfm_nearest_screen *screen,
                              psfm_match_list *out) {
    psfm_match_list list = {0};
    int32_t *memory = NULL;
    psfm_status status = alloc_scores(ctx, p->set1.n, p->set2.n, &memory, &p->scores);
    if (status == PSFM_OK)
        status = psfm_nearest_score(ctx, &p->set1, &p->set2, screen, p->limits, &p->scores);
    if (status == PSFM_OK)
        status = find_matches(ctx, p, &list);
    free(memory);
    if (status != PSFM_OK)
        psfm_match_list_free(&list);
    *out = list;
    return status;
}

/* Where the full products are few, the shortened ones do not pay. */
bool psfm_nearest_wants_head(size_t num_descriptors) {
    return num_descriptors >= 1000;
}

static bool is_worth_screening(size_t n1, size_t n2) {
    return psfm_nearest_wants_head(n1) && psfm_nearest_wants_head(n2);
}

static psfm_status match_screened(psfm_context *ctx, problem *p, psfm_match_list *out) {
    const psfm_nearest_set sets[2] = {p->set1, p->set2};
    psfm_nearest_head heads[2] = {0};
    psfm_nearest_basis *basis = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &basis);
    if (status == PSFM_OK)
        status = psfm_nearest_basis_find(ctx, sets, 2, basis);
    for (int k = 0; status == PSFM_OK && k < 2; ++k)
        status = psfm_nearest_head_make(ctx, basis, &sets[k], &heads[k]);
    if (status == PSFM_OK)
        status = match_sets(ctx, p, &(psfm_nearest_screen){basis, &heads[0], &heads[1]}, out);
    psfm_nearest_head_free(&heads[0]);
    psfm_nearest_head_free(&heads[1]);
    free(basis);
    return status;
}

static psfm_status take_options(psfm_context *ctx, const psfm_nearest_options *options, problem *p,
                                psfm_nearest_limits *limits) {
    psfm_nearest_options o;
    psfm_options_init(&psfm_nearest_option_table, &o);
    if (options != NULL)
        o = *options;
    psfm_status status = psfm_options_check(ctx, &psfm_nearest_option_table, &o);
    if (status == PSFM_OK)
        psfm_nearest_limits_make(&(psfm_nearest_rule){(float)o.max_ratio, (float)o.max_distance},
                                 limits);
    p->limits = limits;
    return status;
}

psfm_status psfm_nearest_match_u8(psfm_context *ctx, const uint8_t *descriptors1, size_t n1,
                                  const uint8_t *descriptors2, size_t n2,
                                  const psfm_nearest_options *options, psfm_match_list *out) {
    problem p = {.set1 = {descriptors1, n1}, .set2 = {descriptors2, n2}};
    psfm_nearest_limits limits;
    *out = (psfm_match_list){0};
    psfm_status status = take_options(ctx, options, &p, &limits);
    if (status == PSFM_OK && (n1 > UINT32_MAX || n2 > UINT32_MAX))
        status = psfm_fail(ctx, PSFM_ERR_ARGUMENT, "more than 2^32 descriptors");
    if (status != PSFM_OK)
        return status;
    return is_worth_screening(n1, n2) ? match_screened(ctx, &p, out)
                                      : match_sets(ctx, &p, NULL, out);
}

/* ---- all pairs of a set of images ---- */

typedef struct {
    psfm_nearest_set *sets;
    psfm_nearest_heads known; /* as given, or those that follow */
    psfm_nearest_head *heads; /* empty for images that no pair needs screened */
    const psfm_nearest_head **list;
    bool *wanted; /* heads that some pair needs */
    psfm_nearest_basis basis;
    const psfm_pair_list *pairs;
    problem rules; /* the options */
    psfm_nearest_limits limits;
    psfm_match_list *out;
} pairs_job;

static psfm_status make_head(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    pairs_job *job = user;
    if (!job->wanted[index])
        return PSFM_OK;
    return psfm_nearest_head_make(ctx, &job->basis, &job->sets[index], &job->heads[index]);
}

static psfm_status match_pair(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const pairs_job *job = user;
    uint32_t a = job->pairs->pairs[index][0], b = job->pairs->pairs[index][1];
    problem p = job->rules;
    p.set1 = job->sets[a];
    p.set2 = job->sets[b];
    bool screened = is_worth_screening(p.set1.n, p.set2.n);
    psfm_match_list *out = &job->out[index];
    const psfm_nearest_screen screen = {job->known.basis, job->known.heads[a], job->known.heads[b]};
    psfm_status status = match_sets(ctx, &p, screened ? &screen : NULL, out);
    if (status != PSFM_OK)
        return status;
    /* the list was made for the worst case */
    void *less = realloc(out->matches, (out->num > 0 ? out->num : 1) * sizeof *out->matches);
    if (less != NULL)
        out->matches = less;
    return PSFM_OK;
}

/* Checks the sets and notes which of them will be screened. */
static psfm_status prepare_sets(psfm_context *ctx, const psfm_keypoint_set *sets, size_t num_sets,
                                pairs_job *job, bool *any_wanted) {
    for (size_t k = 0; k < num_sets; ++k) {
        const psfm_keypoint_set *set = &sets[k];
        if (set->num > 0 && (set->descriptors_u8 == NULL || set->descriptor_size != PSFM_SIFT_SIZE))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "image %zu has no descriptors of %d bytes", k,
                             PSFM_SIFT_SIZE);
        job->sets[k] = (psfm_nearest_set){set->descriptors_u8, set->num};
    }
    for (size_t k = 0; k < job->pairs->num; ++k) {
        uint32_t a = job->pairs->pairs[k][0], b = job->pairs->pairs[k][1];
        if (a >= num_sets || b >= num_sets)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "pair %zu names image %u of %zu", k,
                             a > b ? a : b, num_sets);
        if (is_worth_screening(job->sets[a].n, job->sets[b].n))
            job->wanted[a] = job->wanted[b] = *any_wanted = true;
    }
    return PSFM_OK;
}

/* Basis and heads for this call alone. */
static psfm_status make_heads(psfm_context *ctx, size_t num_sets, pairs_job *job) {
    psfm_status status = psfm_nearest_basis_find(ctx, job->sets, num_sets, &job->basis);
    return status == PSFM_OK ? psfm_parallel_for(ctx, NULL, num_sets, make_head, job) : status;
}

static psfm_status allocate_job(psfm_context *ctx, size_t num_sets, pairs_job *job) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, num_sets, &job->sets)) ||
        (status = PSFM_ALLOC(ctx, num_sets, &job->heads)) ||
        (status = PSFM_ALLOC(ctx, num_sets, &job->list)))
        return status;
    for (size_t k = 0; k < num_sets; ++k)
        job->list[k] = &job->heads[k];
    return PSFM_ALLOC(ctx, num_sets, &job->wanted);
}

psfm_status psfm_nearest_match_pairs(psfm_context *ctx, const psfm_keypoint_set *sets,
                                     size_t num_sets, const psfm_pair_list *pairs,
                                     const psfm_nearest_options *options,
                                     const psfm_nearest_heads *known, psfm_match_list *out) {
    pairs_job *job = NULL;
    bool any_wanted = false;
    psfm_status status = PSFM_ALLOC(ctx, 1, &job);
    if (status != PSFM_OK)
        return status;
    job->pairs = pairs;
    job->out = out;
    status = take_options(ctx, options, &job->rules, &job->limits);
    if (status == PSFM_OK)
        status = allocate_job(ctx, num_sets, job);
    job->known = known != NULL ? *known : (psfm_nearest_heads){&job->basis, job->list};
    if (status == PSFM_OK)
        status = prepare_sets(ctx, sets, num_sets, job, &any_wanted);
    if (status == PSFM_OK && any_wanted && known == NULL)
        status = make_heads(ctx, num_sets, job);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, "matching", pairs->num, match_pair, job);
    for (size_t k = 0; job->heads != NULL && k < num_sets; ++k)
        psfm_nearest_head_free(&job->heads[k]);
    for (size_t k = 0; status != PSFM_OK && k < pairs->num; ++k)
        psfm_match_list_free(&out[k]);
    free(job->sets);
    free(job->heads);
    free((void *)job->list);
    free(job->wanted);
    free(job);
    return status;
}
