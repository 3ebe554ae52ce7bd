/* Workers on the threads of a context. With a leader these are the threads of another context,
 * which has one more: the leader mostly sleeps. */
#include "core/tasks/workers.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"

typedef struct {
    const psfm_workers *workers;
    psfm_context **ctx; /* per worker */
} workers_run;

static psfm_status run_worker(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx, (void)worker;
    const workers_run *run = user;
    const psfm_workers *workers = run->workers;
    const int number = (int)index - (workers->lead != NULL);
    if (number < 0)
        workers->lead(workers->user);
    else
        workers->work(run->ctx[number], number, workers->user);
    return PSFM_OK;
}

static psfm_status make_contexts(psfm_context *ctx, psfm_context *lender, int num,
                                 psfm_context **out) {
    for (int k = 0; k < num; ++k) {
        out[k] = psfm_context_spare(ctx);
        if (out[k] == NULL)
            return psfm_fail_memory(ctx);
        psfm_context_borrow_threads(out[k], lender);
        psfm_context_set_threads(out[k], psfm_context_threads(ctx));
    }
    return PSFM_OK;
}

psfm_status psfm_workers_run(psfm_context *ctx, const psfm_workers *workers) {
    const int has_leader = workers->lead != NULL;
    psfm_context *beside = has_leader ? psfm_context_spare(ctx) : NULL;
    psfm_context *lender = has_leader ? beside : ctx;
    workers_run run = {.workers = workers};
    psfm_status status = has_leader && beside == NULL
                             ? psfm_fail_memory(ctx)
                             : PSFM_ALLOC(ctx, (size_t)workers->num_workers, &run.ctx);
    if (has_leader && status == PSFM_OK) {
        psfm_context_set_threads(beside, psfm_context_threads(ctx) + 1);
        status = psfm_parallel_prepare(beside);
        psfm_context_copy_message(ctx, beside);
    }
    if (status == PSFM_OK)
        status = make_contexts(ctx, lender, workers->num_workers, run.ctx);
    if (status == PSFM_OK)
        status = psfm_parallel_for(
            lender, NULL, (size_t)workers->num_workers + (has_leader ? 1 : 0), run_worker, &run);
    for (int k = 0; run.ctx != NULL && k < workers->num_workers; ++k)
        psfm_context_destroy(&run.ctx[k]);
    free(run.ctx);
    psfm_context_destroy(&beside);
    return status;
}
