/* Pairs two steps apart. A rule that goes by retrieval or by names misses pairs that overlap, and
 * their images mostly share a neighbour that was found. How well two images overlap is foretold
 * about equally well by the weaker of the two steps and by the keypoints that both steps share in
 * the middle; the first needs no matches, only their numbers.
 *
 * Images propose one after the other. What is at hand is the best support of all images two steps
 * from one, in an array over the images that is cleared by its own list of entries. */
#include "images/match/pair_expand.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

enum { MIN_VERIFIED = 30 }; /* matches of a pair that makes two images neighbours */

static const char *const kinds[] = {"auto", "on", "off", NULL};
static const psfm_option rows[] = {
    PSFM_OPTION_CHOICE(psfm_expand_options, kind, "expand", PSFM_EXPAND_AUTO, kinds,
                       "match images that share a verified neighbour as well; auto: where pairs "
                       "are by retrieval or position"),
};
const psfm_option_table psfm_expand_option_table = PSFM_OPTION_TABLE("pairs", rows);

bool psfm_pair_rule_expands(const char *rule, const psfm_expand_options *options) {
    if (options->kind != PSFM_EXPAND_AUTO)
        return options->kind == PSFM_EXPAND_ON;
    return psfm_pair_rule_needs_retrieval(rule) || psfm_pair_rule_needs_places(rule);
}

/* A neighbour, or an image two steps away. */
typedef struct {
    size_t best, sum; /* matches: the best way's weaker step, and the sum over all ways */
    uint32_t image;
} reached;

/* Neighbours of all images, one image after the other. */
typedef struct {
    size_t num;
    size_t *start; /* num + 1 entries */
    reached *neighbours;
    bool *was_tried; /* per image: with the one at hand */
    reached *far;    /* per image: from the one at hand; image is UINT32_MAX if not reached */
    reached *found;
} expansion;

static psfm_status find_neighbours(psfm_context *ctx, const psfm_pair_list *tried,
                                   const size_t *verified, size_t least, expansion *x) {
    size_t *next = NULL;
    psfm_status status = PSFM_ALLOC(ctx, x->num + 1, &next);
    for (size_t k = 0; status == PSFM_OK && k < 2 * tried->num; ++k)
        x->start[tried->pairs[k / 2][k % 2] + 1] += 1;
    for (size_t i = 0; status == PSFM_OK && i < x->num; ++i)
        x->start[i + 1] += x->start[i];
    if (status == PSFM_OK)
        memcpy(next, x->start, (x->num + 1) * sizeof *next);
    for (size_t k = 0; status == PSFM_OK && k < 2 * tried->num; ++k) {
        const uint32_t *pair = tried->pairs[k / 2];
        size_t support = verified[k / 2] < least ? 0 : verified[k / 2];
        x->neighbours[next[pair[k % 2]]++] = (reached){support, 0, pair[1 - k % 2]};
    }
    free(next);
    return status;
}

static void reach_image(expansion *x, size_t from, const reached *step, const reached *second,
                        size_t *num_found) {
    reached *far = &x->far[second->image];
    size_t support = step->best < second->best ? step->best : second->best;
    if (support == 0 || second->image == from || x->was_tried[second->image])
        return;
    if (far->image == UINT32_MAX) {
        *far = (reached){0, 0, second->image};
        x->found[(*num_found)++].image = second->image;
    }
    far->best = far->best < support ? support : far->best;
    far->sum += support;
}

static void mark_tried(expansion *x, size_t image, bool value) {
    for (size_t k = x->start[image]; k < x->start[image + 1]; ++k)
        x->was_tried[x->neighbours[k].image] = value;
}

/* Fills x->found with the images two steps from one; what was gathered is cleared again. */
static size_t find_far(expansion *x, size_t image) {
    size_t num = 0;
    mark_tried(x, image, true);
    for (size_t k = x->start[image]; k < x->start[image + 1]; ++k) {
        const reached *step = &x->neighbours[k];
        for (size_t j = x->start[step->image]; j < x->start[step->image + 1]; ++j)
            reach_image(x, image, step, &x->neighbours[j], &num);
    }
    mark_tried(x, image, false);
    for (size_t k = 0; k < num; ++k) {
        reached *far = &x->far[x->found[k].image];
        x->found[k] = *far;
        far->image = UINT32_MAX;
    }
    return num;
}

static int by_support(const void *a, const void *b) {
    const reached *p = a, *q = b;
    if (p->best != q->best)
        return p->best > q->best ? -1 : 1;
    if (p->sum != q->sum)
        return p->sum > q->sum ? -1 : 1;
    return p->image < q->image ? -1 : p->image > q->image;
}

static psfm_status propose_all(psfm_context *ctx, expansion *x, size_t most, psfm_pair_list *list) {
    psfm_status status = PSFM_OK;
    size_t capacity = 0;
    for (size_t i = 0; status == PSFM_OK && i < x->num; ++i) {
        size_t num = find_far(x, i);
        if (num > 1)
            qsort(x->found, num, sizeof *x->found, by_support);
        for (size_t k = 0; status == PSFM_OK && k < num && k < most; ++k)
            status = psfm_pair_list_add(ctx, list, &capacity, i, x->found[k].image);
    }
    psfm_pair_list_sort(list);
    return status;
}

psfm_status psfm_pair_expand(psfm_context *ctx, size_t num, const psfm_pair_list *tried,
                             const size_t *verified, size_t most, psfm_pair_list *added) {
    expansion x = {.num = num};
    psfm_status status;
    *added = (psfm_pair_list){0};
    if ((status = PSFM_ALLOC(ctx, num + 1, &x.start)) ||
        (status = PSFM_ALLOC(ctx, 2 * tried->num, &x.neighbours)) ||
        (status = PSFM_ALLOC(ctx, num, &x.was_tried)) || (status = PSFM_ALLOC(ctx, num, &x.far)) ||
        (status = PSFM_ALLOC(ctx, num, &x.found)) ||
        (status = find_neighbours(ctx, tried, verified, MIN_VERIFIED, &x)))
        goto cleanup;
    for (size_t i = 0; i < num; ++i)
        x.far[i].image = UINT32_MAX;
    status = propose_all(ctx, &x, most, added);

cleanup:
    free(x.start);
    free(x.neighbours);
    free(x.was_tried);
    free(x.far);
    free(x.found);
    if (status != PSFM_OK)
        psfm_pair_list_free(added);
    return status;
}
