/* One scale for sets of baselines that see different planes. */
#ifndef PSFM_POSITIONS_SCALE_MERGING_H
#define PSFM_POSITIONS_SCALE_MERGING_H

#include "core/posegraph/consolidate.h"
#include "core/positions/plane_scale.h"

typedef struct {
    const psfm_pose_graph *graph;
    const bool *keep;                    /* per edge; NULL: all */
    const double (*cam_from_world_R)[9]; /* per node */
    const psfm_relative_pose *edge_pose; /* per edge */
} psfm_scale_links_input;

/* Brings the scale components that share two or more cameras with the first one, or with one that
 * was brought to it, to its unit: their edges get the component 0. Those of a single edge and those
 * that share nothing are left as they are. */
psfm_status psfm_scale_join(psfm_context *ctx, const psfm_scale_links_input *input,
                            uint32_t num_components, psfm_baseline *baseline);

#endif
