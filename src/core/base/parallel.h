/* The one thread pool: parallel loops, and work for threads that would have none. */
#ifndef PSFM_BASE_PARALLEL_H
#define PSFM_BASE_PARALLEL_H

#include <stddef.h>

#include "core/base/context.h"

/* Does task `index`. `ctx` is the worker's own context (for messages), `worker` in
 * [0, psfm_parallel_workers(ctx, n)) tells which scratch memory to use. */
typedef psfm_status (*psfm_task_fn)(psfm_context *ctx, size_t index, int worker, void *user);

/* Number of workers a loop of n tasks will use. */
int psfm_parallel_workers(const psfm_context *ctx, size_t n);

/* Runs task 0 .. n-1 on the context's threads; inline with one thread. Costs a microsecond or two
 * beside the tasks, so these may be as short as tens of microseconds. Tasks write to their own
 * slots, so that the result does not depend on the schedule. On failure the status and message of
 * the failing task with the lowest index are returned; tasks after it may not have run. The caller
 * does task 0, as worker 0. If `stage` is not NULL, progress is reported before the first and after
 * each task and may cancel. */
psfm_status psfm_parallel_for(psfm_context *ctx, const char *stage, size_t n, psfm_task_fn task,
                              void *user);

/* Fails if the context cannot have any thread beside the calling one. For a loop whose first task
 * waits for the others; all else goes on with as many threads as the system gives. */
psfm_status psfm_parallel_prepare(psfm_context *ctx);

/* For a thread that waits for tasks which borrowed its context's threads: takes part in a loop that
 * one of them has, if it needs anybody. Returns whether it did. */
bool psfm_parallel_help(psfm_context *ctx);

/* Tasks in the background: threads do them while no loop has work for them. */
typedef struct psfm_job psfm_job;

/* Lets tasks 0 .. n-1 begin, in this order; `worker` says nothing. They are all that may be done,
 * not what must be: with one thread there is no job, and *out is NULL. */
psfm_status psfm_job_begin(psfm_context *ctx, size_t n, psfm_task_fn task, void *user,
                           psfm_job **out);
/* Leaves what has not begun, and does not wait for what has. NULL: nothing. */
void psfm_job_close(psfm_job *job);
/* Leaves what has not begun, waits for what has, and sets *job to NULL. Returns the first failure,
 * with its message in ctx, which may be NULL. */
psfm_status psfm_job_stop(psfm_context *ctx, psfm_job **job);

/* The threads of a context: it makes them with its first loop and ends them with itself. */
typedef struct psfm_threads psfm_threads;
void psfm_threads_destroy(psfm_threads **pool);

#endif
