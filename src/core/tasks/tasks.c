/* Running a list of tasks: by the threads of this process and, with a link, by those of the other
 * ranks.
 *
 * Alone, the calling thread computes like the others and commits between its own tasks. With a link
 * it only hands out and commits (dispatch.c), and all computing is left to threads beside it: the
 * ranks need an answer at once. Whoever gets no more tasks helps the others with loops inside
 * theirs. */
#include "core/tasks/tasks.h"

#include "core/base/parallel.h"
#include "core/base/timer.h"
#include "core/tasks/dispatch.h"
#include "core/tasks/scheduler.h"
#include "core/tasks/workers.h"

/* Between two looks for a loop to help with, while nothing else is to do. */
#define WAIT_NS 1000000

typedef struct {
    psfm_context *ctx;
    psfm_scheduler *scheduler;
    psfm_executor *executor; /* this process */
    void *state;
    psfm_status status; /* of the thread that commits */
} local_work;

static psfm_status bring_part_here(psfm_context *ctx, psfm_executor *executor, uint32_t part,
                                   void *content) {
    const local_work *work = executor->own;
    return work->scheduler->list->kind->take_part(ctx, work->state, part, content);
}

static psfm_status forget_parts_here(psfm_context *ctx, psfm_executor *executor) {
    (void)ctx;
    const local_work *work = executor->own;
    work->scheduler->list->kind->forget_parts(work->state);
    return PSFM_OK;
}

/* One task; the caller holds the lock, which is free while it is described and computed. */
static psfm_handout work_once(psfm_context *ctx, int worker, const local_work *work) {
    psfm_scheduler *scheduler = work->scheduler;
    psfm_task task;
    psfm_handout handout = psfm_scheduler_take(scheduler, work->executor, &task);
    if (handout != PSFM_HANDOUT_TASK)
        return handout;
    pthread_mutex_unlock(&scheduler->lock);
    psfm_task_describe(ctx, scheduler->list, scheduler->begin[task.index], &task);
    psfm_task_compute(ctx, work->state, worker, &task);
    pthread_mutex_lock(&scheduler->lock);
    psfm_scheduler_give(scheduler, work->executor, &task);
    return handout;
}

static void work_on(psfm_context *ctx, int worker, const local_work *work) {
    psfm_scheduler *scheduler = work->scheduler;
    pthread_mutex_lock(&scheduler->lock);
    for (psfm_handout handout = PSFM_HANDOUT_TASK; handout != PSFM_HANDOUT_NONE;) {
        handout = work_once(ctx, worker, work);
        if (handout == PSFM_HANDOUT_LATER)
            pthread_cond_wait(&scheduler->changed, &scheduler->lock);
    }
    pthread_mutex_unlock(&scheduler->lock);
}

/* Helps with a loop inside somebody's task, or waits a little for a result. The caller holds the
 * scheduler's lock. */
static void help_or_wait(psfm_context *ctx, psfm_scheduler *scheduler) {
    pthread_mutex_unlock(&scheduler->lock);
    bool has_helped = psfm_parallel_help(ctx);
    pthread_mutex_lock(&scheduler->lock);
    if (has_helped || psfm_scheduler_has_result(scheduler))
        return;
    const struct timespec end = psfm_time_in(WAIT_NS);
    pthread_cond_timedwait(&scheduler->changed, &scheduler->lock, &end);
}

/* The calling thread without a link: computes, and commits whenever it can. */
static psfm_status work_and_commit(psfm_context *ctx, int worker, const local_work *work) {
    psfm_scheduler *scheduler = work->scheduler;
    psfm_status status = PSFM_OK;
    pthread_mutex_lock(&scheduler->lock);
    while (status == PSFM_OK && !psfm_scheduler_is_done(scheduler)) {
        psfm_handout handout = work_once(ctx, worker, work);
        size_t before = scheduler->committed;
        status = psfm_scheduler_commit(scheduler);
        if (handout != PSFM_HANDOUT_TASK && status == PSFM_OK && scheduler->committed == before)
            help_or_wait(ctx, scheduler);
    }
    pthread_mutex_unlock(&scheduler->lock);
    return status;
}

static void work_alone(psfm_context *ctx, int worker, void *user) {
    local_work *work = user;
    if (worker == 0) /* the calling thread */
        work->status = work_and_commit(ctx, worker, work);
    else
        work_on(ctx, worker, work);
}

static void work_beside(psfm_context *ctx, int worker, void *user) {
    work_on(ctx, worker, user);
}

static void lead_workers(void *user) {
    local_work *work = user;
    work->status = psfm_dispatch(work->ctx, psfm_context_link(work->ctx), work->scheduler);
}

static psfm_status run_here(psfm_context *ctx, psfm_scheduler *scheduler, psfm_executor *executor,
                            void *state, int num) {
    const bool has_link = psfm_context_link(ctx) != NULL;
    local_work work = {.ctx = ctx, .scheduler = scheduler, .executor = executor, .state = state};
    const psfm_workers workers = {num, has_link ? work_beside : work_alone,
                                  has_link ? lead_workers : NULL, &work};
    executor->own = &work;
    psfm_status status = psfm_workers_run(ctx, &workers);
    return status == PSFM_OK ? work.status : status;
}

/* Runs a list that is open here. */
static psfm_status run_list(psfm_context *ctx, const psfm_task_list *list, void *state, int num) {
    const psfm_link *link = psfm_context_link(ctx);
    psfm_executor here = {.bring_part = bring_part_here, .forget_parts = forget_parts_here};
    psfm_scheduler scheduler;
    psfm_status status = psfm_scheduler_init(
        ctx, list, (size_t)num, link == NULL ? 1 : (size_t)link->num_ranks, &scheduler);
    if (status == PSFM_OK)
        status = psfm_executor_init(ctx, list, psfm_context_memory(ctx) / 4, &here);
    if (status == PSFM_OK && list->stage != NULL)
        status = psfm_progress(ctx, list->stage, 0, list->num);
    if (status == PSFM_OK)
        status = run_here(ctx, &scheduler, &here, state, num);
    psfm_executor_free(&here);
    psfm_scheduler_free(&scheduler);
    return status;
}

psfm_status psfm_tasks_run(psfm_context *ctx, const psfm_task_list *list) {
    const psfm_task_kind *kind = list->kind;
    int num = psfm_parallel_workers(ctx, list->num);
    void *state = list->setup;
    if (list->num == 0)
        return PSFM_OK;
    psfm_status status = kind->open != NULL ? kind->open(ctx, list->setup, &num, &state) : PSFM_OK;
    if (status != PSFM_OK)
        return status;
    status = run_list(ctx, list, state, num);
    if (kind->close != NULL)
        kind->close(state);
    return status;
}
