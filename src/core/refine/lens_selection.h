/* Which numbers a lens has, by what the images say. */
#ifndef PSFM_REFINE_LENS_SELECTION_H
#define PSFM_REFINE_LENS_SELECTION_H

#include "core/bundle/bundle.h"
#include "core/camera/camera_origin.h"

/* Decides for each camera that moves which of its other intrinsics move, too: principal point,
 * distortion of one coefficient, of several, decentring, and the ratio of the two focal lengths. A
 * copy of the problem is adjusted for some steps with all of them free, then one with the simplest
 * of them. What goes farther than its standard deviation and chance allow is set free in `priors`,
 * which are the problem's, and where the camera's model has no place for it the problem's camera
 * and its prior get the next larger one, unless the camera's origin (NULL: none has one) says that
 * it keeps its model. The number of cameras with more freedom than before goes
 * to *num. Cost: up to four adjustments of a few steps. */
psfm_status psfm_choose_lenses(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_camera_origin *origins,
                               const psfm_bundle_options *options, psfm_camera_prior *priors,
                               size_t *num);

#endif
