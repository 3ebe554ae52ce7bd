/* Whether the images agree with the intrinsics that somebody gave. */
#ifndef PSFM_REFINE_CHECK_INTRINSICS_H
#define PSFM_REFINE_CHECK_INTRINSICS_H

#include "pose/bundle.h"

typedef struct {
    size_t num_checked, num_wrong; /* cameras */
    uint32_t worst;                /* index of the camera that is off by most deviations */
    double change;                 /* of its focal length: what it wants, as a share */
    double sigma;                  /* standard deviation of that */
    double before_px, after_px;    /* mean reprojection error of all, as given and with it free */
} psfm_intrinsics_check;

/* Adjusts a copy of the problem for a few steps with the focal lengths of all cameras free that do
 * not move otherwise. One that wants to change by more than its standard deviation allows is wrong.
 * The problem stays as it is. */
psfm_status psfm_check_intrinsics(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  const psfm_bundle_options *options, psfm_intrinsics_check *out);

#endif
