/* The need of a photograph, from what its pairs came to.
 *
 * An image is supported by its best neighbours. Three of them are enough to fix it in all
 * directions, and more pairs see the same points again; so its support is the number of verified
 * matches in its three best pairs, which is on one scale for a ring of two neighbours and for all
 * pairs of a set. Measured on sets with known poses, images of a support of 2000 end as exact as
 * with the doubled image, whose features are three times as many.
 *
 * Below that, what more features would bring depends on what else there is. Let K be the support
 * and P the weight of the patches of three pairs, in matches. Information adds up, so g
 * times the features shrink standard deviations by the factor sqrt((K + P) / (g K + P)). Where
 * patches carry the planes that is next to 1, and the photograph is left as it is. And one weak
 * image between well-supported images is as exact as its own matches; only where weak images
 * support each other do errors add up from one to the next. So it is those that get the next
 * effort.
 *
 * Which pairs are true is another question, and numbers of matches decide it, not patches: a pair
 * to a duplicate has patches as well. A pair that is good makes one component of its two images;
 * what is not in the largest one has not been connected, whatever its support, and what is in it by
 * three pairs of few matches not surely. Where normal effort does not do for that, the set is hard,
 * and all its images get normal effort at least; but one photograph of something else among
 * hundreds does not make it so. High effort is for what normal effort does not connect, for what it
 * supports badly and, if the result is doubtful, for all where many are connected by few matches:
 * doubts about images with many matches are not of a kind that more of them would resolve. */
#include "frontend/effort_need.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"

#define NUM_BEST 3
#define MIN_SUPPORT 2000  /* verified matches of the best pairs together */
#define MIN_CERTAIN 600   /* the same, for an image that is connected for sure */
#define MIN_GOOD 100      /* verified matches of a pair that connects two images */
#define MIN_GAIN 0.1      /* of the standard deviations, by the features of normal effort */
#define MIN_GAIN_HIGH 0.3 /* by those of high effort, which cost three times as much */
#define LOOSE_SHARE                                                                             \
    0.25                /* of the images, joined by few matches, that make a doubtful set loose \
                         */
#define HARD_SHARE 0.05 /* of the images; fewer are strays */

/* The best pairs of an image, most verified matches first. */
typedef struct {
    size_t num_verified[NUM_BEST];
    uint32_t other[NUM_BEST];
    int num;
} best_pairs;

static void add_pair(best_pairs *best, uint32_t other, size_t num_verified) {
    int k = best->num < NUM_BEST ? best->num++ : NUM_BEST - 1;
    if (best->num == NUM_BEST && k == NUM_BEST - 1 && best->num_verified[k] > num_verified)
        return;
    for (; k > 0 && best->num_verified[k - 1] < num_verified; --k) {
        best->num_verified[k] = best->num_verified[k - 1];
        best->other[k] = best->other[k - 1];
    }
    best->num_verified[k] = num_verified;
    best->other[k] = other;
}

static bool has_good_pair(const best_pairs *best) {
    return best->num > 0 && best->num_verified[0] >= MIN_GOOD;
}

static size_t support_of(const best_pairs *best) {
    size_t sum = 0;
    for (int k = 0; k < best->num; ++k)
        sum += best->num_verified[k];
    return sum;
}

/* Marks images that good pairs join to most of the others, and those that many matches do. */
static psfm_status find_joined(psfm_context *ctx, size_t num_images, const psfm_tried_pair *pairs,
                               size_t num_pairs, const best_pairs *best,
                               psfm_image_effort *images) {
    uint32_t *sets = NULL, num_sets = 0, n = (uint32_t)num_images;
    psfm_status status = PSFM_ALLOC(ctx, num_images, &sets);
    if (status != PSFM_OK)
        return status;
    psfm_sets_init(sets, n);
    for (size_t k = 0; k < num_pairs; ++k)
        if (pairs[k].num_verified >= MIN_GOOD)
            psfm_sets_unite(sets, pairs[k].image[0], pairs[k].image[1]);
    status = psfm_sets_label(ctx, sets, n, sets, &num_sets);
    for (uint32_t i = 0; status == PSFM_OK && i < n; ++i) {
        images[i].is_joined = sets[i] == 0;
        images[i].is_certain = sets[i] == 0 && (double)support_of(&best[i]) >= MIN_CERTAIN;
    }
    free(sets);
    return status;
}

static psfm_effort next_of(psfm_effort reached) {
    return reached == PSFM_EFFORT_LOW ? PSFM_EFFORT_NORMAL : PSFM_EFFORT_HIGH;
}

/* Whether the features of the next effort would make an image clearly more exact that has `total`
 * matches, patches included, `support` of them of keypoints. */
static bool is_weak(double support, double total, const psfm_effort_given *given) {
    const double least = given->reached == PSFM_EFFORT_LOW ? MIN_GAIN : MIN_GAIN_HIGH;
    return support < MIN_SUPPORT &&
           sqrt(total / (total + (given->growth - 1.0) * support)) < 1.0 - least;
}

static bool has_weak_neighbour(const best_pairs *best, const bool *weak) {
    for (int k = 0; k < best->num; ++k)
        if (weak[best->other[k]])
            return true;
    return false;
}

/* Keeps the largest of the values. */
static void add_support(double values[NUM_BEST], double value) {
    for (int k = 0; k < NUM_BEST; ++k) {
        const double less = fmin(values[k], value);
        values[k] = fmax(values[k], value);
        value = less;
    }
}

