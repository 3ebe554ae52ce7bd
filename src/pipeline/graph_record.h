/* What OUT/graph.json tells about a reconstruction. */
#ifndef PSFM_PIPELINE_GRAPH_RECORD_H
#define PSFM_PIPELINE_GRAPH_RECORD_H

#include "io/graph_file.h"
#include "pipeline/reconstruct.h"

/* Gathers images, pairs, homographies with some of their inliers, the embedding, the tree and what
 * was kept. photo_folder may be NULL. Inliers are sampled evenly, so that a pair has some dozens
 * and the whole file a few hundred thousand at most. Free *out in any case. O(pairs + inliers). */
psfm_status psfm_graph_record(psfm_context *ctx, const psfm_evidence *evidence,
                              const psfm_reconstruction *reconstruction, const char *photo_folder,
                              psfm_graph_file *out);

#endif
