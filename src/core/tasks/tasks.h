/* Tasks that are computed anywhere and whose results are taken in order.
 *
 * A list of items, such as pairs of images, is computed on the threads of this process and, if its
 * context has a link to other ranks, on theirs. Items that follow each other make a task. Whoever
 * is free gets the next task; the first rank takes the results one by one, in the order of the
 * items, so that what it writes does not depend on who computed what. Within a process everything
 * stays where it is; on its way to another rank it becomes a message. */
#ifndef PSFM_TASKS_TASKS_H
#define PSFM_TASKS_TASKS_H

#include "core/tasks/link.h"

/* How a struct gets to another rank: by itself where `move` is NULL. */
typedef struct {
    size_t size;
    void (*move)(psfm_transfer *t, void *value);
    void (*free)(void *value); /* what the struct owns; NULL: nothing */
} psfm_task_value;

/* What a rank has to know to compute tasks of one kind. */
typedef struct {
    const char *name;
    psfm_task_value setup, part, item, result;
    /* Makes what the tasks of a list share from the list's setup, which outlives it. Up to
     * *num_workers tasks run at once, which it may lower, to 1 at least. On failure nothing is left
     * behind. NULL: the setup is all. */
    psfm_status (*open)(psfm_context *ctx, void *setup, int *num_workers, void **state);
    /* Takes a part over that items will name; not at the same time as another part, but while tasks
     * that do not name it run. NULL: there are none. */
    psfm_status (*take_part)(psfm_context *ctx, void *state, uint32_t part, void *content);
    /* Forgets all parts; no task runs. */
    void (*forget_parts)(void *state);
    /* Computes the result, zeroed before, of an item; `worker` in [0, num_workers) tells which
     * scratch memory to use. */
    psfm_status (*compute)(psfm_context *ctx, void *state, int worker, void *item, void *result);
    /* All items of a task at once, where that is faster; NULL: one after the other. */
    psfm_status (*compute_all)(psfm_context *ctx, void *state, int worker, void *items, size_t num,
                               void *results);
    void (*close)(void *state);
} psfm_task_kind;

/* Items 0 .. num - 1. `commit` and `load_part` are called by one thread at a time, `commit` by the
 * one that runs the list; `describe` by any, also at once. */
typedef struct psfm_task_list psfm_task_list;
struct psfm_task_list {
    const psfm_task_kind *kind;
    const char *stage; /* whose progress is told; NULL: none */
    void *setup;
    size_t num;
    const size_t *weights; /* of the items; NULL: 1 each */
    size_t task_weight;    /* of a task, about: it ends with the item that reaches it */
    /* Fills an item, zeroed before, with what computing it needs beside the setup. */
    psfm_status (*describe)(psfm_context *ctx, size_t index, void *user, void *item);
    /* The parts that the items need, below num_parts, parts_each of an item one after the other;
     * they go to each rank once, before the first task there that needs them. NULL: none. */
    const uint32_t *parts;
    size_t parts_each, num_parts;
    /* Fills a part, zeroed before; also the memory that a rank needs to keep it. */
    psfm_status (*load_part)(psfm_context *ctx, const psfm_task_list *list, uint32_t part,
                             void *content, size_t *memory);
    /* Takes the result of an item, after those of all items before it. What it leaves there is
     * freed. */
    psfm_status (*commit)(psfm_context *ctx, size_t index, void *user, void *result);
    void *user;
};

/* Computes all items and commits their results. If a task fails, those before it are committed all
 * the same, and its status and message are returned, whoever computed it. A rank drops its parts
 * when they pass a quarter of the context's memory. */
psfm_status psfm_tasks_run(psfm_context *ctx, const psfm_task_list *list);

/* What all ranks but the first do: compute tasks of these kinds (NULL-terminated) until the first
 * rank dismisses them. `ctx` gets threads, seed and memory from it. */
psfm_status psfm_tasks_serve(psfm_context *ctx, psfm_link *link,
                             const psfm_task_kind *const *kinds);

/* Dismisses the other ranks. The first rank's last message. */
psfm_status psfm_tasks_dismiss(psfm_context *ctx, psfm_link *link);

#endif
