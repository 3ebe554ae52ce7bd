/* Which photographs are worth more features than they have. */
#ifndef PSFM_INTAKE_EFFORT_NEED_H
#define PSFM_INTAKE_EFFORT_NEED_H

#include "io/feature_store.h"

/* A pair that was matched. */
typedef struct {
    uint32_t image[2]; /* indices */
    size_t num_verified;
} psfm_tried_pair;

/* What each image needs that its pairs do not hold well:
 *   - images whose three best pairs have too few verified matches together,
 *   - images that good pairs do not join to most of the others;
 * and the images that these should be matched with: those of the three best pairs or, if there is
 * no good pair, of all pairs, since a pair gains only if both of its images do. needs has
 * num_images entries. O(pairs). */
psfm_status psfm_effort_need(psfm_context *ctx, size_t num_images, const psfm_tried_pair *pairs,
                             size_t num_pairs, psfm_need *needs);

#endif
