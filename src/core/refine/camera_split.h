/* Images that were taken for those of one camera, and whose points contradict that. */
#ifndef PSFM_REFINE_CAMERA_SPLIT_H
#define PSFM_REFINE_CAMERA_SPLIT_H

#include "core/refine/refinement.h"

/* Adjusts a copy with a focal length for each image of the cameras that may be split
 * (core/matches/camera_groups.h), and splits those whose images differ by more than chance: the
 * cameras of the match set, of the refinement and their priors. held are the priors from before
 * lenses were freed, which cameras that are split get back. *num is the number of new cameras.
 * Cost: an adjustment of a few steps, three if something seems to be split. */
psfm_status psfm_refinement_split_cameras(psfm_context *ctx, psfm_refinement *r,
                                          const psfm_camera_prior *held, size_t *num);

#endif
