/* The problem behind planarsfm/solve.h. */
#ifndef PSFM_SFM_PROBLEM_H
#define PSFM_SFM_PROBLEM_H

#include "core/matches/match_set.h"
#include "planarsfm/solve.h"

/* The set's views and cameras are kept sorted by id; its pairs hold image ids in view1 and view2,
 * in the order they came, until psfm_problem_compile makes them indices. Rays are not computed. */
struct psfm_problem {
    psfm_match_set set;
    size_t cameras_capacity, views_capacity, pairs_capacity;
    uint32_t *camera_ids; /* per view */
    size_t camera_ids_capacity;
    uint32_t *seen[2]; /* scratch, per keypoint: the round in which it was matched */
    size_t seen_capacity[2];
    uint32_t round;
};

/* A match set with indices and sorted pairs, without rays, that shares no memory with the problem.
 * Fails if a pair was added twice. Free in any case. */
psfm_status psfm_problem_compile(psfm_context *ctx, const psfm_problem *problem,
                                 psfm_match_set *set);

#endif
