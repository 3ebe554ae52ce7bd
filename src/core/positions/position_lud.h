/* Positions from directions by least unsquared deviations (LUD). */
#ifndef PSFM_POSITIONS_POSITION_LUD_H
#define PSFM_POSITIONS_POSITION_LUD_H

#include "core/base/options.h"
#include "core/rotations/rotation.h"

typedef struct {
    int max_iterations;    /* solves, per round; no option, as all but `rounds` */
    double tolerance;      /* stop when no centre moves by more than this share of the scene size */
    double residual_floor; /* smoothing of the norms at the end, relative to the mean baseline */
    int rounds; /* further solves with edges weighed by their angle; 0: plain LUD, as published */
    double angle_deg; /* smallest scale of that weighing */
} psfm_lud_options;

extern const psfm_option_table psfm_lud_option_table;

typedef struct {
    int iterations;
    double cost; /* sum of residual norms, of the weighed edges if rounds > 0 */
    bool converged;
} psfm_lud_stats;

/* Minimises sum || c_i - c_j - s_ij g_ij ||, s_ij >= 1, sum c = 0, by a primal-dual Newton
 * method on CHOLMOD.
 * direction[k] is the unit vector g of edge k from node2 to node1: c_1 - c_2 ~ g. All edges of
 * `topology` are used; the graph must be connected. centers: num_nodes x 3. Exact on noise-free
 * parallel-rigid problems. With options->rounds > 0 edges that miss their direction by an angle
 * are then weighed down and the problem solved again: plain LUD is drawn from the truth by many
 * wrong directions, since the longer an edge the more it saves by shrinking everything.
 * Not converging within max_iterations is no error. options NULL: defaults; stats may be NULL.
 * Serial; a sparse solve of 3 num_nodes unknowns per iteration. */
psfm_status psfm_positions_lud(psfm_context *ctx, const psfm_topology *topology,
                               const double (*direction)[3], const psfm_lud_options *options,
                               double (*centers)[3], psfm_lud_stats *stats);

#endif
