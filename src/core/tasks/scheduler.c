/* The scheduler of a list of tasks.
 *
 * Results come in any order and are committed in that of the tasks: they wait in a window, and no
 * task is handed out that would not find room in it, which also bounds the memory. A failure is a
 * result like any other: it takes effect when its turn comes, after all tasks before it, so which
 * failure is reported does not depend on the schedule. */
#include "core/tasks/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

/* Tasks with parts that a rank gets in a row, at least. */
#define ROW_OF_TASKS 32
/* Tasks for each thread of all ranks, at least, if there is enough to do. */
#define TASKS_PER_THREAD 12

psfm_status psfm_executor_init(psfm_context *ctx, const psfm_task_list *list, size_t budget,
                               psfm_executor *executor) {
    executor->budget = budget;
    return PSFM_ALLOC(ctx, list->num_parts, &executor->has_part);
}

void psfm_executor_free(psfm_executor *executor) {
    free(executor->has_part);
    *executor = (psfm_executor){0};
}

size_t psfm_scheduler_reserve(const psfm_task_list *list, size_t num_workers) {
    return list->parts != NULL && num_workers < ROW_OF_TASKS ? ROW_OF_TASKS : num_workers;
}

/* ---- cutting ---- */

static size_t weight_of(const psfm_task_list *list, size_t item) {
    return list->weights == NULL ? 1 : list->weights[item];
}

/* Within a process a task costs no message: one item each, unless several at once are faster. */
static size_t task_weight(const psfm_task_list *list, size_t num_threads, size_t num_ranks) {
    size_t total = 0;
    if (num_ranks == 1 && list->kind->compute_all == NULL)
        return 0;
    for (size_t k = 0; k < list->num; ++k)
        total += weight_of(list, k);
    const size_t share = total / (TASKS_PER_THREAD * num_threads) + 1;
    return share < list->task_weight ? share : list->task_weight;
}

static psfm_status cut_tasks(psfm_scheduler *scheduler, size_t most) {
    const psfm_task_list *list = scheduler->list;
    size_t weight = 0;
    psfm_status status = PSFM_ALLOC(scheduler->ctx, list->num + 1, &scheduler->begin);
    for (size_t k = 0; status == PSFM_OK && k < list->num; ++k) {
        weight += weight_of(list, k);
        if (weight < most && k + 1 < list->num)
            continue;
        scheduler->begin[++scheduler->num] = k + 1;
        weight = 0;
    }
    scheduler->end = scheduler->num;
    return status;
}

psfm_status psfm_scheduler_init(psfm_context *ctx, const psfm_task_list *list, size_t num_workers,
                                size_t num_ranks, psfm_scheduler *scheduler) {
    *scheduler = (psfm_scheduler){.ctx = ctx, .list = list};
    pthread_mutex_init(&scheduler->lock, NULL);
    pthread_cond_init(&scheduler->changed, NULL);
    psfm_status status =
        cut_tasks(scheduler, task_weight(list, num_workers * num_ranks, num_ranks));
    /* Twice what is handed out at once: one slow task must not stop the others soon. */
    scheduler->size = 2 * num_ranks * (num_workers + psfm_scheduler_reserve(list, num_workers));
    if (scheduler->size > scheduler->num)
        scheduler->size = scheduler->num + 1;
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, scheduler->size, &scheduler->window);
    for (size_t k = 0; status == PSFM_OK && k < scheduler->size; ++k)
        scheduler->window[k].kind = list->kind;
    return status;
}

void psfm_scheduler_free(psfm_scheduler *scheduler) {
    for (size_t k = 0; scheduler->window != NULL && k < scheduler->size; ++k)
        psfm_task_free(&scheduler->window[k]);
    free(scheduler->window);
    free(scheduler->begin);
    pthread_cond_destroy(&scheduler->changed);
    pthread_mutex_destroy(&scheduler->lock);
}

/* ---- handing out ---- */

static psfm_status bring_part(psfm_scheduler *scheduler, psfm_executor *executor, uint32_t part) {
    const psfm_task_list *list = scheduler->list;
    const psfm_task_value *kind = &list->kind->part;
    size_t memory = 0;
    void *content = NULL;
    psfm_status status = psfm_alloc(scheduler->ctx, 1, kind->size, &content);
    if (status == PSFM_OK)
        status = list->load_part(scheduler->ctx, list, part, content, &memory);
    if (status == PSFM_OK)
        status = executor->bring_part(scheduler->ctx, executor, part, content);
    else
        psfm_task_value_free(kind, content);
    executor->has_part[part] = status == PSFM_OK;
    executor->memory += memory;
    free(content);
    return status;
}

