/* Whether flat ground stays flat because the images say so, or because it is held. */
#ifndef PSFM_REFINE_BOW_H
#define PSFM_REFINE_BOW_H

#include "pose/bundle.h"

/* Adjusts a copy of an adjusted problem for some steps without planes. *bow is how far the middle
 * of the main plane's points rises above their rim by that, as a share of the height of the cameras
 * above it. NAN if most points are on no one plane, or if no intrinsics move: nothing is traded
 * then. Warns where it is much. */
psfm_status psfm_bow_measure(psfm_context *ctx, const psfm_bundle_problem *problem,
                             const psfm_bundle_options *options, double *bow);

#endif
