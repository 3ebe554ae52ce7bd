/* Which tasks of a list are handed out, and results that wait for their turn. The first rank's. */
#ifndef PSFM_TASKS_SCHEDULER_H
#define PSFM_TASKS_SCHEDULER_H

#include <pthread.h>

#include "core/tasks/task.h"

/* A process that computes tasks, as the first rank sees it. */
typedef struct psfm_executor psfm_executor;
struct psfm_executor {
    int rank;
    /* Brings a part, whose content it takes over, or the word to forget all parts, to where the
     * tasks are computed. */
    psfm_status (*bring_part)(psfm_context *ctx, psfm_executor *executor, uint32_t part,
                              void *content);
    psfm_status (*forget_parts)(psfm_context *ctx, psfm_executor *executor);
    void *own;
    bool *has_part;        /* per part: is there */
    size_t memory, budget; /* of its parts; that they may pass once */
    size_t num_running;    /* tasks handed out to it without a result */
};

psfm_status psfm_executor_init(psfm_context *ctx, const psfm_task_list *list, size_t budget,
                               psfm_executor *executor);
void psfm_executor_free(psfm_executor *executor);

typedef struct {
    psfm_context *ctx; /* of the thread that runs the list; others use it under the lock */
    const psfm_task_list *list;
    size_t *begin; /* first item of each task, and the end */
    size_t num;    /* tasks */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t next;      /* task to hand out */
    size_t committed; /* tasks whose results were taken */
    size_t end;       /* no task from here on is handed out: all of them, or one failed */
    psfm_task *window;
    size_t size; /* of the window: no task is handed out so far ahead of `committed` */
} psfm_scheduler;

/* Tasks that a rank with so many threads may hold beyond those that it computes. Parts that
 * neighbouring tasks share are sent once to whoever has them in a row. */
size_t psfm_scheduler_reserve(const psfm_task_list *list, size_t num_workers);

/* For num_ranks processes with about num_workers threads each. */
psfm_status psfm_scheduler_init(psfm_context *ctx, const psfm_task_list *list, size_t num_workers,
                                size_t num_ranks, psfm_scheduler *scheduler);
void psfm_scheduler_free(psfm_scheduler *scheduler);

typedef enum {
    PSFM_HANDOUT_TASK,  /* *task is to be described and computed */
    PSFM_HANDOUT_LATER, /* not before a result comes or is committed */
    PSFM_HANDOUT_NONE   /* never again */
} psfm_handout;

/* Hands out the next task to an executor, which has all its parts then. The caller holds the lock.
 */
psfm_handout psfm_scheduler_take(psfm_scheduler *scheduler, psfm_executor *executor,
                                 psfm_task *task);

/* Gives back a task with its results or its failure, which is taken over. The caller holds the
 * lock. */
void psfm_scheduler_give(psfm_scheduler *scheduler, psfm_executor *executor, psfm_task *task);

/* Takes the results whose turn it is. Returns the failure of the lowest task that failed. For the
 * thread that runs the list; the caller holds the lock. */
psfm_status psfm_scheduler_commit(psfm_scheduler *scheduler);

/* Whether a result waits to be committed now. */
bool psfm_scheduler_has_result(const psfm_scheduler *scheduler);

/* Whether all is committed. */
bool psfm_scheduler_is_done(const psfm_scheduler *scheduler);

#endif
