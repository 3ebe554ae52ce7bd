/* Runner-ups of centres: sets of images that could be shifted, as the next of things that repeat at
 * even spaces would have it. */
#ifndef PSFM_AMBIGUITY_SHIFT_AMBIGUITY_H
#define PSFM_AMBIGUITY_SHIFT_AMBIGUITY_H

#include "core/ambiguity/ambiguity.h"
#include "core/positions/position_plane.h"

/* The nodes of the graph as they stand. */
typedef struct {
    uint32_t num;
    const double (*cam_from_world)[9];
    const double (*center)[3];
} psfm_placed_nodes;

/* For one component, whose centres were solved from the known baselines: the set that could be
 * shifted, if baselines that disagree ask for any shift, and all undecided ones, as
 * psfm_runner_ups_find lists them. They are added to `list`; nodes of a component that an undecided
 * one cuts get new numbers of parts (list->part may be NULL before). Deterministic. */
psfm_status psfm_shift_ambiguities_find(psfm_context *ctx, const psfm_known_baselines *known,
                                        const psfm_placed_nodes *nodes, double max_ratio,
                                        psfm_ambiguities *list);

#endif
