/* The crew of a process on the threads of a context. With a leader these are another context's,
 * which has one more: the leader mostly sleeps. */
#include "core/tasks/workers.h"

#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"

typedef struct {
    const psfm_crew *crew;
    psfm_context **ctx; /* per worker */
} crew_run;

static psfm_status take_place(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx, (void)worker;
    const crew_run *run = user;
    const psfm_crew *crew = run->crew;
    const int number = (int)index - (crew->lead != NULL);
    if (number < 0)
        crew->lead(crew->user);
    else
        crew->work(run->ctx[number], number, crew->user);
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

psfm_status psfm_crew_run(psfm_context *ctx, const psfm_crew *crew) {
    const int has_leader = crew->lead != NULL;
    psfm_context *beside = has_leader ? psfm_context_spare(ctx) : NULL;
    psfm_context *lender = has_leader ? beside : ctx;
    crew_run run = {.crew = crew};
    psfm_status status = has_leader && beside == NULL
                             ? psfm_fail_memory(ctx)
                             : PSFM_ALLOC(ctx, (size_t)crew->num_workers, &run.ctx);
    if (has_leader && status == PSFM_OK) {
        psfm_context_set_threads(beside, psfm_context_threads(ctx) + 1);
        status = psfm_parallel_prepare(beside);
        psfm_context_copy_message(ctx, beside);
    }
    if (status == PSFM_OK)
        status = make_contexts(ctx, lender, crew->num_workers, run.ctx);
    if (status == PSFM_OK)
        status = psfm_parallel_for(lender, NULL, (size_t)crew->num_workers + (has_leader ? 1 : 0),
                                   take_place, &run);
    for (int k = 0; run.ctx != NULL && k < crew->num_workers; ++k)
        psfm_context_destroy(&run.ctx[k]);
    free(run.ctx);
    psfm_context_destroy(&beside);
    return status;
}