/* The support of each image, patches included: the three of its pairs that have most. */
static psfm_status find_support(psfm_context *ctx, size_t num_images, const psfm_tried_pair *pairs,
                                size_t num_pairs, double *total) {
    double(*best_matches)[NUM_BEST] = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num_images, &best_matches);
    for (size_t k = 0; status == PSFM_OK && k < num_pairs; ++k)
        for (int e = 0; e < 2; ++e)
            add_support(best_matches[pairs[k].image[e]],
                        (double)pairs[k].num_verified + pairs[k].patches);
    for (size_t i = 0; status == PSFM_OK && i < num_images; ++i)
        total[i] = best_matches[i][0] + best_matches[i][1] + best_matches[i][2];
    free(best_matches);
    return status;
}

/* Gives weak images whose neighbours are weak as well what they need. */
static psfm_status find_weak(psfm_context *ctx, size_t num_images, const psfm_tried_pair *pairs,
                             size_t num_pairs, const best_pairs *best, psfm_image_effort *images) {
    double *total = NULL;
    bool *weak = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num_images, &total);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_images, &weak);
    if (status == PSFM_OK)
        status = find_support(ctx, num_images, pairs, num_pairs, total);
    for (size_t i = 0; status == PSFM_OK && i < num_images; ++i)
        weak[i] = is_weak((double)support_of(&best[i]), total[i], &images[i].given);
    for (size_t i = 0; status == PSFM_OK && i < num_images; ++i) {
        if (weak[i] && has_weak_neighbour(&best[i], weak))
            images[i].needed = next_of(images[i].given.reached);
    }
    free(weak);
    free(total);
    return status;
}

/* Images that those in need should be matched with get as much. */
static psfm_status raise_partners(psfm_context *ctx, size_t num_images,
                                  const psfm_tried_pair *pairs, size_t num_pairs,
                                  const best_pairs *best, psfm_image_effort *images) {
    psfm_effort *own = NULL; /* of images in need; auto: of others */
    psfm_status status = PSFM_ALLOC(ctx, num_images, &own);
    for (size_t i = 0; status == PSFM_OK && i < num_images; ++i)
        own[i] = images[i].needed > images[i].given.reached ? images[i].needed : PSFM_EFFORT_AUTO;
    for (size_t i = 0; status == PSFM_OK && i < num_images; ++i)
        for (int k = 0; k < best[i].num; ++k)
            if (best[i].num_verified[k] > 0 && own[i] > images[best[i].other[k]].needed)
                images[best[i].other[k]].needed = own[i];
    for (size_t k = 0; status == PSFM_OK && k < num_pairs; ++k)
        for (int e = 0; e < 2; ++e) {
            const uint32_t i = pairs[k].image[e], j = pairs[k].image[1 - e];
            if (!has_good_pair(&best[i]) && own[i] > images[j].needed)
                images[j].needed = own[i];
        }
    free(own);
    return status;
}

/* Whether few matches join many images to the others. */
static bool is_loose_set(const psfm_image_effort *images, size_t num_images) {
    size_t num = 0;
    for (size_t i = 0; i < num_images; ++i)
        num += !images[i].is_certain;
    return (double)num >= LOOSE_SHARE * (double)num_images;
}

bool psfm_effort_is_hard(const psfm_image_effort *images, size_t num_images) {
    size_t num = 0;
    for (size_t i = 0; i < num_images; ++i)
        num += images[i].given.reached == PSFM_EFFORT_HIGH ||
               (images[i].given.reached == PSFM_EFFORT_NORMAL && !images[i].is_certain);
    return num > 0 && (double)num >= HARD_SHARE * (double)num_images;
}

/* What an image needs to be joined to the others, beside how exact it is. */
static psfm_effort need_by_connections(const psfm_image_effort *image, unsigned causes,
                                       bool is_hard, bool is_loose) {
    const psfm_effort reached = image->given.reached;
    const bool is_doubtful = (causes & PSFM_NEED_CERTAINTY) != 0;
    if (((causes & PSFM_NEED_CONNECTION) != 0 && !image->is_joined) ||
        ((causes & PSFM_NEED_SUPPORT) != 0 && !image->is_certain) || (is_doubtful && is_loose))
        return next_of(reached);
    return (is_hard || is_doubtful) && reached < PSFM_EFFORT_NORMAL ? PSFM_EFFORT_NORMAL : reached;
}

psfm_status psfm_effort_need(psfm_context *ctx, size_t num_images, const psfm_tried_pair *pairs,
                             size_t num_pairs, unsigned causes, psfm_effort most,
                             psfm_image_effort *images) {
    best_pairs *best = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num_images, &best);
    for (size_t k = 0; status == PSFM_OK && k < num_pairs; ++k)
        for (int e = 0; e < 2; ++e)
            add_pair(&best[pairs[k].image[e]], pairs[k].image[1 - e], pairs[k].num_verified);
    if (status == PSFM_OK)
        status = find_joined(ctx, num_images, pairs, num_pairs, best, images);
    const bool is_hard = status == PSFM_OK && psfm_effort_is_hard(images, num_images);
    const bool is_loose = status == PSFM_OK && is_loose_set(images, num_images);
    for (size_t i = 0; status == PSFM_OK && i < num_images; ++i)
        images[i].needed = need_by_connections(&images[i], causes, is_hard, is_loose);
    if (status == PSFM_OK && (causes & PSFM_NEED_EXACTNESS) != 0)
        status = find_weak(ctx, num_images, pairs, num_pairs, best, images);
    for (size_t i = 0; status == PSFM_OK && i < num_images; ++i) {
        if (images[i].needed > most)
            images[i].needed = most > images[i].given.reached ? most : images[i].given.reached;
        images[i].is_certain = images[i].is_certain && (causes & PSFM_NEED_CERTAINTY) == 0;
    }
    if (status == PSFM_OK)
        status = raise_partners(ctx, num_images, pairs, num_pairs, best, images);
    free(best);
    return status;
}
