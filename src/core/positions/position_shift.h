/* Sets of cameras that a repetition has put in the wrong place.
 *
 * Where things repeat at even spaces, as the bays of a facade, a false pair has the right rotation
 * and a baseline that is off by the space between two repetitions. No small step mends what such
 * pairs have pulled away: the cameras beyond them are to be moved all at once. */
#ifndef PSFM_POSITIONS_POSITION_SHIFT_H
#define PSFM_POSITIONS_POSITION_SHIFT_H

#include "core/positions/position_tree.h"

/* How far a baseline agrees that is off by `residual`: 1 if it fits, 1/2 at a tenth of its length.
 */
double psfm_baseline_agreement(const double residual[3], double length);

/* Baselines of known lengths between numbered nodes. */
typedef struct {
    const psfm_weighted_baseline *edges;
    uint32_t num_edges, num_nodes;
    uint64_t seed;
} psfm_shift_problem;

enum { PSFM_NUM_SHIFTS = 3 }; /* that are tried */

/* The vectors that at least `fewest` edges ask for that disagree, those with most weight first;
 * *num of them. An edge (a, b) asks that a, or all on its side, be moved by the vector or by its
 * inverse.
 */
psfm_status psfm_shifts_wanted(psfm_context *ctx, const psfm_shift_problem *problem,
                               const double *centers, uint32_t fewest,
                               double shift[PSFM_NUM_SHIFTS][3], int *num);

/* Weight times agreement of each edge, by which of its ends move: neither, b, a, both (see
 * core/labelling/labelling.h). */
void psfm_shift_weigh(const psfm_shift_problem *problem, const double *centers,
                      const double shift[3], double (*value)[4]);

/* Moves the set of nodes that, moved by a vector that edges ask for, gives the largest sum of
 * weight times agreement, if that is clearly more than before; *moved says whether. centers has
 * num_nodes x 3 entries. Deterministic, draws from the seed. Cost: a labelling of the graph for
 * each of a few vectors; none if edges that disagree do not agree among themselves. */
psfm_status psfm_centers_shift(psfm_context *ctx, const psfm_shift_problem *problem,
                               double *centers, bool *moved);

#endif
