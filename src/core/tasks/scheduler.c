/* The board of a list of tasks.
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

psfm_status psfm_place_init(psfm_context *ctx, const psfm_task_list *list, size_t budget,
                            psfm_place *place) {
    place->budget = budget;
    return PSFM_ALLOC(ctx, list->num_parts, &place->held);
}

void psfm_place_free(psfm_place *place) {
    free(place->held);
    *place = (psfm_place){0};
}

size_t psfm_board_reserve(const psfm_task_list *list, size_t num_workers) {
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

static psfm_status cut(psfm_board *board, size_t most) {
    const psfm_task_list *list = board->list;
    size_t weight = 0;
    psfm_status status = PSFM_ALLOC(board->ctx, list->num + 1, &board->begin);
    for (size_t k = 0; status == PSFM_OK && k < list->num; ++k) {
        weight += weight_of(list, k);
        if (weight < most && k + 1 < list->num)
            continue;
        board->begin[++board->num] = k + 1;
        weight = 0;
    }
    board->end = board->num;
    return status;
}

psfm_status psfm_board_init(psfm_context *ctx, const psfm_task_list *list, size_t num_workers,
                            size_t num_ranks, psfm_board *board) {
    *board = (psfm_board){.ctx = ctx, .list = list};
    pthread_mutex_init(&board->lock, NULL);
    pthread_cond_init(&board->changed, NULL);
    psfm_status status = cut(board, task_weight(list, num_workers * num_ranks, num_ranks));
    /* Twice what is held at once: one slow task must not stop the others soon. */
    board->size = 2 * num_ranks * (num_workers + psfm_board_reserve(list, num_workers));
    if (board->size > board->num)
        board->size = board->num + 1;
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, board->size, &board->window);
    for (size_t k = 0; status == PSFM_OK && k < board->size; ++k)
        board->window[k].kind = list->kind;
    return status;
}

void psfm_board_free(psfm_board *board) {
    for (size_t k = 0; board->window != NULL && k < board->size; ++k)
        psfm_task_free(&board->window[k]);
    free(board->window);
    free(board->begin);
    pthread_cond_destroy(&board->changed);
    pthread_mutex_destroy(&board->lock);
}

/* ---- handing out ---- */

static psfm_status bring_part(psfm_board *board, psfm_place *place, uint32_t part) {
    const psfm_task_list *list = board->list;
    const psfm_task_value *kind = &list->kind->part;
    size_t memory = 0;
    void *content = NULL;
    psfm_status status = psfm_alloc(board->ctx, 1, kind->size, &content);
    if (status == PSFM_OK)
        status = list->load_part(board->ctx, list, part, content, &memory);
    if (status == PSFM_OK)
        status = place->bring_part(board->ctx, place, part, content);
    else
        psfm_task_value_free(kind, content);
    place->held[part] = status == PSFM_OK;
    place->memory += memory;
    free(content);
    return status;
}

static psfm_status bring_parts(psfm_board *board, psfm_place *place, size_t index) {
    const psfm_task_list *list = board->list;
    const size_t end = list->parts == NULL ? 0 : board->begin[index + 1] * list->parts_each;
    psfm_status status = PSFM_OK;
    for (size_t k = board->begin[index] * list->parts_each; status == PSFM_OK && k < end; ++k)
        if (!place->held[list->parts[k]])
            status = bring_part(board, place, list->parts[k]);
    return status;
}

static psfm_status forget_parts(psfm_board *board, psfm_place *place) {
    memset(place->held, 0, board->list->num_parts * sizeof *place->held);
    place->memory = 0;
    return place->forget_parts(board->ctx, place);
}

psfm_turn psfm_board_take(psfm_board *board, psfm_place *place, psfm_task *task) {
    const bool is_full = place->memory > place->budget;
    psfm_status status = PSFM_OK;
    if (board->next >= board->end)
        return PSFM_TURN_NONE;
    if (board->next >= board->committed + board->size || (is_full && place->num_running > 0))
        return PSFM_TURN_LATER;
    *task = (psfm_task){.kind = board->list->kind, .index = board->next++};
    task->num = board->begin[task->index + 1] - board->begin[task->index];
    ++place->num_running;
    if (is_full)
        status = forget_parts(board, place);
    if (status == PSFM_OK)
        status = bring_parts(board, place, task->index);
    if (status == PSFM_OK)
        return PSFM_TURN_TASK;
    psfm_task_fail(board->ctx, status, task);
    psfm_board_give(board, place, task);
    return PSFM_TURN_NONE;
}

/* ---- taking back ---- */

void psfm_board_give(psfm_board *board, psfm_place *place, psfm_task *task) {
    --place->num_running;
    if (task->status != PSFM_OK && task->index < board->end)
        board->end = task->index;
    board->window[task->index % board->size] = *task;
    pthread_cond_broadcast(&board->changed);
}

static psfm_status commit_task(const psfm_board *board, psfm_task *task) {
    const psfm_task_list *list = board->list;
    char *result = task->results;
    psfm_status status = task->status;
    if (status != PSFM_OK)
        return psfm_fail(board->ctx, status, "%s",
                         task->message == NULL ? "out of memory" : task->message);
    for (size_t k = board->begin[task->index];
         status == PSFM_OK && k < board->begin[task->index + 1];
         ++k, result += list->kind->result.size) {
        status = list->commit(board->ctx, k, list->user, result);
        if (status == PSFM_OK && list->stage != NULL)
            status = psfm_progress(board->ctx, list->stage, k + 1, list->num);
    }
    return status;
}

psfm_status psfm_board_commit(psfm_board *board) {
    psfm_status status = PSFM_OK;
    while (status == PSFM_OK && psfm_board_has_result(board)) {
        psfm_task *task = &board->window[board->committed % board->size];
        status = commit_task(board, task);
        psfm_task_free(task);
        pthread_cond_broadcast(&board->changed);
        if (status == PSFM_OK)
            ++board->committed;
        else
            board->end = 0;
    }
    return status;
}

bool psfm_board_has_result(const psfm_board *board) {
    const psfm_task *task = &board->window[board->committed % board->size];
    return task->results != NULL || task->status != PSFM_OK;
}

bool psfm_board_is_done(const psfm_board *board) {
    return board->committed == board->num;
}
