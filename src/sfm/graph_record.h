/* What OUT/graph.json tells about a reconstruction. */
#ifndef PSFM_SFM_GRAPH_RECORD_H
#define PSFM_SFM_GRAPH_RECORD_H

#include "formats/graph_file.h"
#include "sfm/state.h"

/* Gathers images, pairs, homographies with some of their inliers, the embedding, the tree and what
 * was kept, with the digits that the file has. Inliers are sampled evenly, so that a pair has some
 * dozens and the whole file a few hundred thousand at most. Free *out in any case. O(pairs +
 * inliers). */
psfm_status psfm_graph_record(psfm_context *ctx, const psfm_sfm *s, psfm_graph_file *out);

#endif
