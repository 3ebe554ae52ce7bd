/* Tasks. Items and results are arrays of structs that the kind knows; a failure takes the place of
 * the results. */
#include "core/tasks/task.h"

#include <stdlib.h>

#include "core/base/alloc.h"

void psfm_task_value_move(psfm_transfer *t, const psfm_task_value *kind, void *value) {
    if (kind->move != NULL)
        kind->move(t, value);
    else
        psfm_move(t, value, kind->size);
}

void psfm_task_value_free(const psfm_task_value *kind, void *value) {
    if (kind->free != NULL && value != NULL)
        kind->free(value);
}

static void *value_at(const psfm_task_value *kind, void *values, size_t index) {
    return (char *)values + index * kind->size;
}

static void free_values(const psfm_task_value *kind, size_t num, void **values) {
    for (size_t k = 0; *values != NULL && k < num; ++k)
        psfm_task_value_free(kind, value_at(kind, *values, k));
    free(*values);
    *values = NULL;
}

static void move_values(psfm_transfer *t, const psfm_task_value *kind, size_t num, void **values) {
    if (t->is_reading && t->status == PSFM_OK)
        t->status = psfm_alloc(t->ctx, num, kind->size, values);
    for (size_t k = 0; t->status == PSFM_OK && k < num; ++k)
        psfm_task_value_move(t, kind, value_at(kind, *values, k));
}

void psfm_task_free(psfm_task *task) {
    free_values(&task->kind->item, task->num, &task->items);
    free_values(&task->kind->result, task->num, &task->results);
    free(task->message);
    *task = (psfm_task){.kind = task->kind};
}

void psfm_task_fail(const psfm_context *ctx, psfm_status status, psfm_task *task) {
    task->status = status;
    free_values(&task->kind->item, task->num, &task->items);
    free_values(&task->kind->result, task->num, &task->results);
    if (psfm_strdup(NULL, psfm_context_message(ctx), &task->message) != PSFM_OK)
        task->status = PSFM_ERR_MEMORY;
}

void psfm_task_describe(psfm_context *ctx, const psfm_task_list *list, size_t first,
                        psfm_task *task) {
    const psfm_task_value *item = &list->kind->item;
    psfm_status status = psfm_alloc(ctx, task->num, item->size, &task->items);
    for (size_t k = 0; status == PSFM_OK && k < task->num; ++k)
        status = list->describe(ctx, first + k, list->user, value_at(item, task->items, k));
    if (status != PSFM_OK)
        psfm_task_fail(ctx, status, task);
}

void psfm_task_compute(psfm_context *ctx, void *state, int worker, psfm_task *task) {
    const psfm_task_kind *kind = task->kind;
    if (task->status != PSFM_OK)
        return;
    psfm_status status = psfm_alloc(ctx, task->num, kind->result.size, &task->results);
    if (status == PSFM_OK && kind->compute_all != NULL)
        status = kind->compute_all(ctx, state, worker, task->items, task->num, task->results);
    for (size_t k = 0; status == PSFM_OK && kind->compute_all == NULL && k < task->num; ++k)
        status = kind->compute(ctx, state, worker, value_at(&kind->item, task->items, k),
                               value_at(&kind->result, task->results, k));
    if (status != PSFM_OK)
        psfm_task_fail(ctx, status, task);
    free_values(&kind->item, task->num, &task->items);
}

void psfm_task_move_items(psfm_transfer *t, void *task) {
    psfm_task *moved = task;
    psfm_move(t, &moved->num, sizeof moved->num);
    move_values(t, &moved->kind->item, moved->num, &moved->items);
}

void psfm_task_move_results(psfm_transfer *t, void *task) {
    psfm_task *moved = task;
    psfm_move(t, &moved->num, sizeof moved->num);
    psfm_move(t, &moved->status, sizeof moved->status);
    if (moved->status == PSFM_OK)
        move_values(t, &moved->kind->result, moved->num, &moved->results);
    else
        psfm_move_text(t, &moved->message);
}
