/* How far the poses of an adjusted bundle move when something about it changes: tests of how well
 * they are known by the observations themselves, not by the normal equations. */
#ifndef PSFM_REFINE_STABILITY_TESTS_H
#define PSFM_REFINE_STABILITY_TESTS_H

#include "core/refine/focal_stability.h"

typedef enum {
    PSFM_STABILITY_HALF_A,     /* one half of the points alone */
    PSFM_STABILITY_HALF_B,     /* the other half */
    PSFM_STABILITY_INTRINSICS, /* all points, with free intrinsics */
    PSFM_NUM_STABILITY_TESTS,
} psfm_stability_test_kind;

/* The poses of one test, in a gauge of its own. Owns its arrays. */
typedef struct {
    double (*cam_from_world)[9];
    double (*center)[3];
    bool *posed; /* per image: has enough observations in it */
    /* Decrease of the cost for each parameter that is freed, over the cost of a redundant residual:
     * about 1 where the intrinsics are right. Of the last test only. */
    double gain;
} psfm_stability_test;

/* Adjusts the halves (bundle_copy.h) of an adjusted problem, with `options` those of its
 * adjustment. The last test takes its poses out of `focals`. Free `test` in any case. Cost: less
 * than an adjustment. */
psfm_status psfm_stability_tests_run(psfm_context *ctx, const psfm_bundle_problem *problem,
                                     const psfm_bundle_options *options,
                                     psfm_free_intrinsics *focals,
                                     psfm_stability_test test[PSFM_NUM_STABILITY_TESTS]);
void psfm_stability_tests_free(psfm_stability_test test[PSFM_NUM_STABILITY_TESTS]);

#endif
