/* Which pairs of images to match. */
#ifndef PSFM_MATCH_PAIR_SELECT_H
#define PSFM_MATCH_PAIR_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/context.h"
#include "core/linalg/geodetic.h"
#include "images/match/geometric_ranking.h"
#include "images/match/retrieval.h"

/* Places of `num` photographs in metres from one of them. Owns its array. */
typedef struct {
    double (*metres)[3]; /* NAN where there is none */
    size_t num, num_known;
} psfm_places;

void psfm_places_free(psfm_places *places);

/* From positions on the earth. A latitude that is NAN stands for none, and so does exactly 0 north,
 * 0 east, which receivers write without a fix. Altitudes count if all positions have one (NAN if
 * not). */
psfm_status psfm_places_init(psfm_context *ctx, const psfm_geodetic *at, size_t num,
                             psfm_places *out);

/* For each photograph the k nearest others, nearest first: num x k indices, UINT32_MAX where there
 * are no more, or where a photograph has no place. O(num^2). */
psfm_status psfm_places_nearest(psfm_context *ctx, const psfm_places *places, size_t k,
                                uint32_t *nearest);

/* Pairs of image indices, the lower first, sorted, each once. Owns its array. */
typedef struct {
    uint32_t (*pairs)[2];
    size_t num;
} psfm_pair_list;

void psfm_pair_list_free(psfm_pair_list *list);
/* Adds a pair at the end; sort when all are there. *capacity is that of the array. */
psfm_status psfm_pair_list_add(psfm_context *ctx, psfm_pair_list *list, size_t *capacity, size_t i,
                               size_t j);
/* Sorts the pairs and leaves each once. */
void psfm_pair_list_sort(psfm_pair_list *list);

/* Up to this many images all pairs are matched by default. */
#define PSFM_MAX_EXHAUSTIVE 200
/* ... and beyond these: neighbours in the order of names, and the most similar ones. */
#define PSFM_DEFAULT_PAIRS "sequential:5+retrieval:20"
/* The same where it is known of most photographs where they were taken. */
#define PSFM_DEFAULT_PAIRS_PLACED "sequential:5+gps:20+retrieval:10"

/* What is known of the images beside their order; NULL if it is not. */
typedef struct {
    const psfm_image_vectors *vectors;
    const psfm_sketch
        *sketches; /* one an image: with them, the retrieved ones are ranked by geometry */
    const psfm_places *places;
} psfm_pair_hints;

/* What a text may say, for the manual and for messages. */
#define PSFM_PAIR_RULES                                                                            \
    "exhaustive (every pair), sequential:K, ring:K (each image with the K after it), retrieval:K " \
    "(with the K that look most like it), gps:K (with the K taken nearest to it, by EXIF data), "  \
    "some of these joined by +, or file:PATH"

/* Selects pairs of `num` images by a text: PSFM_PAIR_RULES; auto or NULL, see psfm_pair_rule. "The
 * K after it" is in the order given; an image of which it is not known where it was taken is paired
 * by gps:K with the K that look most like it; a file has two image names a line, see
 * psfm_pair_file_parse. `names` are the images' names in that order, only needed for file:; rules
 * whose hint is not there select nothing. The caller frees the list. */
psfm_status psfm_pair_select(psfm_context *ctx, const char *text, const char *const *names,
                             size_t num, const psfm_pair_hints *hints, psfm_pair_list *list);

/* The rule that a text stands for with so many images, num_placed of them with a known place: the
 * text itself or, of auto and NULL, exhaustive up to 200 images and one of the defaults beyond. */
const char *psfm_pair_rule(const char *text, size_t num, size_t num_placed);
/* Whether a rule needs retrieval vectors, or to know where the images were taken. */
bool psfm_pair_rule_needs_retrieval(const char *rule);
bool psfm_pair_rule_needs_places(const char *rule);

/* Parses the contents of a pair file (COLMAP's match list): two names a line with white space
 * between them; empty lines and lines that begin with '#' are skipped. Names may contain spaces as
 * long as the line can be split into two known names in one way only. `path` is for messages. */
psfm_status psfm_pair_file_parse(psfm_context *ctx, const char *bytes, size_t size,
                                 const char *path, const char *const *names, size_t num,
                                 psfm_pair_list *list);

#endif
