/* What should be seen, and is not: where a model joins things that are not together. */
#ifndef PSFM_VERDICT_SEEN_SHARE_H
#define PSFM_VERDICT_SEEN_SHARE_H

#include "core/verdict/image_features.h"

/* The least share, over cuts of a component's images in two, of the points on one side that images
 * on the other side should see and do; 1 where no cut has enough to tell by, or input->set is NULL.
 * O(pairs + images * pairs). */
psfm_status psfm_seen_share_find(psfm_context *ctx, const psfm_verdict_input *input,
                                 uint32_t component, double *share);

#endif
