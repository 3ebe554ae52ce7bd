/* The search of points in photographs as tasks for any rank. */
#ifndef PSFM_PHOTOMETRIC_TRACK_TASKS_H
#define PSFM_PHOTOMETRIC_TRACK_TASKS_H

#include "images/photometric/photo_tasks.h"
#include "images/photometric/track_plan.h"

extern const psfm_task_kind psfm_track_tasks;

/* Does all searches of the plan, between the views of the setup's set with the setup's poses, a
 * pair of views at a time in an order that reads photographs seldom. */
psfm_status psfm_tracks_run(psfm_context *ctx, psfm_photo_setup *setup,
                            const psfm_structure *structure, psfm_track_plan *plan);

#endif