static psfm_status bring_parts(psfm_scheduler *scheduler, psfm_executor *executor, size_t index) {
    const psfm_task_list *list = scheduler->list;
    const size_t end = list->parts == NULL ? 0 : scheduler->begin[index + 1] * list->parts_each;
    psfm_status status = PSFM_OK;
    for (size_t k = scheduler->begin[index] * list->parts_each; status == PSFM_OK && k < end; ++k)
        if (!executor->has_part[list->parts[k]])
            status = bring_part(scheduler, executor, list->parts[k]);
    return status;
}

static psfm_status forget_parts(psfm_scheduler *scheduler, psfm_executor *executor) {
    memset(executor->has_part, 0, scheduler->list->num_parts * sizeof *executor->has_part);
    executor->memory = 0;
    return executor->forget_parts(scheduler->ctx, executor);
}

psfm_handout psfm_scheduler_take(psfm_scheduler *scheduler, psfm_executor *executor,
                                 psfm_task *task) {
    const bool is_full = executor->memory > executor->budget;
    psfm_status status = PSFM_OK;
    if (scheduler->next >= scheduler->end)
        return PSFM_HANDOUT_NONE;
    if (scheduler->next >= scheduler->committed + scheduler->size ||
        (is_full && executor->num_running > 0))
        return PSFM_HANDOUT_LATER;
    *task = (psfm_task){.kind = scheduler->list->kind, .index = scheduler->next++};
    task->num = scheduler->begin[task->index + 1] - scheduler->begin[task->index];
    ++executor->num_running;
    if (is_full)
        status = forget_parts(scheduler, executor);
    if (status == PSFM_OK)
        status = bring_parts(scheduler, executor, task->index);
    if (status == PSFM_OK)
        return PSFM_HANDOUT_TASK;
    psfm_task_fail(scheduler->ctx, status, task);
    psfm_scheduler_give(scheduler, executor, task);
    return PSFM_HANDOUT_NONE;
}

/* ---- taking back ---- */

void psfm_scheduler_give(psfm_scheduler *scheduler, psfm_executor *executor, psfm_task *task) {
    --executor->num_running;
    if (task->status != PSFM_OK && task->index < scheduler->end)
        scheduler->end = task->index;
    scheduler->window[task->index % scheduler->size] = *task;
    pthread_cond_broadcast(&scheduler->changed);
}

static psfm_status commit_task(const psfm_scheduler *scheduler, psfm_task *task) {
    const psfm_task_list *list = scheduler->list;
    char *result = task->results;
    psfm_status status = task->status;
    if (status != PSFM_OK)
        return psfm_fail(scheduler->ctx, status, "%s",
                         task->message == NULL ? "out of memory" : task->message);
    for (size_t k = scheduler->begin[task->index];
         status == PSFM_OK && k < scheduler->begin[task->index + 1];
         ++k, result += list->kind->result.size) {
        status = list->commit(scheduler->ctx, k, list->user, result);
        if (status == PSFM_OK && list->stage != NULL)
            status = psfm_progress(scheduler->ctx, list->stage, k + 1, list->num);
    }
    return status;
}

psfm_status psfm_scheduler_commit(psfm_scheduler *scheduler) {
    psfm_status status = PSFM_OK;
    while (status == PSFM_OK && psfm_scheduler_has_result(scheduler)) {
        psfm_task *task = &scheduler->window[scheduler->committed % scheduler->size];
        status = commit_task(scheduler, task);
        psfm_task_free(task);
        pthread_cond_broadcast(&scheduler->changed);
        if (status == PSFM_OK)
            ++scheduler->committed;
        else
            scheduler->end = 0;
    }
    return status;
}

bool psfm_scheduler_has_result(const psfm_scheduler *scheduler) {
    const psfm_task *task = &scheduler->window[scheduler->committed % scheduler->size];
    return task->results != NULL || task->status != PSFM_OK;
}

bool psfm_scheduler_is_done(const psfm_scheduler *scheduler) {
    return scheduler->committed == scheduler->num;
}
