/* Which pairs of images to match. */
#ifndef PSFM_MATCH_PAIR_SELECT_H
#define PSFM_MATCH_PAIR_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "match/likeness.h"
#include "match/places.h"

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
/* ... and beyond these: neighbours in the order of names, and those that look alike. */
#define PSFM_DEFAULT_PAIRS "sequential:5+retrieval:20"
/* The same where it is known of most photographs where they were taken. */
#define PSFM_DEFAULT_PAIRS_PLACED "sequential:5+gps:20+retrieval:10"

/* What is known of the images beside their order; NULL if it is not. `rank` finds the most alike in
 * place of psfm_likeness_nearest, with `source` as its last argument. */
typedef struct {
    const psfm_likeness *likeness;
    const psfm_places *places;
    psfm_status (*rank)(psfm_context *ctx, const psfm_likeness *likeness, size_t count,
                        uint32_t *alike, void *source);
    void *source;
} psfm_pair_hints;

/* Selects pairs of `num` images by a text:
 *   exhaustive     every pair
 *   sequential:K   each image with the K after it in the order given
 *   ring:K         the same, the order closed to a ring
 *   retrieval:K    each image with the K that look most like it
 *   gps:K          each image with the K that were taken nearest to it; one of which it is not
 * known where it was taken, with the K that look most like it RULE+RULE      the pairs of either
 *   file:PATH      the pairs of a text file, two image names a line, see psfm_pair_file_parse
 *   auto or NULL   see psfm_pair_rule
 * `names` are the images' names in that order, only needed for file:; rules whose hint is not there
 * select nothing. The caller frees the list. */
psfm_status psfm_pair_select(psfm_context *ctx, const char *text, const char *const *names,
                             size_t num, const psfm_pair_hints *hints, psfm_pair_list *list);

/* The rule that a text stands for with so many images, num_placed of them with a known place: the
 * text itself or, of auto and NULL, exhaustive up to 200 images and one of the defaults beyond. */
const char *psfm_pair_rule(const char *text, size_t num, size_t num_placed);
/* Whether a rule needs to know which images look alike, or where they were taken. */
bool psfm_pair_rule_needs_likeness(const char *rule);
bool psfm_pair_rule_needs_places(const char *rule);

/* Parses the contents of a pair file (COLMAP's match list): two names a line with white space
 * between them; empty lines and lines that begin with '#' are skipped. Names may contain spaces as
 * long as the line can be split into two known names in one way only. `path` is for messages. */
psfm_status psfm_pair_file_parse(psfm_context *ctx, const char *bytes, size_t size,
                                 const char *path, const char *const *names, size_t num,
                                 psfm_pair_list *list);

#endif
