/* Similarity of incident edges: S over the line graph of the pose graph, sparse. */
#ifndef PSFM_POSEGRAPH_SIMILARITY_H
#define PSFM_POSEGRAPH_SIMILARITY_H

#include "core/linalg/sparse.h"
#include "core/posegraph/pose_graph.h"

typedef struct {
    double normal_bandwidth_rad; /* of eta = exp(-(angle / bandwidth)^2) */
    double self;                 /* S_ee; the paper: 1 */
    double floor;                /* least S_ef of two edges that share a camera */
} psfm_similarity_options;

extern const psfm_option_table psfm_similarity_option_table;

/* S_ef = sum_qq' P^qq' eta(n^q, n^q') for edges e, f that share exactly one camera s, normals in
 * the frame of s, P ~ O w w' normalised to 1 over (q, q'), O the number of keypoints of s that are
 * inliers of both. Pairs of edges without overlap have S_ef = 0; what is below the floor is raised
 * to it; zeros have no entry. S_ee = self. Both triangles are stored, columns ascend.
 * Parallel over cameras; cost O(sum over cameras of degree^2 times the inlier counts). */
psfm_status psfm_similarity_build(psfm_context *ctx, const psfm_pose_graph *graph,
                                  const psfm_similarity_options *options, psfm_csr *S);

#endif
