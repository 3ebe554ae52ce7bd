/* The distortion of a lens from the lines of a drawing that it bends. */
#ifndef PSFM_COURT_LENS_H
#define PSFM_COURT_LENS_H

#include "court/register.h"

/* Refines the distortion of the camera of a pose with the pose, from line residuals and a prior,
 * and the focal length if the view's is not fixed: pose->camera gets a model with distortion if it
 * has none, pose->sigma_distortion is set. Each round straightens the photograph with the lens so
 * far, so that more lines are near the drawing. *view becomes the one of the last lens. The pose
 * stays as it was if no better one is found. Cost: one psfm_court_view_init a round, three at most.
 */
psfm_status psfm_court_refine_lens(psfm_context *ctx, const psfm_image *image,
                                   const psfm_drawing *drawing, const psfm_court_options *options,
                                   psfm_court_view *view, psfm_court_pose *pose);

#endif
