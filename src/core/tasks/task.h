/* One task on its way: handed out, described, computed, given back. */
#ifndef PSFM_TASKS_TASK_H
#define PSFM_TASKS_TASK_H

#include "core/tasks/tasks.h"

/* Owns what it points to but kind and next; of a kind alone it is an empty one. */
typedef struct psfm_task psfm_task;
struct psfm_task {
    const psfm_task_kind *kind;
    size_t index;          /* in its list */
    size_t num;            /* items */
    void *items, *results; /* NULL: not yet, or not any more */
    psfm_status status;    /* of describing and computing it */
    char *message;         /* of the failure; NULL: memory was out */
    psfm_task *next;       /* in a queue */
};

void psfm_task_free(psfm_task *task);

/* Fills its items, which are those of the list from `first` on. */
void psfm_task_describe(psfm_context *ctx, const psfm_task_list *list, size_t first,
                        psfm_task *task);

/* Computes it, unless it has failed before, and frees the items. */
void psfm_task_compute(psfm_context *ctx, void *state, int worker, psfm_task *task);

/* It failed: the message is the context's. */
void psfm_task_fail(const psfm_context *ctx, psfm_status status, psfm_task *task);

/* The items to a rank, and what became of them back. */
void psfm_task_move_items(psfm_transfer *t, void *task);
void psfm_task_move_results(psfm_transfer *t, void *task);

/* A struct as its kind tells it. */
void psfm_task_value_move(psfm_transfer *t, const psfm_task_value *kind, void *value);
void psfm_task_value_free(const psfm_task_value *kind, void *value);

#endif
