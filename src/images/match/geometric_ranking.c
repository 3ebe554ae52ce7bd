/* Retrieval knows what is in two images, not where. So twice as many candidates as are wanted are
 * compared by their largest features, which are few, stable and spread over the image: mutual
 * nearest descriptors, each of which tells a turn and a change of scale. Right matches agree on
 * both (weak geometric consistency; Jegou, Douze and Schmid, 2008), wrong ones do not. The votes in
 * the fullest window of bins are the score, which does not depend on which image is the first. */
#include "images/match/geometric_ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/order_statistics.h"
#include "images/match/nearest_neighbour.h"
#include "images/match/pair_select.h"

enum {
    CANDIDATES = 2, /* for each place */
    TURN_BINS = 12, /* of 30 degrees, circular */
    SCALE_BINS = 8  /* of an octave each */
};

static const double max_ratio = 0.9; /* few features leave few second best ones */
static const double two_pi = 6.283185307179586;

typedef struct {
    float scale;
    uint32_t index;
} sized;

typedef struct {
    const psfm_sketch *sketches;
    psfm_pair_list pairs; /* that are looked at; sorted */
    uint32_t *score;      /* per pair */
    psfm_nearest_options options;
} ranking;

/* ---- sketches ---- */

static int by_scale(const void *a, const void *b) {
    const sized *p = a, *q = b;
    if (p->scale != q->scale)
        return p->scale > q->scale ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

psfm_status psfm_sketch_draw(psfm_context *ctx, const psfm_keypoint *keypoints,
                             const uint8_t *descriptors, size_t num, psfm_sketch *out) {
    const size_t size = PSFM_SKETCH_DESCRIPTOR;
    sized *order = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num, &order);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < num; ++k) {
        float scale = psfm_keypoint_scale(&keypoints[k]);
        order[k] = (sized){isfinite(scale) ? scale : 0.0F, (uint32_t)k};
    }
    if (num > 0)
        qsort(order, num, sizeof *order, by_scale);
    out->num = num < PSFM_SKETCH_FEATURES ? num : PSFM_SKETCH_FEATURES;
    for (size_t k = 0; k < out->num; ++k) {
        out->octave[k] = log2f(fmaxf(order[k].scale, 1e-6F));
        out->turn[k] = psfm_keypoint_orientation(&keypoints[order[k].index]);
        memcpy(out->descriptors + k * size, descriptors + order[k].index * size, size);
    }
    free(order);
    return PSFM_OK;
}

/* ---- votes ---- */

static size_t turn_bin(double turn) {
    double share = turn / two_pi - floor(turn / two_pi); /* NAN if the turn is none */
    return share >= 0.0 && share < 1.0 ? (size_t)(share * TURN_BINS) : 0;
}

static size_t scale_bin(double octaves) {
    double bin = floor(octaves + 0.5 * SCALE_BINS);
    return bin >= SCALE_BINS ? SCALE_BINS - 1 : bin > 0.0 ? (size_t)bin : 0;
}

/* Votes in the fullest window of two turns by two scales. */
static uint32_t fullest_window(uint32_t (*votes)[SCALE_BINS]) {
    uint32_t most = 0;
    for (size_t t = 0; t < TURN_BINS; ++t)
        for (size_t s = 0; s + 1 < SCALE_BINS; ++s) {
            const uint32_t *here = votes[t] + s, *next = votes[(t + 1) % TURN_BINS] + s;
            uint32_t sum = here[0] + here[1] + next[0] + next[1];
            most = sum > most ? sum : most;
        }
    return most;
}

