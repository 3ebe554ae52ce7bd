/* The first rank's side of the link. */
#ifndef PSFM_TASKS_DISPATCH_H
#define PSFM_TASKS_DISPATCH_H

#include "core/tasks/scheduler.h"

/* Shares the tasks of a scheduler with the other ranks until all are committed or one failed.
 * Threads of this process may work on the scheduler at the same time. */
psfm_status psfm_dispatch(psfm_context *ctx, psfm_link *link, psfm_scheduler *scheduler);

#endif
