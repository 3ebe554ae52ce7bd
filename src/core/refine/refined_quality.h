/* What is known about a refined reconstruction. */
#ifndef PSFM_REFINE_REFINED_QUALITY_H
#define PSFM_REFINE_REFINED_QUALITY_H

#include "core/bundle/bundle.h"
#include "core/camera/camera_origin.h"
#include "core/refine/refine_poses.h"

/* Fills the errors of the points, the standard deviations of poses and intrinsics, and the check of
 * given ones, from the problem as the last adjustment with these options left it. What is not
 * determined is NAN. origins per camera; NULL: all are given. The bundle with freed focal lengths,
 * which the stability tests need as well, is left in `focals`, to be freed in any case. */
psfm_status psfm_refined_judge(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_camera_origin *origins,
                               const psfm_bundle_options *options,
                               const psfm_refine_control_options *control,
                               psfm_free_intrinsics *focals, psfm_refined *out);

/* Adjusts a copy of an adjusted problem for some steps without planes. *doming is how far the
 * middle of the main plane's points rises above their rim by that, as a share of the height of the
 * cameras above it. NAN if most points are on no one plane, or if no intrinsics move: nothing is
 * traded then. Warns where it is much. */
psfm_status psfm_doming_measure(psfm_context *ctx, const psfm_bundle_problem *problem,
                                const psfm_bundle_options *options, double *doming);

#endif
