/* What is known of the intrinsics of a camera before its photographs are looked at. */
#ifndef PSFM_REFINE_INTRINSICS_PRIOR_H
#define PSFM_REFINE_INTRINSICS_PRIOR_H

#include "core/camera/camera_origin.h"
#include "core/refine/bundle_copy.h"

/* Copies an adjusted problem, and leaves all intrinsics open in it: focal length, aspect, principal
 * point and the first two coefficients of the distortion, by priors of where they come from and,
 * for what nobody gave, of real cameras. Points leave their planes: that ground is flat is no
 * observation. The copy is for covariances; `options`, those of the adjustment, are changed to
 * theirs. origins per camera; NULL: all are given. Free the copy in any case. */
psfm_status psfm_open_intrinsics(psfm_context *ctx, const psfm_bundle_problem *problem,
                                 const psfm_camera_origin *origins, psfm_bundle_options *options,
                                 psfm_bundle_copy *copy);

/* The model of a kind, perspective or fisheye, that has a place for all intrinsics above; a model
 * with more stays. */
psfm_camera_model psfm_large_model(psfm_camera_model own);

/* Standard deviations of the parameters of one camera, in its own model, from those of the model
 * that it has in the copy; NAN for what is not open. */
void psfm_sigmas_in_model(const psfm_camera *from, const double *sigma, psfm_camera_model model,
                          double *out);

#endif
