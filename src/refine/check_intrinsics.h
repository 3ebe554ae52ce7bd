/* Whether the images agree with the intrinsics that somebody gave. */
#ifndef PSFM_REFINE_CHECK_INTRINSICS_H
#define PSFM_REFINE_CHECK_INTRINSICS_H

#include "refine/free_focals.h"

typedef struct {
    size_t num_checked, num_wrong; /* cameras */
    uint32_t worst;                /* index of the camera that is off by most deviations */
    double change;                 /* of its focal length: what it wants, as a share */
    double sigma;                  /* standard deviation of that */
    double before_px, after_px;    /* mean reprojection error of all, as given and with it free */
} psfm_intrinsics_check;

/* Judges the given focal lengths of a problem by what they do when they are free. One that wants to
 * change by more than its standard deviation allows is wrong. */
psfm_status psfm_check_intrinsics(psfm_context *ctx, const psfm_bundle_problem *problem,
                                  const psfm_free_focals *focals, psfm_intrinsics_check *out);

#endif
