/* Runner-ups of a rotation consensus: sets of images that could be turned by a rotation of the
 * world that edges ask for, and single images that their other decompositions would turn. */
#ifndef PSFM_AMBIGUITY_ROTATION_AMBIGUITY_H
#define PSFM_AMBIGUITY_ROTATION_AMBIGUITY_H

#include "core/ambiguity/ambiguity.h"
#include "core/rotations/rotation_consensus.h"

/* For every connected component of the edges that agree the set that could be turned, if edges of
 * it ask for any turn, and all undecided ones, as psfm_runner_ups_find lists them; then the images
 * whose flip is undecided. cam_from_world and chosen are those of the consensus. `out` is
 * empty before; free it in any case. Deterministic. */
psfm_status psfm_rotation_ambiguities_find(psfm_context *ctx, const psfm_rotation_problem *problem,
                                           double max_ratio, double (*cam_from_world)[9],
                                           const uint32_t *chosen, psfm_ambiguities *out);

#endif
