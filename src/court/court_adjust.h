/* Bundle adjustment of a model that a drawing holds: points, and the lines of the drawing. */
#ifndef PSFM_COURT_COURT_ADJUST_H
#define PSFM_COURT_COURT_ADJUST_H

#include "core/refine/refine_poses.h"
#include "court/court_evidence.h"

/* Adjusts poses, points, planes and, as the options say, intrinsics of all models once more, with
 * the lines of the images that agree with the drawing (court->agrees, poses in their final turn)
 * as observations of known points. The frame is that of the drawing. Errors, uncertainties and
 * stability tests of `refined` are found anew, and cameras go back to the set. */
psfm_status psfm_court_adjust(psfm_context *ctx, const psfm_refine_options *options,
                              psfm_match_set *set, psfm_court_evidence *court,
                              psfm_pose_solution *solution, psfm_refined *refined);

#endif
