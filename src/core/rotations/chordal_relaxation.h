/* A start for rotation averaging that is no tree. */
#ifndef PSFM_ROTATIONS_CHORDAL_RELAXATION_H
#define PSFM_ROTATIONS_CHORDAL_RELAXATION_H

#include "core/rotations/rotation_average.h"

/* Rotations (num_nodes x 9) nearest to the minimum of sum w ||X_2 - R_21 X_1||^2 over 3 x 3
 * matrices, the first node of each connected component fixed to the identity. A node that only
 * edges without weight reach gets the identity. One sparse solve of 3 num_nodes unknowns. */
psfm_status psfm_chordal_relaxation(psfm_context *ctx, const psfm_relative_rotations *relative,
                                    double (*cam_from_world)[9]);

#endif
