/* The one parallel loop. */
#ifndef PSFM_BASE_PARALLEL_H
#define PSFM_BASE_PARALLEL_H

#include <stddef.h>

#include "base/context.h"

/* Does task `index`. `ctx` is the worker's own context (for messages), `worker` in
 * [0, psfm_parallel_workers(ctx, n)) tells which scratch memory to use. */
typedef psfm_status (*psfm_task_fn)(psfm_context *ctx, size_t index, int worker, void *user);

/* Number of workers a loop of n tasks will use. */
int psfm_parallel_workers(const psfm_context *ctx, size_t n);

/* Runs task 0 .. n-1 on the context's threads; inline with one thread. Tasks write to their own
 * slots, so that the result does not depend on the schedule. On failure the status and message of
 * the failing task with the lowest index are returned; tasks after it may not have run. If
 * `stage` is not NULL, progress is reported before the first and after each task and may cancel. */
psfm_status psfm_parallel_for(psfm_context *ctx, const char *stage, size_t n, psfm_task_fn task,
                              void *user);

#endif
