/* Joint choice among the hypotheses of all edges, without an essential matrix.
 *
 * A false decomposition's normal depends on the baseline, so it differs from edge to edge, while
 * the true normal of a plane is the same in a shared camera whatever the other camera is. */
#ifndef PSFM_GRAPH_JOINT_CHOICE_H
#define PSFM_GRAPH_JOINT_CHOICE_H

#include "graph/pose_graph.h"

typedef struct {
    double normal_bandwidth_deg;   /* of the agreement of two normals in the shared camera */
    double rotation_bandwidth_deg; /* of the agreement of two planes of one pair, and with E */
    int min_overlap;               /* fewest shared keypoints for two homographies to be compared */
    int full_overlap;              /* shared keypoints from which a comparison counts in full */
    int full_off_plane;            /* off-plane inliers from which E counts in full */
    double floor;                  /* evidence that a contradiction leaves, above 0 */
    int iterations;
} psfm_joint_choice_options;

extern const psfm_option_table psfm_joint_choice_option_table;

/* Sets the weight of every hypothesis to its posterior confidence times the share that its plane
 * has of the edge's inliers; the weights of an edge sum to 1. confidence (num_hypotheses, may be
 * NULL) receives the posterior alone: those of one plane sum to 1. Deterministic, parallel over
 * planes. Cost: like psfm_similarity_build, plus O(iterations * links). */
psfm_status psfm_joint_choice(psfm_context *ctx, const psfm_joint_choice_options *options,
                              psfm_pose_graph *graph, double *confidence);

#endif
