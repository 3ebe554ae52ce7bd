/* Positions from directions (part of libplanarsfm-core; conventions in homography.h). */
#ifndef PLANARSFM_POSITION_H
#define PLANARSFM_POSITION_H

#include "planarsfm/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    size_t struct_size;
    int rounds; /* 3: further solves with edges weighed down by the angle they are off; negative:
                   none, plain least unsquared deviations */
    double angle_deg;   /* 0.5: smallest scale of that weighing */
    int max_iterations; /* 100: solves, of each round */
    double tolerance;   /* 1e-6: ends when no centre moves by more than this share of the scene */
} psfm_lud_settings;

typedef struct {
    size_t struct_size;
    int iterations;
    bool converged;
    double cost; /* sum of the lengths of the residuals */
} psfm_lud_result;

/* Least unsquared deviations (LUD): minimises sum ||c_1 - c_2 - s g||, s >= 1, over centres
 * (num_nodes x 3, their sum 0) and the scales s of edges. direction (num_edges x 3) is the unit
 * vector g of each edge in the world, from the centre of its second node to that of its first: of a
 * relative pose X_2 = R_21 X_1 + t_21 it is R_2^T t_21, normalised. The graph must be connected,
 * and parallel rigid for a result that is unique up to scale (graph.h); weights are not read.
 * result may be NULL. Not to converge within max_iterations is no failure. */
PSFM_API psfm_status psfm_lud_positions(psfm_context *ctx, const psfm_graph *graph,
                                        const double *direction, const psfm_lud_settings *options,
                                        double *centers, psfm_lud_result *result);

#ifdef __cplusplus
}
#endif
#endif
