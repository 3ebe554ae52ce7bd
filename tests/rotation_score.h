/* What the search for rotations climbs on, at given rotations. */
#ifndef PSFM_TEST_ROTATION_SCORE_H
#define PSFM_TEST_ROTATION_SCORE_H

#include "core/rotations/consensus_search.h"

/* The sum of supports, with typicality learnt from the candidates `typical` (per edge, UINT32_MAX
 * for none; NULL: from all candidates), and the candidates that agree. */
static inline psfm_status score_rotations(psfm_context *ctx, const psfm_rotation_problem *problem,
                                          const uint32_t *typical, double (*cam_from_world)[9],
                                          uint32_t *chosen, double *score) {
    psfm_consensus_search s;
    *score = 0.0;
    psfm_status status = psfm_consensus_init(ctx, problem, cam_from_world, &s);
    if (status == PSFM_OK) {
        psfm_consensus_learn_typical(&s, typical);
        *score = psfm_consensus_choose(&s, chosen);
    }
    psfm_consensus_free(&s);
    return status;
}

#endif
