/* Two-view geometries as tasks, for psfm_two_view_estimate_all. */
#ifndef PSFM_TWOVIEW_TWO_VIEW_TASKS_H
#define PSFM_TWOVIEW_TWO_VIEW_TASKS_H

#include "core/tasks/tasks.h"

/* The setup is a psfm_two_view_options, an item a pair with the rays of its matches, its result a
 * psfm_two_view. */
extern const psfm_task_kind psfm_two_view_tasks;

#endif
