/* Bundle adjustment of a model that a drawing holds: points, and the lines of the drawing. */
#ifndef PSFM_REFINE_COURT_ADJUST_H
#define PSFM_REFINE_COURT_ADJUST_H

#include "refine/refine_poses.h"

/* Adjusts poses, points, planes and, as the options say, intrinsics of all models once more, with
 * the lines of the images that agree with the drawing (evidence->court, poses in their final turn)
 * as observations of known points. The frame is that of the drawing. Errors, uncertainties and
 * probes of `refined` are found anew, and cameras go back to the evidence's set. */
psfm_status psfm_court_adjust(psfm_context *ctx, const psfm_refine_options *options,
                              psfm_evidence *evidence, psfm_pose_solution *solution,
                              psfm_refined *refined);

#endif
