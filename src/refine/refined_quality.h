/* What is known about a refined reconstruction. */
#ifndef PSFM_REFINE_REFINED_QUALITY_H
#define PSFM_REFINE_REFINED_QUALITY_H

#include "refine/refine_poses.h"

/* Fills the errors of the points, the standard deviations of poses and refined intrinsics, and the
 * check of given ones, from the problem as the last adjustment with these options left it. What is
 * not determined is NAN. The bundle with focal lengths let go, which the probes want as well, is
 * left in `focals`, to be freed in any case. */
psfm_status psfm_refined_judge(psfm_context *ctx, const psfm_bundle_problem *problem,
                               const psfm_bundle_options *options,
                               const psfm_refine_control_options *control, psfm_free_focals *focals,
                               psfm_refined *out);

#endif
