/* Workers of one process: threads that compute tasks and help with the loops inside them. */
#ifndef PSFM_TASKS_WORKERS_H
#define PSFM_TASKS_WORKERS_H

#include "core/base/context.h"

typedef struct {
    int num_workers;
    /* What a worker does, with a context of its own that reports to nobody. */
    void (*work)(psfm_context *ctx, int worker, void *user);
    /* What the calling thread does meanwhile; NULL: it is worker 0. */
    void (*lead)(void *user);
    void *user;
} psfm_workers;

/* Runs all of this at once, on the threads of the context or, with a leader, on as many beside the
 * calling one, and returns when all have ended. Threads that are no workers, or not any more, help
 * with loops. Fails without a call if the system does not give a leader any worker.
 */
psfm_status psfm_workers_run(psfm_context *ctx, const psfm_workers *workers);

#endif
