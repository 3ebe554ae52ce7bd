/* How far the poses of an adjusted bundle move when something about it changes: probes of how well
 * they are known that ask the observations, not the normal equations. */
#ifndef PSFM_REFINE_STABILITY_TESTS_H
#define PSFM_REFINE_STABILITY_TESTS_H

#include "core/refine/focal_stability.h"

typedef enum {
    PSFM_PROBE_HALF_A,     /* one half of the points alone */
    PSFM_PROBE_HALF_B,     /* the other half */
    PSFM_PROBE_INTRINSICS, /* all points, with focal lengths free */
    PSFM_NUM_PROBES,
} psfm_probe_kind;

/* The poses of one probe, in a gauge of its own. Owns its arrays. */
typedef struct {
    double (*cam_from_world)[9];
    double (*center)[3];
    bool *posed; /* per image: has enough observations in it */
    /* Decrease of the cost for each camera, over the cost of a redundant residual: about 1 where
     * the intrinsics are right. Of the last probe only. */
    double gain;
} psfm_probe;

/* Adjusts the halves (bundle_copy.h) of an adjusted problem, with `options` those of its
 * adjustment. The last probe takes its poses out of `focals`, unless intrinsics moved before: then
 * it is left empty (arrays NULL). Free `probe` in any case. Cost: less than an adjustment. */
psfm_status psfm_probes_make(psfm_context *ctx, const psfm_bundle_problem *problem,
                             const psfm_bundle_options *options, psfm_free_focals *focals,
                             psfm_probe probe[PSFM_NUM_PROBES]);
void psfm_probes_free(psfm_probe probe[PSFM_NUM_PROBES]);

#endif
