/* All steps of a refinement without photographs, one after the other. */
#ifndef PSFM_TESTS_REFINE_UTIL_H
#define PSFM_TESTS_REFINE_UTIL_H

#include "core/refine/refinement.h"

static inline psfm_status refine_poses(psfm_context *ctx, const psfm_refine_input *input,
                                       const psfm_refine_options *options,
                                       psfm_pose_solution *solution, psfm_refined *out) {
    psfm_refinement r;
    psfm_status status = psfm_refinement_begin(ctx, input, options, 0, solution, out, &r);
    if (status == PSFM_OK)
        status = psfm_refine_poses(ctx, &r);
    if (status == PSFM_OK)
        status = psfm_refinement_judge(ctx, &r);
    if (status == PSFM_OK)
        status = psfm_refinement_test_stability(ctx, &r);
    psfm_refinement_end(&r);
    return status;
}

#endif
