/* The search of points in photographs as tasks for any rank. */
#ifndef PSFM_REFINE_TRACK_TASKS_H
#define PSFM_REFINE_TRACK_TASKS_H

#include "refine/photo_work.h"
#include "refine/track_search.h"

extern const psfm_task_kind psfm_track_tasks;

/* Where everything is at the first rank. */
typedef struct {
    const psfm_track_scene *scene;
    const psfm_match_set *set;
    const psfm_structure *structure;
    const psfm_patch_options *patch;
    double max_shift_px;
    psfm_track_plan *plan;
} psfm_track_spread;

/* Does the searches of all groups of the plan, in this order, over the ranks of the context's
 * link. */
psfm_status psfm_tracks_spread(psfm_context *ctx, const psfm_track_spread *spread,
                               const size_t *order);

#endif
