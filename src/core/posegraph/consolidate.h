/* One relative pose per edge from its weighted hypotheses. */
#ifndef PSFM_POSEGRAPH_CONSOLIDATE_H
#define PSFM_POSEGRAPH_CONSOLIDATE_H

#include "core/posegraph/pose_graph.h"

typedef struct {
    double R_21[9];
    double t_21[3]; /* unit direction; zero if not determined */
} psfm_relative_pose;

/* R = Proj_SO3(sum w R), t = Proj_S2(sum w t/|t|) over the hypotheses of each edge; parallel.
 * out has graph->num_edges entries. An edge whose weights are all zero, or whose weighted sum has
 * no nearest rotation, gets its heaviest hypothesis (the first on ties);
 * one without hypotheses its essential matrix, or the identity. */
psfm_status psfm_consolidate(psfm_context *ctx, const psfm_pose_graph *graph,
                             psfm_relative_pose *out);

#endif