static psfm_status vote_pair(psfm_context *ctx, size_t index, int worker, void *user) {
    ranking *r = user;
    const psfm_sketch *a = &r->sketches[r->pairs.pairs[index][0]];
    const psfm_sketch *b = &r->sketches[r->pairs.pairs[index][1]];
    uint32_t votes[TURN_BINS][SCALE_BINS] = {{0}};
    psfm_match_list list = {0};
    (void)worker;
    psfm_status status = psfm_nearest_match_u8(ctx, a->descriptors, a->num, b->descriptors, b->num,
                                               &r->options, &list);
    for (size_t k = 0; status == PSFM_OK && k < list.num; ++k) {
        uint32_t i = list.matches[k][0], j = list.matches[k][1];
        ++votes[turn_bin((double)b->turn[j] - (double)a->turn[i])]
               [scale_bin((double)b->octave[j] - (double)a->octave[i])];
    }
    r->score[index] = fullest_window(votes);
    psfm_match_list_free(&list);
    return status;
}

/* ---- ranks ---- */

/* A candidate at its place by retrieval. */
typedef struct {
    uint32_t score, rank, image;
} candidate;

static int by_score(const void *a, const void *b) {
    const candidate *p = a, *q = b;
    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    return p->rank < q->rank ? -1 : p->rank > q->rank;
}

static uint32_t score_of(const ranking *r, uint32_t i, uint32_t j) {
    const uint32_t pair[2] = {i < j ? i : j, i < j ? j : i};
    const uint32_t(*found)[2] =
        bsearch(pair, r->pairs.pairs, r->pairs.num, sizeof *r->pairs.pairs, psfm_compare_u32_pair);
    return r->score[found - (const uint32_t(*)[2])r->pairs.pairs];
}

/* Sorts an image's candidates and keeps the first `count`. */
static void rank_image(const ranking *r, uint32_t image, const uint32_t *near, size_t most,
                       size_t count, candidate *scratch, uint32_t *nearest) {
    size_t num = 0;
    for (size_t k = 0; k < most && near[k] != UINT32_MAX; ++k, ++num)
        scratch[k] = (candidate){score_of(r, image, near[k]), (uint32_t)k, near[k]};
    if (num > 1)
        qsort(scratch, num, sizeof *scratch, by_score);
    for (size_t k = 0; k < count; ++k)
        nearest[k] = k < num ? scratch[k].image : UINT32_MAX;
}

/* Compares all images with their candidates. */
static psfm_status compare_candidates(psfm_context *ctx, size_t n, const uint32_t *near,
                                      size_t most, ranking *r) {
    size_t capacity = 0;
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < n * most; ++k)
        if (near[k] != UINT32_MAX)
            status = psfm_pair_list_add(ctx, &r->pairs, &capacity, k / most, near[k]);
    psfm_pair_list_sort(&r->pairs);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, r->pairs.num, &r->score);
    return status == PSFM_OK ? psfm_parallel_for(ctx, NULL, r->pairs.num, vote_pair, r) : status;
}

psfm_status psfm_retrieve_ranked(psfm_context *ctx, const psfm_image_vectors *vectors,
                                 const psfm_sketch *sketches, size_t count, uint32_t *nearest) {
    size_t n = vectors->num, most = CANDIDATES * count < n ? CANDIDATES * count : n;
    ranking r = {.sketches = sketches};
    uint32_t *near = NULL;
    candidate *scratch = NULL;
    psfm_status status;
    if (most <= count)
        return psfm_retrieve_nearest(ctx, vectors, count, nearest);
    psfm_options_init(&psfm_nearest_option_table, &r.options);
    r.options.max_ratio = max_ratio;
    if ((status = PSFM_ALLOC(ctx, n * most, &near)) || (status = PSFM_ALLOC(ctx, most, &scratch)) ||
        (status = psfm_retrieve_nearest(ctx, vectors, most, near)) ||
        (status = compare_candidates(ctx, n, near, most, &r)))
        goto cleanup;
    for (size_t i = 0; i < n; ++i)
        rank_image(&r, (uint32_t)i, near + i * most, most, count, scratch, nearest + i * count);

cleanup:
    psfm_pair_list_free(&r.pairs);
    free(r.score);
    free(scratch);
    free(near);
    return status;
}
