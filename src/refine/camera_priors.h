/* What the adjustment is told about cameras, and what it tells the evidence. */
#ifndef PSFM_REFINE_CAMERA_PRIORS_H
#define PSFM_REFINE_CAMERA_PRIORS_H

#include "pose/bundle.h"
#include "view/match_set.h"

/* The priors of all cameras of a set, malloc'ed, by where their focal lengths come from. With
 * PSFM_REFINE_AUTO given cameras do not move and the others do; any other value is for all. */
psfm_status psfm_camera_priors_make(psfm_context *ctx, const psfm_match_set *set,
                                    const psfm_bundle_options *options, psfm_camera_prior **out);

/* Takes over adjusted cameras: where one has moved, the rays of all keypoints are computed anew. */
psfm_status psfm_take_cameras(psfm_context *ctx, const psfm_camera *cameras, psfm_match_set *set);

#endif
