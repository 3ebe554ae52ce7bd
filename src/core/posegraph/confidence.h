/* Choosing among the hypotheses of each edge, by setting their weights. */
#ifndef PSFM_POSEGRAPH_CONFIDENCE_H
#define PSFM_POSEGRAPH_CONFIDENCE_H

#include "core/posegraph/pose_graph.h"

typedef struct {
    double rotation_bandwidth_deg; /* of w = exp(-(eps / bandwidth)^2) */
    double floor;                  /* w is never below it */
    double inlier_power;           /* w is multiplied by (the plane's inliers)^power */
} psfm_essential_weight_options;

extern const psfm_option_table psfm_essential_weight_option_table;

/* The paper's confidences: w = max(exp(-eps^2(R^q, R^e)), floor) inliers^power; per homography the
 * decomposition nearer to the essential matrix is kept (the other gets 0), normalised to sum 1 over
 * the edge. Without an essential matrix the first decomposition of each homography is kept, the one
 * that the matches support better, with w = inliers^power: two decompositions of one homography
 * exclude each other and are never averaged. */
psfm_status psfm_weigh_by_essential(psfm_context *ctx, const psfm_essential_weight_options *options,
                                    psfm_pose_graph *graph);

/* The same with given rotations R_21 (num_edges x 9) in place of the essential matrices', for the
 * edges with `select` (num_edges; NULL: all). */
psfm_status psfm_weigh_by_rotation(psfm_context *ctx, const psfm_essential_weight_options *options,
                                   const double (*R_21)[9], const bool *select,
                                   psfm_pose_graph *graph);

/* The ablation's "confidence off": each hypothesis gets a uniform random weight, per homography
 * the decomposition with the larger one is kept, normalised over the edge. */
psfm_status psfm_weigh_randomly(psfm_context *ctx, uint64_t seed, psfm_pose_graph *graph);

#endif
