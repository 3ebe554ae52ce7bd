/* Two-view geometries of many pairs as tasks for other ranks. */
#ifndef PSFM_TWOVIEW_TWO_VIEW_TASKS_H
#define PSFM_TWOVIEW_TWO_VIEW_TASKS_H

#include "tasks/tasks.h"
#include "twoview/two_view.h"

extern const psfm_task_kind psfm_two_view_tasks;

/* psfm_two_view_estimate_all over the ranks of the context's link; on failure some of `out` may be
 * filled. */
psfm_status psfm_two_view_spread(psfm_context *ctx, const psfm_match_set *set,
                                 const psfm_two_view_options *options, psfm_two_view *out);

#endif
