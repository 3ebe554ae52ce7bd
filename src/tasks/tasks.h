/* Tasks that are computed anywhere and whose results are taken in order.
 *
 * A list of tasks runs on the threads of this process and, if its context has a link to other
 * ranks, on theirs. Whoever is free gets the next task; the first rank takes the results one by
 * one, in the order of the tasks, so that what it writes does not depend on who computed what. */
#ifndef PSFM_TASKS_TASKS_H
#define PSFM_TASKS_TASKS_H

#include "tasks/link.h"

/* What a rank has to know to compute tasks of one kind. It gets everything by packets, in the first
 * rank as in the others. */
typedef struct {
    const char *name;
    /* Makes what the tasks of a list share from the list's setup. Up to num_workers tasks run at
     * once. On failure nothing is left behind. */
    psfm_status (*open)(psfm_context *ctx, psfm_packet_reader *setup, int num_workers,
                        void **state);
    /* Takes a part that tasks will name; not at the same time as another part, but while tasks that
     * do not name it run. NULL: there are none. */
    psfm_status (*take_part)(psfm_context *ctx, void *state, uint32_t part,
                             psfm_packet_reader *content);
    /* Forgets all parts; no task runs. */
    void (*forget_parts)(void *state);
    /* Computes a task; `worker` in [0, num_workers) tells which scratch memory to use. */
    psfm_status (*run)(psfm_context *ctx, void *state, int worker, psfm_packet_reader *input,
                       psfm_packet *result);
    void (*close)(void *state);
} psfm_task_kind;

/* Tasks 0 .. num - 1. The functions are called by one thread at a time; `commit` by the one that
 * runs the list, the others by any. */
typedef struct {
    const psfm_task_kind *kind;
    size_t num;
    const psfm_packet *setup;
    /* Writes what task `index` needs beside the setup. */
    psfm_status (*describe)(psfm_context *ctx, size_t index, void *user, psfm_packet *input);
    /* The parts that a task names, below num_parts; they go to each rank once, before the first
     * task there that names them. With num_parts 0 neither is called. */
    size_t num_parts;
    void (*name_parts)(size_t index, void *user, const uint32_t **parts, size_t *num);
    /* Also the memory that a rank needs to keep the part. */
    psfm_status (*pack_part)(psfm_context *ctx, uint32_t part, void *user, psfm_packet *content,
                             size_t *memory);
    /* Takes the result of task `index`, after those of all tasks before it. */
    psfm_status (*commit)(psfm_context *ctx, size_t index, void *user, psfm_packet_reader *result);
    void *user;
} psfm_task_list;

/* Number of tasks that run at once, if there are enough: the threads of this process, times the
 * ranks. */
size_t psfm_tasks_width(const psfm_context *ctx);

/* Computes all tasks and commits their results. If one fails, those before it are committed all the
 * same, and its status and message are returned, whoever computed it. A rank drops its parts when
 * they pass a quarter of the context's memory. */
psfm_status psfm_tasks_run(psfm_context *ctx, const psfm_task_list *list);

/* What all ranks but the first do: compute tasks of these kinds (NULL-terminated) until the first
 * rank lets them go. `ctx` gets threads, seed and memory from it. */
psfm_status psfm_tasks_serve(psfm_context *ctx, psfm_link *link,
                             const psfm_task_kind *const *kinds);

/* Lets the other ranks go. The first rank's last word. */
psfm_status psfm_tasks_dismiss(psfm_context *ctx, psfm_link *link);

#endif
