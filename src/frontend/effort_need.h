/* Which photographs need more features than they have. */
#ifndef PSFM_FRONTEND_EFFORT_NEED_H
#define PSFM_FRONTEND_EFFORT_NEED_H

#include "images/feature/effort.h"

/* A pair that was matched. */
typedef struct {
    uint32_t image[2]; /* indices */
    size_t num_verified;
    double patches; /* the weight of the patches that were aligned, in verified matches */
} psfm_tried_pair;

/* Why an image may need the next effort, to be combined. */
enum {
    PSFM_NEED_CONNECTION = 1, /* good pairs do not join it to most of the others */
    PSFM_NEED_SUPPORT = 2,    /* they do, but by few matches */
    PSFM_NEED_EXACTNESS = 4,  /* its three best pairs have too few verified matches together, and
                                 not patches instead, and it hangs on others like that */
    PSFM_NEED_CERTAINTY = 8   /* what came out is doubtful: all get normal effort, or the next one
                                 where many are joined by few matches; none counts as certain */
};

/* What an image has, and what it needs. */
typedef struct {
    psfm_effort_given given;
    psfm_effort needed; /* what it has, or more */
    bool is_joined;     /* by good pairs to most of the others */
    bool is_certain;    /* the same, by many matches */
} psfm_image_effort;

/* Finds what each image needs for one of these causes, up to the effort `most`. What it is to be
 * matched with gets as much: the images of its three best pairs or, if it has no good pair, of all
 * pairs, since a pair gains only if both of its images do. `given` is read. O(pairs). */
psfm_status psfm_effort_need(psfm_context *ctx, size_t num_images, const psfm_tried_pair *pairs,
                             size_t num_pairs, unsigned causes, psfm_effort most,
                             psfm_image_effort *images);

/* Whether there are photographs that normal effort does not connect for sure, or did not, and not
 * just a few strays. Among such every match may count. */
bool psfm_effort_is_hard(const psfm_image_effort *images, size_t num_images);

#endif
