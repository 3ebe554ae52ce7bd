/* Absolute rotations from all relative ones at once, robustly. */
#ifndef PSFM_ROTATIONS_ROTATION_AVERAGE_H
#define PSFM_ROTATIONS_ROTATION_AVERAGE_H

#include "core/base/context.h"
#include "core/rotations/rotation.h"
#include "planarsfm/rotation.h"

typedef struct {
    int loss;             /* psfm_rotation_loss; the robust one has two phases */
    int l1_iterations;    /* at most, of the first phase: sum of angles */
    int max_iterations;   /* of the second: Geman-McClure, or of another loss */
    double tolerance_deg; /* a phase stops when no rotation turns by more */
    double max_scale_deg; /* of the Geman-McClure loss, which follows the median residual */
    double min_scale_deg;
} psfm_rotation_average_options;

typedef struct {
    int l1_iterations, iterations;
    double scale_deg; /* of the robust loss at the end */
    bool converged;
} psfm_rotation_average_stats;

/* Relative rotations on the edges of a graph. */
typedef struct {
    const psfm_topology *topology;
    const double (*R_21)[9]; /* per edge */
    const double *weight;    /* per edge, >= 0; NULL: all 1 */
} psfm_relative_rotations;

/* Improves cam_from_world (num_nodes x 9), which holds a start, e.g. from a tree, so that
 * R_2 R_1^T is near R_21 for most edges by weight. The first node of each connected component keeps
 * its rotation. residual_rad (num_edges, may be NULL) receives the angle between R_2 R_1^T and R_21
 * of every edge, also of those with weight 0. options NULL: defaults; stats may be NULL. A start
 * with rotations that are wrong all over may end in a local minimum (see
 * core/rotations/rotation_consensus.h). One sparse solve of num_nodes unknowns per iteration; edges
 * in parallel. */
psfm_status psfm_rotations_average(psfm_context *ctx, const psfm_relative_rotations *relative,
                                   const psfm_rotation_average_options *options,
                                   double (*cam_from_world)[9], double *residual_rad,
                                   psfm_rotation_average_stats *stats);

#endif
