/* Which photographs are worth more features than they have. */
#ifndef PSFM_INTAKE_EFFORT_NEED_H
#define PSFM_INTAKE_EFFORT_NEED_H

#include "io/feature_store.h"

/* A pair that was matched. */
typedef struct {
    uint32_t image[2]; /* indices */
    size_t num_verified;
    double patches; /* what the patches that were aligned are worth, in verified matches */
} psfm_tried_pair;

/* Why an image may need more than it has, to be combined. */
enum {
    PSFM_NEED_CONNECTION =
        1,                  /* good pairs do not join it to most of the others, or few matches do */
    PSFM_NEED_EXACTNESS = 2 /* its three best pairs have too few verified matches together, and
                               not patches instead, and it hangs on others like that */
};

/* What each image needs for one of these causes; and the images that these should be matched with:
 * those of the three best pairs or, if there is no good pair, of all pairs, since a pair gains only
 * if both of its images do. needs has num_images entries. O(pairs). */
psfm_status psfm_effort_need(psfm_context *ctx, size_t num_images, const psfm_tried_pair *pairs,
                             size_t num_pairs, unsigned causes, psfm_need *needs);

#endif
